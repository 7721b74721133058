//! NeonPolis: six dice, a centre worth holding, a market of cards; 20 victory points or the last one standing wins.
//!
//! A turn rolls, resolves (victory points, hearts, energy, swords, eliminations, in this order), fights, shops and ends. Dice
//! have the faces 1, 2, 3, sword, energy and heart, counted 1 to 6.

#![expect(clippy::wildcard_enum_match_arm, reason = "a game picks its part of the vocabulary")]

mod ability;
mod board;
mod card;
mod character;
mod combat;
mod market;
mod names;
mod plays;
mod resolve;
mod rules;
mod verbs;
mod view;
mod words;

pub use board::{Neon, NeonPlayer, NeonTurn};
pub use card::{Card, CardKind, Evolution, Once, Passive};
pub use character::{Character, Gift};
pub use rules::{InsideHits, NeonRules};

use crate::desk::Desk;

pub(crate) type NeonDesk<'a> = Desk<'a, Neon>;

/// The face of a sword.
pub const SWORD: u8 = 4;
/// The face of energy.
pub const ENERGY: u8 = 5;
/// The face of a heart.
pub const HEART: u8 = 6;
