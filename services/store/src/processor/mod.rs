//! Processors, which follow the log, and the consumer that runs them.
//!
//! A processor is data and a handler: its name and version, the event types it handles, how its
//! work is divided, and what it does with a batch of events. The [`Consumer`] of each node provides
//! leased ranges of shards, batches in shard order, a checkpoint, parking with a reason for events
//! that cannot be handled, and retries. Processors that keep rows are rebuilt beside the live
//! generation ([`rebuild`]).

mod batch;
mod checkpoint;
mod consumer;
mod feed;
mod lease;
mod parked;
mod rebuild;
mod status;
mod worker;

use std::{fmt, sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::{PgConnection, Row};
use tokio::time::Instant;

pub use consumer::Consumer;
pub use parked::{retry, wake};
pub use rebuild::{Difference, Outcome, Progress, rebuild, roll_back, verify};
pub use status::{Parked, RangeStatus, Status, checkpoint, status};

use crate::{ReadError, Recorded, SHARDS, Shard, StoreError};

/// A processor of the log.
#[derive(Clone, Debug)]
pub struct Processor {
    /// Its name, which never changes: checkpoints are stored under it.
    pub name: &'static str,
    /// The version of its logic. Rows that another version wrote must be rebuilt.
    pub version: i32,
    /// The event types it handles.
    pub types: &'static [&'static str],
    /// Number of shard ranges that nodes share, a power of two up to 64. A processor whose rows
    /// span shards has one range: a single writer needs no locks.
    pub ranges: i16,
    /// How long events are collected into one batch.
    pub collect: Duration,
    /// The handler.
    pub handler: Handler,
}

/// What a processor does with events.
#[derive(Clone)]
pub enum Handler {
    /// Keeps rows: a batch is written in the transaction that advances the checkpoint, so each
    /// event is counted exactly once.
    Rows(Arc<dyn RowHandler>),
    /// Issues commands whose ids are derived from the events. The checkpoint advances afterwards:
    /// commands repeated after a crash return their first result.
    Commands(Arc<dyn CommandHandler>),
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Rows(_)) { "Rows" } else { "Commands" })
    }
}

/// Where rows are written: one generation of a processor, within a transaction.
#[derive(Debug)]
pub struct Target<'a> {
    /// The transaction.
    pub connection: &'a mut PgConnection,
    /// The generation, a column of every table of the processor.
    pub generation: i32,
    /// Whether the generation is still being built and not visible: derived rows can wait for
    /// [`RowHandler::derive`].
    pub building: bool,
}

/// A processor that keeps rows.
pub trait RowHandler: Send + Sync {
    /// Its tables; each has a column `generation`.
    fn tables(&self) -> &'static [&'static str];

    /// A query that lists a generation ($1) as (key, content), used to compare two of them.
    fn content(&self) -> &'static str;

    /// Writes events.
    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>>;

    /// Updates rows derived from other rows: after a batch of a live generation, and once after a
    /// rebuild.
    fn derive<'a>(&'a self, _target: Target<'a>) -> BoxFuture<'a, Result<(), HandlerError>> {
        async { Ok(()) }.boxed()
    }

    /// Does time-based work in these shards; returns when it is due again. Called after each batch
    /// and when a range was taken over.
    fn tick<'a>(
        &'a self,
        _generation: i32,
        _shards: &'a [Shard],
    ) -> BoxFuture<'a, Result<Option<Instant>, StoreError>> {
        async { Ok(None) }.boxed()
    }
}

/// A processor that issues commands.
pub trait CommandHandler: Send + Sync {
    /// Handles these events; returns those that failed, by their index in the batch.
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>>;
}

/// Why a handler failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HandlerError {
    /// An event cannot be handled: it is parked with this reason.
    #[error("{0}")]
    Event(String),
    /// A database error. If the database is unavailable, the batch is handled again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HandlerError {
    /// Whether a retry may succeed.
    fn is_passing(&self) -> bool {
        matches!(self, Self::Store(StoreError::Unavailable(_)))
    }
}

