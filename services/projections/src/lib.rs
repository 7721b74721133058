//! Read models: what players come back for and analysts work with, folded from the log.
//!
//! A read model is a file with its fold, its SQL and its query, and a line in [`MODELS`]. The [`Runner`] feeds it with finished
//! games, exactly once: what a batch of games changes and how far the log is folded are written in one transaction. Nodes share
//! the work by leases. [`rebuild`] folds everything anew beside the live generation, compares, and flips.

pub mod balance;
pub mod boards;
mod histogram;
pub mod leaderboards;
mod lease;
mod model;
mod period;
mod players;
mod rating_board;
pub mod ratings;
mod rebuild;
mod record;
mod records;
mod runner;
pub mod seasons;
mod status;
pub mod wilson;

#[cfg(test)]
mod tests;

pub use histogram::{Histogram, width};
pub use model::{MODELS, Model};
pub use period::{Span, day_of, parse_day, week_of, write_day};
pub use players::{PlayerStatistics, Statistics, statistics_of};
pub use rebuild::{
    Difference, Outcome, Progress, rebuild, rebuild_all, roll_back, verify, verify_all,
};
pub use record::{DieRecord, GameRecord, NoRecord, SeatRecord};
pub use runner::Runner;
pub use seasons::Season;
pub use status::{Parked, RangeStatus, Status, status};

/// What can go wrong with a read model.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// The log or the database did not answer.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// Somebody else works on the range now.
    #[error("somebody else has taken this range over")]
    Fenced,
    /// There is no such read model.
    #[error("there is no read model '{name}'; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A game that was taken in once can be read no more.
    #[error("game {game} cannot be read: {why}")]
    Unreadable {
        /// The game.
        game: uuid::Uuid,
        /// Why not.
        why: String,
    },
    /// Nothing was rebuilt.
    #[error("'{name}' has no earlier generation to go back to")]
    NoWayBack {
        /// The read model.
        name: String,
    },
    /// It is being rebuilt already.
    #[error(
        "'{name}' is being rebuilt already; if nobody does it any more, it can be begun again in {seconds} s"
    )]
    Busy {
        /// The read model.
        name: String,
        /// When the lease of whoever began runs out.
        seconds: i64,
    },
}

impl From<sqlx::Error> for ProjectionError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}
