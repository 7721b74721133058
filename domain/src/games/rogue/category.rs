//! The thirteen categories, and their scores without colours.

use serde::{Deserialize, Serialize};

use super::RogueRules;
use crate::{CombinationName, Points, Slots, Slug};

/// A category of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Category {
    Ones,
    Twos,
    Threes,
    Fours,
    Fives,
    Sixes,
    ThreeOfAKind,
    FourOfAKind,
    FullHouse,
    SmallStraight,
    LargeStraight,
    Yahtzee,
    Chance,
}

impl Category {
    /// All categories, in the order of the card.
    pub const ALL: [Self; 13] = [
        Self::Ones,
        Self::Twos,
        Self::Threes,
        Self::Fours,
        Self::Fives,
        Self::Sixes,
        Self::ThreeOfAKind,
        Self::FourOfAKind,
        Self::FullHouse,
        Self::SmallStraight,
        Self::LargeStraight,
        Self::Yahtzee,
        Self::Chance,
    ];

    /// Its position on the card.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in moves and events.
    pub const fn slug(self) -> Slug {
        Slug::of(match self {
            Self::Ones => "ones",
            Self::Twos => "twos",
            Self::Threes => "threes",
            Self::Fours => "fours",
            Self::Fives => "fives",
            Self::Sixes => "sixes",
            Self::ThreeOfAKind => "three_of_a_kind",
            Self::FourOfAKind => "four_of_a_kind",
            Self::FullHouse => "full_house",
            Self::SmallStraight => "small_straight",
            Self::LargeStraight => "large_straight",
            Self::Yahtzee => "yahtzee",
            Self::Chance => "chance",
        })
    }

    /// The category of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.slug().as_str() == name)
    }

    /// Its combination.
    pub const fn combination(self) -> CombinationName {
        match self {
            Self::Ones => CombinationName::Ones,
            Self::Twos => CombinationName::Twos,
            Self::Threes => CombinationName::Threes,
            Self::Fours => CombinationName::Fours,
            Self::Fives => CombinationName::Fives,
            Self::Sixes => CombinationName::Sixes,
            Self::ThreeOfAKind => CombinationName::ThreeOfAKind,
            Self::FourOfAKind => CombinationName::FourOfAKind,
            Self::FullHouse => CombinationName::FullHouse,
            Self::SmallStraight => CombinationName::SmallStraight,
            Self::LargeStraight => CombinationName::LargeStraight,
            Self::Yahtzee => CombinationName::Yahtzee,
            Self::Chance => CombinationName::Chance,
        }
    }

    /// The category of a combination.
    pub fn of(name: CombinationName) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.combination() == name)
    }

    /// The face that an upper category counts.
    pub fn face(self) -> Option<u8> {
        let upper = self.index() < 6;
        upper.then(|| u8::try_from(self.index() + 1).unwrap_or(u8::MAX))
    }

    /// The dice it uses: those of its face, or all.
    pub fn used(self, faces: &[u8]) -> Slots {
        let face = self.face();
        let dice = (0..).zip(faces).filter(|(_, shown)| face.is_none_or(|face| face == **shown));
        dice.map(|(slot, _)| slot).collect()
    }

    /// The points without colours; `waived` scores the dice as if they fitted.
    pub fn base(self, faces: &[u8], rules: &RogueRules, waived: bool) -> Points {
        let sum = |wanted: Option<u8>| -> Points {
            let counted = faces.iter().filter(|&&face| wanted.is_none_or(|wanted| wanted == face));
            counted.map(|&face| Points::from(face)).sum()
        };
        let fits = waived || self.fits(faces);
        match self {
            Self::Ones | Self::Twos | Self::Threes | Self::Fours | Self::Fives | Self::Sixes => {
                sum(self.face())
            }
            _ if !fits => 0,
            Self::ThreeOfAKind | Self::FourOfAKind | Self::Chance => sum(None),
            Self::FullHouse => rules.full_house,
            Self::SmallStraight => rules.small_straight,
            Self::LargeStraight => rules.large_straight,
            Self::Yahtzee => rules.yahtzee,
        }
    }

    /// Whether the dice meet its condition. More than five dice do if five of them do.
    pub fn fits(self, faces: &[u8]) -> bool {
        let mut counts = [0u8; 7];
        for &face in faces {
            if let Some(count) = counts.get_mut(usize::from(face)) {
                *count += 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let in_a_row = |length: usize| {
            counts[1..].windows(length).any(|row| row.iter().all(|&count| count > 0))
        };
        match self {
            Self::ThreeOfAKind => most >= 3,
            Self::FourOfAKind => most >= 4,
            Self::Yahtzee => most >= 5,
            Self::FullHouse => {
                let three = counts.iter().position(|&count| count >= 3);
                let other = |(face, &count): (usize, &u8)| count >= 2 && Some(face) != three;
                three.is_some() && counts.iter().enumerate().any(other)
            }
            Self::SmallStraight => in_a_row(4),
            Self::LargeStraight => in_a_row(5),
            Self::Ones
            | Self::Twos
            | Self::Threes
            | Self::Fours
            | Self::Fives
            | Self::Sixes
            | Self::Chance => true,
        }
    }
}
