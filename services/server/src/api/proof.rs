//! Proving a game through the API, and looking at it as it was.

use std::sync::Arc;

use async_graphql::SimpleObject;
use domain::{Event, Game, Proven, evolve, verify};
use futures_util::TryStreamExt;
use store::{Hash, Head, Loaded, Store};
use uuid::Uuid;

use super::{game::GameView, scalars::int};
use crate::play::PlayError;

/// What came of checking a game. `croupier verify` does the same with an exported game, far from any database, and so does
/// `tests/fair_dice.py`, which shares no code with us.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Verification {
    /// Whether everything is right.
    proven: bool,
    /// Whether every event is chained to the one before by its hash.
    chain: bool,
    /// Rolls drawn again from the secret and the seeds.
    rolls: i32,
    /// Events decided again under the game's own rules.
    events: i32,
    /// The first thing that is not right, with what was expected and what was found; or why nothing can be proven yet.
    problem: Option<String>,
}

impl Verification {
    /// Reads a game from the log and decides everything again.
    pub(super) async fn of(store: &Store, game: Uuid) -> Result<Self, PlayError> {
        let mut found = Self { proven: false, chain: true, rolls: 0, events: 0, problem: None };
        let (mut log, mut previous): (Vec<Event>, Hash) = (Vec::new(), Hash::ZERO);
        let mut envelopes = store.stream_envelopes(game, 0);
        while let Some(envelope) = envelopes.try_next().await? {
            if envelope.hash != envelope.expected_hash(&previous) {
                let version = envelope.version;
                found.chain = false;
                found.problem = Some(format!(
                    "the chain is broken: event {version}, or one before it, was changed"
                ));
                return Ok(found);
            }
            previous = envelope.hash;
            match envelope.decode() {
                Ok(recorded) => log.push(recorded.event),
                Err(error) => {
                    found.problem = Some(format!("event {}: {error}", envelope.version));
                    return Ok(found);
                }
            }
        }
        // A long game takes milliseconds: others need not wait for it.
        let proven = tokio::task::spawn_blocking(move || verify(&log)).await;
        match proven.map_err(|error| PlayError::Fault(error.to_string()))? {
            Ok(Proven { rolls, events }) => {
                (found.proven, found.rolls, found.events) = (true, int(rolls), int(events));
            }
            Err(unproven) => found.problem = Some(unproven.to_string()),
        }
        Ok(found)
    }
}

impl GameView {
    /// The game as it was behind one of its events.
    pub(super) async fn as_of(&self, store: &Store, version: i64) -> Result<Self, PlayError> {
        let mut now: Option<Game> = None;
        let mut head = Head::NEW;
        let mut envelopes = store.stream_envelopes(self.id, 0);
        while head.version < version
            && let Some(envelope) = envelopes.try_next().await?
        {
            let recorded =
                envelope.decode().map_err(|error| PlayError::Fault(error.to_string()))?;
            now = evolve(now, &recorded.event);
            let (version, hash, recorded_at) =
                (envelope.version, envelope.hash, envelope.recorded_at);
            head = Head { version, hash, recorded_at };
        }
        Ok(Self { id: self.id, state: Arc::new(Loaded { now, head }) })
    }
}
