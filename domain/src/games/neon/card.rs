//! Cards and evolutions: rows of data with one effect each.

use serde::{Deserialize, Serialize};

use crate::{
    Rejection, Slug,
    ruleset::{named, within},
};

/// A card of the market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its code.
    pub code: Slug,
    /// Its name.
    pub name: String,
    /// The price in energy.
    pub price: i64,
    /// The effect, and whether the card is kept.
    pub kind: CardKind,
}

/// Whether a card is kept or discarded after its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    /// Works as long as its owner is in the game.
    Kept(Passive),
    /// Takes effect when bought and returns to the deck.
    Once(Once),
}

/// An evolution: a permanent upgrade of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evolution {
    /// Its code.
    pub code: Slug,
    /// Its name.
    pub name: String,
    /// The effect.
    pub effect: Passive,
}

/// A passive effect of a kept card or an evolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passive {
    /// Energy at the start of one's turn.
    StartEnergy(i64),
    /// Health at the start of one's turn, also inside.
    StartHeal(i64),
    /// Victory points at the start of one's turn inside.
    StartInsideVp(i64),
    /// More re-rolls.
    Rerolls(u8),
    /// More dice.
    Dice(u8),
    /// More damage per attack.
    Damage(i64),
    /// Less damage taken.
    Armour(i64),
    /// Damage to all opponents on entering the centre.
    EnterDamage(i64),
    /// Hearts and abilities also heal inside.
    HealInside,
    /// More health whenever hearts heal.
    MoreHealing(i64),
    /// More energy whenever dice give some.
    MoreEnergy(i64),
    /// More maximum health, and as much health at once.
    MaxHp(i64),
    /// Cards cost less, but at least 1.
    Discount(i64),
    /// More victory points when a roll has sets.
    SetVp(i64),
    /// Energy whenever one takes damage.
    HitEnergy(i64),
    /// Victory points for each player one eliminates.
    KillVp(i64),
}

/// The effect of a card when it is bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Once {
    /// Energy.
    Energy(i64),
    /// Health, also inside.
    Heal(i64),
    /// Victory points.
    Vp(i64),
    /// Immunity to hits until one's next turn.
    Shield,
    /// Energy taken from an opponent.
    Steal(i64),
    /// More damage of the next hit on an opponent.
    Mark(i64),
    /// The seat inside must leave; nobody enters.
    ForceOut,
    /// Damage to all opponents.
    Blast(i64),
    /// Damage to everybody, including oneself.
    Nova(i64),
}

impl Once {
    /// Whether it needs a target.
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
    /// The rule text, with its numbers.
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
    /// The rule text, with its numbers.
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
        code: Slug::of(code),
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
        code: Slug::of(code),
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
