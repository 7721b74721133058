//! A farkle that leaves a part of the hand.

use serde::{Deserialize, Serialize};

use super::{Fall, Kind, Relief, within};
use crate::special_dice::DieAt;

/// On a farkle a part of the turn score is scored, rounded down and not multiplied: once, unless the round was banked
/// or the farkle was consoled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepTurn {
    /// How much of it, in hundredths.
    pub percent: u8,
}

impl Kind for KeepTurn {
    fn check(&self) -> Result<(), String> {
        within("percent", self.percent.into(), 1..=100)
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

    fn on_farkle(&self, die: DieAt, fall: &mut Fall) {
        let relieved = fall.had(Relief::RoundBanked) || fall.had(Relief::Consoled);
        if !relieved && fall.first(Relief::TurnKept) {
            let kept = fall.turn_score.saturating_mul(self.percent.into()).div_euclid(100);
            fall.keep(die, kept);
        }
    }
}
