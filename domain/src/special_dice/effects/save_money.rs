//! Money for saved dice.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_DOLLARS, Save};
use crate::{Dollars, Number, special_dice::DieAt};

/// Every die of a save pays; each such die in the loadout pays separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveMoney {
    /// The amount per saved die.
    pub dollars: Dollars,
}

impl Kind for SaveMoney {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("dollars", self.dollars, 1..=MOST_DOLLARS, "Dollars per saved die.")]
    }

    fn text(&self) -> String {
        format!("Earns ${} for every die you save.", self.dollars)
    }

    fn on_save(&self, die: DieAt, save: &mut Save) {
        let saved = Dollars::from(save.slots.len());
        save.money.pay(die, self.dollars.saturating_mul(saved));
    }
}
