//! What happened, in words a player reads.

use crate::{
    AwardedFor, DecidedBy, EffectApplied, EffectSource, Event, FarkledBy, LeftBecause, Measure,
    Outcome, SeatNo, Table,
    explain::{bank_lines, dice, explain, number},
    farkle::dice::{Code, DieAt},
};

/// One line about an event; `None` where there is nothing to tell.
pub fn narrate(event: &Event, table: &Table) -> Option<String> {
    let who = |seat: SeatNo| name(table, seat);
    Some(match event {
        Event::SeatTaken { seat, name, .. } => format!("{name} takes seat {seat}"),
        Event::SeedChosen { seat, .. } => format!("{} adds a seed to the dice", who(*seat)),
        Event::LoadoutChosen { seat, dice } => {
            let codes: Vec<&str> = dice.iter().map(Code::as_str).collect();
            format!("{} brings {}", who(*seat), codes.join(", "))
        }
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
            let hot = if save.left.is_empty() { ", hot dice" } else { "" };
            let (who, turn) = (who(save.seat), number(save.turn_score));
            let points = number(save.points);
            let why = explain(event).join(", ");
            format!("{who} saves {points}: {why} (turn score {turn}{hot})")
        }
        Event::Banked(bank) => {
            let (who, points) = (who(bank.seat), number(bank.points));
            let why = bank_lines(bank);
            let why = if why.is_empty() { why.concat() } else { format!(" ({})", why.join(", ")) };
            format!("{who} banks {points}{why}, game score {}", number(bank.game_score))
        }
        Event::Farkled(farkle) => {
            let what = match farkle.by {
                FarkledBy::Roll => "farkles",
                FarkledBy::Choice => "gives the roll up",
            };
            let scored = farkle.kept.saturating_add(farkle.awarded);
            let all_the_same = if scored == 0 {
                String::new()
            } else {
                format!(", but scores {}", number(scored))
            };
            format!(
                "{} {what} and loses {}{all_the_same}",
                who(farkle.seat),
                number(farkle.forfeited)
            )
        }
        Event::EffectApplied(effect) => changed(effect, table),
        Event::MoneyAwarded { seat, amount, why } => {
            let why = match why {
                AwardedFor::Finishing => "for finishing".to_owned(),
                AwardedFor::Winning => "for winning".to_owned(),
                AwardedFor::Die(die) => format!("with the {}", die_name(table, *die)),
            };
            format!("{} earns ${amount} {why}", who(*seat))
        }
        Event::TimedOut { seat, in_a_row } => {
            format!("time is up for {}, {in_a_row} in a row", who(*seat))
        }
        Event::Ended(outcome) => ending(outcome, table),
        Event::Created { .. }
        | Event::Started { .. }
        | Event::TurnEnded(_)
        | Event::SeedRevealed { .. }
        | Event::Account(_)
        | Event::Catalogue(_) => return None,
    })
}

fn changed(effect: &EffectApplied, table: &Table) -> String {
    let what = match effect.source {
        EffectSource::FarklePenalty => "penalty for farkles in a row".to_owned(),
        EffectSource::RoundKept => "the completed hands count".to_owned(),
        EffectSource::Double => "double".to_owned(),
        EffectSource::BankPenalty => "the price of a bank".to_owned(),
        EffectSource::Overshoot => "too far".to_owned(),
        EffectSource::Die(die) => die_name(table, die),
    };
    let changes: Vec<String> = effect
        .changes
        .iter()
        .map(|c| format!("{} {} → {}", measure(c.what), number(c.before), number(c.after)))
        .collect();
    format!("{}: {what}: {}", name(table, effect.seat), changes.join(", "))
}

fn ending(outcome: &Outcome, table: &Table) -> String {
    let winners: Vec<String> = outcome.winners.iter().map(|&seat| name(table, seat)).collect();
    let winners = winners.join(" and ");
    match outcome.by {
        DecidedBy::Score | DecidedBy::Goal => format!("{winners} wins"),
        DecidedBy::BestRound => format!("{winners} wins the tie by the best single round"),
        DecidedBy::SharedWin => format!("{winners} share the win"),
        DecidedBy::LastSeat => format!("{winners} wins: all others have left"),
        DecidedBy::Deserted => "everybody has left, nobody wins".to_owned(),
        DecidedBy::Abandoned => "the game is abandoned, nobody wins".to_owned(),
    }
}

fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::GameScore => "game score",
        Measure::FarklesInARow => "farkles in a row",
        Measure::RoundScore => "round score",
        Measure::HotStreak => "hot streak",
        Measure::DareBonus => "bonus of the next bank",
        Measure::CombinationPoints => "combination",
        Measure::SavePoints => "save",
        Measure::HandPoints => "turn score",
        Measure::BankPoints => "bank",
        Measure::Multiplier => "multiplier",
        Measure::PendingPenalty => "penalty of a bank",
    }
}

fn name(table: &Table, seat: SeatNo) -> String {
    table
        .seats
        .get(usize::from(seat))
        .map_or_else(|| format!("seat {seat}"), |s| s.name.to_string())
}

/// A die by its name in the catalogue of the game.
fn die_name(table: &Table, die: DieAt) -> String {
    let kind = table.ruleset.rules.catalogue().and_then(|catalogue| catalogue.find(die.code));
    kind.map_or_else(|| die.code.to_string(), |kind| kind.name.clone())
}
