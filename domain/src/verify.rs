//! Proving a finished game from its events alone: everything is decided again.

use crate::{
    Event, Rejection,
    fair::{FairDice, commitment},
    recount::walk,
};

/// What was found to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// Rolls drawn again from the secret and the seeds.
    pub rolls: u64,
    /// Events decided again under the game's own rules.
    pub events: usize,
}

/// Plays a finished game again: the commands are read off its events, the dice are drawn anew from
/// the revealed secret and the sealed seeds, and the rules of its first event decide. The result must
/// be the same events, so nothing in them can be false: no face, no point, no winner.
pub fn verify(log: &[Event]) -> Result<Proven, Unproven> {
    let Some(Event::Created { game: id, ruleset_hash, commitment: promised, .. }) = log.first()
    else {
        return Err(Unproven::NoGame);
    };
    // Behind the end there can only be that the game was made void.
    let secret = log.iter().rev().take(2).find_map(|event| {
        if let Event::SeedRevealed { secret } = event { Some(secret) } else { None }
    });
    let secret = secret.ok_or(Unproven::NotRevealed)?;
    if commitment(secret, *id, *ruleset_hash) != *promised {
        return Err(Unproven::Commitment);
    }
    let walked = walk(log, |game| FairDice::new(*secret, game))?;
    let rolls = walked.game.map_or(0, |game| game.table.rolls);
    Ok(Proven { rolls, events: log.len() })
}

/// Why a game is not proven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// The events do not begin with a game.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The game is not over.
    #[error("the secret is not revealed yet; it is when the game is over")]
    NotRevealed,
    /// Another secret than the promised one.
    #[error("the revealed secret is not the one that was committed to")]
    Commitment,
    /// Nothing can have made this happen.
    #[error("event {number} ({event}) cannot have happened{}", because(why.as_ref()))]
    Impossible {
        /// The first such event, from 1.
        number: usize,
        /// Its type.
        event: &'static str,
        /// Why the rules refuse it.
        why: Option<Rejection>,
    },
    /// Something else must have happened.
    #[error("event {number} is {found}, but the rules, the secret and the seeds give {expected}")]
    Differs {
        /// The first such event, from 1.
        number: usize,
        /// What must have happened, as JSON.
        expected: String,
        /// What the log says, as JSON.
        found: String,
    },
}

impl Unproven {
    pub(crate) fn differs(number: usize, expected: &Event, found: Option<&Event>) -> Self {
        let json = |event: &Event| serde_json::to_string(event).unwrap_or_default();
        let found = found.map_or_else(|| "missing".to_owned(), json);
        Self::Differs { number, expected: json(expected), found }
    }
}

fn because(why: Option<&Rejection>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}
