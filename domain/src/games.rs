//! The list of games. A new game is a folder with a [`Rulebook`] and a line in each match here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Command, Dice, DieOnTable, Event, Fact, Game, Legal, Moment, Points, Rejection, Ruleset,
    SeatNo, Selection, Table,
    decide::decide_with,
    desk::{Desk, Rulebook},
    farkle::{
        Farkle, FarkleRules,
        dice::{Catalogue, Code},
    },
    legal::legal_with,
};

/// The names of all games.
pub const GAMES: [&str; 1] = ["farkle"];

/// Which game, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "game", content = "parameters", rename_all = "snake_case")]
pub enum Rules {
    /// Farkle.
    Farkle(Arc<FarkleRules>),
}

/// What a kind of game has on the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    /// Farkle.
    Farkle(Farkle),
}

impl Rules {
    /// The presets of a game, the default first.
    pub fn presets(game: &str) -> Result<Vec<Ruleset>, Rejection> {
        match game {
            "farkle" => Ok(FarkleRules::presets()),
            _ => Err(Rejection::UnknownGame { game: game.to_owned(), known: GAMES.join(", ") }),
        }
    }

    /// A parameter that was given by the name of a known value.
    pub(crate) fn named_value(&self, parameter: &str, value: &Value) -> Result<Value, Rejection> {
        match self {
            Self::Farkle(_) => FarkleRules::named_value(parameter, value),
        }
    }

    /// The special dice of the game, if it is played with any.
    pub fn catalogue(&self) -> Option<&Catalogue> {
        match self {
            Self::Farkle(rules) => rules.catalogue.as_deref(),
        }
    }

    /// The dice that a seat may play with under these rules, out of those it named.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        match self {
            Self::Farkle(rules) => rules.loadout(named),
        }
    }

    /// These rules with other special dice, if they have any.
    #[must_use]
    pub fn with_catalogue(&self, catalogue: &Arc<Catalogue>) -> Self {
        match self {
            Self::Farkle(rules) => Self::Farkle(rules.with_catalogue(catalogue)),
        }
    }

    /// The name of the game.
    pub const fn game(&self) -> &'static str {
        match self {
            Self::Farkle(_) => "farkle",
        }
    }

    pub(crate) fn check(&self) -> Result<(), Rejection> {
        match self {
            Self::Farkle(rules) => rules.check(),
        }
    }

    pub(crate) fn most_seats(&self) -> u8 {
        match self {
            Self::Farkle(_) => Farkle::MOST_SEATS,
        }
    }
}

impl Board {
    pub(crate) fn new(rules: &Rules) -> Self {
        match rules {
            Rules::Farkle(rules) => Self::Farkle(Farkle::new(rules)),
        }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match self {
            Self::Farkle(farkle) => farkle.apply(event),
        }
    }

    /// The points of each seat, in seat order.
    pub fn scores(&self) -> Vec<Points> {
        match self {
            Self::Farkle(farkle) => farkle.scores(),
        }
    }

    pub(crate) fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        match self {
            Self::Farkle(farkle) => farkle.facts(table, seat),
        }
    }
}

impl Game {
    pub(crate) fn decide(
        &self,
        command: &Command,
        now: Moment,
        dice: &mut dyn Dice,
    ) -> Result<Vec<Event>, Rejection> {
        match &self.board {
            Board::Farkle(board) => decide_with(Desk::new(&self.table, board, now, dice), command),
        }
    }

    /// The dice of the seat to move, by slot.
    pub fn dice(&self) -> Vec<DieOnTable> {
        match &self.board {
            Board::Farkle(farkle) => farkle.dice_on_table(self.table.turn.seat),
        }
    }

    /// Every selection of the roll on the table that scores, explained, the best one first.
    pub fn selections(&self) -> Vec<Selection> {
        match &self.board {
            Board::Farkle(board) => board.selections_on_table(&self.table),
        }
    }

    /// The selection of the roll on the table that scores the most, with as many dice as possible.
    pub fn best_selection(&self) -> Option<Selection> {
        match &self.board {
            Board::Farkle(board) => board.best_selection(&self.table),
        }
    }

    /// The dice that a seat may play with, out of those it named.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        self.table.ruleset.rules.lawful_loadout(named)
    }

    /// The dice of a seat, one a slot.
    pub fn loadout(&self, seat: SeatNo) -> Vec<Code> {
        match &self.board {
            Board::Farkle(farkle) => farkle.loadout_of(seat),
        }
    }

    /// Every command that would be accepted now.
    pub fn legal_commands(&self) -> Vec<Legal> {
        match &self.board {
            Board::Farkle(board) => legal_with(&self.table, board),
        }
    }
}
