//! A bonus for the next bank after a farkle.

use serde::{Deserialize, Serialize};

use super::{FarkleContext, Kind, MOST_POINTS, Mitigation};
use crate::{Number, Points, special_dice::DieAt};

/// Every farkle adds a bonus to the player's next bank, once, regardless of the number of such
/// dice. The bonus is kept across farkles and rounds, is never multiplied, and is lost by a
/// time-out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankBonus {
    /// The bonus per farkle.
    pub points: Points,
}

impl Kind for BankBonus {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("points", self.points, 1..=MOST_POINTS, "The bonus for each farkle.")]
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

    fn on_farkle(&self, die: DieAt, context: &mut FarkleContext) {
        if context.first(Mitigation::BonusRaised) {
            context.raise_bonus(die, self.points);
        }
    }
}
