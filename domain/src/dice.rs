//! The source of randomness: `decide` requests draws and never makes one itself.

use serde::{Deserialize, Serialize};

use crate::{Slug, fair::Secret, special_dice::Code};

/// A source of raw values: [`crate::fair::FairDice`] in real games, a script in scenarios.
pub trait Dice {
    /// The first `count` values of a draw, each from 1 to its sides.
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32>;

    /// The ticket of a weighted choice, from 1 to the sum of the weights: by default the first
    /// value of the draw.
    fn ticket(&mut self, draw: Draw, _weights: &[u32]) -> Option<u32> {
        self.draw(draw, 1).first().copied()
    }

    /// The choice among several items, counted from 1: by default the first value of the draw.
    fn one_of(&mut self, draw: Draw, _things: &[Slug]) -> Option<u32> {
        self.draw(draw, 1).first().copied()
    }

    /// The colours of the dice just rolled, if a script dictates them; `None` if they are to be
    /// drawn.
    fn painted(&mut self) -> Option<Vec<Code>> {
        None
    }

    /// The secret behind the dice, revealed when the game ends. A source without one cannot end a
    /// game.
    fn secret(&self) -> Option<Secret>;
}

/// No dice, for creating a game. Any roll, and the end of a game, is rejected.
#[derive(Clone, Copy, Debug)]
pub struct NoDice;

impl Dice for NoDice {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        Vec::new()
    }

    fn secret(&self) -> Option<Secret> {
        None
    }
}

/// Identifies a draw of a game. Draws are independent: one never shifts another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// What the draw is for.
    pub purpose: Purpose,
    /// The number of the draw among those of its purpose, starting at 1.
    pub number: u64,
    /// The largest value; the smallest is 1.
    pub sides: u32,
}

/// The purpose of a draw. The numbers are part of the fair dice protocol and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Purpose {
    /// Faces of dice.
    Dice = 1,
    /// Colours of dice.
    Colours = 2,
    /// Cards added to a market.
    Market = 3,
    /// Items given at random.
    Grants = 4,
}
