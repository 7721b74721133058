//! NeonPolis: six dice, a centre to hold, a market of cards; 20 victory points or being the last
//! one left wins.
//!
//! A turn rolls, resolves (victory points, hearts, energy, swords, eliminations, in this order),
//! fights, shops and ends. Dice have the faces 1, 2, 3, sword, energy and heart, numbered 1 to 6.

#![expect(clippy::wildcard_enum_match_arm, reason = "a game handles only its own events")]

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

use crate::decision::Decision;

pub(crate) type NeonDecision<'a> = Decision<'a, Neon>;

/// The sword face.
pub const SWORD: u8 = 4;
/// The energy face.
pub const ENERGY: u8 = 5;
/// The heart face.
pub const HEART: u8 = 6;
