//! What happened, in words a player reads.

use crate::{
    AwardedFor, Combination, CombinationName, DecidedBy, EffectSource, Event, Faces, FarkledBy,
    LeftBecause, Measure, Outcome, SeatNo, Table,
};

/// One line about an event; `None` where there is nothing to tell.
pub fn narrate(event: &Event, table: &Table) -> Option<String> {
    let who = |seat: SeatNo| name(table, seat);
    Some(match event {
        Event::SeatTaken { seat, name, .. } => format!("{name} takes seat {seat}"),
        Event::SeedChosen { seat, .. } => format!("{} adds a seed to the dice", who(*seat)),
        Event::SeatLeft { seat, why: LeftBecause::Quit } => format!("{} leaves", who(*seat)),
        Event::SeatLeft { seat, why: LeftBecause::TimedOut } => {
            format!("{} loses the seat: too many time-outs in a row", who(*seat))
        }
        Event::TurnStarted { seat, round, .. } => format!("round {round}, {}", who(*seat)),
        Event::Rolled(roll) => {
            let folded = roll.folded.map(|points| format!("hot dice, {} kept: ", number(points)));
            let (who, faces, most) = (who(roll.seat), dice(roll.faces), number(roll.max_points));
            format!("{}{who} rolls {faces}, worth up to {most}", folded.unwrap_or_default())
        }
        Event::Saved(save) => {
            let why: Vec<String> = save.combinations.iter().map(combination).collect();
            let hot = if save.left.is_empty() { ", hot dice" } else { "" };
            let (who, turn) = (who(save.seat), number(save.turn_score));
            let points = number(save.points);
            format!("{who} saves {points}: {} (turn score {turn}{hot})", why.join(" + "))
        }
        Event::Banked(bank) => {
            let (who, points) = (who(bank.seat), number(bank.points));
            format!("{who} banks {points}, game score {}", number(bank.game_score))
        }
        Event::Farkled(farkle) => {
            let what = match farkle.by {
                FarkledBy::Roll => "farkles",
                FarkledBy::Choice => "gives the roll up",
            };
            format!("{} {what} and loses {}", who(farkle.seat), number(farkle.forfeited))
        }
        Event::EffectApplied(effect) => {
            let what = match effect.source {
                EffectSource::FarklePenalty => "penalty for farkles in a row",
            };
            let changes: Vec<String> = effect
                .changes
                .iter()
                .map(|c| format!("{} {} → {}", measure(c.what), number(c.before), number(c.after)))
                .collect();
            format!("{}: {what}: {}", who(effect.seat), changes.join(", "))
        }
        Event::MoneyAwarded { seat, amount, why } => {
            let why = match why {
                AwardedFor::Finishing => "finishing",
                AwardedFor::Winning => "winning",
            };
            format!("{} earns ${amount} for {why}", who(*seat))
        }
        Event::TimedOut { seat, in_a_row } => {
            format!("time is up for {}, {in_a_row} in a row", who(*seat))
        }
        Event::Ended(outcome) => ending(outcome, table),
        Event::Created { .. }
        | Event::Started { .. }
        | Event::TurnEnded(_)
        | Event::SeedRevealed { .. } => return None,
    })
}

fn ending(outcome: &Outcome, table: &Table) -> String {
    let winners: Vec<String> = outcome.winners.iter().map(|&seat| name(table, seat)).collect();
    let winners = winners.join(" and ");
    match outcome.by {
        DecidedBy::Score => format!("{winners} wins"),
        DecidedBy::BestRound => format!("{winners} wins the tie by the best single round"),
        DecidedBy::SharedWin => format!("{winners} share the win"),
        DecidedBy::LastSeat => format!("{winners} wins: all others have left"),
        DecidedBy::Deserted => "everybody has left, nobody wins".to_owned(),
        DecidedBy::Abandoned => "the game is abandoned, nobody wins".to_owned(),
    }
}

fn combination(combination: &Combination) -> String {
    let what = match combination.name {
        CombinationName::Single => "single",
        CombinationName::ThreeOfAKind => "three of a kind",
        CombinationName::FourOfAKind => "four of a kind",
        CombinationName::FiveOfAKind => "five of a kind",
        CombinationName::SixOfAKind => "six of a kind",
        CombinationName::Straight => "straight",
        CombinationName::ThreePairs => "three pairs",
        CombinationName::TwoTriplets => "two triplets",
    };
    format!("{what} {} = {}", dice(combination.faces), number(combination.points))
}

fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::GameScore => "game score",
        Measure::FarklesInARow => "farkles in a row",
    }
}

fn name(table: &Table, seat: SeatNo) -> String {
    table
        .seats
        .get(usize::from(seat))
        .map_or_else(|| format!("seat {seat}"), |s| s.name.to_string())
}

fn dice(faces: Faces) -> String {
    faces.iter().map(|face| face.to_string()).collect::<Vec<_>>().join(" ")
}

/// A number with a comma between thousands.
fn number(number: i64) -> String {
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
    use super::number;

    #[test]
    fn thousands() {
        let written = [0, 7, 999, 1000, -1000, 1_234_567, -50].map(number);
        assert_eq!(written, ["0", "7", "999", "1,000", "-1,000", "1,234,567", "-50"]);
    }
}
