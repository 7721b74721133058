//! The card of a round.

use serde::{Deserialize, Serialize};

use super::{Category, RogueRules};
use crate::Points;

/// The points of each category, in the order of the card; `None` for an open one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card(pub [Option<Points>; 13]);

impl Card {
    /// The points of a category, if it is scored.
    pub const fn get(&self, category: Category) -> Option<Points> {
        self.0[category.index()]
    }

    pub(super) const fn set(&mut self, category: Category, points: Option<Points>) {
        self.0[category.index()] = points;
    }

    /// The open categories.
    pub fn open(&self) -> impl Iterator<Item = Category> {
        Category::ALL.into_iter().filter(|&category| self.get(category).is_none())
    }

    /// Whether all categories are scored.
    pub fn is_full(&self) -> bool {
        self.open().next().is_none()
    }

    /// The points of the upper section.
    pub fn upper(&self) -> Points {
        self.0[..6].iter().flatten().copied().fold(0, Points::saturating_add)
    }

    /// The bonus of the upper section.
    pub fn upper_bonus(&self, rules: &RogueRules) -> Points {
        if self.upper() >= rules.upper_bonus_at { rules.upper_bonus } else { 0 }
    }

    /// The points of all categories.
    pub fn sum(&self) -> Points {
        self.0.iter().flatten().copied().fold(0, Points::saturating_add)
    }
}
