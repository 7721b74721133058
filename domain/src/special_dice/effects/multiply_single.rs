//! A die that scores more as a single.

use serde::{Deserialize, Serialize};

use super::{ComboContext, Kind, MOST_FACTOR};
use crate::{CombinationName, Number, Points, special_dice::DieAt};

/// Multiplies the points of the die where it scores as a single; no effect inside a larger
/// combination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplySingle {
    /// The factor.
    pub factor: Points,
}

impl Kind for MultiplySingle {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("factor", self.factor, 1..=MOST_FACTOR, "How many times as much.")]
    }

    fn text(&self) -> String {
        format!("Scores × {} when it scores as a single.", self.factor)
    }

    fn boosts_combinations(&self) -> bool {
        true
    }

    fn on_combination(&self, die: DieAt, combo: &mut ComboContext) {
        if combo.name == CombinationName::Single && combo.slots.contains(die.slot) {
            combo.raise(die, combo.total.saturating_mul(self.factor));
        }
    }
}
