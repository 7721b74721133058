//! Statistics of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Category, Colour};
use crate::{Figure, Points};

/// Dice by colour, the last entry for dice without one; and results by category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColourStatistics {
    /// Dice rolled: blue, green, red, purple, yellow, none.
    pub rolled: [u32; 6],
    /// Dice used in a score, in the same order.
    pub scored: [u32; 6],
    /// The results of each category.
    pub categories: [CategoryRecord; 13],
}

/// The results of a category over all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryRecord {
    /// How often it was scored.
    pub scored: u32,
    /// The total of its points.
    pub points: Points,
    /// The effects of blue dice on it.
    pub blue: BlueRecord,
}

/// The effects of blue dice on scores, bonuses and penalties counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlueRecord {
    /// The number of scores with used blue dice.
    pub bonuses: u32,
    /// The total gained by them.
    pub gained: Points,
    /// The number of scores with unused blue dice; a score can have both.
    pub penalties: u32,
    /// The total lost by them.
    pub lost: Points,
}

const SCORED: &str = "scored";
const POINTS: &str = "points";
const BONUSES: &str = "blue_bonuses";
const GAINED: &str = "blue_gained";
const PENALTIES: &str = "blue_penalties";
const LOST: &str = "blue_lost";

/// The statistics shown for runs: dice by colour, results by category, and average effects of blue
/// dice.
pub(super) fn figures(counts: &BTreeMap<String, i64>) -> Vec<Figure> {
    let of = |category: &str, what: &str| {
        counts.get(&format!("{category}_{what}")).copied().unwrap_or(0)
    };
    let categories: Vec<String> =
        Category::ALL.iter().map(|category| category.slug().to_string()).collect();
    let in_all = |what: &str| categories.iter().map(|category| of(category, what)).sum::<i64>();
    let blue = |name: &str, of: &dyn Fn(&str) -> i64| {
        let label = |what: &str| format!("{name} {what}").trim_start().to_owned();
        let code = |what: &str| label(what).replace(' ', "_");
        let figure = |what: &str, sum, by| Figure::new(&code(what), &label(what), sum, by);
        [
            figure("blue bonuses", of(BONUSES), 1),
            figure("blue average gain", of(GAINED), of(BONUSES)),
            figure("blue penalties", of(PENALTIES), 1),
            figure("blue average loss", of(LOST), of(PENALTIES)),
        ]
    };
    let averaged = [BONUSES, GAINED, PENALTIES, LOST];
    let plain = counts.iter().filter(|(name, _)| !averaged.iter().any(|end| name.ends_with(end)));
    let mut figures: Vec<Figure> = plain.map(|(name, count)| Figure::count(name, *count)).collect();
    figures.extend(blue("", &in_all));
    for category in &categories {
        let name = category.replace('_', " ");
        if of(category, BONUSES) + of(category, PENALTIES) > 0 {
            figures.extend(blue(&name, &|what| of(category, what)));
        }
    }
    figures
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

    /// Counts a score with blue dice: whether some were used, whether some were not, and the change
    /// of the score.
    pub(super) fn count_blue(&mut self, category: Category, used: bool, idle: bool, by: Points) {
        let blue = &mut self.categories[category.index()].blue;
        blue.bonuses += u32::from(used);
        blue.penalties += u32::from(idle);
        blue.gained = blue.gained.saturating_add(by.max(0));
        blue.lost = blue.lost.saturating_add(by.min(0).saturating_neg());
    }

    /// All counts by name, as added up in statistics.
    pub(super) fn counts(&self) -> Vec<(String, i64)> {
        let colours = Colour::ALL.map(|colour| colour.slug().to_string()).into_iter();
        let by_colour =
            colours.chain(["plain".to_owned()]).zip(self.rolled.iter().zip(self.scored));
        let dice = by_colour.flat_map(|(colour, (&rolled, scored))| {
            [
                (format!("rolled_{colour}"), rolled.into()),
                (format!("scored_{colour}"), scored.into()),
            ]
        });
        let categories =
            Category::ALL.iter().zip(&self.categories).flat_map(|(category, record)| {
                let (blue, name) = (record.blue, category.slug());
                [
                    (format!("{name}_{SCORED}"), record.scored.into()),
                    (format!("{name}_{POINTS}"), record.points),
                    (format!("{name}_{BONUSES}"), blue.bonuses.into()),
                    (format!("{name}_{GAINED}"), blue.gained),
                    (format!("{name}_{PENALTIES}"), blue.penalties.into()),
                    (format!("{name}_{LOST}"), blue.lost),
                ]
            });
        dice.chain(categories).filter(|(_, count)| *count != 0).collect()
    }

    /// The effects of blue dice in total.
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

    /// The average gain of a bonus, rounded down.
    pub fn average_gain(&self) -> Points {
        self.gained.checked_div(self.bonuses.into()).unwrap_or(0)
    }

    /// The average loss of a penalty, rounded down.
    pub fn average_loss(&self) -> Points {
        self.lost.checked_div(self.penalties.into()).unwrap_or(0)
    }
}
