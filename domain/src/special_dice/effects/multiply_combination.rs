//! A die that multiplies the combination it is part of.

use serde::{Deserialize, Serialize};

use super::{Kind, Laid, MOST_FACTOR, within};
use crate::{Points, special_dice::DieAt};

/// The whole combination the die is scored in counts a multiple, once however many such dice are in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplyCombination {
    /// How many times as much.
    pub factor: Points,
}

impl Kind for MultiplyCombination {
    fn check(&self) -> Result<(), String> {
        within("factor", self.factor, 1..=MOST_FACTOR)
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

    fn on_combination(&self, die: DieAt, laid: &mut Laid) {
        if laid.slots.contains(die.slot) && !laid.multiplied {
            laid.multiplied = true;
            laid.raise(die, laid.total.saturating_mul(self.factor));
        }
    }
}
