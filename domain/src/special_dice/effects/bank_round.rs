//! Banks the round score on a farkle.

use serde::{Deserialize, Serialize};

use super::{FarkleContext, Kind, Mitigation};
use crate::special_dice::DieAt;

/// On a farkle the round score is banked, once, together with the points of a consolation. The turn
/// score is lost, even if another die would keep a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankRound {}

impl Kind for BankRound {
    fn text(&self) -> String {
        "A farkle banks your round score; the turn score is lost.".to_owned()
    }

    fn banks_round(&self) -> bool {
        true
    }

    fn on_farkle(&self, die: DieAt, context: &mut FarkleContext) {
        if context.first(Mitigation::RoundBanked) {
            context.bank_round(die);
        }
    }
}
