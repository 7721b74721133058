//! What a client draws: the dice where they lie, and what can be scored with them.

use crate::{Boost, Combination, Dollars, Points, Slots, Word, special_dice::Code};

/// A die of the seat to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieOnTable {
    /// Its slot.
    pub slot: u8,
    /// Its kind.
    pub code: Code,
    /// What it shows, if it was rolled this round.
    pub face: Option<u8>,
    /// Where it lies.
    pub place: DiePlace,
    /// Whether it is a further die, beyond those that everybody has.
    pub extra: bool,
}

impl DieOnTable {
    /// An ordinary die: on the table once it was rolled.
    pub(crate) fn ordinary(slot: u8, face: Option<u8>) -> Self {
        let place = if face.is_some() { DiePlace::Table } else { DiePlace::Hand };
        Self { slot, code: Code::STANDARD, face, place, extra: false }
    }
}

/// Where a die lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiePlace {
    /// In hand, to be rolled next.
    Hand,
    /// On the table, just rolled.
    Table,
    /// Saved, set aside.
    Saved,
}

/// Something that the rules name, with what it does: a tooltip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is: `character`, `card`, `evolution`, `consumable`, `colour`.
    pub kind: &'static str,
    /// Its code.
    pub code: Word,
    /// Its name.
    pub name: String,
    /// What it does, with the numbers it does it with.
    pub text: String,
    /// What it costs at first, in the money or energy of the game, where it is sold.
    pub price: Option<i64>,
}

/// Something that can be bought in the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its code.
    pub code: Word,
    /// Its name.
    pub name: String,
    /// What it does.
    pub text: String,
    /// What it costs, in the money or energy of the game.
    pub price: i64,
    /// Once it is bought, it comes up 1 time in so many, where it is bought to come up.
    pub odds: Option<u32>,
    /// Whether the seat to move could buy it now.
    pub buyable: bool,
}

/// Dice that can be scored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The dice.
    pub slots: Slots,
    /// What they score, with everything special dice make of it.
    pub points: Points,
    /// What they score as.
    pub combinations: Vec<Combination>,
    /// What is added to the combinations.
    pub bonuses: Vec<Boost>,
    /// The money a save of them earns.
    pub dollars: Dollars,
    /// What a bank with them would bring.
    pub bank: Points,
    /// Whether the round can be banked with them at once.
    pub can_bank: bool,
    /// What else scoring them brings to the round.
    pub extra: Points,
    /// The things that scoring them gives, if there is room for them.
    pub gifts: u32,
}
