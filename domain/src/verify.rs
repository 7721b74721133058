//! Verifies a finished game from its events alone by deciding everything again.

use crate::{
    Event, Rejection,
    fair::{FairDice, commitment},
    infer_commands::walk,
};

/// The result of a successful verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// Rolls drawn again from the secret and the seeds.
    pub rolls: u64,
    /// Events decided again under the game's own rules.
    pub events: usize,
}

/// Replays a finished game: commands are inferred from its events, dice are drawn again from the
/// revealed secret and the sealed seeds, and decisions follow the rules of its first event. The
/// result must be identical, so no face, point or winner in the log can be wrong.
pub fn verify(log: &[Event]) -> Result<Proven, VerificationError> {
    let Some(Event::Created { game: id, ruleset_hash, commitment: promised, .. }) = log.first()
    else {
        return Err(VerificationError::NoGame);
    };
    // Only `Voided` can follow the end.
    let secret = log.iter().rev().take(2).find_map(|event| {
        if let Event::SeedRevealed { secret } = event { Some(secret) } else { None }
    });
    let secret = secret.ok_or(VerificationError::NotRevealed)?;
    if commitment(secret, *id, *ruleset_hash) != *promised {
        return Err(VerificationError::Commitment);
    }
    let walked = walk(log, |game| FairDice::new(*secret, game))?;
    let rolls = walked.game.map_or(0, |game| game.table.rolls);
    Ok(Proven { rolls, events: log.len() })
}

/// Why a verification failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The log does not begin with `Created`.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The game is not over.
    #[error("the secret is not revealed yet; it is when the game is over")]
    NotRevealed,
    /// The secret does not match the commitment.
    #[error("the revealed secret is not the one that was committed to")]
    Commitment,
    /// No command can produce this event.
    #[error("event {number} ({event}) cannot have happened{}", because(why.as_ref()))]
    Impossible {
        /// The number of the first such event, starting at 1.
        number: usize,
        /// Its type.
        event: &'static str,
        /// The rejection of the rules, if any.
        why: Option<Rejection>,
    },
    /// The rules, the secret and the seeds give another event.
    #[error("event {number} is {found}, but the rules, the secret and the seeds give {expected}")]
    Differs {
        /// The number of the first such event, starting at 1.
        number: usize,
        /// The correct event, as JSON.
        expected: String,
        /// The event of the log, as JSON.
        found: String,
    },
}

impl VerificationError {
    pub(crate) fn differs(number: usize, expected: &Event, found: Option<&Event>) -> Self {
        let json = |event: &Event| serde_json::to_string(event).unwrap_or_default();
        let found = found.map_or_else(|| "missing".to_owned(), json);
        Self::Differs { number, expected: json(expected), found }
    }
}

fn because(why: Option<&Rejection>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}
