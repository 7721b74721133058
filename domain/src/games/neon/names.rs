//! The names of effects and measures of NeonPolis, as events store them.

use crate::{EffectSource, Measure, Slug};

/// All offers of the market were replaced.
pub(super) const RENEWED: EffectSource = EffectSource::rule("renewed");
/// The bonus for holding the centre until one's turn.
pub(super) const CENTRE: EffectSource = EffectSource::rule("centre");
/// Hearts healed.
pub(super) const HEARTS: EffectSource = EffectSource::rule("hearts");
/// Energy was gained from dice.
pub(super) const ENERGY_RULE: EffectSource = EffectSource::rule("energy");
/// Swords hit.
pub(super) const SWORDS: EffectSource = EffectSource::rule("swords");
/// A player with swords attacked.
pub(super) const ATTACK: EffectSource = EffectSource::rule("attack");
/// The centre was entered.
pub(super) const ENTERED: EffectSource = EffectSource::rule("entered");
/// The centre was left.
pub(super) const YIELDED: EffectSource = EffectSource::rule("yielded");
/// An evolution was taken.
pub(super) const EVOLVED: Slug = Slug::of("evolved");
/// The ability of a character.
pub(super) const ABILITY: Slug = Slug::of("ability");

/// Victory points.
pub(super) const VP: Measure = Measure::value("vp");
/// Health.
pub(super) const HP: Measure = Measure::value("hp");
/// Maximum health.
pub(super) const MAX_HP: Measure = Measure::value("max_hp");
/// Energy.
pub(super) const ENERGY: Measure = Measure::value("energy");
/// Whether the player is inside the centre.
pub(super) const INSIDE: Measure = Measure::value("inside");
/// Whether the player is still in the game.
pub(super) const ALIVE: Measure = Measure::value("alive");
/// Whether an attack must be made.
pub(super) const COMBAT: Measure = Measure::value("combat");
/// The damage of a hit, before it is taken.
pub(super) const DAMAGE: Measure = Measure::value("damage");
/// Extra damage of the next hit.
pub(super) const MARKED: Measure = Measure::value("marked");
/// Whether the player is immune to hits.
pub(super) const SHIELDED: Measure = Measure::value("shielded");
/// Whether the plate weakens the next hit.
pub(super) const ARMED: Measure = Measure::value("armed");
/// The stored face; 0 for none.
pub(super) const STORED: Measure = Measure::value("stored");
/// Hearts that could not heal and can be converted.
pub(super) const SPARE_HEARTS: Measure = Measure::value("spare_hearts");
/// Whether an evolution can be taken.
pub(super) const EVOLUTION: Measure = Measure::value("evolution");
/// The face of a die.
pub(super) const FACE: Slug = Slug::of("face");

/// Whether a measure is boolean.
pub(super) fn is_flag(what: Measure) -> bool {
    [INSIDE, ALIVE, SHIELDED, ARMED, EVOLUTION, COMBAT].contains(&what)
}

/// The text shown for a name.
pub(super) fn wording(name: Slug) -> Option<&'static str> {
    Some(match name.as_str() {
        "renewed" => "renews the market",
        "centre" => "holds the centre",
        "entered" => "enters the centre",
        "yielded" => "leaves the centre",
        "vp" => "VP",
        "hp" => "HP",
        "max_hp" => "most HP",
        "marked" => "mark",
        "shielded" => "shield",
        "armed" => "plate",
        "stored" => "stored face",
        _ => return None,
    })
}
