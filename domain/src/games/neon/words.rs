//! Texts of NeonPolis.

use super::{
    ENERGY, HEART, NeonRules, SWORD,
    names::{ABILITY, ATTACK, EVOLVED, FACE, STORED, is_flag},
};
use crate::{
    DecidedBy, Event, Measure, Slug, Table,
    effect::{ACTIVE, BOUGHT},
    game_rules::{Parameters, yes_or_no},
    narrate::{name, rolls, winners},
};

/// The text of an event that is specific to NeonPolis.
pub(super) fn describe(event: &Event, table: &Table) -> Option<String> {
    Some(match event {
        Event::Rolled(roll) if roll.max_points == 0 => rolls(roll, table),
        Event::Asked { seat, .. } => format!("{} may stay or leave", name(table, *seat)),
        Event::Answered { seat, stays, .. } => {
            let does = if *stays { "stays" } else { "gives way" };
            format!("{} {does}", name(table, *seat))
        }
        Event::EffectApplied(effect) if effect.source == ATTACK => {
            format!("{} attacks", name(table, effect.seat))
        }
        Event::Ended(outcome) if outcome.by == DecidedBy::Draw => {
            "nobody is left standing: a draw".to_owned()
        }
        Event::Ended(outcome) if outcome.by == DecidedBy::LastAlive => {
            let winner = winners(&outcome.winners, table);
            format!("{winner} wins: nobody else is left standing")
        }
        _ => return None,
    })
}

/// The text of a value: faces by name, flags as yes and no.
pub(super) fn shown(what: Measure, value: i64) -> Option<String> {
    let face = u8::try_from(value).ok();
    match what {
        STORED if value == 0 => Some("none".to_owned()),
        STORED | Measure::OfDie(FACE, _) => {
            face.map(|face| face_name(face).map_or_else(|| face.to_string(), str::to_owned))
        }
        Measure::OfItem(ACTIVE, _) => yes_or_no(value),
        _ if is_flag(what) => yes_or_no(value),
        _ => None,
    }
}

impl NeonRules {
    /// The text of an action with an item.
    pub(super) fn done(&self, done: Slug, thing: Slug) -> String {
        let name = self.name_of(thing).unwrap_or_else(|| thing.spoken());
        match done {
            BOUGHT => format!("buys {name}"),
            EVOLVED => format!("evolves: {name}"),
            ABILITY => self.character(thing).map_or(name, |character| character.ability.clone()),
            _ => name,
        }
    }
}

/// The name of a face that is not a number.
pub(super) fn face_name(face: u8) -> Option<&'static str> {
    match face {
        SWORD => Some("sword"),
        ENERGY => Some("energy"),
        HEART => Some("heart"),
        _ => None,
    }
}
