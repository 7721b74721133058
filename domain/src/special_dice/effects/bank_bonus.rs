//! A farkle that makes the next bank larger.

use serde::{Deserialize, Serialize};

use super::{Fall, Kind, MOST_POINTS, Relief, within};
use crate::{Points, special_dice::DieAt};

/// Every farkle adds a bonus to the player's next bank, once however many such dice there are. The bonus waits through
/// farkles and rounds, is never multiplied, and is lost by a time-out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankBonus {
    /// The bonus for each farkle.
    pub points: Points,
}

impl Kind for BankBonus {
    fn check(&self) -> Result<(), String> {
        within("points", self.points, 1..=MOST_POINTS)
    }

    fn text(&self) -> String {
        format!("Every farkle adds {} to your next bank.", self.points)
    }

    fn strength(&self) -> i64 {
        self.points
    }

    fn gives_bonus(&self) -> bool {
        true
    }

    fn on_farkle(&self, die: DieAt, fall: &mut Fall) {
        if fall.first(Relief::BonusRaised) {
            fall.raise_bonus(die, self.points);
        }
    }
}
