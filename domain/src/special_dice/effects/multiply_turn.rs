//! A die that multiplies the whole hand.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_FACTOR};
use crate::Number;
use crate::Points;

/// Multiplies the turn score when it is added to the round or banked; several such dice multiply
/// each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplyTurn {
    /// The factor.
    pub factor: Points,
}

impl Kind for MultiplyTurn {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("factor", self.factor, 1..=MOST_FACTOR, "How many times as much.")]
    }

    fn text(&self) -> String {
        format!("Your turn score counts × {}; several multiply each other.", self.factor)
    }

    fn on_hand(&self, points: Points) -> Points {
        points.saturating_mul(self.factor)
    }
}
