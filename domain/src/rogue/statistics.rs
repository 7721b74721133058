//! What colours did in a run.

use serde::{Deserialize, Serialize};

use super::{Category, Colour};
use crate::Points;

/// Dice by colour, the last one being none; and what scores brought, by category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColourStatistics {
    /// Dice rolled: blue, green, red, purple, yellow, none.
    pub rolled: [u32; 6],
    /// Dice used in a score, likewise.
    pub scored: [u32; 6],
    /// What each category brought.
    pub categories: [CategoryRecord; 13],
}

/// What a category brought over all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRecord {
    /// How often it was scored.
    pub scored: u32,
    /// The points it brought.
    pub points: Points,
    /// What blue dice did to it.
    pub blue: BlueRecord,
}

/// What blue dice did to scores: bonuses and penalties apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlueRecord {
    /// Scores in which some were used.
    pub bonuses: u32,
    /// What scores gained through them.
    pub gained: Points,
    /// Scores in which some were not used; a score may have both.
    pub penalties: u32,
    /// What scores lost through them.
    pub lost: Points,
}

impl ColourStatistics {
    pub(super) fn count_rolled(&mut self, colour: Option<Colour>) {
        self.rolled[colour.map_or(5, Colour::index)] += 1;
    }

    pub(super) fn count_scored(&mut self, colour: Option<Colour>) {
        self.scored[colour.map_or(5, Colour::index)] += 1;
    }

    pub(super) fn count_score(&mut self, category: Category, points: Points) {
        let record = &mut self.categories[category.index()];
        record.scored += 1;
        record.points = record.points.saturating_add(points);
    }

    /// Blue dice were on the table: some that were used, some that were not, and they changed a score by so much.
    pub(super) fn count_blue(&mut self, category: Category, used: bool, idle: bool, by: Points) {
        let blue = &mut self.categories[category.index()].blue;
        blue.bonuses += u32::from(used);
        blue.penalties += u32::from(idle);
        blue.gained = blue.gained.saturating_add(by.max(0));
        blue.lost = blue.lost.saturating_add(by.min(0).saturating_neg());
    }

    /// Both together: several runs as one.
    pub fn add(&mut self, other: &Self) {
        let counts = self.rolled.iter_mut().zip(other.rolled);
        counts.chain(self.scored.iter_mut().zip(other.scored)).for_each(|(sum, more)| *sum += more);
        for (sum, more) in self.categories.iter_mut().zip(&other.categories) {
            sum.scored += more.scored;
            sum.points = sum.points.saturating_add(more.points);
            sum.blue = sum.blue.plus(&more.blue);
        }
    }

    /// Whether nothing was rolled.
    pub fn is_empty(&self) -> bool {
        self.rolled.iter().all(|&count| count == 0)
    }

    /// What blue dice did in all.
    pub fn blue(&self) -> BlueRecord {
        self.categories.iter().fold(BlueRecord::default(), |sum, record| sum.plus(&record.blue))
    }
}

impl BlueRecord {
    fn plus(&self, other: &Self) -> Self {
        Self {
            bonuses: self.bonuses.saturating_add(other.bonuses),
            gained: self.gained.saturating_add(other.gained),
            penalties: self.penalties.saturating_add(other.penalties),
            lost: self.lost.saturating_add(other.lost),
        }
    }

    /// What a bonus brings on average, rounded down.
    pub fn average_gain(&self) -> Points {
        self.gained.checked_div(self.bonuses.into()).unwrap_or(0)
    }

    /// What a penalty costs on average, rounded down.
    pub fn average_loss(&self) -> Points {
        self.lost.checked_div(self.penalties.into()).unwrap_or(0)
    }
}
