//! The list of games. A new game is a file or a folder with its state (`GameRules`) and its
//! parameters (`Parameters`), a `mod` and a row in the list below.

pub mod dash;
pub mod farkle;
pub mod neon;
pub mod pig;
pub mod rogue;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CatalogItem, Counts, DieOnTable, Event, Fact, Figure, Game, Number, Offer, Play, Points,
    Rejection, Ruleset, Saved, SeatNo, Selection, Slug, Table,
    game_rules::{GameRules, Parameters},
    special_dice::{Catalogue, Code},
    verbs::Verb,
};
use dash::{LastLine, LastLineRules, TrueGrit, TrueGritRules, ZeroHour, ZeroHourRules};
use farkle::{Farkle, FarkleRules};
use neon::{Neon, NeonRules};
use pig::{Pig, PigRules};
use rogue::{Rogue, RogueRules};

/// The enums over all games, and functions that dispatch to the game at hand.
macro_rules! games {
    ($dollar:tt $($(#[$doc:meta])* $game:ident($board:ty, $rules:ty) = $name:literal,)*) => {
        /// The names of all games.
        pub const GAMES: &[&str] = &[$($name),*];

        /// The kind of game and its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "game", content = "parameters")]
        pub enum Rules {
            $($(#[$doc])* #[serde(rename = $name)] $game(Arc<$rules>),)*
        }

        /// The state that is specific to a kind of game.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Board {
            $($(#[$doc])* #[serde(rename = $name)] $game($board),)*
        }

        impl Rules {
            /// All versions of all presets of a game, newest first.
            pub fn versions(game: &str) -> Result<Vec<Ruleset>, Rejection> {
                match game {
                    $($name => Ok(<$rules>::presets()),)*
                    _ => Err(Rejection::UnknownGame { game: game.to_owned(), known: GAMES.join(", ") }),
                }
            }

            /// The name of a game as people write it; empty if there is no such game.
            pub fn title(game: &str) -> &'static str {
                match game {
                    $($name => <$board as GameRules>::TITLE,)*
                    _ => "",
                }
            }

            /// The name of the game.
            pub const fn game(&self) -> &'static str {
                match self { $(Self::$game(_) => $name,)* }
            }

            /// Whether the lowest score of this game wins.
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

            /// The same rules with another catalogue, if they have special dice.
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
            /// The state without records of earlier rounds.
            pub(crate) fn without_history(&self) -> Self {
                match self { $(Self::$game(board) => Self::$game(board.without_history()),)* }
            }

            pub(crate) fn new(rules: &Rules) -> Self {
                match rules { $(Rules::$game(rules) => Self::$game(<$board>::new(rules)),)* }
            }

            pub(crate) fn apply(&mut self, event: &Event) {
                match self { $(Self::$game(board) => board.apply(event),)* }
            }

            /// The scores in seat order.
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

            /// Every scoring selection of the current roll with its explanation, best first.
            pub fn selections(&self) -> Vec<Selection> {
                match &self.board { $(Board::$game(board) => board.selections_on_table(&self.table),)* }
            }

            /// The selection of the current roll with the most points, with as many dice as
            /// possible.
            pub fn best_selection(&self) -> Option<Selection> {
                match &self.board { $(Board::$game(board) => board.best_selection(&self.table),)* }
            }

            /// The dice of a seat, one per slot.
            pub fn loadout(&self, seat: SeatNo) -> Vec<Code> {
                match &self.board { $(Board::$game(board) => board.loadout_of(seat),)* }
            }

            /// The items on offer.
            pub fn offers(&self) -> Vec<Offer> {
                match &self.board { $(Board::$game(board) => board.offers(&self.table),)* }
            }

            pub(crate) fn infer_play(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
                match &self.board { $(Board::$game(board) => board.infer_play(log),)* }
            }

            /// What the turn is waiting for, while the game is running: `roll`, `combat`, `shop`.
            pub fn phase(&self) -> Option<&'static str> {
                self.to_move()?;
                Some(match &self.board { $(Board::$game(board) => board.phase(&self.table),)* })
            }

            /// The counts of a seat, in games whose state contains them.
            pub fn counted(&self, seat: SeatNo) -> Vec<(String, i64)> {
                match &self.board { $(Board::$game(board) => board.counted(seat),)* }
            }
        }

        impl Rules {
            /// Adds an event to the statistics of seats; `turn` is the seat whose turn it is.
            pub fn count(&self, event: &Event, turn: Option<SeatNo>, counts: &mut Counts) {
                match self { $(Self::$game(_) => <$board>::count(event, turn, counts),)* }
            }

            /// Whether the state contains the counts for statistics.
            pub const fn keeps_count(&self) -> bool {
                match self { $(Self::$game(_) => <$board>::KEEPS_COUNT,)* }
            }

            /// The statistics shown for the counts of a game.
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

        /// The kind of die that scripts write with this letter.
        pub(crate) fn kind_by_letter(letter: &str) -> Option<Code> {
            None$(.or_else(|| <$board>::kind_by_letter(letter)))*
        }

        /// Runs the same expression with the state of any game.
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
    /// DiceRogue: thirteen categories per round, coloured dice, six rounds with targets.
    DiceRogue(Rogue, RogueRules) = "dice_rogue",
    /// NeonPolis: hold the centre, or be the last one left.
    NeonPolis(Neon, NeonRules) = "neonpolis",
    /// Pig: one die, and a 1 loses the turn.
    Pig(Pig, PigRules) = "pig",
}

impl Rules {
    /// The current presets of a game, the default first.
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

    pub(crate) fn numbers(&self) -> Vec<Number> {
        self.parameters().numbers()
    }

    /// Whether a save uses the last die in hand, so that all can be rolled again.
    pub fn is_hot(&self, saved: &Saved) -> bool {
        self.parameters().has_hot_dice() && saved.left.is_empty()
    }

    /// Resolves a parameter that is given by the name of a known value.
    pub(crate) fn named_value(&self, parameter: &str, value: &Value) -> Result<Value, Rejection> {
        self.parameters().named_value(parameter, value)
    }

    /// The name of a card, consumable or character of these rules.
    pub fn name_of(&self, code: Slug) -> Option<String> {
        self.parameters().name_of(code)
    }

    /// All items of these rules: characters, cards, consumables.
    pub fn items(&self) -> Vec<CatalogItem> {
        self.parameters().items()
    }

    /// The name of a face that is not a number.
    pub fn face_name(&self, face: u8) -> Option<&'static str> {
        self.parameters().face_name(face)
    }

    /// The catalogue of special dice, in games with special dice.
    pub fn catalogue(&self) -> Option<&Catalogue> {
        self.parameters().catalogue()
    }

    /// Validates a loadout given by codes.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        self.parameters().lawful_loadout(named)
    }
}

impl Game {
    /// Validates a loadout given by codes.
    pub fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        self.table.ruleset.rules.lawful_loadout(named)
    }
}
