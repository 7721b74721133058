//! A game as text: a line a round, short enough to read and exact enough to be the game.
//!
//! A record holds what was asked and what was drawn. Everything else follows from the rules, so reading
//! one decides every command again. `docs/record.md` tells the notation to a stranger.

mod draws;
mod head;
pub(crate) mod lex;
mod moves;
mod parse;
mod write;

pub use parse::{Planned, parse_moves, parse_record};
pub use write::{in_words, write_record};

use crate::{
    Event,
    fair::{sha256, to_hex},
};

/// The number of the notation. Another notation has another number, and this one is read for ever.
const FORMAT: &str = "1";

/// What is wrong with a record, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct BadRecord {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// A hash of all events, so that a record that was changed is not taken for another game.
fn digest(log: &[Event]) -> String {
    let lines: Vec<String> =
        log.iter().map(|event| serde_json::to_string(event).unwrap_or_default() + "\n").collect();
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    to_hex(&sha256("croupier/record/1", &lines))
}
