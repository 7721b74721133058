//! The names of effects and measures of Farkle, as events store them.

use crate::{EffectSource, Measure, Slug, special_dice};

/// The penalty for consecutive farkles.
pub(super) const FARKLE_PENALTY: EffectSource = EffectSource::rule("farkle_penalty");
/// The rules keep the points of completed hands on a farkle.
pub(super) const ROUND_KEPT: EffectSource = EffectSource::rule("round_kept");
/// The count of farkles towards the penalty.
pub(super) const FARKLES_IN_A_ROW: Measure = Measure::value("farkles_in_a_row");

/// The text shown for a name.
pub(super) fn wording(name: Slug) -> Option<&'static str> {
    match name.as_str() {
        "farkle_penalty" => Some("penalty for farkles in a row"),
        "round_kept" => Some("the completed hands count"),
        _ => special_dice::wording(name),
    }
}
