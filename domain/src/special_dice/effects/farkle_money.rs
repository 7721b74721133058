//! A farkle that pays.

use serde::{Deserialize, Serialize};

use super::{Fall, Kind, MOST_DOLLARS, within};
use crate::{Dollars, special_dice::DieAt};

/// Every farkle pays, for each such die.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FarkleMoney {
    /// What it pays.
    pub dollars: Dollars,
}

impl Kind for FarkleMoney {
    fn check(&self) -> Result<(), String> {
        within("dollars", self.dollars.into(), 1..=MOST_DOLLARS)
    }

    fn text(&self) -> String {
        format!("A farkle earns ${}.", self.dollars)
    }

    fn on_farkle(&self, die: DieAt, fall: &mut Fall) {
        fall.money.pay(die, self.dollars);
    }
}
