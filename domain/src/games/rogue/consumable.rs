//! Consumables: items that bend a rule once. Each is a row of data.

use serde::{Deserialize, Serialize};

use crate::{
    Rejection, Slug,
    ruleset::{named, within},
};

/// A consumable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumable {
    /// Its code.
    pub code: Slug,
    /// Its name.
    pub name: String,
    /// Its price in the shop.
    pub price: i64,
    /// Its effect.
    pub effect: ConsumableEffect,
}

/// The effect of a consumable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsumableEffect {
    /// The next score of this turn counts as if the dice fitted its category.
    AnyScore,
    /// Reopens the category scored last in this round; its points are taken back, and its bonus as
    /// an extra yahtzee.
    ScoreReroll,
    /// This many more rolls in this turn.
    MoreRolls(u8),
    /// This many more dice in this turn; must be used before its first roll.
    ExtraDice(u8),
    /// Multiplies the points of the best category of this round.
    MultiplyBest(i64),
    /// A coin toss at the next score of this turn: it is multiplied by this, or scores nothing.
    MultiplyOrNothing(i64),
    /// Multiplies the money of green dice at the next score of this turn.
    MultiplyGreen(i64),
    /// Missing the target of this round does not end the run, except in the last round; there is no
    /// reward.
    Insurance,
    /// The dice of the next roll of this turn have these faces.
    Sides([u8; 6]),
    /// This many free purchases of the bought colour with the longest odds.
    Upgrade(u32),
}

impl Consumable {
    /// The rule text, with its numbers.
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
        code: Slug::of(code),
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
