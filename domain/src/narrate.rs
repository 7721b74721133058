//! What happened, in words a player reads.

use crate::{
    AwardedFor, Change, DecidedBy, EffectApplied, EffectSource, Event, Farkled, FarkledBy,
    LeftBecause, Measure, Outcome, Rules, Saved, SeatNo, Table, Word,
    explain::{bank_lines, explain, number},
    rogue::Colour,
    special_dice::{Code, DieAt},
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
        Event::TurnStarted { seat, round: 0, .. } => format!("before round 1, {}", who(*seat)),
        Event::TurnStarted { seat, round, .. } => format!("round {round}, {}", who(*seat)),
        Event::Rolled(roll) => {
            let folded = roll.folded.map(|points| format!("hot dice, {} kept: ", number(points)));
            let mut colours = roll.colours.iter().flat_map(|drawn| drawn.codes.iter());
            let shown = |face| match colours.next().copied().and_then(Colour::of) {
                Some(colour) => format!("{} {}", colour.word(), table.face(face)),
                None => table.face(face),
            };
            let faces: Vec<String> = roll.faces.iter().map(shown).collect();
            let (who, faces) = (who(roll.seat), faces.join(" "));
            let worth = match roll.max_points {
                0 if matches!(table.ruleset.rules, Rules::NeonPolis(_)) => String::new(),
                most => format!(", worth up to {}", number(most)),
            };
            format!("{}{who} rolls {faces}{worth}", folded.unwrap_or_default())
        }
        Event::Saved(save) => scored(event, save, table),
        Event::Banked(bank) => {
            let (who, points) = (who(bank.seat), number(bank.points));
            let why = bank_lines(bank);
            let why = if why.is_empty() { why.concat() } else { format!(" ({})", why.join(", ")) };
            format!("{who} banks {points}{why}, game score {}", number(bank.game_score))
        }
        Event::Farkled(farkle) => fallen(farkle, table),
        Event::EffectApplied(effect) => changed(effect, table),
        Event::CharacterChosen { seat, character } => {
            format!("{} plays {}", who(*seat), table.thing(*character))
        }
        Event::Drawn(drawn) => format!("{} comes up", table.thing(drawn.item)),
        Event::Asked { seat, .. } => format!("{} may stay or leave", who(*seat)),
        Event::Answered { seat, stays: true, .. } => format!("{} stays", who(*seat)),
        Event::Answered { seat, stays: false, .. } => format!("{} gives way", who(*seat)),
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

fn scored(event: &Event, save: &Saved, table: &Table) -> String {
    let farkle = matches!(table.ruleset.rules, Rules::Farkle(_));
    let hot = if farkle && save.left.is_empty() { ", hot dice" } else { "" };
    let (does, so_far) = if farkle { ("saves", "turn score") } else { ("scores", "so far") };
    let (who, points, sum) = (name(table, save.seat), number(save.points), number(save.turn_score));
    let why = match explain(event).join(", ") {
        none if none.is_empty() => none,
        why => format!(": {why}"),
    };
    format!("{who} {does} {points}{why} ({so_far} {sum}{hot})")
}

fn fallen(farkle: &Farkled, table: &Table) -> String {
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
    let what = match effect.source {
        EffectSource::FarklePenalty => "penalty for farkles in a row".to_owned(),
        EffectSource::RoundKept => "the completed hands count".to_owned(),
        EffectSource::Double => "double".to_owned(),
        EffectSource::BankPenalty => "the price of a bank".to_owned(),
        EffectSource::Overshoot => "too far".to_owned(),
        EffectSource::Die(die) => die_name(table, die),
        EffectSource::Bought(item) => format!("buys {}", table.thing(item)),
        EffectSource::Used(item) => format!("uses {}", table.thing(item)),
        EffectSource::Evolved(item) => format!("evolves: {}", table.thing(item)),
        EffectSource::Item(item) => table.thing(item),
        EffectSource::Ability(character) => {
            let ability = table.ruleset.rules.ability_of(character);
            ability.unwrap_or_else(|| table.thing(character))
        }
        EffectSource::Renewed => "renews the market".to_owned(),
        EffectSource::UpperBonus => "bonus of the upper part".to_owned(),
        EffectSource::ExtraYahtzee => "another yahtzee".to_owned(),
        EffectSource::Reward => "reward of the round".to_owned(),
        EffectSource::Centre => "holds the centre".to_owned(),
        EffectSource::Hearts => "hearts".to_owned(),
        EffectSource::Energy => "energy".to_owned(),
        EffectSource::Swords => "swords".to_owned(),
        EffectSource::Entered => "enters the centre".to_owned(),
        EffectSource::Yielded => "leaves the centre".to_owned(),
    };
    // That something is at work is only worth telling where nothing else changes.
    let quiet =
        |change: &&Change| effect.changes.len() == 1 || !matches!(change.what, Measure::Active(_));
    let told = |c: &Change| {
        let (before, after) = (table.value(c.what, c.before), table.value(c.what, c.after));
        format!("{} {before} → {after}", c.what.words())
    };
    let changes: Vec<String> = effect.changes.iter().filter(quiet).map(told).collect();
    format!("{}: {what}: {}", name(table, effect.seat), changes.join(", "))
}

fn ruled(winners: &[SeatNo], table: &Table) -> String {
    let names: Vec<String> = winners.iter().map(|&seat| name(table, seat)).collect();
    match names.join(" and ") {
        none if none.is_empty() => "the house ends the game, nobody wins".to_owned(),
        names => format!("the house ends the game in favour of {names}"),
    }
}

fn ending(outcome: &Outcome, table: &Table) -> String {
    let winners: Vec<String> = outcome.winners.iter().map(|&seat| name(table, seat)).collect();
    let winners = winners.join(" and ");
    match outcome.by {
        DecidedBy::Score | DecidedBy::Goal => format!("{winners} wins"),
        DecidedBy::BestRound => format!("{winners} wins the tie by the best single round"),
        DecidedBy::SharedWin => format!("{winners} share the win"),
        DecidedBy::LastAlive => format!("{winners} wins: nobody else is left standing"),
        DecidedBy::Draw => "nobody is left standing: a draw".to_owned(),
        DecidedBy::Missed => "the target is missed, the run is over".to_owned(),
        DecidedBy::LastSeat => format!("{winners} wins: all others have left"),
        DecidedBy::Deserted => "everybody has left, nobody wins".to_owned(),
        DecidedBy::Abandoned => "the game is abandoned, nobody wins".to_owned(),
        DecidedBy::Voided => "the game ends here, nobody wins".to_owned(),
        DecidedBy::Ruled if outcome.winners.is_empty() => "nobody wins".to_owned(),
        DecidedBy::Ruled => format!("{winners} wins: the house has decided"),
    }
}

impl Table {
    /// What a thing of the rules is called: a card, a consumable, a character.
    fn thing(&self, code: Word) -> String {
        self.ruleset.rules.name_of(code).unwrap_or_else(|| code.spoken())
    }

    /// A value as people read it.
    fn value(&self, what: Measure, value: i64) -> String {
        match (what, u8::try_from(value)) {
            (Measure::Stored, Ok(0)) => "none".to_owned(),
            (Measure::Face(_) | Measure::Stored, Ok(face)) => self.face(face),
            (
                Measure::Inside
                | Measure::Alive
                | Measure::Shielded
                | Measure::Armed
                | Measure::Evolution
                | Measure::Active(_)
                | Measure::CategoryOpen(_),
                Ok(0 | 1),
            ) => if value == 0 { "no" } else { "yes" }.to_owned(),
            _ => number(value),
        }
    }

    /// What a side of a die shows.
    fn face(&self, face: u8) -> String {
        self.ruleset.rules.face_name(face).map_or_else(|| face.to_string(), str::to_owned)
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
    if let Some(colour) = Colour::of(die.code) {
        return format!("{} dice", colour.word());
    }
    let kind = table.ruleset.rules.catalogue().and_then(|catalogue| catalogue.find(die.code));
    kind.map_or_else(|| die.code.to_string(), |kind| kind.name.clone())
}
