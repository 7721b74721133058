//! What if: a game played otherwise, as somebody asks for it. Nothing is stored, so nothing of it is ever counted or paid.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    BadRecord, Event, Fork, NoFork, OtherDice, Rejection, Ruleset, SeatNo, Then, WhatIf,
    parse_moves, what_if,
};
use serde_json::{Map, Value};

/// How a game is to be played otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// How many events stand; all of them if nobody says.
    pub(crate) version: Option<usize>,
    /// Another preset of the same kind of game.
    pub(crate) preset: Option<String>,
    /// Parameters that are changed.
    pub(crate) rules: Map<String, Value>,
    /// Other dice of some seats.
    pub(crate) loadouts: BTreeMap<SeatNo, Vec<String>>,
    /// Moves instead of what was played, in the words of records; the rest as it was played if nobody says.
    pub(crate) moves: Option<String>,
    /// A text that makes other dice.
    pub(crate) seed: Option<String>,
}

/// Why nothing can be imagined.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Unimaginable {
    #[error("moves: {0}")]
    Moves(#[from] BadRecord),
    #[error("{0}")]
    Rules(#[from] Rejection),
    #[error("{0}")]
    Fork(#[from] NoFork),
}

/// Plays a game otherwise.
pub(crate) fn imagine(log: &[Event], wanted: &Wanted) -> Result<WhatIf, Unimaginable> {
    let Some(Event::Created { ruleset, .. }) = log.first() else {
        return Err(NoFork::NoGame.into());
    };
    let over = log.iter().any(|event| event.name() == "SeedRevealed");
    let planned = wanted.moves.as_deref().map(parse_moves).transpose()?;
    let rolls = planned.iter().flatten().filter_map(|planned| planned.raw.clone());
    let rolls: Vec<Vec<u32>> = rolls.collect();
    let dice = match &wanted.seed {
        _ if !rolls.is_empty() => OtherDice::Script(rolls),
        Some(text) => OtherDice::Seed(text.clone()),
        None if over => OtherDice::Same,
        // A game that runs must not tell what it will roll.
        None => OtherDice::Seed(String::new()),
    };
    let then = match planned {
        Some(moves) => {
            Then::Moves(moves.into_iter().map(|planned| (planned.seat, planned.play)).collect())
        }
        // Up to a version, and no further.
        None if wanted.version.is_some() => Then::Moves(Vec::new()),
        None => Then::Original,
    };
    let from = wanted.version.unwrap_or(log.len());
    let rules = other_rules(ruleset, wanted)?;
    Ok(what_if(log, &Fork { rules, loadouts: wanted.loadouts.clone(), from, then, dice })?)
}

/// The rules that are wanted, with the special dice of the original.
fn other_rules(
    original: &Arc<Ruleset>,
    wanted: &Wanted,
) -> Result<Option<Arc<Ruleset>>, Rejection> {
    if wanted.preset.is_none() && wanted.rules.is_empty() {
        return Ok(None);
    }
    let mut ruleset = match &wanted.preset {
        Some(preset) => Ruleset::preset(original.rules.game(), Some(preset))?,
        None => Ruleset::clone(original),
    };
    if let Some(catalogue) = original.rules.catalogue() {
        ruleset.rules = ruleset.rules.with_catalogue(&Arc::new(catalogue.clone()));
    }
    Ok(Some(Arc::new(ruleset.with(&wanted.rules)?)))
}
