//! Facts about a seat by name: what scenarios compare and tools print.

use std::fmt;

use crate::{Game, SeatNo};

/// A value that can be asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A count, points or money.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// One of a few names.
    Text(&'static str),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Game {
    /// Everything that can be asked about a seat by name.
    pub fn facts(&self, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let mut facts = self.board.facts(&self.table, seat);
        if let Some(seat) = self.table.seats.get(usize::from(seat)) {
            facts.extend([
                ("time_outs_in_a_row", Fact::Number(seat.time_outs.into())),
                ("money", Fact::Number(seat.money.into())),
                ("gone", Fact::Flag(seat.gone)),
            ]);
        }
        facts
    }
}
