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
    /// Scores that they raised, or left as they were.
    pub bonuses: u32,
    /// By how much in all.
    pub gained: Points,
    /// Scores that they lowered.
    pub penalties: u32,
    /// By how much in all.
    pub lost: Points,
}

impl ColourStatistics {
    pub(super) fn count_rolled(&mut self, colour: Option<Colour>) {
        self.rolled[colour.map_or(5, Colour::index)] += 1;
    }

    pub(super) fn count_scored(&mut self, colour: Option<Colour>) {
        self.scored[colour.map_or(5, Colour::index)] += 1;
    }

    /// A category was scored; `blue` is the score before and after the blue dice.
    pub(super) fn count_score(
        &mut self,
        category: Category,
        points: Points,
        blue: Option<(Points, Points)>,
    ) {
        let record = &mut self.categories[category.index()];
        record.scored += 1;
        record.points = record.points.saturating_add(points);
        match blue {
            Some((before, after)) if after >= before => {
                record.blue.bonuses += 1;
                record.blue.gained =
                    record.blue.gained.saturating_add(after.saturating_sub(before));
            }
            Some((before, after)) => {
                record.blue.penalties += 1;
                record.blue.lost = record.blue.lost.saturating_add(before.saturating_sub(after));
            }
            None => {}
        }
    }

    /// What blue dice did in all.
    pub fn blue(&self) -> BlueRecord {
        self.categories.iter().fold(BlueRecord::default(), |sum, record| BlueRecord {
            bonuses: sum.bonuses.saturating_add(record.blue.bonuses),
            gained: sum.gained.saturating_add(record.blue.gained),
            penalties: sum.penalties.saturating_add(record.blue.penalties),
            lost: sum.lost.saturating_add(record.blue.lost),
        })
    }
}

impl BlueRecord {
    /// What a bonus brings on average, rounded down.
    pub fn average_gain(&self) -> Points {
        self.gained.checked_div(self.bonuses.into()).unwrap_or(0)
    }

    /// What a penalty costs on average, rounded down.
    pub fn average_loss(&self) -> Points {
        self.lost.checked_div(self.penalties.into()).unwrap_or(0)
    }
}
