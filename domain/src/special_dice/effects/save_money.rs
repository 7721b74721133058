//! Money for what is saved.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_DOLLARS, Save, within};
use crate::{Dollars, special_dice::DieAt};

/// Every die of a save pays; each such die in the loadout pays for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveMoney {
    /// What a saved die pays.
    pub dollars: Dollars,
}

impl Kind for SaveMoney {
    fn check(&self) -> Result<(), String> {
        within("dollars", self.dollars.into(), 1..=MOST_DOLLARS)
    }

    fn text(&self) -> String {
        format!("Earns ${} for every die you save.", self.dollars)
    }

    fn on_save(&self, die: DieAt, save: &mut Save) {
        let saved = Dollars::from(save.slots.len());
        save.money.pay(die, self.dollars.saturating_mul(saved));
    }
}
