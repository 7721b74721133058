//! The measures used by the oracles, by their names in events.

use domain::Measure;

pub(crate) const ALIVE: Measure = Measure::value("alive");
pub(crate) const ARMED: Measure = Measure::value("armed");
pub(crate) const BANK_POINTS: Measure = Measure::value("bank_points");
pub(crate) const COMBINATION_POINTS: Measure = Measure::value("combination_points");
pub(crate) const COMBAT: Measure = Measure::value("combat");
pub(crate) const DAMAGE: Measure = Measure::value("damage");
pub(crate) const ENERGY: Measure = Measure::value("energy");
pub(crate) const EVOLUTION: Measure = Measure::value("evolution");
pub(crate) const GAME_SCORE: Measure = Measure::value("game_score");
pub(crate) const HAND_POINTS: Measure = Measure::value("hand_points");
pub(crate) const HP: Measure = Measure::value("hp");
pub(crate) const INSIDE: Measure = Measure::value("inside");
pub(crate) const MARKED: Measure = Measure::value("marked");
pub(crate) const MAX_HP: Measure = Measure::value("max_hp");
pub(crate) const MONEY: Measure = Measure::value("money");
pub(crate) const SHIELDED: Measure = Measure::value("shielded");
pub(crate) const SPARE_HEARTS: Measure = Measure::value("spare_hearts");
pub(crate) const STORED: Measure = Measure::value("stored");
pub(crate) const VP: Measure = Measure::value("vp");

pub(crate) fn held(thing: &str) -> Measure {
    Measure::OfItem("held".parse().unwrap(), thing.parse().unwrap())
}

pub(crate) fn is_held(what: Measure) -> bool {
    matches!(what, Measure::OfItem(name, _) if name.as_str() == "held")
}

pub(crate) fn is_active(what: Measure) -> bool {
    matches!(what, Measure::OfItem(name, _) if name.as_str() == "active")
}
