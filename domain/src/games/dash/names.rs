//! The names of effects and measures of DashDice, as events store them.

use crate::{EffectSource, Measure, Slug};

/// Two equal dice.
pub(super) const DOUBLE: EffectSource = EffectSource::rule("double");
/// A bank costs the opponents points.
pub(super) const BANK_PENALTY: EffectSource = EffectSource::rule("bank_penalty");
/// A bank went below 0.
pub(super) const OVERSHOOT: EffectSource = EffectSource::rule("overshoot");
/// The points that a bank will cost each opponent.
pub(super) const PENDING_PENALTY: Measure = Measure::value("pending_penalty");

/// The text shown for a name.
pub(super) fn wording(name: Slug) -> Option<&'static str> {
    Some(match name.as_str() {
        "bank_penalty" => "the price of a bank",
        "overshoot" => "too far",
        "pending_penalty" => "penalty of a bank",
        _ => return None,
    })
}
