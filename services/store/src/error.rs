//! What can go wrong, and whose turn it is then.
//!
//! *Unavailable* means try again, with the same command id: whether a command went through before the
//! connection broke is then answered by its receipt. *Fault* is a mistake of ours or of whoever changed the database.

use std::time::Duration;

use crate::{Shard, StreamId, codec::Undecodable};

/// The database did not do what was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or is starting or stopping.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// It answered with an error that trying again will not mend.
    #[error("the database refused: {0}")]
    Fault(String),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        // Connection, resources, cancelled or shut down, deadlock, lock not available, read only after
        // a change of servers.
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

/// How long the database may take for anything that is asked all the time. The server itself gives up
/// a little earlier, so this is for connections that are dead without saying so.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// What comes of it within the deadline.
pub(crate) async fn in_time<T>(
    task: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(DEADLINE, task).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(StoreError::Unavailable("it does not answer".to_owned())),
    }
}

/// Why nothing was appended.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AppendError {
    /// The stream does not end where the caller thought: somebody else was faster.
    #[error("the stream has changed; load it and decide again")]
    Conflict,
    /// The command id was used for another request.
    #[error("this command id was used before, for another request; choose a new one")]
    CommandReused,
    /// A payload over the limit.
    #[error("an event of {bytes} bytes is too large; at most {most} are stored")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        most: usize,
    },
    /// A command without events, or with too many.
    #[error("a command appends 1 to {most} events, not {events}")]
    WrongCount {
        /// How many there are.
        events: usize,
        /// How many there may be.
        most: usize,
    },
    /// More commands are waiting than the queue holds.
    #[error("too much is going on; try again in a moment")]
    Busy,
    /// The database did not do it, or nobody knows whether it did.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why nothing more is read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    /// An event that this croupier does not understand. Nothing behind it is read.
    #[error("event {version} of stream {stream}: {why}")]
    Undecodable {
        /// Its stream.
        stream: StreamId,
        /// Its place there.
        version: i64,
        /// What is wrong.
        why: Undecodable,
    },
    /// There is no such stream.
    #[error("there is no stream {0}")]
    NoSuchStream(StreamId),
    /// The stream is not that long.
    #[error("stream {stream} ends with event {last}; there is nothing behind {after}")]
    VersionAhead {
        /// The stream.
        stream: StreamId,
        /// Where reading should begin.
        after: i64,
        /// Where the stream ends.
        last: i64,
    },
    /// The log has a hole: somebody removed events. Nothing behind it is read.
    #[error("event {position} of shard {shard} is missing; run croupier verify --all")]
    Hole {
        /// The shard.
        shard: Shard,
        /// The missing position.
        position: i64,
    },
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
