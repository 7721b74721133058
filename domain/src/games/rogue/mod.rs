//! DiceRogue: one player, five dice, thirteen categories per round, six rounds with targets.
//!
//! There is a shop between rounds. Colours bought there appear on dice at random and change the
//! score; consumables bend a rule once.

#![expect(clippy::wildcard_enum_match_arm, reason = "a game handles only its own events")]

mod board;
mod card;
mod category;
mod colour;
mod consumable;
mod names;
mod plays;
mod rules;
mod score;
mod shop;
mod statistics;
mod verbs;
mod view;
mod words;

pub use board::{ColouredDie, Rogue, RogueTurn};
pub use card::Card;
pub use category::Category;
pub use colour::{Colour, Colours};
pub use consumable::{Consumable, ConsumableEffect};
pub use rules::{ColourRule, RogueRules, RoundGoal};
pub use statistics::{BlueRecord, CategoryRecord, ColourStatistics};

use crate::decision::Decision;

pub(crate) type RogueDecision<'a> = Decision<'a, Rogue>;
