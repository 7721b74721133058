//! Money for saving many dice at once.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_DOLLARS, Save};
use crate::{Dollars, Number, special_dice::DieAt};

/// A save of many dice pays; each such die in the loadout pays separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BigSave {
    /// The minimum number of dice of such a save.
    pub dice: u8,
    /// The amount.
    pub dollars: Dollars,
}

impl Kind for BigSave {
    fn numbers(&self) -> Vec<Number> {
        vec![
            Number::new("dice", self.dice, 2..=6, "The fewest dice of such a save."),
            Number::new("dollars", self.dollars, 1..=MOST_DOLLARS, "Dollars it pays."),
        ]
    }

    fn text(&self) -> String {
        format!("Earns ${} when you save {} dice or more at once.", self.dollars, self.dice)
    }

    fn on_save(&self, die: DieAt, save: &mut Save) {
        if save.slots.len() >= self.dice {
            save.money.pay(die, self.dollars);
        }
    }
}
