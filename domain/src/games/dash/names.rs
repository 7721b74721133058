//! What rules of DashDice change, and why.

use crate::{EffectSource, Measure, Word};

/// Two equal dice.
pub(super) const DOUBLE: EffectSource = EffectSource::rule("double");
/// A bank costs the opponents points.
pub(super) const BANK_PENALTY: EffectSource = EffectSource::rule("bank_penalty");
/// A bank went too far.
pub(super) const OVERSHOOT: EffectSource = EffectSource::rule("overshoot");
/// What a bank will cost the opponents.
pub(super) const PENDING_PENALTY: Measure = Measure::value("pending_penalty");

/// What people read in place of a name.
pub(super) fn wording(name: Word) -> Option<&'static str> {
    Some(match name.as_str() {
        "bank_penalty" => "the price of a bank",
        "overshoot" => "too far",
        "pending_penalty" => "penalty of a bank",
        _ => return None,
    })
}
