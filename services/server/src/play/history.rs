//! States of games after each of their events, for clients that animate or replay them.

use std::sync::Arc;

use domain::{Event, Game, evolve};
use futures_util::TryStreamExt;
use quick_cache::sync::Cache;
use store::{Executed, Head, Loaded, Store};
use uuid::Uuid;

use super::AppError;

/// How many states are cached. All subscribers of a game read the same few.
const IN_MEMORY: usize = 2_000;

/// Cache of past states of games.
#[derive(Debug)]
pub(crate) struct History {
    store: Store,
    /// By game and version.
    states: Cache<(Uuid, i64), Arc<Loaded>>,
}

impl History {
    pub(super) fn new(store: Store) -> Self {
        Self { store, states: Cache::new(IN_MEMORY) }
    }

    /// Caches the state before a command with several events: the states in between are folded
    /// from it.
    pub(super) fn remember(&self, game: Uuid, executed: &Executed) {
        if let Some(before) = executed.before.as_ref().filter(|_| executed.events.len() > 1) {
            self.states.insert((game, before.head.version), Arc::clone(before));
        }
    }

    /// The state right after an event.
    pub(crate) async fn after(
        &self,
        game: Uuid,
        version: i64,
        event: &Event,
    ) -> Result<Arc<Loaded>, AppError> {
        let current = self.store.games.cached(game);
        if let Some(state) = current.filter(|state| state.head.version == version) {
            return Ok(state);
        }
        if let Some(state) = self.states.get(&(game, version)) {
            return Ok(state);
        }
        let state = match self.states.get(&(game, version - 1)) {
            Some(before) => {
                let now = evolve(before.aggregate.clone(), event);
                Arc::new(Loaded::at(now, Head { version, ..before.head }))
            }
            None => Arc::new(self.at(game, version).await?),
        };
        self.states.insert((game, version), Arc::clone(&state));
        Ok(state)
    }

    /// The state at a version, folded from the log.
    pub(crate) async fn at(&self, game: Uuid, version: i64) -> Result<Loaded, AppError> {
        let mut now: Option<Game> = None;
        let mut head = Head::NEW;
        let mut envelopes = self.store.stream_envelopes(game, 0);
        while head.version < version
            && let Some(envelope) = envelopes.try_next().await?
        {
            let recorded = envelope.decode().map_err(|error| AppError::Fault(error.to_string()))?;
            now = evolve(now, &recorded.event);
            let (version, hash, recorded_at) =
                (envelope.version, envelope.hash, envelope.recorded_at);
            head = Head { version, hash, recorded_at };
        }
        Ok(Loaded::at(now, head))
    }
}
