//! What dice score: combinations, and what special dice make of them.

use serde::{Deserialize, Serialize};

use super::defaults::{is_once, once};
use crate::{Faces, Points, SeatNo, Slots, special_dice::DieAt};

/// Dice were scored: the explanation and the sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Who saved.
    pub seat: SeatNo,
    /// The dice scored.
    pub slots: Slots,
    /// What they scored as, the largest combination first.
    pub combinations: Vec<Combination>,
    /// What special dice added to the combinations, in the order in which they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bonuses: Vec<Boost>,
    /// How many times the combinations count.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The points of this save: the combinations with their effects, multiplied, and the bonuses.
    pub points: Points,
    /// The points of the hand so far, with this save.
    pub turn_score: Points,
    /// The dice left in hand; none means hot dice.
    pub left: Slots,
}

/// Dice that score together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combination {
    /// What they are.
    pub name: CombinationName,
    /// The dice.
    pub slots: Slots,
    /// What they show, in slot order.
    pub faces: Faces,
    /// What they score by the table.
    pub points: Points,
    /// What special dice made of it, in the order in which they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Boost>,
}

impl Combination {
    /// What it scores with everything that special dice made of it.
    pub fn total(&self) -> Points {
        self.effects.last().map_or(self.points, |effect| effect.after)
    }
}

/// A special die makes something worth more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boost {
    /// The die.
    pub die: DieAt,
    /// What it was worth.
    pub before: Points,
    /// What it is worth now.
    pub after: Points,
}

/// The combinations of the scoring table.
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
    /// 1 to 6.
    Straight,
    /// Three pairs, or four of a kind and a pair.
    ThreePairs,
    /// Two times three of a kind.
    TwoTriplets,
    /// Two dice, added up.
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
    /// Whatever the dice show.
    Chance,
}

impl CombinationName {
    /// As people read it.
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
