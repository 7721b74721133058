//! DashDice: three quick games with two dice.
//!
//! *Single 1* means that exactly one of the dice shows 1. Doubles are two equal dice.

mod contest;
mod counts;
mod last_line;
mod names;
mod pair;
mod true_grit;
mod zero_hour;

pub use contest::{Contest, ContestTurn, Contestant, RoundTotal};
pub use last_line::{LastLine, LastLineRules};
pub use pair::Pair;
pub use true_grit::{TrueGrit, TrueGritRules};
pub use zero_hour::{DoubleEffect, Penalty, ZeroHour, ZeroHourRules, ZeroPlayer, ZeroTurn};
