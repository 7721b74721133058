//! A face that scores as a single.

use serde::{Deserialize, Serialize};

use super::{ComboContext, Kind, MOST_POINTS};
use crate::{CombinationName, Number, Points, special_dice::DieAt};

/// With the die in the loadout, every single of a face scores, also on other dice. Larger
/// combinations of the face are not affected, and several such dice count like one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoneFace {
    /// The face.
    pub face: u8,
    /// The points of a single.
    pub points: Points,
}

impl Kind for LoneFace {
    fn numbers(&self) -> Vec<Number> {
        vec![
            Number::new("face", self.face, 1..=6, "The face that scores alone."),
            Number::new("points", self.points, 1..=MOST_POINTS, "The points of one."),
        ]
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

    fn on_combination(&self, die: DieAt, combo: &mut ComboContext) {
        let single = combo.name == CombinationName::Single && combo.faces.iter().eq([self.face]);
        if single && combo.total < self.points {
            combo.raise(die, self.points);
        }
    }
}
