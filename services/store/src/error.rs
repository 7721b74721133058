//! Errors of the store.
//!
//! *Unavailable* means that the caller should retry with the same command id: if the command was
//! committed before the connection broke, its receipt is returned. *Fault* is a bug, or somebody
//! modified the database.

use std::time::Duration;

use crate::{Shard, StreamId, codec::Undecodable};

/// A database error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, or is starting or stopping.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// An error that a retry does not fix.
    #[error("the database refused: {0}")]
    Fault(String),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        // Connection, resources, cancelled or shut down, deadlock, lock not available, read-only
        // after a failover.
        let classes = ["08", "53", "57", "40", "55P03", "25006"];
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        let passing = code.is_some_and(|code| classes.iter().any(|class| code.starts_with(class)))
            || matches!(
                error,
                E::Io(_)
                    | E::Tls(_)
                    | E::Protocol(_)
                    | E::PoolTimedOut
                    | E::PoolClosed
                    | E::WorkerCrashed
                    | E::BeginFailed
            );
        if passing { Self::Unavailable(error.to_string()) } else { Self::Fault(error.to_string()) }
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        if let sqlx::migrate::MigrateError::Execute(error) = error {
            return error.into();
        }
        Self::Fault(error.to_string())
    }
}

/// Timeout for frequent statements. The server's own timeout is a little shorter, so this one
/// catches dead connections.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// Fails with `Unavailable` after the deadline.
pub(crate) async fn in_time<T>(
    task: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(DEADLINE, task).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(StoreError::Unavailable("it does not answer".to_owned())),
    }
}

/// Why an append failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AppendError {
    /// The stream does not end where the caller expected: another command was committed first.
    #[error("the stream has changed; load it and decide again")]
    Conflict,
    /// The command id was already used for a different request.
    #[error("this command id was used before, for another request; choose a new one")]
    CommandReused,
    /// A payload over the limit.
    #[error("an event of {bytes} bytes is too large; at most {most} are stored")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The maximum.
        most: usize,
    },
    /// A command without events, or with too many.
    #[error("a command appends 1 to {most} events, not {events}")]
    WrongCount {
        /// Their number.
        events: usize,
        /// The maximum.
        most: usize,
    },
    /// The queue is full.
    #[error("too much is going on; try again in a moment")]
    Busy,
    /// The database failed; the outcome may be unknown.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a read failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    /// An event that cannot be decoded. Events after it are not read.
    #[error("event {version} of stream {stream}: {why}")]
    Undecodable {
        /// Its stream.
        stream: StreamId,
        /// Its version.
        version: i64,
        /// What is wrong.
        why: Undecodable,
    },
    /// The stream does not exist.
    #[error("there is no stream {0}")]
    NoSuchStream(StreamId),
    /// The requested version is after the end of the stream.
    #[error("stream {stream} ends with event {last}; there is nothing after {after}")]
    VersionAhead {
        /// The stream.
        stream: StreamId,
        /// The requested version.
        after: i64,
        /// The last version.
        last: i64,
    },
    /// The log has a gap: events were removed. Events after it are not read.
    #[error("event {position} of shard {shard} is missing; run croupier verify --all")]
    Hole {
        /// The shard.
        shard: Shard,
        /// The missing position.
        position: i64,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
