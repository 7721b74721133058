//! The names of values that special dice change, as events store them.

use crate::{EffectApplied, EffectSource, Measure, Points, Slug, special_dice::Code};

/// The number of saves of the round with a hot die.
pub(crate) const HOT_STREAK: Measure = Measure::value("hot_streak");
/// The bonus of the next bank.
pub(crate) const DARE_BONUS: Measure = Measure::value("dare_bonus");
/// The points of a combination within a save.
pub(crate) const COMBINATION_POINTS: Measure = Measure::value("combination_points");
/// The points of a save.
pub(crate) const SAVE_POINTS: Measure = Measure::value("save_points");
/// The points of a hand, when added to the round or banked.
pub(crate) const HAND_POINTS: Measure = Measure::value("hand_points");
/// The points of a bank.
pub(crate) const BANK_POINTS: Measure = Measure::value("bank_points");

/// Those of them that are points of the game.
const POINTS: [Measure; 6] = [
    Measure::GAME_SCORE,
    Measure::ROUND_SCORE,
    COMBINATION_POINTS,
    SAVE_POINTS,
    HAND_POINTS,
    BANK_POINTS,
];

/// The text shown for a name.
pub(crate) fn wording(name: Slug) -> Option<&'static str> {
    Some(match name.as_str() {
        "dare_bonus" => "bonus of the next bank",
        "combination_points" => "combination",
        "save_points" => "save",
        "hand_points" => "turn score",
        "bank_points" => "bank",
        _ => return None,
    })
}

/// The points made by a special die with this effect, if its source is one.
pub fn points_made(effect: &EffectApplied) -> Option<(Code, Points)> {
    let EffectSource::Die(die) = effect.source else { return None };
    let points = effect.changes.iter().filter(|change| POINTS.contains(&change.what));
    Some((die.code, points.map(|change| change.after.saturating_sub(change.before)).sum()))
}
