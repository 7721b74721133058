//! Random results: dice, their colours, and other draws.

use serde::{Deserialize, Serialize};

use crate::{Draw, Faces, Points, SeatNo, Slots, Slug, special_dice::Code};

/// Dice were rolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rolled {
    /// The seat.
    pub seat: SeatNo,
    /// The random draw of the faces.
    pub draw: Draw,
    /// The slots rolled.
    pub slots: Slots,
    /// The raw values of the random source, in slot order.
    pub raw: Vec<u32>,
    /// The faces, in slot order.
    pub faces: Faces,
    /// The best score of any selection of this roll; 0 is a farkle.
    pub max_points: Points,
    /// After hot dice: the points of the completed hand, added to the round score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<Points>,
    /// The colours of the dice, in games with coloured dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<Box<ColoursDrawn>>,
}

/// The colours of rolled dice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColoursDrawn {
    /// The colour of each die, in slot order.
    pub codes: Vec<Code>,
    /// The draws that decided them: one per possible colour, in the order tried.
    pub draws: Vec<ColourDraw>,
}

/// The draw that decides which dice get a colour: one value per die, in slot order; 1 is a hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColourDraw {
    /// The colour.
    pub code: Code,
    /// The random draw; its number of sides gives the odds.
    pub draw: Draw,
    /// The raw values of the random source.
    pub raw: Vec<u32>,
}

/// Something other than a die was drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// The random draw.
    pub draw: Draw,
    /// The raw value of the random source.
    pub raw: u32,
    /// The item drawn.
    pub item: Slug,
    /// Its position, if it is placed face up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u8>,
}
