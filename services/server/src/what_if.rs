//! What-if: replays a game with other rules, dice or moves. Nothing is stored, so it never counts
//! in statistics or pays money.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    BadRecord, Event, Fork, NoFork, OtherDice, Rejection, Ruleset, SeatNo, Then, WhatIf,
    parse_moves, what_if,
};
use serde_json::{Map, Value};

/// The changes of a what-if.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// How many events of the original are kept; all by default.
    pub(crate) version: Option<usize>,
    /// Another preset of the same game.
    pub(crate) preset: Option<String>,
    /// Changed parameters of the rules.
    pub(crate) rules: Map<String, Value>,
    /// Other loadouts, by seat.
    pub(crate) loadouts: BTreeMap<SeatNo, Vec<String>>,
    /// Other moves, in the syntax of records; by default the original moves.
    pub(crate) moves: Option<String>,
    /// A seed for other dice.
    pub(crate) seed: Option<String>,
}

/// Why a what-if is not possible.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum WhatIfError {
    #[error("moves: {0}")]
    Moves(#[from] BadRecord),
    #[error("{0}")]
    Rules(#[from] Rejection),
    #[error("{0}")]
    Fork(#[from] NoFork),
}

/// Replays a game with changes.
pub(crate) fn run(log: &[Event], changes: &Changes) -> Result<WhatIf, WhatIfError> {
    let Some(Event::Created { ruleset, .. }) = log.first() else {
        return Err(NoFork::NoGame.into());
    };
    let over = log.iter().any(|event| event.name() == "SeedRevealed");
    let planned = changes.moves.as_deref().map(parse_moves).transpose()?;
    let rolls = planned.iter().flatten().filter_map(|planned| planned.raw.clone());
    let rolls: Vec<Vec<u32>> = rolls.collect();
    let dice = match &changes.seed {
        _ if !rolls.is_empty() => OtherDice::Script(rolls),
        Some(text) => OtherDice::Seed(text.clone()),
        None if over => OtherDice::Same,
        // The future dice of a running game must not be revealed.
        None => OtherDice::Seed(String::new()),
    };
    let then = match planned {
        Some(moves) => {
            Then::Moves(moves.into_iter().map(|planned| (planned.seat, planned.play)).collect())
        }
        // Only the kept events.
        None if changes.version.is_some() => Then::Moves(Vec::new()),
        None => Then::Original,
    };
    let from = changes.version.unwrap_or(log.len());
    let rules = other_rules(ruleset, changes)?;
    Ok(what_if(log, &Fork { rules, loadouts: changes.loadouts.clone(), from, then, dice })?)
}

/// The changed rules, with the special dice of the original.
fn other_rules(
    original: &Arc<Ruleset>,
    changes: &Changes,
) -> Result<Option<Arc<Ruleset>>, Rejection> {
    if changes.preset.is_none() && changes.rules.is_empty() {
        return Ok(None);
    }
    let mut ruleset = match &changes.preset {
        Some(preset) => Ruleset::preset(original.rules.game(), Some(preset))?,
        None => Ruleset::clone(original),
    };
    if let Some(catalogue) = original.rules.catalogue() {
        ruleset.rules = ruleset.rules.with_catalogue(&Arc::new(catalogue.clone()));
    }
    Ok(Some(Arc::new(ruleset.with(&changes.rules)?)))
}
