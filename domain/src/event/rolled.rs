//! What came up at random: dice, their colours, and things that are no dice.

use serde::{Deserialize, Serialize};

use crate::{Draw, Faces, Points, SeatNo, Slots, Word, special_dice::Code};

/// Dice were rolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rolled {
    /// Who rolled.
    pub seat: SeatNo,
    /// Which draw of the game's dice this is.
    pub draw: Draw,
    /// The dice rolled.
    pub slots: Slots,
    /// What the random source gave, in slot order.
    pub raw: Vec<u32>,
    /// What the dice show, in slot order.
    pub faces: Faces,
    /// The best score over all selections of this roll; 0 is a farkle.
    pub max_points: Points,
    /// After hot dice: the points of the completed hand, now part of the round score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<Points>,
    /// The colours the dice came up in, where they have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<Box<ColoursDrawn>>,
}

/// The colours that dice came up in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColoursDrawn {
    /// Of each die, in slot order.
    pub codes: Vec<Code>,
    /// The draws that decided it: of each colour that can come up, in the order in which they are tried.
    pub draws: Vec<ColourDraw>,
}

/// Whether dice come up in a colour: one value a die, in slot order; 1 is a hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColourDraw {
    /// The colour.
    pub code: Code,
    /// Which draw of the game's colours this is; its sides are the odds.
    pub draw: Draw,
    /// What the random source gave.
    pub raw: Vec<u32>,
}

/// Something came up at random that is no die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Which draw.
    pub draw: Draw,
    /// What the random source gave.
    pub raw: u32,
    /// What came up.
    pub item: Word,
    /// Where it lies now, if it lies open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u8>,
}
