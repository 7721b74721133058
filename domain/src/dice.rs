//! Where chance enters: `decide` asks for draws and never makes one.

use serde::{Deserialize, Serialize};

use crate::{Word, fair::Secret, special_dice::Code};

/// A source of raw values. Fair play uses [`crate::fair::FairDice`], scenarios a script.
pub trait Dice {
    /// The first `count` values of a draw, each from 1 to its sides.
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32>;

    /// The ticket of a weighted choice, from 1 to the sum of the weights: the first value of the draw.
    fn ticket(&mut self, draw: Draw, _weights: &[u32]) -> Option<u32> {
        self.draw(draw, 1).first().copied()
    }

    /// Which of several things comes up, counted from 1: the first value of the draw.
    fn one_of(&mut self, draw: Draw, _things: &[Word]) -> Option<u32> {
        self.draw(draw, 1).first().copied()
    }

    /// The colours of the dice just rolled, where somebody says them; `None` where they are drawn.
    fn painted(&mut self) -> Option<Vec<Code>> {
        None
    }

    /// What the dice are made from, to be revealed when the game is over. Dice that know none can
    /// be used for commands that end no game.
    fn secret(&self) -> Option<Secret>;
}

/// No dice at all, to create a game with. A roll is refused as wrong, and so is the end.
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

/// Which draw of a game: each is independent of all others, so one roll never shifts another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// What is drawn.
    pub purpose: Purpose,
    /// 1 for the first draw of this purpose in the game, then 2, 3 …
    pub number: u64,
    /// Values go from 1 to this.
    pub sides: u32,
}

/// What a draw is for. The numbers are part of the fair dice protocol and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Purpose {
    /// Faces of dice.
    Dice = 1,
    /// Colours of dice.
    Colours = 2,
    /// Cards coming to a market.
    Market = 3,
    /// Things given at random.
    Grants = 4,
}
