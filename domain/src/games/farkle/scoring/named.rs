//! The named scoring tables.

use super::Scoring;
use crate::Points;

impl Scoring {
    /// The names of all tables.
    pub const NAMES: [&'static str; 2] = ["classic", "house-750"];

    /// The table of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "classic" => Some(Self::classic()),
            "house-750" => Some(Self::house_750()),
            _ => None,
        }
    }

    /// Three of a kind scores 100 times the face, 1,000 for 1s; four of a kind twice, five three
    /// times and six four times as much, but six 1s score 5,000.
    pub fn classic() -> Self {
        let triple: [Points; 6] = [1000, 200, 300, 400, 500, 600];
        let mut six_of_a_kind = triple.map(|points| points * 4);
        six_of_a_kind[0] = 5000;
        Self {
            single: [100, 0, 0, 0, 50, 0],
            three_of_a_kind: triple,
            four_of_a_kind: triple.map(|points| points * 2),
            five_of_a_kind: triple.map(|points| points * 3),
            six_of_a_kind,
            straight: 2000,
            three_pairs: 1250,
            two_triplets: 2500,
        }
    }

    /// The table of a live site, with lower points for large combinations.
    pub fn house_750() -> Self {
        let mut table = Self::classic();
        table.six_of_a_kind[0] = 4000;
        Self { straight: 1000, three_pairs: 750, ..table }
    }
}
