//! A die that multiplies the whole hand.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_FACTOR, within};
use crate::Points;

/// The turn score counts a multiple when it is folded into the round or banked; several such dice multiply each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiplyTurn {
    /// How many times as much.
    pub factor: Points,
}

impl Kind for MultiplyTurn {
    fn check(&self) -> Result<(), String> {
        within("factor", self.factor, 1..=MOST_FACTOR)
    }

    fn text(&self) -> String {
        format!("Your turn score counts × {}; several multiply each other.", self.factor)
    }

    fn on_hand(&self, points: Points) -> Points {
        points.saturating_mul(self.factor)
    }
}
