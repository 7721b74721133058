//! A farkle that banks the round.

use serde::{Deserialize, Serialize};

use super::{Fall, Kind, Relief};
use crate::special_dice::DieAt;

/// On a farkle the round score is banked, once, with what an early farkle is worth; the turn score is lost, whatever else would keep a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BankRound {}

impl Kind for BankRound {
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn text(&self) -> String {
        "A farkle banks your round score; the turn score is lost.".to_owned()
    }

    fn banks_round(&self) -> bool {
        true
    }

    fn on_farkle(&self, die: DieAt, fall: &mut Fall) {
        if fall.first(Relief::RoundBanked) {
            fall.bank_round(die);
        }
    }
}
