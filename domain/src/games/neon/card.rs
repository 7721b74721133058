//! Cards and evolutions: rows of data with one effect each.

use serde::{Deserialize, Serialize};

use crate::{
    Rejection, Word,
    ruleset::{named, within},
};

/// A card of the market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its code.
    pub code: Word,
    /// Its name.
    pub name: String,
    /// What it costs, in energy.
    pub price: i64,
    /// What it does, and whether it is kept.
    pub kind: CardKind,
}

/// Whether a card is kept or played once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    /// It works as long as its owner is in the game.
    Kept(Passive),
    /// It does something when it is bought, and goes back.
    Once(Once),
}

/// An evolution: a change of oneself that lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evolution {
    /// Its code.
    pub code: Word,
    /// Its name.
    pub name: String,
    /// What it does.
    pub effect: Passive,
}

/// What works as long as one has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passive {
    /// Energy at the start of one's turn.
    StartEnergy(i64),
    /// Health at the start of one's turn, inside too.
    StartHeal(i64),
    /// Victory points at the start of one's turn inside.
    StartInsideVp(i64),
    /// More re-rolls.
    Rerolls(u8),
    /// More dice.
    Dice(u8),
    /// More damage of an attack.
    Damage(i64),
    /// Less damage taken.
    Armour(i64),
    /// Damage to everybody else on entering the centre.
    EnterDamage(i64),
    /// Hearts and abilities heal inside too.
    HealInside,
    /// More health whenever hearts heal.
    MoreHealing(i64),
    /// More energy whenever dice bring some.
    MoreEnergy(i64),
    /// More health at the most, and at once.
    MaxHp(i64),
    /// Cards cost less, at least 1.
    Discount(i64),
    /// More victory points with the sets of a roll.
    SetVp(i64),
    /// Energy whenever one takes damage.
    HitEnergy(i64),
    /// Victory points for everybody one eliminates.
    KillVp(i64),
}

/// What happens when a card is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Once {
    /// Energy.
    Energy(i64),
    /// Health, inside too.
    Heal(i64),
    /// Victory points.
    Vp(i64),
    /// Nothing hits until one's own next turn.
    Shield,
    /// Energy of an opponent becomes one's own.
    Steal(i64),
    /// The next hit on an opponent does more damage.
    Mark(i64),
    /// Whoever is inside must leave; nobody enters.
    ForceOut,
    /// Damage to everybody else.
    Blast(i64),
    /// Damage to everybody, oneself included.
    Nova(i64),
}

impl Once {
    /// Whether it is aimed at somebody.
    pub const fn is_aimed(self) -> bool {
        matches!(self, Self::Steal(_) | Self::Mark(_))
    }

    fn text(self) -> String {
        match self {
            Self::Energy(n) => format!("Gain {n} energy."),
            Self::Heal(n) => format!("Heal {n} HP, inside too."),
            Self::Vp(n) => format!("Gain {n} VP."),
            Self::Shield => "Nothing hits you until your next turn.".to_owned(),
            Self::Steal(n) => format!("Take up to {n} energy from an opponent."),
            Self::Mark(n) => {
                format!("The next hit on an opponent of your choice does {n} more damage.")
            }
            Self::ForceOut => "Whoever is inside must leave; nobody enters.".to_owned(),
            Self::Blast(n) => format!("Everybody else takes {n} damage."),
            Self::Nova(n) => format!("Everybody takes {n} damage, you too."),
        }
    }
}

impl Passive {
    fn text(self) -> String {
        match self {
            Self::StartEnergy(n) => format!("Gain {n} energy at the start of your turn."),
            Self::StartHeal(n) => format!("Heal {n} HP at the start of your turn, inside too."),
            Self::StartInsideVp(n) => format!("Gain {n} more VP when you start your turn inside."),
            Self::Rerolls(1) => "One more re-roll each turn.".to_owned(),
            Self::Rerolls(n) => format!("{n} more re-rolls each turn."),
            Self::Dice(1) => "One more die.".to_owned(),
            Self::Dice(n) => format!("{n} more dice."),
            Self::Damage(n) => format!("Your attacks do {n} more damage."),
            Self::Armour(n) => format!("You take {n} less damage of each hit."),
            Self::EnterDamage(n) => format!("Everybody else takes {n} damage when you enter."),
            Self::HealInside => "Hearts and abilities heal you inside too.".to_owned(),
            Self::MoreHealing(n) => format!("Hearts heal {n} HP more."),
            Self::MoreEnergy(n) => format!("Energy from dice brings {n} more."),
            Self::MaxHp(n) => format!("You can have {n} HP more, and get them at once."),
            Self::Discount(n) => format!("Cards cost you {n} energy less, at least 1."),
            Self::SetVp(n) => format!("A roll with a set brings {n} more VP."),
            Self::HitEnergy(n) => format!("Gain {n} energy whenever you take damage."),
            Self::KillVp(n) => format!("Gain {n} VP for everybody you eliminate."),
        }
    }

