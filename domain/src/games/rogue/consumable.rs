//! Consumables: things that bend a rule once. Each is a row of data; its sentence is its rule.

use serde::{Deserialize, Serialize};

use crate::{
    Rejection, Word,
    ruleset::{named, within},
};

/// A consumable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumable {
    /// Its code.
    pub code: Word,
    /// Its name.
    pub name: String,
    /// What it costs in the shop.
    pub price: i64,
    /// What it does.
    pub effect: ConsumableEffect,
}

/// What a consumable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsumableEffect {
    /// The next score of this turn counts as if the dice fitted its category.
    AnyScore,
    /// The category scored last in this round opens again; its points are taken back, with what it brought as one more yahtzee.
    ScoreReroll,
    /// So many rolls more in this turn.
    MoreRolls(u8),
    /// So many dice more in this turn; used before its first roll.
    ExtraDice(u8),
    /// The category of this round with the most points counts so many times.
    MultiplyBest(i64),
    /// A coin is thrown at the next score of this turn: it counts so many times, or nothing.
    MultiplyOrNothing(i64),
    /// The money of green dice at the next score of this turn counts so many times.
    MultiplyGreen(i64),
    /// A missed target of this round does not end the run, unless it is the last one; it pays no reward.
    Insurance,
    /// At the next roll of this turn the dice have these sides.
    Sides([u8; 6]),
    /// The bought colour with the longest odds gets so many purchases for nothing.
    Upgrade(u32),
}

impl Consumable {
    /// Its rule, with its numbers.
    pub fn text(&self) -> String {
        use ConsumableEffect as E;
        match self.effect {
            E::AnyScore => {
                "The next score of this turn counts as if the dice fitted its category.".to_owned()
            }
            E::ScoreReroll => {
                "The category scored last in this round opens again; all its points are taken back."
                    .to_owned()
            }
            E::MoreRolls(rolls) => format!("{rolls} more rolls in this turn."),
            E::ExtraDice(dice) => {
                {
                let dice = if dice == 1 { "One more die".to_owned() } else { format!("{dice} more dice") };
                format!("{dice} in this turn. Use it before the first roll.")
            }
            }
            E::MultiplyBest(times) => {
                format!("The category of this round with the most points counts {times} times.")
            }
            E::MultiplyOrNothing(times) => {
                format!(
                    "A coin decides whether the next score of this turn counts {times} times or nothing."
                )
            }
            E::MultiplyGreen(times) => {
                format!("Green dice earn {times} times as much at the next score of this turn.")
            }
            E::Insurance => {
                "If this round misses its target, the run goes on to the next one, without the reward.".to_owned()
            }
            E::Sides(sides) => {
                let sides: Vec<String> = sides.iter().map(ToString::to_string).collect();
                format!(
                    "At the next roll of this turn the dice have the sides {}.",
                    sides.join(", ")
                )
            }
            E::Upgrade(1) => "The bought colour with the longest odds is bought once more, for nothing.".to_owned(),
            E::Upgrade(times) => {
                format!("The bought colour with the longest odds is bought {times} times more, for nothing.")
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), Rejection> {
        use ConsumableEffect as E;
        within("consumables.price", self.price, 0..=1_000_000)?;
        named("consumables.name", &self.name)?;
        match self.effect {
            E::MoreRolls(count) => within("consumables.effect", count, 1..=20),
            E::ExtraDice(count) => within("consumables.effect", count, 1..=2),
            E::MultiplyBest(times) | E::MultiplyOrNothing(times) | E::MultiplyGreen(times) => {
                within("consumables.effect", times, 2..=1_000)
            }
            E::Sides(sides) => {
                sides.iter().try_for_each(|&side| within("consumables.effect", side, 1..=6))
            }
            E::Upgrade(count) => within("consumables.effect", count, 1..=10),
            E::AnyScore | E::ScoreReroll | E::Insurance => Ok(()),
        }
    }
}

/// The consumables of the preset.
pub(super) fn builtin() -> Vec<Consumable> {
    use ConsumableEffect as E;
    let row = |code, name: &str, price, effect| Consumable {
        code: Word::of(code),
        name: name.to_owned(),
        price,
        effect,
    };
    vec![
        row("any_score", "Any Score", 75, E::AnyScore),
        row("score_reroll", "Score Reroll", 60, E::ScoreReroll),
        row("three_more_rolls", "Three More Rolls", 50, E::MoreRolls(3)),
        row("one_extra_dice", "One Extra Die", 80, E::ExtraDice(1)),
        row("double_existing", "Double Existing", 100, E::MultiplyBest(2)),
        row("double_or_nothing", "Double or Nothing", 40, E::MultiplyOrNothing(2)),
        row("green_envy", "Green Envy", 60, E::MultiplyGreen(10)),
        row("insurance_policy", "Insurance Policy", 120, E::Insurance),
        row("loaded_dice", "Loaded Dice", 70, E::Sides([4, 5, 6, 4, 5, 6])),
        row("lucky_upgrade", "Lucky Upgrade", 90, E::Upgrade(1)),
    ]
}
