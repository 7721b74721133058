//! Texts and explanations of Farkle.

#![expect(clippy::wildcard_enum_match_arm, reason = "other events have the common text")]

use crate::{
    Banked, Boost, DecidedBy, Event, Farkled, Outcome, Rolled, Saved, Table,
    explain::{number, plus, usual_lines},
    narrate::{name, rolls, winners},
};

/// The text of an event that is specific to Farkle.
pub(super) fn describe(event: &Event, table: &Table) -> Option<String> {
    match event {
        Event::Rolled(roll) => Some(rolled(roll, table)),
        Event::Saved(save) => Some(saved(save, &explained(event), table)),
        Event::Ended(outcome) => ended(outcome, table),
        _ => None,
    }
}

/// Explains the numbers of an event.
pub(super) fn explained(event: &Event) -> Vec<String> {
    match event {
        Event::Banked(bank) => bank_lines(bank),
        Event::Rolled(roll) => plus("Round score", roll.folded.unwrap_or(0)).into_iter().collect(),
        Event::Farkled(Farkled { kept, awarded, .. }) => {
            [plus("Kept", *kept), plus("Bad luck", *awarded)].into_iter().flatten().collect()
        }
        _ => usual_lines(event, &streak),
    }
}

fn rolled(roll: &Rolled, table: &Table) -> String {
    let folded = roll.folded.map(|points| format!("hot dice, {} kept: ", number(points)));
    let (rolls, worth) = (rolls(roll, table), number(roll.max_points));
    format!("{}{rolls}, worth up to {worth}", folded.unwrap_or_default())
}

fn saved(save: &Saved, lines: &[String], table: &Table) -> String {
    let hot = if save.left.is_empty() { ", hot dice" } else { "" };
    let (who, points, sum) = (name(table, save.seat), number(save.points), number(save.turn_score));
    format!("{who} saves {points}: {} (turn score {sum}{hot})", lines.join(", "))
}

fn ended(outcome: &Outcome, table: &Table) -> Option<String> {
    let winners = winners(&outcome.winners, table);
    match outcome.by {
        DecidedBy::BestRound => Some(format!("{winners} wins the tie by the best single round")),
        DecidedBy::SharedWin => Some(format!("{winners} share the win")),
        _ => None,
    }
}

/// The text of a hot streak, the only bonus on top of combinations.
pub(super) fn streak(boost: &Boost) -> String {
    format!("Hot streak + {}", number(boost.after.saturating_sub(boost.before)))
}

/// A bank without a multiplier or bonus needs no explanation.
fn bank_lines(bank: &Banked) -> Vec<String> {
    if bank.multiplier == 1 && bank.bonus == 0 {
        return Vec::new();
    }
    let hand = bank.points.saturating_sub(bank.round_score).saturating_sub(bank.bonus);
    let mut lines = Vec::new();
    if bank.multiplier == 1 {
        lines.push(format!("Turn score {}", number(hand)));
    } else {
        let (base, times) = (number(bank.turn_score), number(bank.multiplier));
        lines.push(format!("{base} × {times} = {}", number(hand)));
    }
    lines.extend(plus("Round score", bank.round_score));
    lines.extend(plus("Dare", bank.bonus));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Combination, CombinationName, Faces, Points, Slots, explain::save_lines,
        special_dice::DieAt,
    };

    fn boost(code: &str, before: Points, after: Points) -> Boost {
        Boost { die: DieAt { slot: 0, code: code.parse().unwrap() }, before, after }
    }

    #[test]
    fn explains_a_save() {
        let single = |face, points, effects| Combination {
            name: CombinationName::Single,
            slots: Slots::first(1),
            faces: Faces::of(&[face]).unwrap(),
            points,
            effects,
        };
        let combinations = [
            single(1, 100, vec![boost("TRIPLE", 100, 300)]),
            single(5, 50, Vec::new()),
            single(3, 0, vec![boost("THREE", 0, 30), boost("JACKPOT", 30, 60)]),
        ];
        let lines = save_lines(&combinations, &[boost("HOT", 410, 560)], &streak);
        let describe = [
            "single 1 = 100 × 3 = 300",
            "single 5 = 50",
            "single 3 = 30 × 2 = 60",
            "Hot streak + 150",
        ];
        assert_eq!(lines, describe);
    }

    #[test]
    fn explains_a_bank() {
        let bank = |round_score, multiplier, bonus| Banked {
            seat: 0,
            round: 1,
            round_score,
            turn_score: 300,
            multiplier,
            bonus,
            points: round_score + 300 * multiplier + bonus,
            game_score: 5000,
            reaches_target: false,
        };
        assert_eq!(bank_lines(&bank(0, 1, 0)), Vec::<String>::new());
        assert_eq!(bank_lines(&bank(0, 2, 0)), ["300 × 2 = 600"]);
        let all = ["300 × 8 = 2,400", "Round score + 1,000", "Dare + 400"];
        assert_eq!(bank_lines(&bank(1000, 8, 400)), all);
        assert_eq!(bank_lines(&bank(0, 1, 200)), ["Turn score 300", "Dare + 200"]);
    }
}
