//! What special dice do: one kind of effect a file.
//!
//! A kind says at which moments it does something, and does it there: when faces are read, when dice are laid
//! into combinations, at a save, when a hand's points are counted, at a farkle. A new kind is a file, and
//! a line in the list below.

mod bank_bonus;
mod bank_round;
mod consolation;
mod faces;
mod fall;
mod farkle_money;
mod keep_turn;
mod laid;
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
use crate::Points;

pub(crate) use fall::{Fall, Relief};
pub(crate) use laid::Laid;
pub(crate) use save::Save;

/// What a kind of effect does, and when.
pub(crate) trait Kind {
    /// Why its parameters make no sense, if they do not.
    fn check(&self) -> Result<(), String>;

    /// What it does, with its numbers.
    fn text(&self) -> String;

    /// Of effects that do not add up, the strongest comes first.
    fn strength(&self) -> i64 {
        0
    }

    /// What the die shows for the raw values 1 to 6.
    fn faces(&self) -> Option<[u8; 6]> {
        None
    }

    /// A face that scores alone while the die is in the loadout, and its points.
    fn scores_alone(&self) -> Option<(u8, Points)> {
        None
    }

    /// Whether it changes what combinations score.
    fn boosts_combinations(&self) -> bool {
        false
    }

    /// Dice are laid together as one combination.
    fn on_combination(&self, _die: DieAt, _laid: &mut Laid) {}

    /// Dice are saved.
    fn on_save(&self, _die: DieAt, _save: &mut Save) {}

    /// The points of a hand are folded into the round or banked: what they become.
    fn on_hand(&self, points: Points) -> Points {
        points
    }

    /// Whether it is what makes the next bank larger.
    fn gives_bonus(&self) -> bool {
        false
    }

    /// Whether it banks the round on a farkle.
    fn banks_round(&self) -> bool {
        false
    }

    /// No die of a roll scores.
    fn on_farkle(&self, _die: DieAt, _fall: &mut Fall) {}
}

/// The list of kinds, in the order in which they apply at the same moment.
macro_rules! kinds {
    ($($file:ident::$kind:ident,)*) => {
        $(pub use $file::$kind;)*

        /// What a special die does, with its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Effect {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] $kind($kind),)*
        }

        impl Effect {
            pub(crate) fn kind(&self) -> &dyn Kind {
                match self { $(Self::$kind(kind) => kind,)* }
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
    consolation::Consolation,
    bank_round::BankRound,
    keep_turn::KeepTurn,
    bank_bonus::BankBonus,
    farkle_money::FarkleMoney,
}

/// Dice in the order in which their effects apply: by kind, the strongest first, then by slot.
pub(crate) fn in_order<'a>(dice: impl Iterator<Item = Die<'a>>) -> Vec<Die<'a>> {
    let mut dice: Vec<Die<'a>> = dice.collect();
    dice.sort_by_key(|die| {
        let effect = die.effect();
        (effect.order(), Reverse(effect.kind().strength()), die.slot)
    });
    dice
}

/// Why a parameter cannot have this value.
fn within(name: &str, value: i64, range: RangeInclusive<i64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(format!("{name} must be from {least} to {most}, not {value}"))
}

/// No effect gives more points at once.
const MOST_POINTS: i64 = 1_000_000;
/// No effect multiplies by more.
const MOST_FACTOR: i64 = 1_000;
/// No effect gives more money at once.
const MOST_DOLLARS: i64 = 1_000;
