//! Facts about a seat by name: scenarios compare them, tools print them.

use std::fmt;

use crate::{Game, SeatNo, Slug};

/// A value that can be queried by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A count, points or money.
    Number(i64),
    /// A boolean.
    Flag(bool),
    /// One of a few fixed names.
    Text(&'static str),
    /// Money that only exists within the game.
    Money(i64),
    /// The code of an item.
    Slug(Slug),
    /// A list.
    List(Vec<Fact>),
    /// A map.
    Map(Vec<(Slug, Fact)>),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Money(dollars) => write!(f, "${dollars}"),
            Self::Slug(word) => word.fmt(f),
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
    /// All facts about a seat, by name.
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
            // A game with money of its own reports that one as `money`.
            if !facts.iter().any(|(name, _)| *name == "money") {
                facts.push(("money", Fact::Number(seat.money.into())));
            }
        }
        facts
    }
}
