//! Money for a farkle.

use serde::{Deserialize, Serialize};

use super::{FarkleContext, Kind, MOST_DOLLARS};
use crate::{Dollars, Number, special_dice::DieAt};

/// Every farkle pays, for each such die.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FarkleMoney {
    /// The amount.
    pub dollars: Dollars,
}

impl Kind for FarkleMoney {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("dollars", self.dollars, 1..=MOST_DOLLARS, "Dollars it pays.")]
    }

    fn text(&self) -> String {
        format!("A farkle earns ${}.", self.dollars)
    }

    fn on_farkle(&self, die: DieAt, context: &mut FarkleContext) {
        context.money.pay(die, self.dollars);
    }
}
