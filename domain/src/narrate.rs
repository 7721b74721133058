//! Events as text for players: the part common to all games. The texts of a game are in its folder.

use crate::{
    AwardedFor, Change, DecidedBy, EffectApplied, EffectSource, Event, Farkled, FarkledBy,
    LeftBecause, Measure, Outcome, Rolled, Saved, SeatNo, Slug, Table,
    effect::ACTIVE,
    explain::{explain, number},
    special_dice::Code,
};

/// One line about an event; `None` if players need not see it.
pub fn narrate(event: &Event, table: &Table) -> Option<String> {
    let own = table.ruleset.rules.parameters().describe(event, table);
    own.or_else(|| describe(event, table))
}

fn describe(event: &Event, table: &Table) -> Option<String> {
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
        Event::TurnStarted { seat, round: 0, .. } => format!("before round 1, {}", who(*seat)),
        Event::TurnStarted { seat, round, .. } => format!("round {round}, {}", who(*seat)),
        Event::Rolled(roll) => {
            format!("{}, worth up to {}", rolls(roll, table), number(roll.max_points))
        }
        Event::Saved(save) => scored(event, save, table),
        Event::Banked(bank) => {
            let (who, points) = (who(bank.seat), number(bank.points));
            let why = explain(event, &table.ruleset.rules);
            let why = if why.is_empty() { why.concat() } else { format!(" ({})", why.join(", ")) };
            format!("{who} banks {points}{why}, game score {}", number(bank.game_score))
        }
        Event::Farkled(farkle) => farkled(farkle, table),
        Event::EffectApplied(effect) => changed(effect, table),
        Event::CharacterChosen { seat, character } => {
            format!("{} plays {}", who(*seat), table.thing(*character))
        }
        Event::Drawn(drawn) => format!("{} comes up", table.thing(drawn.item)),
        Event::Asked { seat, .. } => format!("{} is asked", who(*seat)),
        Event::Answered { seat, stays, .. } => {
            format!("{} says {}", who(*seat), if *stays { "yes" } else { "no" })
        }
        Event::MoneyAwarded { seat, amount, why } => {
            let why = match why {
                AwardedFor::Finishing => "for finishing".to_owned(),
                AwardedFor::Winning => "for winning".to_owned(),
                AwardedFor::Die(die) => format!("with the {}", table.die(die.code)),
            };
            format!("{} earns ${amount} {why}", who(*seat))
        }
        Event::TimedOut { seat, in_a_row } => {
            format!("time is up for {}, {in_a_row} in a row", who(*seat))
        }
        Event::Ended(outcome) => ending(outcome, table),
        Event::Voided { why, .. } => format!("the game is void: {}", why.words()),
        Event::Ruled { winners, .. } => ruled(winners, table),
        Event::Created { .. }
        | Event::Started { .. }
        | Event::TurnEnded(_)
        | Event::SeedRevealed { .. }
        | Event::Account(_)
        | Event::Catalogue(_)
        | Event::Dispute(_)
        | Event::Staff(_) => return None,
    })
}

/// The text of a roll.
pub(crate) fn rolls(roll: &Rolled, table: &Table) -> String {
    let mut kinds = roll.colours.iter().flat_map(|drawn| drawn.codes.iter());
    let shown = |face| match kinds.next() {
        Some(kind) if *kind != Code::STANDARD => {
            format!("{} {}", kind.as_str().to_ascii_lowercase(), table.face(face))
        }
        _ => table.face(face),
    };
    let faces: Vec<String> = roll.faces.iter().map(shown).collect();
    format!("{} rolls {}", name(table, roll.seat), faces.join(" "))
}

fn scored(event: &Event, save: &Saved, table: &Table) -> String {
    let (who, points, sum) = (name(table, save.seat), number(save.points), number(save.turn_score));
    let why = match explain(event, &table.ruleset.rules).join(", ") {
        none if none.is_empty() => none,
        why => format!(": {why}"),
    };
    format!("{who} scores {points}{why} (so far {sum})")
}

