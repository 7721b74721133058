//! A game as text: one line per round, short enough to read and precise enough to restore all
//! events.
//!
//! A record contains the commands and the draws. Everything else follows from the rules, so reading
//! a record decides every command again. `docs/record.md` specifies the notation.

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

/// The version of the notation. A change of the notation gets a new number; this one stays
/// readable.
const FORMAT: &str = "1";

/// An error in a record and its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct BadRecord {
    /// The line, starting at 1.
    pub line: usize,
    /// The character in the line, starting at 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// A hash of all events: it detects a modified record.
fn digest(log: &[Event]) -> String {
    let lines: Vec<String> =
        log.iter().map(|event| serde_json::to_string(event).unwrap_or_default() + "\n").collect();
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    to_hex(&sha256("croupier/record/1", &lines))
}
