//! A face that scores alone.

use serde::{Deserialize, Serialize};

use super::{Kind, Laid, MOST_POINTS, within};
use crate::{CombinationName, Points, special_dice::DieAt};

/// With the die in the loadout, every single of a face scores, also on other dice. Larger combinations
/// of the face are as ever, and several such dice do no more than one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoneFace {
    /// The face.
    pub face: u8,
    /// What one of it scores.
    pub points: Points,
}

impl Kind for LoneFace {
    fn check(&self) -> Result<(), String> {
        within("face", self.face.into(), 1..=6)?;
        within("points", self.points, 1..=MOST_POINTS)
    }

    fn text(&self) -> String {
        format!(
            "Each of your single {}s scores {}, whichever die shows it.",
            self.face, self.points
        )
    }

    fn strength(&self) -> i64 {
        self.points
    }

    fn scores_alone(&self) -> Option<(u8, Points)> {
        Some((self.face, self.points))
    }

    fn boosts_combinations(&self) -> bool {
        true
    }

    fn on_combination(&self, die: DieAt, laid: &mut Laid) {
        let single = laid.name == CombinationName::Single && laid.faces.iter().eq([self.face]);
        if single && laid.total < self.points {
            laid.raise(die, self.points);
        }
    }
}
