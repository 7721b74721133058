//! DiceRogue: one player, five dice, thirteen categories a round, six rounds with targets.
//!
//! Between the rounds there is a shop. Colours bought there come up on dice by chance and change what a score is worth;
//! consumables bend a rule once.

#![expect(clippy::wildcard_enum_match_arm, reason = "a game picks its part of the vocabulary")]

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

use crate::desk::Desk;

pub(crate) type RogueDesk<'a> = Desk<'a, Rogue>;
