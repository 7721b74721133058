//! Following the log: processors, and the one consumer they run on.
//!
//! A processor is data and a handler: its name and version, the event types it wants, how its work is divided, and what it does
//! with a batch of events. The [`Consumer`] of each node gives it leased ranges of shards, batches in shard order, a checkpoint,
//! parking with a reason for events that cannot be handled, and retries. Processors that keep rows are rebuilt beside the live
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

/// Something that follows the log.
#[derive(Clone, Debug)]
pub struct Processor {
    /// Its name, which never changes: checkpoints are kept under it.
    pub name: &'static str,
    /// The version of what it does. Rows that another version wrote are rebuilt.
    pub version: i32,
    /// The types of events it wants.
    pub types: &'static [&'static str],
    /// How many ranges of shards nodes share, a power of two up to 64. A processor whose rows cross shards has one range: a
    /// single writer needs no locks.
    pub ranges: i16,
    /// How long events are collected before they are handled together.
    pub collect: Duration,
    /// What it does.
    pub handler: Handler,
}

/// What a processor does with events.
#[derive(Clone)]
pub enum Handler {
    /// Keeps rows: a batch is written in the transaction that moves the checkpoint, so each event counts exactly once.
    Rows(Arc<dyn RowHandler>),
    /// Acts by commands whose ids follow from the events. The checkpoint moves afterwards: what is done again after a crash is
    /// answered as it was the first time.
    Commands(Arc<dyn CommandHandler>),
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Rows(_)) { "Rows" } else { "Commands" })
    }
}

/// Where rows are written: one generation of a processor, as part of a transaction.
#[derive(Debug)]
pub struct Target<'a> {
    /// The transaction.
    pub connection: &'a mut PgConnection,
    /// The generation, a column of every table of the processor.
    pub generation: i32,
    /// Whether the generation is being built and nobody sees it yet: what follows from facts can wait for
    /// [`RowHandler::derive`].
    pub building: bool,
}

/// A processor that keeps rows.
pub trait RowHandler: Send + Sync {
    /// Its tables; each has a column `generation`.
    fn tables(&self) -> &'static [&'static str];

    /// A query that lists a generation ($1) as (key, content), to compare two of them.
    fn content(&self) -> &'static str;

    /// Takes events in.
    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>>;

    /// Works out what follows from rows that were taken in: after a batch of a live generation, and once for one that was built.
    fn derive<'a>(&'a self, _target: Target<'a>) -> BoxFuture<'a, Result<(), HandlerError>> {
        async { Ok(()) }.boxed()
    }

    /// Does what is due by the clock in these shards; says when to ask again. Asked after each batch and when a range was taken.
    fn tick<'a>(
        &'a self,
        _generation: i32,
        _shards: &'a [Shard],
    ) -> BoxFuture<'a, Result<Option<Instant>, StoreError>> {
        async { Ok(None) }.boxed()
    }
}

/// A processor that acts by commands.
pub trait CommandHandler: Send + Sync {
    /// Acts on these events; gives those on which it could not, by their place in the batch.
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>>;
}

/// Why a handler did not do its work.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HandlerError {
    /// An event cannot be handled: it is parked with this reason.
    #[error("{0}")]
    Event(String),
    /// The database did not do what was asked. If it is unavailable, the batch is handled again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HandlerError {
    /// Whether it passes by itself.
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

/// What can go wrong with a processor as a whole.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessorError {
    /// The log or the database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another node has taken the range over: what this one did is not written.
    #[error("another node has taken this range over")]
    Fenced,
    /// There is no such processor.
    #[error("there is no processor '{name}'; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The checkpoint is after the end of the log, which happens when an older backup of the log was restored.
    #[error(
        "the checkpoint of '{name}' is at {position} in shard {shard}, where the log ends at {head}: the log was restored from \
         an older backup; run croupier processors rebuild {name}"
    )]
    AheadOfLog {
        /// The processor.
        name: String,
        /// The shard.
        shard: Shard,
        /// Where the checkpoint is.
        position: i64,
        /// Where the log ends.
        head: i64,
    },
    /// The live rows were written by another version of the program.
    #[error(
        "'{name}' is kept by version {found}, and this program has version {known}; to bring this one live, run croupier \
         processors rebuild {name}"
    )]
    OtherVersion {
        /// The processor.
        name: String,
        /// The version of the live generation.
        found: i32,
        /// The version of this program.
        known: i32,
    },
    /// It keeps no rows.
    #[error("'{name}' acts by commands and keeps no rows: there is nothing to {what}")]
    NoRows {
        /// The processor.
        name: String,
        /// What was asked.
        what: &'static str,
    },
    /// There is no generation before the live one.
    #[error("'{name}' has no earlier generation to go back to")]
    NoWayBack {
        /// The processor.
        name: String,
    },
    /// It is being rebuilt already.
    #[error(
        "'{name}' is being rebuilt already; if that process is gone, it can be begun again in {seconds} s"
    )]
    Busy {
        /// The processor.
        name: String,
        /// When the lease of that process runs out.
        seconds: i64,
    },
    /// An event that was taken in once cannot be any more.
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
    /// A processor of a list by its name.
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

/// The shards of a range, if there are so many ranges.
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
