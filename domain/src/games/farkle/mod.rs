//! Farkle: roll, set scoring dice aside, and bank before a roll scores nothing.
//!
//! | words | meaning |
//! |---|---|
//! | set | the dice of a player, six by default |
//! | hand | the dice still to be rolled; once all are scored (hot dice) it is the full set again |
//! | round | one player's go, until a bank, a farkle, a forfeit or a time-out |
//! | save | scoring some of the dice just rolled |
//! | turn score | points of the saves of the current hand, before any multiplier |
//! | round score | points of the completed hands of the round, multiplied |
//! | game score | banked points |
//!
//! In challenge games every player chooses six dice of a catalogue ([`crate::special_dice`]).

mod board;
mod endless;
mod ends;
mod limits;
mod names;
mod plays;
mod rules;
mod scores;
pub mod scoring;
mod verbs;
mod view;
mod words;

pub use board::{Farkle, FarklePlayer, FarkleRound, Phase, RollRecord, RoundRecord};
pub use limits::LoadoutLimits;
pub use rules::FarkleRules;