impl From<sqlx::Error> for HandlerError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<ReadError> for HandlerError {
    fn from(error: ReadError) -> Self {
        if let ReadError::Store(error) = error {
            return Self::Store(error);
        }
        Self::Event(error.to_string())
    }
}

/// Errors of a processor as a whole.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessorError {
    /// The log or the database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another node has taken over the range: the work of this one is not written.
    #[error("another node has taken over this range")]
    Fenced,
    /// Unknown processor.
    #[error("there is no processor '{name}'; there are: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The checkpoint is after the end of the log: an older backup was restored.
    #[error(
        "the checkpoint of '{name}' is at {position} in shard {shard}, where the log ends at {head}: the log was restored from \
         an older backup; run croupier processors rebuild {name}"
    )]
    AheadOfLog {
        /// The processor.
        name: String,
        /// The shard.
        shard: Shard,
        /// The checkpoint.
        position: i64,
        /// The end of the log.
        head: i64,
    },
    /// The live rows were written by another version of the program.
    #[error(
        "'{name}' has live rows of version {found}, and this program has version {known}; to replace them, run \
         croupier processors rebuild {name}"
    )]
    OtherVersion {
        /// The processor.
        name: String,
        /// The version of the live generation.
        found: i32,
        /// The version of this program.
        known: i32,
    },
    /// The processor keeps no rows.
    #[error("'{name}' acts by commands and keeps no rows: there is nothing to {what}")]
    NoRows {
        /// The processor.
        name: String,
        /// The requested operation.
        what: &'static str,
    },
    /// There is no generation before the live one.
    #[error("'{name}' has no earlier generation to go back to")]
    NoWayBack {
        /// The processor.
        name: String,
    },
    /// A rebuild is already running.
    #[error("'{name}' is already being rebuilt; if that process is gone, try again in {seconds} s")]
    Busy {
        /// The processor.
        name: String,
        /// When the lease of that process expires.
        seconds: i64,
    },
    /// An event that was written before cannot be written now.
    #[error(transparent)]
    Handler(#[from] HandlerError),
}

impl From<ProcessorError> for StoreError {
    fn from(error: ProcessorError) -> Self {
        if let ProcessorError::Store(error) = error {
            return error;
        }
        Self::Fault(error.to_string())
    }
}

impl From<sqlx::Error> for ProcessorError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Processor {
    /// Finds a processor by name.
    pub fn named<'a>(all: &'a [Self], name: &str) -> Result<&'a Self, ProcessorError> {
        let known = || all.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
        let found = all.iter().find(|one| one.name == name);
        found.ok_or_else(|| ProcessorError::Unknown {
            name: name.chars().take(40).collect(),
            known: known(),
        })
    }

    /// Whether it keeps rows, which can be rebuilt and compared.
    pub fn keeps_rows(&self) -> bool {
        self.rows().is_some()
    }

    /// The shards of one of its ranges.
    fn shards(&self, range: i16) -> Vec<Shard> {
        shards(self.ranges, range)
    }

    fn rows(&self) -> Option<&Arc<dyn RowHandler>> {
        match &self.handler {
            Handler::Rows(rows) => Some(rows),
            Handler::Commands(_) => None,
        }
    }
}

/// The shards of a range, given the number of ranges.
fn shards(ranges: i16, range: i16) -> Vec<Shard> {
    let size = SHARDS / usize::try_from(ranges).unwrap_or(1).clamp(1, SHARDS);
    Shard::all().skip(usize::try_from(range).unwrap_or(0) * size).take(size).collect()
}

/// The live generation of a processor, for queries that read its rows.
pub async fn live_generation(
    connection: &mut PgConnection,
    name: &str,
) -> Result<i32, ProcessorError> {
    const FIND: &str = "SELECT generation FROM processor WHERE name = $1 AND state = 'live'";
    Ok(sqlx::query(FIND).bind(name).fetch_one(connection).await?.try_get(0)?)
}
