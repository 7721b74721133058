//! Scores as lines to show: "300 × 2 = 600", "Hot streak + 150", "Dare + 400".

use crate::{Banked, Boost, Combination, Event, Faces, Points, Selection, rogue::Colour};

/// How the numbers of an event come about, line by line; nothing where there is nothing to explain.
pub fn explain(event: &Event) -> Vec<String> {
    match event {
        Event::Saved(save) => {
            let mut lines = save_lines(&save.combinations, &save.bonuses);
            if save.multiplier != 1 {
                let combined: Points = save.combinations.iter().map(Combination::total).sum();
                let base = save.bonuses.last().map_or(combined, |bonus| bonus.after);
                let (base, times) = (number(base), number(save.multiplier));
                lines.push(format!("{base} × {times} = {}", number(save.points)));
            }
            lines
        }
        Event::Banked(bank) => bank_lines(bank),
        Event::Rolled(roll) => plus("Round score", roll.folded.unwrap_or(0)).into_iter().collect(),
        Event::Farkled(farkle) => {
            let lines = [plus("Kept", farkle.kept), plus("Bad luck", farkle.awarded)];
            lines.into_iter().flatten().collect()
        }
        Event::Created { .. }
        | Event::SeatTaken { .. }
        | Event::SeedChosen { .. }
        | Event::LoadoutChosen { .. }
        | Event::CharacterChosen { .. }
        | Event::Drawn(_)
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::SeatLeft { .. }
        | Event::Started { .. }
        | Event::TurnStarted { .. }
        | Event::EffectApplied(_)
        | Event::MoneyAwarded { .. }
        | Event::TimedOut { .. }
        | Event::TurnEnded(_)
        | Event::Ended(_)
        | Event::SeedRevealed { .. }
        | Event::Voided { .. }
        | Event::Ruled { .. }
        | Event::Account(_)
        | Event::Catalogue(_)
        | Event::Dispute(_)
        | Event::Staff(_) => Vec::new(),
    }
}

/// "Dare + 400"; nothing where nothing was added.
fn plus(what: &str, points: Points) -> Option<String> {
    (points != 0).then(|| format!("{what} + {}", number(points)))
}

impl Selection {
    /// How its points come about, line by line.
    pub fn lines(&self) -> Vec<String> {
        let gifts = (self.gifts > 0).then(|| format!("Gifts: {}", self.gifts));
        let mut lines = save_lines(&self.combinations, &self.bonuses);
        lines.extend(plus("Bonus", self.extra));
        lines.extend(gifts);
        lines
    }
}

pub(crate) fn save_lines(combinations: &[Combination], bonuses: &[Boost]) -> Vec<String> {
    combinations.iter().map(combination).chain(bonuses.iter().map(bonus)).collect()
}

/// What a die makes of the sum: "Hot streak + 150", "Red + 9 = 29", "Purple × 2 = 58", "Blue ÷ 5 = 11".
fn bonus(boost: &Boost) -> String {
    let Some(colour) = Colour::of(boost.die.code) else {
        return format!("Hot streak + {}", number(gain(boost)));
    };
    let (name, before, after) = (colour.name(), boost.before, boost.after);
    let whole = |of: Points, by: Points| by != 0 && of % by == 0;
    if colour == Colour::Red {
        format!("{name} + {} = {}", number(gain(boost)), number(after))
    } else if after >= before && whole(after, before) {
        format!("{name} × {} = {}", number(after / before), number(after))
    } else {
        format!("{name}: {} → {}", number(before), number(after))
    }
}

/// Only what is not plain: a bank without a multiplier and a bonus needs no lines.
pub(crate) fn bank_lines(bank: &Banked) -> Vec<String> {
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

/// A combination, and what each special die makes of it: "single 1 = 100 × 3 = 300".
fn combination(combination: &Combination) -> String {
    let what = combination.name.words();
    let mut parts = vec![format!("{what} {}", dice(combination.faces)).trim_end().to_owned()];
    if combination.points != 0 || combination.effects.is_empty() {
        parts.push(number(combination.points));
    }
    for Boost { before, after, .. } in &combination.effects {
        if let (Some(last), true) = (parts.last_mut(), *before != 0 && after % before == 0) {
            *last = format!("{last} × {}", number(after / before));
        }
        parts.push(number(*after));
    }
    parts.join(" = ")
}

fn gain(boost: &Boost) -> Points {
    boost.after.saturating_sub(boost.before)
}

pub(crate) fn dice(faces: Faces) -> String {
    faces.iter().map(|face| face.to_string()).collect::<Vec<_>>().join(" ")
}

/// A number with a comma between thousands.
pub(crate) fn number(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CombinationName, Slots, special_dice::DieAt};

    #[test]
    fn thousands() {
        let written = [0, 7, 999, 1000, -1000, 1_234_567, -50].map(number);
        assert_eq!(written, ["0", "7", "999", "1,000", "-1,000", "1,234,567", "-50"]);
    }

    fn boost(code: &str, before: Points, after: Points) -> Boost {
        Boost { die: DieAt { slot: 0, code: code.parse().unwrap() }, before, after }
    }

    #[test]
    fn a_save_line_by_line() {
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
        let lines = save_lines(&combinations, &[boost("HOT", 410, 560)]);
        let told = [
            "single 1 = 100 × 3 = 300",
            "single 5 = 50",
            "single 3 = 30 × 2 = 60",
            "Hot streak + 150",
        ];
        assert_eq!(lines, told);
    }

    #[test]
    fn a_bank_line_by_line() {
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
