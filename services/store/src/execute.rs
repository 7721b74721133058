//! The only way to change an aggregate: load, decide, append, and decide again on a conflict.

use std::sync::Arc;

use domain::{Event, Game, Moment, Rejection};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    Aggregate, Append, AppendError, Appended, Hash, Loaded, ReadError, Store, StoreError, StreamId,
};

/// Maximum number of attempts; each conflict means that another command was committed.
const TRIES: usize = 8;

/// A command to an aggregate.
#[derive(Clone, Debug)]
pub struct Request<'a, A: Aggregate = Game> {
    /// Its stream.
    pub stream: StreamId,
    /// The command.
    pub command: &'a A::Command,
    /// Idempotency key of the command.
    pub id: Uuid,
    /// Who issues it; the nil id is the house.
    pub actor: Uuid,
    /// Current time.
    pub now: Moment,
    /// Input of `decide` besides the state: the dice secret of a game, or prices.
    pub context: A::Context,
    /// The version the aggregate must have, if the caller cares.
    pub expected: Option<i64>,
}

/// The result of a command, which may have been executed earlier.
#[derive(Clone, Debug)]
pub struct Executed<A = Game> {
    /// Its events.
    pub events: Vec<Event>,
    /// The version of the first one.
    pub first_version: i64,
    /// When they were recorded.
    pub at: Moment,
    /// Whether the command was executed earlier, under the same id.
    pub repeated: bool,
    /// The state it was decided on; `None` if it was executed earlier.
    pub before: Option<Arc<Loaded<A>>>,
    /// The current state.
    pub state: Arc<Loaded<A>>,
}

/// Why a command was not executed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExecuteError {
    /// Rejected by the rules.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The game is not at the expected version.
    #[error("the game is at version {version}, not {expected}; look at it again")]
    Stale {
        /// The expected version.
        expected: i64,
        /// The actual version.
        version: i64,
    },
    /// The actor is not allowed to issue this command.
    #[error("this seat belongs to another player")]
    NotYourSeat,
    /// The append failed.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The stream could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl<A: Aggregate> Request<'_, A> {
    /// The hash of the request and its actor: an id may only be reused for the same request.
    fn hash(&self) -> Result<Hash, StoreError> {
        let command = serde_json::to_vec(&self.command);
        let command = command.map_err(|error| StoreError::Fault(error.to_string()))?;
        let mut hash = Sha256::new();
        hash.update(self.actor.as_bytes());
        hash.update(command);
        Ok(Hash(hash.finalize().into()))
    }

    fn decide(&self, state: &Loaded<A>) -> Result<Vec<Event>, ExecuteError> {
        if let Some(expected) = self.expected.filter(|&expected| expected != state.head.version) {
            return Err(ExecuteError::Stale { expected, version: state.head.version });
        }
        let may_ask = |now: &A| self.actor.is_nil() || now.may_ask(self.command, self.actor);
        if !state.aggregate.as_ref().is_none_or(may_ask) {
            return Err(ExecuteError::NotYourSeat);
        }
        Ok(A::decide(state.aggregate.as_ref(), self.command, self.now, &self.context)?)
    }
}

impl Store {
    /// Executes a command exactly once: a retry with the same id returns the first result, and the
    /// dice are not rolled again.
    pub async fn execute<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
    ) -> Result<Executed<A>, ExecuteError> {
        let states = A::states(self);
        let hash = request.hash().map_err(AppendError::from)?;
        // The cached state may be stale. An append on it then conflicts; a rejection is decided
        // again on the fresh state.
        let mut remembered = states.cached(request.stream);
        for _ in 0..TRIES {
            let (state, fresh) = match remembered.take() {
                Some(state) => (state, false),
                None => (states.latest(request.stream).await?, true),
            };
            if state.commands.may_contain(request.id)
                && let Some(answer) = self.first_answer(request, hash, &state).await?
            {
                return Ok(answer);
            }
            let events = match request.decide(&state) {
                Ok(events) => events,
                Err(_) if !fresh => continue,
                Err(refusal) => return Err(refusal),
            };
            let append = Append {
                stream: request.stream,
                head: state.head,
                command: request.id,
                request: hash,
                actor: request.actor,
                at: request.now,
                events: &events,
            };
            match self.append(append).await {
                Ok(appended) => return Ok(self.applied(request, state, events, appended)),
                Err(AppendError::Conflict) => metrics::counter!("croupier_conflicts").increment(1),
                Err(error) => return Err(error.into()),
            }
        }
        Err(AppendError::Conflict.into())
    }

    /// Loads the state and decides a command without appending anything.
    pub async fn dry_run<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
    ) -> Result<(Arc<Loaded<A>>, Vec<Event>), ExecuteError> {
        let state = A::states(self).latest(request.stream).await?;
        let events = request.decide(&state)?;
        Ok((state, events))
    }

    /// Caches the state after the events.
    fn applied<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
        before: Arc<Loaded<A>>,
        events: Vec<Event>,
        appended: Appended,
    ) -> Executed<A> {
        let aggregate = events.iter().fold(before.aggregate.clone(), A::evolve);
        let Appended { head, first_version, .. } = appended;
        let state =
            Arc::new(Loaded { aggregate, head, commands: before.commands.with(request.id) });
        A::states(self).cache(request.stream, &state);
        let (at, before) = (head.at(), Some(before));
        Executed { events, first_version, at, repeated: false, before, state }
    }

    /// The result of an earlier execution of the command, if there was one.
    async fn first_answer<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
        hash: Hash,
        state: &Arc<Loaded<A>>,
    ) -> Result<Option<Executed<A>>, ExecuteError> {
        match self.receipt(request.stream, request.id).await? {
            Some(receipt) if receipt.request != hash.short() => {
                Err(AppendError::CommandReused.into())
            }
            Some(receipt) => {
                let (events, first_version) = (receipt.events, receipt.first_version);
                let (at, before, state) = (receipt.at, None, Arc::clone(state));
                Ok(Some(Executed { events, first_version, at, repeated: true, before, state }))
            }
            None => Ok(None),
        }
    }
}
