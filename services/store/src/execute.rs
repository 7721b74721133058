//! The one way to change a game: load, decide, append; and decide again if somebody was faster.

use std::sync::Arc;

use domain::{
    Command, Event, Game, Moment, Rejection, SeatNo, decide, evolve,
    fair::{FairDice, Secret},
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Append, AppendError, Appended, Hash, Loaded, ReadError, Store, StoreError, StreamId};

/// How often a command is decided anew before we give up: each time somebody else got through.
const TRIES: usize = 8;

/// A command on its way to a game.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The game.
    pub stream: StreamId,
    /// What is asked.
    pub command: &'a Command,
    /// The id under which it can be asked again.
    pub id: Uuid,
    /// Who asks; the nil id is the house.
    pub actor: Uuid,
    /// When.
    pub now: Moment,
    /// What the game's dice are made from.
    pub secret: Secret,
    /// The version the game must have, if the asker minds.
    pub expected: Option<i64>,
}

/// What a command made happen, now or when it was first asked.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Its events.
    pub events: Vec<Event>,
    /// The version of the first one.
    pub first_version: i64,
    /// When they were recorded.
    pub at: Moment,
    /// Whether it had happened before, under the same id.
    pub repeated: bool,
    /// The game as it is now.
    pub state: Arc<Loaded>,
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

impl Request<'_> {
    /// The hash of what is asked, by whom: the same id may only ask the same.
    fn hash(&self) -> Result<Hash, StoreError> {
        let command = serde_json::to_vec(&self.command);
        let command = command.map_err(|error| StoreError::Fault(error.to_string()))?;
        let mut hash = Sha256::new();
        hash.update(self.actor.as_bytes());
        hash.update(command);
        Ok(Hash(hash.finalize().into()))
    }

    fn decide(&self, state: &Loaded) -> Result<Vec<Event>, ExecuteError> {
        if let Some(expected) = self.expected.filter(|&expected| expected != state.head.version) {
            return Err(ExecuteError::Stale { expected, version: state.head.version });
        }
        if let Some(game) = &state.game
            && !self.actor.is_nil()
            && !speaks_for(game, self.command, self.actor)
        {
            return Err(ExecuteError::NotYourSeat);
        }
        Ok(match &state.game {
            Some(game) => {
                let mut dice = FairDice::new(self.secret, game);
                decide(Some(game), self.command, self.now, &mut dice)
            }
            None => decide(None, self.command, self.now, &mut domain::NoDice),
        }?)
    }
}

/// Whether an account may ask this: of a seat only who sits there, to start only who has not left. A seat may have
/// changed hands since the command was made, so this is asked of the state that it is decided on.
fn speaks_for(game: &Game, command: &Command, actor: Uuid) -> bool {
    let sits = |seat: SeatNo| {
        game.table.seats.get(usize::from(seat)).is_some_and(|seat| seat.player.0 == actor)
    };
    match command {
        Command::ChooseSeed { seat, .. } | Command::Leave { seat } | Command::Play { seat, .. } => {
            sits(*seat)
        }
        Command::Start => game.table.seated().any(sits),
        Command::Join { player, .. } => player.0 == actor,
        Command::Create { .. } => true,
        // These are the house's.
        Command::TimeOut { .. } | Command::Abandon { .. } => false,
    }
}

impl Store {
    /// Makes a command happen, once: asked again under the same id, it gives its first answer, and the
    /// dice are not rolled again.
    pub async fn execute(&self, request: &Request<'_>) -> Result<Executed, ExecuteError> {
        let hash = request.hash().map_err(AppendError::from)?;
        // What is in memory may be behind. An append on it then fails; a refusal is looked at again.
        let mut remembered = self.remembered(request.stream);
        for _ in 0..TRIES {
            let (state, fresh) = match remembered.take() {
                Some(state) => (state, false),
                None => (self.fresh(request.stream).await?, true),
            };
            let events = match request.decide(&state) {
                Ok(events) => events,
                Err(_) if !fresh => continue,
                // What cannot be done now may have been done before.
                Err(refusal) => {
                    return self.first_answer(request, hash, state).await?.ok_or(refusal);
                }
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
                Ok(appended) if appended.is_repeated() => {
                    let state = self.fresh(request.stream).await?;
                    let answer = self.first_answer(request, hash, state).await?;
                    return answer.ok_or(AppendError::Conflict.into());
                }
                Ok(appended) => return Ok(self.happened(request.stream, &state, events, appended)),
                Err(AppendError::Conflict) => metrics::counter!("croupier_conflicts").increment(1),
                Err(error) => return Err(error.into()),
            }
        }
        Err(AppendError::Conflict.into())
    }

    /// Remembers the state that the events made.
    fn happened(
        &self,
        stream: StreamId,
        before: &Loaded,
        events: Vec<Event>,
        appended: Appended,
    ) -> Executed {
        let game = events.iter().fold(before.game.clone(), evolve);
        let head = appended.head.unwrap_or(before.head);
        let state = Arc::new(Loaded { game, head });
        self.remember(stream, &state);
        let first_version = appended.first_version;
        Executed { events, first_version, at: head.at(), repeated: false, state }
    }

    async fn first_answer(
        &self,
        request: &Request<'_>,
        hash: Hash,
        state: Arc<Loaded>,
    ) -> Result<Option<Executed>, ExecuteError> {
        match self.receipt(request.stream, request.id).await? {
            Some(receipt) if receipt.request != hash => Err(AppendError::CommandReused.into()),
            Some(receipt) => {
                let (events, first_version) = (receipt.events, receipt.first_version);
                let at = receipt.at;
                Ok(Some(Executed { events, first_version, at, repeated: true, state }))
            }
            None => Ok(None),
        }
    }
}
