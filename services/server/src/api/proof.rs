//! Proving a game through the API, and looking at it as it was.

use std::sync::Arc;

use async_graphql::SimpleObject;
use domain::{Event, Game, Proven, evolve, verify};
use futures_util::TryStreamExt;
use store::{Hash, Head, Loaded, Store, bundle::Bundle};
use uuid::Uuid;

use super::{game::GameView, scalars::int};
use crate::play::{PlayError, Refusal};

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
    /// Whether its last event is covered by a signed seal. One that is missing comes within a minute or so.
    sealed: bool,
    /// The public key of the seal: compare it with the one that the house published elsewhere.
    seal_key: Option<String>,
    /// The first thing that is not right, with what was expected and what was found; or why nothing can be proven yet.
    problem: Option<String>,
}

impl Verification {
    /// Reads a game from the log and decides everything again.
    pub(super) async fn of(store: &Store, game: Uuid) -> Result<Self, PlayError> {
        let bundle = Bundle::load(store, game).await?.ok_or_else(Refusal::no_such_game)?;
        // A long game takes milliseconds: others need not wait for it.
        let judged = tokio::task::spawn_blocking(move || Self::judge(&bundle)).await;
        judged.map_err(|error| PlayError::Fault(error.to_string()))
    }

    fn judge(bundle: &Bundle) -> Self {
        let key = bundle.sealed.as_ref().map(|sealed| Hash(sealed.seal.key).to_string());
        let mut found = Self {
            proven: false,
            chain: false,
            rolls: 0,
            events: 0,
            sealed: key.is_some(),
            seal_key: key,
            problem: None,
        };
        let log = match bundle.check() {
            Ok(log) => log,
            Err(bad) => return Self { problem: Some(bad.to_string()), ..found },
        };
        found.chain = true;
        let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
        match verify(&events) {
            Ok(Proven { rolls, events }) => {
                Self { proven: true, rolls: int(rolls), events: int(events), ..found }
            }
            Err(unproven) => Self { problem: Some(unproven.to_string()), ..found },
        }
    }
}

impl GameView {
    /// The game as it was behind one of its events.
    pub(super) async fn as_of(&self, store: &Store, version: i64) -> Result<Self, PlayError> {
        if version == self.state.head.version {
            return Ok(self.clone());
        }
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
        Ok(Self { id: self.id, state: Arc::new(Loaded::at(now, head)) })
    }
}
