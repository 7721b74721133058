//! Facts about a seat by name: what scenarios compare and tools print.

use std::fmt;

use crate::{Game, SeatNo, Word};

/// A value that can be asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A count, points or money.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// One of a few names.
    Text(&'static str),
    /// Money that is only worth something in this game.
    Money(i64),
    /// The code of a thing.
    Word(Word),
    /// Several, in order.
    List(Vec<Fact>),
    /// Several, by name.
    Map(Vec<(Word, Fact)>),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Money(dollars) => write!(f, "${dollars}"),
            Self::Word(word) => word.fmt(f),
            Self::List(facts) => {
                for (n, fact) in facts.iter().enumerate() {
                    write!(f, "{}{fact}", if n == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Map(facts) => {
                for (n, (name, fact)) in facts.iter().enumerate() {
                    write!(f, "{}{name} {fact}", if n == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl Game {
    /// Everything that can be asked about a seat by name.
    pub fn facts(&self, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let moves = self.to_move() == Some(seat);
        let mut facts = self.board.facts(&self.table, seat);
        if let Some(seat) = self.table.seats.get(usize::from(seat)) {
            let phase = self.phase().filter(|_| moves).unwrap_or("waiting");
            facts.extend([
                ("phase", Fact::Text(phase)),
                ("time_outs_in_a_row", Fact::Number(seat.time_outs.into())),
                ("gone", Fact::Flag(seat.gone)),
            ]);
            // Where the game has money of its own, that is what is meant.
            if !facts.iter().any(|(name, _)| *name == "money") {
                facts.push(("money", Fact::Number(seat.money.into())));
            }
        }
        facts
    }
}
