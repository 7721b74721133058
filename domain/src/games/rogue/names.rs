//! The names of effects and measures of DiceRogue, as events store them.

use crate::{EffectSource, Measure, Slug, special_dice};

/// The bonus of the upper section.
pub(super) const UPPER_BONUS: EffectSource = EffectSource::rule("upper_bonus");
/// The bonus of an extra yahtzee.
pub(super) const EXTRA_YAHTZEE: EffectSource = EffectSource::rule("extra_yahtzee");
/// The reward for reaching the target of a round.
pub(super) const REWARD: EffectSource = EffectSource::rule("reward");
/// Money that only exists within the game.
pub(super) const MONEY: Measure = Measure::value("money");
/// The number of rolls left in this turn.
pub(super) const ROLLS_LEFT: Measure = Measure::value("rolls_left");
/// The number of dice in play.
pub(super) const DICE_IN_PLAY: Measure = Measure::value("dice_in_play");
/// The number of purchases of a colour.
pub(super) const PURCHASES: Slug = Slug::of("purchases");
/// The points of a category.
pub(super) const CATEGORY_POINTS: Slug = Slug::of("category_points");
/// Whether a category is open.
pub(super) const CATEGORY_OPEN: Slug = Slug::of("category_open");

/// The text shown for a name.
pub(super) fn wording(name: Slug) -> Option<&'static str> {
    Some(match name.as_str() {
        "upper_bonus" => "bonus of the upper part",
        "extra_yahtzee" => "another yahtzee",
        "reward" => "reward of the round",
        "dice_in_play" => "dice",
        "purchases" => "bought",
        "category_points" => "",
        "category_open" => "open",
        _ => return special_dice::wording(name),
    })
}