    fn check(self, parameter: &str) -> Result<(), Rejection> {
        match self {
            Self::Rerolls(n) | Self::Dice(n) => within(parameter, n, 1..=2),
            Self::StartEnergy(n)
            | Self::StartHeal(n)
            | Self::StartInsideVp(n)
            | Self::Damage(n)
            | Self::Armour(n)
            | Self::EnterDamage(n)
            | Self::MoreHealing(n)
            | Self::MoreEnergy(n)
            | Self::MaxHp(n)
            | Self::Discount(n)
            | Self::SetVp(n)
            | Self::HitEnergy(n)
            | Self::KillVp(n) => within(parameter, n, 1..=100),
            Self::HealInside => Ok(()),
        }
    }
}

impl Card {
    /// Its rule, with its numbers.
    pub fn text(&self) -> String {
        match self.kind {
            CardKind::Kept(passive) => passive.text(),
            CardKind::Once(once) => once.text(),
        }
    }

    pub(super) fn check(&self) -> Result<(), Rejection> {
        named("cards.name", &self.name)?;
        within("cards.price", self.price, 0..=1_000)?;
        match self.kind {
            CardKind::Kept(passive) => passive.check("cards.kind"),
            CardKind::Once(
                Once::Energy(n)
                | Once::Heal(n)
                | Once::Vp(n)
                | Once::Steal(n)
                | Once::Mark(n)
                | Once::Blast(n)
                | Once::Nova(n),
            ) => within("cards.kind", n, 1..=100),
            CardKind::Once(Once::Shield | Once::ForceOut) => Ok(()),
        }
    }
}

impl Evolution {
    /// Its rule, with its numbers.
    pub fn text(&self) -> String {
        self.effect.text()
    }

    pub(super) fn check(&self) -> Result<(), Rejection> {
        named("evolutions.name", &self.name)?;
        self.effect.check("evolutions.effect")
    }
}

/// The cards of the preset.
pub(super) fn builtin() -> Vec<Card> {
    use CardKind::{Kept as K, Once as O};
    let card = |code, name: &str, price, kind| Card {
        code: Word::of(code),
        name: name.to_owned(),
        price,
        kind,
    };
    vec![
        card("solar_skin", "Solar Skin", 5, K(Passive::StartEnergy(1))),
        card("capacitor", "Capacitor", 4, K(Passive::MoreEnergy(1))),
        card("nano_medics", "Nano Medics", 5, K(Passive::StartHeal(1))),
        card("field_clinic", "Field Clinic", 4, K(Passive::HealInside)),
        card("stim_pack", "Stim Pack", 3, K(Passive::MoreHealing(1))),
        card("second_wind", "Second Wind", 4, K(Passive::Rerolls(1))),
        card("seventh_die", "Seventh Die", 7, K(Passive::Dice(1))),
        card("spare_core", "Spare Core", 7, K(Passive::Dice(1))),
        card("plasma_edge", "Plasma Edge", 6, K(Passive::Damage(1))),
        card("ablative_hull", "Ablative Hull", 6, K(Passive::Armour(1))),
        card("breach_charge", "Breach Charge", 4, K(Passive::EnterDamage(1))),
        card("sky_throne", "Sky Throne", 5, K(Passive::StartInsideVp(1))),
        card("titan_frame", "Titan Frame", 5, K(Passive::MaxHp(2))),
        card("black_market", "Black Market", 3, K(Passive::Discount(1))),
        card("billboard", "Billboard", 4, K(Passive::SetVp(1))),
        card("shock_absorber", "Shock Absorber", 3, K(Passive::HitEnergy(1))),
        card("bounty_licence", "Bounty Licence", 4, K(Passive::KillVp(3))),
        card("power_cell", "Power Cell", 2, O(Once::Energy(4))),
        card("med_drop", "Med Drop", 3, O(Once::Heal(2))),
        card("full_repair", "Full Repair", 6, O(Once::Heal(5))),
        card("parade", "Parade", 3, O(Once::Vp(1))),
        card("skyline_deal", "Skyline Deal", 6, O(Once::Vp(3))),
        card("aegis", "Aegis", 4, O(Once::Shield)),
        card("energy_tap", "Energy Tap", 2, O(Once::Steal(3))),
        card("target_lock", "Target Lock", 3, O(Once::Mark(2))),
        card("eviction", "Eviction", 3, O(Once::ForceOut)),
        card("shockwave", "Shockwave", 4, O(Once::Blast(1))),
        card("nova_burst", "Nova Burst", 3, O(Once::Nova(2))),
    ]
}

/// The evolutions of the preset.
pub(super) fn builtin_evolutions() -> Vec<Evolution> {
    let evolution = |code, name: &str, effect| Evolution {
        code: Word::of(code),
        name: name.to_owned(),
        effect,
    };
    vec![
        evolution("iron_scales", "Iron Scales", Passive::Armour(1)),
        evolution("razor_claws", "Razor Claws", Passive::Damage(1)),
        evolution("deep_lungs", "Deep Lungs", Passive::MaxHp(2)),
        evolution("quick_paws", "Quick Paws", Passive::Rerolls(1)),
        evolution("third_eye", "Third Eye", Passive::Dice(1)),
        evolution("dynamo_heart", "Dynamo Heart", Passive::StartEnergy(1)),
        evolution("neon_crown", "Neon Crown", Passive::StartInsideVp(1)),
        evolution("healing_glow", "Healing Glow", Passive::StartHeal(1)),
    ]
}
