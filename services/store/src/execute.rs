//! The one way to change a game: load, decide, append; and decide again if somebody was faster.

use domain::{Command, Event, Moment, Rejection, decide, fair::FairDice, fair::Secret};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{Append, AppendError, Hash, ReadError, Store, StoreError, StreamId};

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
}

/// What a command made happen, now or when it was first asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its events.
    pub events: Vec<Event>,
    /// The version of the first one.
    pub first_version: i64,
}

/// Why a command made nothing happen.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The rules refuse it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
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
}

impl Store {
    /// Makes a command happen, once: asked again under the same id, it gives its first answer, and the
    /// dice are not rolled again.
    pub async fn execute(&self, request: &Request<'_>) -> Result<Executed, ExecuteError> {
        let hash = request.hash().map_err(AppendError::from)?;
        for _ in 0..TRIES {
            let loaded = self.load(request.stream).await?;
            let decided = match &loaded.game {
                Some(game) => {
                    let mut dice = FairDice::new(request.secret, game);
                    decide(Some(game), request.command, request.now, &mut dice)
                }
                None => decide(None, request.command, request.now, &mut domain::NoDice),
            };
            let events = match decided {
                Ok(events) => events,
                // What cannot be done now may have been done before.
                Err(rejection) => {
                    return self.first_answer(request, hash).await?.ok_or(rejection.into());
                }
            };
            let append = Append {
                stream: request.stream,
                head: loaded.head,
                command: request.id,
                request: hash,
                actor: request.actor,
                at: request.now,
                events: &events,
            };
            match self.append(append).await {
                Ok(appended) if appended.is_repeated() => {
                    let answer = self.first_answer(request, hash).await?;
                    return answer.ok_or(AppendError::Conflict.into());
                }
                Ok(appended) => {
                    return Ok(Executed { events, first_version: appended.first_version });
                }
                Err(AppendError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(AppendError::Conflict.into())
    }

    async fn first_answer(
        &self,
        request: &Request<'_>,
        hash: Hash,
    ) -> Result<Option<Executed>, ExecuteError> {
        match self.receipt(request.stream, request.id).await? {
            Some(receipt) if receipt.request != hash => Err(AppendError::CommandReused.into()),
            Some(receipt) => {
                let first_version = receipt.first_version;
                Ok(Some(Executed { events: receipt.events, first_version }))
            }
            None => Ok(None),
        }
    }
}
