//! A die that multiplies the combination it is part of.

use serde::{Deserialize, Serialize};

use super::{ComboContext, Kind, MOST_FACTOR};
use crate::{Number, Points, special_dice::DieAt};

/// Multiplies the whole combination in which the die is scored, once, regardless of the number of
/// such dice in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplyCombination {
    /// The factor.
    pub factor: Points,
}

impl Kind for MultiplyCombination {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("factor", self.factor, 1..=MOST_FACTOR, "How many times as much.")]
    }

    fn text(&self) -> String {
        format!("The combination it is part of scores × {}, once.", self.factor)
    }

    fn strength(&self) -> i64 {
        self.factor
    }

    fn boosts_combinations(&self) -> bool {
        true
    }

    fn on_combination(&self, die: DieAt, combo: &mut ComboContext) {
        if combo.slots.contains(die.slot) && !combo.multiplied {
            combo.multiplied = true;
            combo.raise(die, combo.total.saturating_mul(self.factor));
        }
    }
}
