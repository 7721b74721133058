//! The one way to change anything: load, decide, append; and decide again if somebody was faster.

use std::sync::Arc;

use domain::{Event, Game, Moment, Rejection};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    Aggregate, Append, AppendError, Appended, Hash, Loaded, ReadError, Store, StoreError, StreamId,
};

/// How often a command is decided anew before we give up: each time somebody else got through.
const TRIES: usize = 8;

/// A command on its way to a game, an account or the catalogue.
#[derive(Clone, Debug)]
pub struct Request<'a, A: Aggregate = Game> {
    /// Its stream.
    pub stream: StreamId,
    /// What is asked.
    pub command: &'a A::Command,
    /// The id under which it can be asked again.
    pub id: Uuid,
    /// Who asks; the nil id is the house.
    pub actor: Uuid,
    /// When.
    pub now: Moment,
    /// What deciding needs beside the state: what a game's dice are made from, or the prices.
    pub context: A::Context,
    /// The version it must have, if the asker minds.
    pub expected: Option<i64>,
}

/// What a command made happen, now or when it was first asked.
#[derive(Clone, Debug)]
pub struct Executed<A = Game> {
    /// Its events.
    pub events: Vec<Event>,
    /// The version of the first one.
    pub first_version: i64,
    /// When they were recorded.
    pub at: Moment,
    /// Whether it had happened before, under the same id.
    pub repeated: bool,
    /// All of it as it is now.
    pub state: Arc<Loaded<A>>,
}

/// Why a command made nothing happen.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The rules refuse it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The game is not at the version the command was meant for.
    #[error("the game is at version {version}, not {expected}; look at it again")]
    Stale {
        /// Where it was expected to be.
        expected: i64,
        /// Where it is.
        version: i64,
    },
    /// Whoever asks does not sit on the seat they ask for.
    #[error("this seat is somebody else's")]
    NotYourSeat,
    /// The log did not take it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The game could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl<A: Aggregate> Request<'_, A> {
    /// The hash of what is asked, by whom: the same id may only ask the same.
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
        if !state.now.as_ref().is_none_or(may_ask) {
            return Err(ExecuteError::NotYourSeat);
        }
        Ok(A::decide(state.now.as_ref(), self.command, self.now, &self.context)?)
    }
}

impl Store {
    /// Makes a command happen, once: asked again under the same id, it gives its first answer, and the
    /// dice are not rolled again.
    pub async fn execute<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
    ) -> Result<Executed<A>, ExecuteError> {
        let states = A::states(self);
        let hash = request.hash().map_err(AppendError::from)?;
        // What is in memory may be behind. An append on it then fails; a refusal is looked at again.
        let mut remembered = states.remembered(request.stream);
        for _ in 0..TRIES {
            let (state, fresh) = match remembered.take() {
                Some(state) => (state, false),
                None => (states.fresh(request.stream).await?, true),
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
                Ok(appended) => return Ok(self.applied(request, &state, events, appended)),
                Err(AppendError::Conflict) => metrics::counter!("croupier_conflicts").increment(1),
                Err(error) => return Err(error.into()),
            }
        }
        Err(AppendError::Conflict.into())
    }

    /// The state as it is now, and what a command would do to it. Nothing is appended.
    pub async fn dry_run<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
    ) -> Result<(Arc<Loaded<A>>, Vec<Event>), ExecuteError> {
        let state = A::states(self).fresh(request.stream).await?;
        let events = request.decide(&state)?;
        Ok((state, events))
    }

    /// Remembers the state that the events made.
    fn applied<A: Aggregate>(
        &self,
        request: &Request<'_, A>,
        before: &Loaded<A>,
        events: Vec<Event>,
        appended: Appended,
    ) -> Executed<A> {
        let now = events.iter().fold(before.now.clone(), A::evolve);
        let Appended { head, first_version, .. } = appended;
        let state = Arc::new(Loaded { now, head, commands: before.commands.with(request.id) });
        A::states(self).remember(request.stream, &state);
        Executed { events, first_version, at: head.at(), repeated: false, state }
    }

    /// What a command did when it was first asked, if it was.
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
                let (at, state) = (receipt.at, Arc::clone(state));
                Ok(Some(Executed { events, first_version, at, repeated: true, state }))
            }
            None => Ok(None),
        }
    }
}
