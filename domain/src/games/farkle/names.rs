//! What rules of Farkle change, and why.

use crate::{EffectSource, Measure, Word, special_dice};

/// Several farkles in a row cost points.
pub(super) const FARKLE_PENALTY: EffectSource = EffectSource::rule("farkle_penalty");
/// The rules score what a round had made before its last hand, in spite of a farkle.
pub(super) const ROUND_KEPT: EffectSource = EffectSource::rule("round_kept");
/// The count towards the penalty.
pub(super) const FARKLES_IN_A_ROW: Measure = Measure::value("farkles_in_a_row");

/// What people read in place of a name.
pub(super) fn wording(name: Word) -> Option<&'static str> {
    match name.as_str() {
        "farkle_penalty" => Some("penalty for farkles in a row"),
        "round_kept" => Some("the completed hands count"),
        _ => special_dice::wording(name),
    }
}
