//! Shared by tests and benchmarks: a game in memory, commands, rules, and random games.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::missing_panics_doc, reason = "a test fails by panicking")]

mod commands;
mod numbers;
mod presets;
mod random;
mod table;
mod whole;

pub use commands::{bank, create, create_as, join, play, player, roll, save};
pub use numbers::Numbers;
pub use presets::{generous, presets, ruleset};
pub use random::{begun, choose, eventful, gathered, plays, some_dice};
pub use table::{Match, NOW, SECRET, Script};
pub use whole::Whole;
