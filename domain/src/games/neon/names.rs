//! What rules of NeonPolis change, and why.

use crate::{EffectSource, Measure, Word};

/// Everything that was offered was replaced.
pub(super) const RENEWED: EffectSource = EffectSource::rule("renewed");
/// The centre was held until one's turn.
pub(super) const CENTRE: EffectSource = EffectSource::rule("centre");
/// Hearts heal.
pub(super) const HEARTS: EffectSource = EffectSource::rule("hearts");
/// Energy is gained.
pub(super) const ENERGY_RULE: EffectSource = EffectSource::rule("energy");
/// Swords hit.
pub(super) const SWORDS: EffectSource = EffectSource::rule("swords");
/// Whoever has swords attacks.
pub(super) const ATTACK: EffectSource = EffectSource::rule("attack");
/// The centre was entered.
pub(super) const ENTERED: EffectSource = EffectSource::rule("entered");
/// The centre was left.
pub(super) const YIELDED: EffectSource = EffectSource::rule("yielded");
/// What was unlocked was taken.
pub(super) const EVOLVED: Word = Word::of("evolved");
/// What a character can do.
pub(super) const ABILITY: Word = Word::of("ability");

/// Victory points.
pub(super) const VP: Measure = Measure::value("vp");
/// Health.
pub(super) const HP: Measure = Measure::value("hp");
/// The most health one can have.
pub(super) const MAX_HP: Measure = Measure::value("max_hp");
/// Energy.
pub(super) const ENERGY: Measure = Measure::value("energy");
/// Whether one is inside the centre.
pub(super) const INSIDE: Measure = Measure::value("inside");
/// Whether one is in the game.
pub(super) const ALIVE: Measure = Measure::value("alive");
/// Whether an attack is due.
pub(super) const COMBAT: Measure = Measure::value("combat");
/// The damage of a hit, before it is taken.
pub(super) const DAMAGE: Measure = Measure::value("damage");
/// What the next hit costs more.
pub(super) const MARKED: Measure = Measure::value("marked");
/// Whether nothing can hit.
pub(super) const SHIELDED: Measure = Measure::value("shielded");
/// Whether the next hit is weakened.
pub(super) const ARMED: Measure = Measure::value("armed");
/// The face that was put by; 0 is none.
pub(super) const STORED: Measure = Measure::value("stored");
/// Hearts that healed nothing and can be converted.
pub(super) const SPARE_HEARTS: Measure = Measure::value("spare_hearts");
/// Whether something can be unlocked.
pub(super) const EVOLUTION: Measure = Measure::value("evolution");
/// What a die shows.
pub(super) const FACE: Word = Word::of("face");

/// Whether a value is yes or no.
pub(super) fn is_flag(what: Measure) -> bool {
    [INSIDE, ALIVE, SHIELDED, ARMED, EVOLUTION, COMBAT].contains(&what)
}

/// What people read in place of a name.
pub(super) fn wording(name: Word) -> Option<&'static str> {
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
