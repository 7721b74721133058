//! Compiles the numbers of a scoring table into the score of every tally of dice.

use serde::{Deserialize, Serialize};

use super::tally::{TALLIES, Tally};
use crate::{CombinationName, Points};

/// The points of each combination; 0 does not score. Lists are by face, 1 to 6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoring {
    /// One die alone.
    pub single: [Points; 6],
    /// Three of the face.
    pub three_of_a_kind: [Points; 6],
    /// Four of the face.
    pub four_of_a_kind: [Points; 6],
    /// Five of the face.
    pub five_of_a_kind: [Points; 6],
    /// Six of the face.
    pub six_of_a_kind: [Points; 6],
    /// All faces from 1 to 6.
    pub straight: Points,
    /// Three pairs of at least two faces: this includes four of a kind and a pair.
    pub three_pairs: Points,
    /// Two triples of different faces.
    pub two_triplets: Points,
}

/// A combination and its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) name: CombinationName,
    pub(super) dice: Tally,
    pub(super) points: Points,
}

/// The scores of one tally.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    /// The best exact partition: its points, and its first combination.
    pub(super) exact: Option<(Points, u8)>,
    /// The combination of exactly these dice.
    pub(super) whole: Option<u8>,
    /// The best points of any selection; 0 is a farkle.
    pub(super) best: Points,
}

impl Scoring {
    /// All scoring combinations, largest first: of equal scores, the one with larger combinations
    /// is explained.
    pub(super) fn combinations(&self) -> Vec<Scored> {
        use CombinationName as Name;
        let mut all = vec![Scored {
            name: Name::Straight,
            dice: (1..=6).fold(Tally::EMPTY, Tally::with),
            points: self.straight,
        }];
        for dice in Tally::all().into_iter().filter(|t| t.dice() == 6) {
            let counts: Vec<u8> = (1..=6).map(|face| dice.count(face)).filter(|&n| n > 0).collect();
            let (name, points) = match (counts.len(), counts.iter().all(|n| n % 2 == 0)) {
                (2 | 3, true) => (Name::ThreePairs, self.three_pairs),
                (2, false) if counts == [3, 3] => (Name::TwoTriplets, self.two_triplets),
                _ => continue,
            };
            all.push(Scored { name, dice, points });
        }
        let kinds = [
            (Name::SixOfAKind, 6, &self.six_of_a_kind),
            (Name::FiveOfAKind, 5, &self.five_of_a_kind),
            (Name::FourOfAKind, 4, &self.four_of_a_kind),
            (Name::ThreeOfAKind, 3, &self.three_of_a_kind),
            (Name::Single, 1, &self.single),
        ];
        for (name, count, points) in kinds {
            all.extend((1..).zip(points).map(|(face, &points)| Scored {
                name,
                dice: Tally::kind(face, count),
                points,
            }));
        }
        all.retain(|combination| combination.points > 0);
        all
    }
}

/// The rows of all tallies, by rank. Smaller tallies come first: a partition is one combination and
/// the best partition of the rest.
pub(super) fn rows(combinations: &[Scored]) -> Vec<Row> {
    let mut rows = vec![Row::default(); TALLIES];
    let mut all = Tally::all();
    all.sort_by_key(|tally| tally.dice());
    for tally in all {
        let mut row = Row::default();
        for (number, combination) in (0u8..).zip(combinations) {
            let Some(rest) = tally.minus(combination.dice) else {
                continue;
            };
            let rest = &rows[rest.rank()];
            row.best = row.best.max(combination.points.saturating_add(rest.best));
            if tally == combination.dice {
                row.whole = Some(number);
            }
            let rest = if tally == combination.dice { Some(0) } else { rest.exact.map(|(p, _)| p) };
            let Some(points) = rest.map(|rest| combination.points.saturating_add(rest)) else {
                continue;
            };
            if row.exact.is_none_or(|(most, _)| points > most) {
                row.exact = Some((points, number));
            }
        }
        rows[tally.rank()] = row;
    }
    rows
}
