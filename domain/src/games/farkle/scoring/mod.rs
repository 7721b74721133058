//! Scores of dice and their explanations.
//!
//! A selection scores its best exact partition into combinations. All tallies of up to six dice are
//! scored once, when a scoring table is compiled; afterwards a score is a look-up.

mod compile;
mod named;
mod table;
mod tally;

pub use compile::Scoring;
pub use table::ScoreTable;
pub use tally::{MOST_DICE, TALLIES, Tally};
