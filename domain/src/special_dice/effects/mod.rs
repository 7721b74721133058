//! Effects of special dice: one kind of effect per file.
//!
//! A kind implements the hooks it needs: when faces are read, when dice form a combination, at a
//! save, when the points of a hand are counted, at a farkle. A new kind is a file and a row in the
//! list below.

mod bank_bonus;
mod bank_round;
mod big_save;
mod combo_context;
mod consolation;
mod faces;
mod farkle_context;
mod farkle_money;
mod keep_turn;
mod lone_face;
mod multiply_combination;
mod multiply_single;
mod multiply_turn;
mod save;
mod save_money;
mod streak;

use std::{cmp::Reverse, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use super::{Die, DieAt};
use crate::{Number, Points};

pub(crate) use combo_context::ComboContext;
pub(crate) use farkle_context::{FarkleContext, Mitigation};
pub(crate) use save::Save;

/// A kind of effect and its hooks.
pub(crate) trait Kind {
    /// Its numbers, with their ranges.
    fn numbers(&self) -> Vec<Number> {
        Vec::new()
    }

    /// Rejects invalid parameters, beyond numbers out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The rule text, with its numbers.
    fn text(&self) -> String;

    /// Of effects that do not add up, the strongest is applied first.
    fn strength(&self) -> i64 {
        0
    }

    /// The faces of the die for the raw values 1 to 6.
    fn faces(&self) -> Option<[u8; 6]> {
        None
    }

    /// A face that scores as a single while the die is in the loadout, and its points.
    fn scores_alone(&self) -> Option<(u8, Points)> {
        None
    }

    /// Whether it changes the points of combinations.
    fn boosts_combinations(&self) -> bool {
        false
    }

    /// Dice form a combination.
    fn on_combination(&self, _die: DieAt, _combo: &mut ComboContext) {}

    /// Dice are saved.
    fn on_save(&self, _die: DieAt, _save: &mut Save) {}

    /// The points of a hand are added to the round or banked; returns the new points.
    fn on_hand(&self, points: Points) -> Points {
        points
    }

    /// Whether it raises the bonus of the next bank.
    fn gives_bonus(&self) -> bool {
        false
    }

    /// Whether it banks the round on a farkle.
    fn banks_round(&self) -> bool {
        false
    }

    /// A roll had no scoring die.
    fn on_farkle(&self, _die: DieAt, _context: &mut FarkleContext) {}
}

/// The list of kinds, in the order in which they apply at the same hook.
macro_rules! kinds {
    ($($file:ident::$kind:ident,)*) => {
        $(pub use $file::$kind;)*

        /// The effect of a special die, with its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Effect {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] $kind($kind),)*
        }

        impl Effect {
            pub(crate) fn kind(&self) -> &dyn Kind {
                match self { $(Self::$kind(kind) => kind,)* }
            }

            /// One of each kind, without values.
            pub fn kinds() -> Vec<Self> {
                vec![$(Self::$kind($kind::default()),)*]
            }

            /// The name of its kind, as it is written: `multiply_single`.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$kind(_) => stringify!($file),)* }
            }

            fn order(&self) -> Order {
                match self { $(Self::$kind(_) => Order::$kind,)* }
            }
        }

        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Order { $($kind,)* }
    };
}

kinds! {
    faces::Faces,
    lone_face::LoneFace,
    multiply_single::MultiplySingle,
    multiply_combination::MultiplyCombination,
    streak::Streak,
    multiply_turn::MultiplyTurn,
    save_money::SaveMoney,
    big_save::BigSave,
    consolation::Consolation,
    bank_round::BankRound,
    keep_turn::KeepTurn,
    bank_bonus::BankBonus,
    farkle_money::FarkleMoney,
}

/// Dice in the order in which their effects apply: by kind, strongest first, then by slot.
pub(crate) fn in_order<'a>(dice: impl Iterator<Item = Die<'a>>) -> Vec<Die<'a>> {
    let mut dice: Vec<Die<'a>> = dice.collect();
    dice.sort_by_key(|die| {
        let effect = die.effect();
        (effect.order(), Reverse(effect.kind().strength()), die.slot)
    });
    dice
}

impl Effect {
    /// Its numbers, with their ranges.
    pub fn numbers(&self) -> Vec<Number> {
        self.kind().numbers()
    }

    /// Why its parameters make no sense, if they do not.
    pub(crate) fn check(&self) -> Result<(), String> {
        for number in self.numbers() {
            if let Some(value) = number.outside() {
                within(number.name, value, number.range)?;
            }
        }
        self.kind().check()
    }
}

/// Rejects a parameter outside its range.
fn within(name: &str, value: i64, range: RangeInclusive<i64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(format!("{name} must be from {least} to {most}, not {value}"))
}

/// The maximum points of an effect.
const MOST_POINTS: i64 = 1_000_000;
/// The maximum factor of an effect.
const MOST_FACTOR: i64 = 1_000;
/// The maximum money of an effect.
const MOST_DOLLARS: i64 = 1_000;
