//! What can go wrong, and whose turn it is then.
//!
//! *Unavailable* means try again, with the same command id: whether a command went through before the
//! connection broke is then answered by its receipt. *Fault* is a mistake of ours or of whoever changed the database.

use crate::{StreamId, codec::Undecodable};

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
        // 08 connection, 53 resources, 57P shutdown and start, 40 serialisation and deadlock
        let classes = ["08", "53", "57P", "40"];
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
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
