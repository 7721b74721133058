//! The colours of dice, in the order in which they are tried.

use serde::{Deserialize, Serialize};

use crate::{Slug, special_dice::Code};

/// A colour of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    /// If used, multiplies the score by its face; if not, divides it.
    Blue,
    /// Earns its face in dollars.
    Green,
    /// Adds its face to the points.
    Red,
    /// Multiplies the score by its face.
    Purple,
    /// If used, gives a consumable.
    Yellow,
}

/// The colours that dice can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "it must be true, false, or a list of colours")]
pub enum Colours {
    /// All of them, or none.
    All(bool),
    /// These.
    Only(Vec<Colour>),
}

impl Colours {
    /// Whether dice can have a colour.
    pub fn has(&self, colour: Colour) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Only(some) => some.contains(&colour),
        }
    }

    /// The colours that dice can have, in the order in which they are tried.
    pub fn each(&self) -> impl Iterator<Item = Colour> {
        Colour::ALL.into_iter().filter(|&colour| self.has(colour))
    }
}

impl Colour {
    /// All colours, in the order in which they are tried: the first hit wins.
    pub const ALL: [Self; 5] = [Self::Blue, Self::Green, Self::Red, Self::Purple, Self::Yellow];

    /// Its position in that order.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its kind of die.
    pub const fn code(self) -> Code {
        match self {
            Self::Blue => Code::of("BLUE"),
            Self::Green => Code::of("GREEN"),
            Self::Red => Code::of("RED"),
            Self::Purple => Code::of("PURPLE"),
            Self::Yellow => Code::of("YELLOW"),
        }
    }

    /// The colour of a kind of die, if it has one.
    pub fn of(code: Code) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.code() == code)
    }

    /// Its code in the shop.
    pub const fn slug(self) -> Slug {
        match self {
            Self::Blue => Slug::of("blue"),
            Self::Green => Slug::of("green"),
            Self::Red => Slug::of("red"),
            Self::Purple => Slug::of("purple"),
            Self::Yellow => Slug::of("yellow"),
        }
    }

    /// Its display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blue => "Blue",
            Self::Green => "Green",
            Self::Red => "Red",
            Self::Purple => "Purple",
            Self::Yellow => "Yellow",
        }
    }

    /// The rule text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Blue => {
                "A blue die that is used multiplies the score by its face; one that is not divides it."
            }
            Self::Green => "A green die earns its face in dollars when a category is scored.",
            Self::Red => "A red die adds its face to the score.",
            Self::Purple => "A purple die multiplies the score by its face.",
            Self::Yellow => {
                "A yellow die that is used brings a consumable, if there is room for it."
            }
        }
    }
}
