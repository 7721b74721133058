//! Scored dice: combinations, and the effects of special dice on them.

use serde::{Deserialize, Serialize};

use super::defaults::{is_once, once};
use crate::{Faces, Points, SeatNo, Slots, special_dice::DieAt};

/// Dice were scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The seat.
    pub seat: SeatNo,
    /// The slots of the dice.
    pub slots: Slots,
    /// The combinations, largest first.
    pub combinations: Vec<Combination>,
    /// Bonuses of special dice, in the order applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bonuses: Vec<Boost>,
    /// The factor applied to the combinations.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The points of this save: combinations with their effects, times the multiplier, plus
    /// bonuses.
    pub points: Points,
    /// The points of the hand, including this save.
    pub turn_score: Points,
    /// The slots left in hand; none means hot dice.
    pub left: Slots,
}

/// Dice that score together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combination {
    /// Its name.
    pub name: CombinationName,
    /// The slots of the dice.
    pub slots: Slots,
    /// The faces, in slot order.
    pub faces: Faces,
    /// The points of the scoring table.
    pub points: Points,
    /// Effects of special dice, in the order applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Boost>,
}

impl Combination {
    /// The points after all effects of special dice.
    pub fn total(&self) -> Points {
        self.effects.last().map_or(self.points, |effect| effect.after)
    }
}

/// A special die changes a number of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boost {
    /// The die.
    pub die: DieAt,
    /// The points before.
    pub before: Points,
    /// The points after.
    pub after: Points,
}

/// The combinations of all games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombinationName {
    /// One die that scores alone.
    Single,
    /// Three dice of one face.
    ThreeOfAKind,
    /// Four dice of one face.
    FourOfAKind,
    /// Five dice of one face.
    FiveOfAKind,
    /// Six dice of one face.
    SixOfAKind,
    /// All faces from 1 to 6.
    Straight,
    /// Three pairs, or four of a kind and a pair.
    ThreePairs,
    /// Two triples.
    TwoTriplets,
    /// The sum of two dice.
    Sum,
    /// Two equal dice.
    Double,
    /// Three or more of a number.
    Set,
    /// All ones.
    Ones,
    /// All twos.
    Twos,
    /// All threes.
    Threes,
    /// All fours.
    Fours,
    /// All fives.
    Fives,
    /// All sixes.
    Sixes,
    /// Three of a face and two of another.
    FullHouse,
    /// Four faces in a row.
    SmallStraight,
    /// Five faces in a row.
    LargeStraight,
    /// Five dice of one face.
    Yahtzee,
    /// Any dice.
    Chance,
}

impl CombinationName {
    /// The text shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::ThreeOfAKind => "three of a kind",
            Self::FourOfAKind => "four of a kind",
            Self::FiveOfAKind => "five of a kind",
            Self::SixOfAKind => "six of a kind",
            Self::Straight => "straight",
            Self::ThreePairs => "three pairs",
            Self::TwoTriplets => "two triplets",
            Self::Sum => "sum",
            Self::Double => "double",
            Self::Set => "set",
            Self::Ones => "ones",
            Self::Twos => "twos",
            Self::Threes => "threes",
            Self::Fours => "fours",
            Self::Fives => "fives",
            Self::Sixes => "sixes",
            Self::FullHouse => "full house",
            Self::SmallStraight => "small straight",
            Self::LargeStraight => "large straight",
            Self::Yahtzee => "yahtzee",
            Self::Chance => "chance",
        }
    }
}
