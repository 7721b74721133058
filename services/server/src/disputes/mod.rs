//! Disputes of players about events of games, and their remedies.
//!
//! The id of a dispute's stream is derived from game and version, so an event is disputed at most
//! once. A remedy is proposed and, above a limit, approved by a second person. The processor
//! [`Remedies`] then applies it and records the result.

pub(crate) mod audit;
mod decide;
pub(crate) mod index;
mod list;
mod remedy;
mod talk;
mod texts;

use domain::{Dispute, DisputeCommand};
use sqlx::PgPool;
use store::{Executed, Loaded, Request, Store};
use uuid::Uuid;

pub(crate) use list::{DisputeFilter, Page};
pub(crate) use remedy::{Effect, Preview, Remedies, TYPES as REMEDY_TYPES};
pub(crate) use texts::Text;

use crate::{
    clock,
    play::{AppError, Idempotency, UserError, derived},
};

/// Handles the commands and queries of disputes.
#[derive(Debug)]
pub(crate) struct Disputes {
    store: Store,
    /// Above this amount, in dollars, a second person must approve a remedy.
    limit: u32,
}

/// The current state of a dispute.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) dispute: Dispute,
}

/// The id of the dispute about an event.
pub(crate) fn dispute_of(game: Uuid, version: u64) -> Uuid {
    derived(game, &[b"dispute".as_slice(), &version.to_be_bytes()].concat())
}

impl Disputes {
    pub(crate) fn new(store: Store, limit: u32) -> Self {
        Self { store, limit }
    }

    fn pool(&self) -> &PgPool {
        self.store.pool()
    }

    /// Executes a command of a player or staff member. Its id is derived, so that clients cannot
    /// use the id of a system command.
    async fn execute_for(
        &self,
        id: Uuid,
        command: &DisputeCommand,
        actor: Uuid,
        idempotency: Idempotency,
    ) -> Result<Executed<Dispute>, AppError> {
        let command_id = idempotency.id.map_or_else(Uuid::now_v7, client_command_id);
        execute(&self.store, id, command, actor, command_id).await
    }
}

/// Executes a command on a dispute, idempotent by its id.
async fn execute(
    store: &Store,
    stream: Uuid,
    command: &DisputeCommand,
    actor: Uuid,
    id: Uuid,
) -> Result<Executed<Dispute>, AppError> {
    let (now, context, expected) = (clock::now(), (), None);
    let request = Request::<Dispute> { stream, command, id, actor, now, context, expected };
    Ok(store.execute(&request).await?)
}

/// The id of a command in the log, derived from the client's command id.
fn client_command_id(command_id: Uuid) -> Uuid {
    derived(command_id, b"asked about a dispute")
}

fn found(id: Uuid, state: &Loaded<Dispute>) -> Result<Found, AppError> {
    let dispute = state.aggregate.clone().ok_or_else(no_dispute)?;
    Ok(Found { id, dispute })
}

pub(crate) fn no_dispute() -> AppError {
    UserError::from(domain::Rejection::NoSuchDispute).at("disputeId").into()
}
