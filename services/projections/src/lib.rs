//! Read models for players and analysts, folded from the log.
//!
//! A read model is a file with its fold, its SQL and its query, and a line in [`MODELS`].
//! [`processors`] turns them into processors: the consumer of `store` feeds them with finished
//! games exactly once, distributes them among nodes, and rebuilds them.

pub mod balance;
pub mod boards;
mod due;
mod glicko;
mod histogram;
pub mod leaderboards;
mod model;
mod period;
mod players;
mod rating_board;
pub mod ratings;
mod record;
mod records;
pub mod seasons;
pub mod wilson;

#[cfg(test)]
mod tests;

pub use glicko::PROVISIONAL;
pub use histogram::{Histogram, width};
pub use model::{MODELS, Model, processors};
pub use period::{Span, day_of, parse_day, week_of, write_day};
pub use players::{PlayerStatistics, Statistics, statistics_of};
pub use record::{DieRecord, GameRecord, NoRecord, SeatRecord};
pub use seasons::Season;