fn farkled(farkle: &Farkled, table: &Table) -> String {
    let what = match farkle.by {
        FarkledBy::Roll => "farkles",
        FarkledBy::Choice => "gives the roll up",
    };
    let scored = farkle.kept.saturating_add(farkle.awarded);
    let all_the_same =
        if scored == 0 { String::new() } else { format!(", but scores {}", number(scored)) };
    let (who, lost) = (name(table, farkle.seat), number(farkle.forfeited));
    format!("{who} {what} and loses {lost}{all_the_same}")
}

fn changed(effect: &EffectApplied, table: &Table) -> String {
    let rules = table.ruleset.rules.parameters();
    let what = table.source_label(effect.source);
    // The activation of an effect is only shown if nothing else changes.
    let is_shown = |change: &&Change| {
        effect.changes.len() == 1 || !matches!(change.what, Measure::OfItem(ACTIVE, _))
    };
    let line = |c: &Change| {
        let value = |value| rules.value_wording(c.what, value).unwrap_or_else(|| number(value));
        format!("{} {} → {}", table.measure_label(c.what), value(c.before), value(c.after))
    };
    let changes: Vec<String> = effect.changes.iter().filter(is_shown).map(line).collect();
    format!("{}: {what}: {}", name(table, effect.seat), changes.join(", "))
}

fn ruled(winners: &[SeatNo], table: &Table) -> String {
    match self::winners(winners, table) {
        none if none.is_empty() => "the house ends the game, nobody wins".to_owned(),
        names => format!("the house ends the game in favour of {names}"),
    }
}

/// The names of the winners.
pub(crate) fn winners(winners: &[SeatNo], table: &Table) -> String {
    let names: Vec<String> = winners.iter().map(|&seat| name(table, seat)).collect();
    names.join(" and ")
}

fn ending(outcome: &Outcome, table: &Table) -> String {
    let winners = winners(&outcome.winners, table);
    match outcome.by {
        DecidedBy::LastSeat => format!("{winners} wins: all others have left"),
        DecidedBy::Deserted => "everybody has left, nobody wins".to_owned(),
        DecidedBy::Abandoned => "the game is abandoned, nobody wins".to_owned(),
        DecidedBy::Voided => "the game ends here, nobody wins".to_owned(),
        DecidedBy::Ruled if !winners.is_empty() => format!("{winners} wins: the house has decided"),
        DecidedBy::Score
        | DecidedBy::Goal
        | DecidedBy::BestRound
        | DecidedBy::SharedWin
        | DecidedBy::LastAlive
        | DecidedBy::Draw
        | DecidedBy::Missed
        | DecidedBy::Ruled => match winners {
            nobody if nobody.is_empty() => "nobody wins".to_owned(),
            winners => format!("{winners} wins"),
        },
    }
}

impl Table {
    /// The name of a card, consumable or character.
    fn thing(&self, code: Slug) -> String {
        self.ruleset.rules.name_of(code).unwrap_or_else(|| code.spoken())
    }

    /// The text of a rule or a measure.
    fn wording(&self, name: Slug) -> String {
        let own = self.ruleset.rules.parameters().wording(name);
        own.map_or_else(|| name.spoken(), str::to_owned)
    }

    /// The text of the source of an effect.
    pub fn source_label(&self, source: EffectSource) -> String {
        match source {
            EffectSource::Rule(rule) => self.wording(rule),
            EffectSource::Item(done, thing) => {
                self.ruleset.rules.parameters().item_label(done, thing)
            }
            EffectSource::Die(die) => self.die(die.code),
        }
    }

    /// The text of a value that effects change.
    pub fn measure_label(&self, what: Measure) -> String {
        match what {
            Measure::Value(name) => self.wording(name),
            Measure::OfItem(name, thing) => {
                format!("{} {}", thing.spoken(), self.wording(name)).trim_end().to_owned()
            }
            Measure::OfDie(_, slot) => format!("die {slot}"),
        }
    }

    /// The text of a face.
    fn face(&self, face: u8) -> String {
        self.ruleset.rules.face_name(face).map_or_else(|| face.to_string(), str::to_owned)
    }

    fn die(&self, code: Code) -> String {
        self.ruleset.rules.parameters().die_name(code)
    }
}

/// The name of the player of a seat.
pub(crate) fn name(table: &Table, seat: SeatNo) -> String {
    table
        .seats
        .get(usize::from(seat))
        .map_or_else(|| format!("seat {seat}"), |s| s.name.to_string())
}
