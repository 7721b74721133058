//! A die that is worth more alone.

use serde::{Deserialize, Serialize};

use super::{Kind, Laid, MOST_FACTOR, within};
use crate::{CombinationName, Points, special_dice::DieAt};

/// The die scores a multiple where it scores as a single; inside a larger combination it does nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplySingle {
    /// How many times as much.
    pub factor: Points,
}

impl Kind for MultiplySingle {
    fn check(&self) -> Result<(), String> {
        within("factor", self.factor, 1..=MOST_FACTOR)
    }

    fn text(&self) -> String {
        format!("Scores × {} when it scores as a single.", self.factor)
    }

    fn boosts_combinations(&self) -> bool {
        true
    }

    fn on_combination(&self, die: DieAt, laid: &mut Laid) {
        if laid.name == CombinationName::Single && laid.slots.contains(die.slot) {
            laid.raise(die, laid.total.saturating_mul(self.factor));
        }
    }
}
