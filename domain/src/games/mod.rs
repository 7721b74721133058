//! The list of games. A new game is a file or a folder with its state (`Rulebook`) and its
//! parameters (`Parameters`), a `mod` and a line in the list below.

pub mod dash;
pub mod farkle;
pub mod neon;
pub mod pig;
pub mod rogue;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Counts, DieOnTable, Event, Fact, Figure, Game, Offer, Play, Points, Rejection, Ruleset, SeatNo,
    Selection, Table, Thing, Word,
    rulebook::{Parameters, Rulebook},
    special_dice::{Catalogue, Code},
    verbs::Verb,
};
use dash::{LastLine, LastLineRules, TrueGrit, TrueGritRules, ZeroHour, ZeroHourRules};
use farkle::{Farkle, FarkleRules};
use neon::{Neon, NeonRules};
use pig::{Pig, PigRules};
use rogue::{Rogue, RogueRules};

/// What every game of the list can be asked, handed on to the one it is.
macro_rules! games {
    ($dollar:tt $($(#[$doc:meta])* $game:ident($board:ty, $rules:ty) = $name:literal,)*) => {
        /// The names of all games.
        pub const GAMES: &[&str] = &[$($name),*];

        /// Which game, and its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "game", content = "parameters")]
        pub enum Rules {
            $($(#[$doc])* #[serde(rename = $name)] $game(Arc<$rules>),)*
        }

        /// What a kind of game has on the table.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Board {
            $($(#[$doc])* #[serde(rename = $name)] $game($board),)*
        }

        impl Rules {
            /// The presets of a game in every version there ever was, the newest first.
            pub fn versions(game: &str) -> Result<Vec<Ruleset>, Rejection> {
                match game {
                    $($name => Ok(<$rules>::presets()),)*
                    _ => Err(Rejection::UnknownGame { game: game.to_owned(), known: GAMES.join(", ") }),
                }
            }

            /// The name of the game.
            pub const fn game(&self) -> &'static str {
                match self { $(Self::$game(_) => $name,)* }
            }

            /// Whether the lowest score of this game is the best one.
            pub fn counts_down(game: &str) -> bool {
                match game {
                    $($name => <$board>::COUNTS_DOWN,)*
                    _ => false,
                }
            }

            pub(crate) fn fewest_seats(&self) -> u8 {
                match self { $(Self::$game(_) => <$board>::FEWEST_SEATS,)* }
            }

            pub(crate) fn most_seats(&self) -> u8 {
                match self { $(Self::$game(_) => <$board>::MOST_SEATS,)* }
            }

            pub(crate) fn parameters(&self) -> &dyn Parameters {
                match self { $(Self::$game(rules) => &**rules,)* }
            }

            /// These rules with other special dice, if they have any.
            #[must_use]
            pub fn with_catalogue(&self, catalogue: &Arc<Catalogue>) -> Self {
                match self {
                    $(Self::$game(rules) => {
                        Self::$game(rules.with_catalogue(catalogue).map_or_else(|| Arc::clone(rules), Arc::new))
                    })*
                }
            }
        }

        impl Board {
            pub(crate) fn new(rules: &Rules) -> Self {
                match rules { $(Rules::$game(rules) => Self::$game(<$board>::new(rules)),)* }
            }

            pub(crate) fn apply(&mut self, event: &Event) {
                match self { $(Self::$game(board) => board.apply(event),)* }
            }

            /// The points of each seat, in seat order.
            pub fn scores(&self) -> Vec<Points> {
                match self { $(Self::$game(board) => board.scores(),)* }
            }

            pub(crate) fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
                match self { $(Self::$game(board) => board.facts(table, seat),)* }
            }
        }

        impl Game {
            /// The dice of the seat to move, by slot.
            pub fn dice(&self) -> Vec<DieOnTable> {
                match &self.board { $(Board::$game(board) => board.dice_on_table(&self.table),)* }
            }

            /// Every selection of the roll on the table that scores, explained, the best one first.
            pub fn selections(&self) -> Vec<Selection> {
                match &self.board { $(Board::$game(board) => board.selections_on_table(&self.table),)* }
            }

            /// The selection of the roll on the table that scores the most, with as many dice as possible.
            pub fn best_selection(&self) -> Option<Selection> {
                match &self.board { $(Board::$game(board) => board.best_selection(&self.table),)* }
            }

            /// The dice of a seat, one a slot.
            pub fn loadout(&self, seat: SeatNo) -> Vec<Code> {
                match &self.board { $(Board::$game(board) => board.loadout_of(seat),)* }
            }

            /// What can be bought.
            pub fn offers(&self) -> Vec<Offer> {
                match &self.board { $(Board::$game(board) => board.offers(&self.table),)* }
            }

            pub(crate) fn play_behind(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
                match &self.board { $(Board::$game(board) => board.play_behind(log),)* }
            }

            /// What the turn is waiting for, while the game is played: `roll`, `combat`, `shop`.
            pub fn phase(&self) -> Option<&'static str> {
                self.to_move()?;
                Some(match &self.board { $(Board::$game(board) => board.phase(&self.table),)* })
            }

            /// What a seat did so far, where the state keeps count of it.
            pub fn counted(&self, seat: SeatNo) -> Vec<(String, i64)> {
                match &self.board { $(Board::$game(board) => board.counted(seat),)* }
            }
        }

        impl Rules {
            /// What an event adds to the statistics of seats; `turn` is whose turn it is.
            pub fn count(&self, event: &Event, turn: Option<SeatNo>, counts: &mut Counts) {
                match self { $(Self::$game(_) => <$board>::count(event, turn, counts),)* }
            }

            /// Whether what is counted for statistics is part of the state of the game.
            pub const fn keeps_count(&self) -> bool {
                match self { $(Self::$game(_) => <$board>::KEEPS_COUNT,)* }
            }

            /// What statistics show of what was counted in games of this name.
            pub fn figures(game: &str, counts: &BTreeMap<String, i64>) -> Vec<Figure> {
                match game {
                    $($name => <$board>::figures(counts),)*
                    _ => Vec::new(),
                }
            }
        }

        /// The verbs of all games.
        pub(crate) fn verbs() -> impl Iterator<Item = &'static Verb> {
            [$(<$board>::VERBS),*].into_iter().flatten()
        }

        /// The kind of a die that a script writes with this letter.
        pub(crate) fn kind_by_letter(letter: &str) -> Option<Code> {
            None$(.or_else(|| <$board>::kind_by_letter(letter)))*
        }

        /// Does the same with the state of whatever game it is.
        macro_rules! with_board {
            ($dollar game_board:expr, $dollar board:ident => $dollar then:expr) => {
                match $dollar game_board { $($crate::games::Board::$game($dollar board) => $dollar then,)* }
            };
        }

        pub(crate) use with_board;
    };
}

games! { $
    /// Farkle.
    Farkle(Farkle, FarkleRules) = "farkle",
    /// DashDice: count down to exactly 0.
    ZeroHour(ZeroHour, ZeroHourRules) = "zero_hour",
    /// DashDice: one turn each, again after doubles.
    LastLine(LastLine, LastLineRules) = "last_line",
    /// DashDice: one turn each, until a single 1.
    TrueGrit(TrueGrit, TrueGritRules) = "true_grit",
    /// DiceRogue: thirteen categories a round, coloured dice, six rounds with targets.
    DiceRogue(Rogue, RogueRules) = "dice_rogue",
    /// NeonPolis: hold the centre, or be the last one standing.
    NeonPolis(Neon, NeonRules) = "neonpolis",
    /// Pig: one die, and a 1 loses the turn.
    Pig(Pig, PigRules) = "pig",
}

impl Rules {
    /// The presets of a game as they are today, the default first.
    pub fn presets(game: &str) -> Result<Vec<Ruleset>, Rejection> {
        let mut newest: Vec<Ruleset> = Vec::new();
        for preset in Self::versions(game)? {
            if newest.iter().all(|known| known.preset != preset.preset) {
                newest.push(preset);
            }
        }
        Ok(newest)
    }

    pub(crate) fn check(&self) -> Result<(), Rejection> {
        self.parameters().check()
    }

    /// A parameter that was given by the name of a known value.
    pub(crate) fn named_value(&self, parameter: &str, value: &Value) -> Result<Value, Rejection> {
        self.parameters().named_value(parameter, value)
    }

    /// What a thing of these rules is called: a card, a consumable, a character.
    pub fn name_of(&self, code: Word) -> Option<String> {
        self.parameters().name_of(code)
    }

    /// Everything that these rules name: characters, cards, consumables.
    pub fn things(&self) -> Vec<Thing> {
        self.parameters().things()
    }

    /// What a side of the dice shows, where it is no number.
    pub fn face_name(&self, face: u8) -> Option<&'static str> {
        self.parameters().face_name(face)
    }

    /// The special dice of the game, if it is played with any.
    pub fn catalogue(&self) -> Option<&Catalogue> {
        self.parameters().catalogue()
    }

    /// The dice that a seat may play with under these rules, out of those it named.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        self.parameters().lawful_loadout(named)
    }
}

impl Game {
    /// The dice that a seat may play with, out of those it named.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        self.table.ruleset.rules.lawful_loadout(named)
    }
}
