//! The characters: each has one ability.

use serde::{Deserialize, Serialize};

use crate::{
    Rejection, Slug,
    ruleset::{named, within},
};

/// A character to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Character {
    /// The code.
    pub code: Slug,
    /// The name.
    pub name: String,
    /// The name of the ability.
    pub ability: String,
    /// The ability.
    pub gift: Gift,
}

/// The ability of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gift {
    /// Once per turn, after the last roll: copy the face of a die onto another. No more rolls after
    /// that.
    Copy,
    /// This much more energy with the first energy from dice of each turn.
    MoreEnergy(i64),
    /// The next damage taken is reduced by this much; restored with each own turn.
    Plate(i64),
    /// Once per turn: hearts that could not heal become energy.
    HeartsToEnergy,
    /// This much more damage of an attack with a heart among the final dice.
    Precision(i64),
    /// At the end of a turn one face can be stored, at most one; in a later turn, after the first
    /// roll, it replaces a die.
    Bank,
    /// The first damage dealt each turn also takes this much energy.
    Siphon(i64),
    /// Once per turn: exchange this much energy for as much health, or the reverse.
    Exchange(i64),
}

impl Character {
    /// The rule text, with its numbers.
    pub fn text(&self) -> String {
        match self.gift {
            Gift::Copy => "Once a turn, after the final roll: copy the face of one die onto another.".to_owned(),
            Gift::MoreEnergy(n) => format!("The first energy from dice each turn brings {n} more."),
            Gift::Plate(n) => {
                format!("The next damage you take is {n} less; ready again with each of your turns.")
            }
            Gift::HeartsToEnergy => "Once a turn: hearts that healed nothing become energy.".to_owned(),
            Gift::Precision(n) => format!("An attack with a heart among the final dice does {n} more damage."),
            Gift::Bank => {
                "Put by one face at the end of a turn; in a later turn it replaces a die after the first roll.".to_owned()
            }
            Gift::Siphon(n) => format!("The first damage you deal each turn also takes {n} energy."),
            Gift::Exchange(n) => format!("Once a turn: {n} energy for {n} HP, or the other way round."),
        }
    }

    pub(super) fn check(&self) -> Result<(), Rejection> {
        named("characters.name", &self.name)?;
        named("characters.ability", &self.ability)?;
        match self.gift {
            Gift::MoreEnergy(n)
            | Gift::Plate(n)
            | Gift::Precision(n)
            | Gift::Siphon(n)
            | Gift::Exchange(n) => within("characters.gift", n, 1..=10),
            Gift::Copy | Gift::HeartsToEnergy | Gift::Bank => Ok(()),
        }
    }
}

/// The characters of the preset.
pub(super) fn builtin() -> Vec<Character> {
    let row = |code, name: &str, ability: &str, gift| Character {
        code: Slug::of(code),
        name: name.to_owned(),
        ability: ability.to_owned(),
        gift,
    };
    vec![
        row("nimbus_gibbon", "Nimbus Gibbon", "Misty Grapple", Gift::Copy),
        row("ion_wyrm", "Ion Wyrm", "Overcharge", Gift::MoreEnergy(1)),
        row("basalt_colossus", "Basalt Colossus", "Stoneplate", Gift::Plate(1)),
        row("abyss_leviathan", "Abyss Leviathan", "Undertow", Gift::HeartsToEnergy),
        row("starblade_mantis", "Starblade Mantis", "Precision Cut", Gift::Precision(1)),
        row("quantum_terrapin", "Quantum Terrapin", "Time Bank", Gift::Bank),
        row("prismfang_cobra", "Prismfang Cobra", "Venom Siphon", Gift::Siphon(1)),
        row("halo_cyclops", "Halo Cyclops", "Convertive Gaze", Gift::Exchange(1)),
    ]
}
