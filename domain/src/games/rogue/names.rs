//! What rules of DiceRogue change, and why.

use crate::{EffectSource, Measure, Word, special_dice};

/// The upper part of a card is worth enough.
pub(super) const UPPER_BONUS: EffectSource = EffectSource::rule("upper_bonus");
/// One more yahtzee.
pub(super) const EXTRA_YAHTZEE: EffectSource = EffectSource::rule("extra_yahtzee");
/// A round reached its target.
pub(super) const REWARD: EffectSource = EffectSource::rule("reward");
/// Money that is only worth something in this game.
pub(super) const MONEY: Measure = Measure::value("money");
/// How many rolls are left in this turn.
pub(super) const ROLLS_LEFT: Measure = Measure::value("rolls_left");
/// How many dice one plays with.
pub(super) const DICE_IN_PLAY: Measure = Measure::value("dice_in_play");
/// How often one has bought a colour.
pub(super) const PURCHASES: Word = Word::of("purchases");
/// The points of a category.
pub(super) const CATEGORY_POINTS: Word = Word::of("category_points");
/// Whether a category is still to be scored.
pub(super) const CATEGORY_OPEN: Word = Word::of("category_open");

/// What people read in place of a name.
pub(super) fn wording(name: Word) -> Option<&'static str> {
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
