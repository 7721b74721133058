//! Keeps a part of the hand on a farkle.

use serde::{Deserialize, Serialize};

use super::{FarkleContext, Kind, Mitigation};
use crate::{Number, special_dice::DieAt};

/// On a farkle a part of the turn score is scored, rounded down and not multiplied: once, and not
/// if the round was banked or the farkle consoled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepTurn {
    /// The part, in percent.
    pub percent: u8,
}

impl Kind for KeepTurn {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new(
            "percent",
            self.percent,
            1..=100,
            "The part of the turn score that is kept, in percent.",
        )]
    }

    fn text(&self) -> String {
        let part = match self.percent {
            50 => "half".to_owned(),
            percent => format!("{percent} %"),
        };
        format!("A farkle leaves you {part} of the turn score, before any multiplier.")
    }

    fn strength(&self) -> i64 {
        self.percent.into()
    }

    fn on_farkle(&self, die: DieAt, context: &mut FarkleContext) {
        let mitigated = context.had(Mitigation::RoundBanked) || context.had(Mitigation::Consoled);
        if !mitigated && context.first(Mitigation::TurnKept) {
            let kept = context.turn_score.saturating_mul(self.percent.into()).div_euclid(100);
            context.keep(die, kept);
        }
    }
}
