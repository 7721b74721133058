//! What a client displays: the dice on the table, and what can be scored with them.

use crate::{Boost, Combination, Dollars, Points, Slots, Slug, special_dice::Code};

/// A die of the seat to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieOnTable {
    /// Its slot.
    pub slot: u8,
    /// Its kind.
    pub code: Code,
    /// Its face, if it was rolled this round.
    pub face: Option<u8>,
    /// Its position.
    pub place: DiePlace,
    /// Whether it is an extra die, beyond the standard number.
    pub extra: bool,
}

impl DieOnTable {
    /// A standard die: on the table once it was rolled.
    pub(crate) fn ordinary(slot: u8, face: Option<u8>) -> Self {
        let place = if face.is_some() { DiePlace::Table } else { DiePlace::Hand };
        Self { slot, code: Code::STANDARD, face, place, extra: false }
    }
}

/// The position of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiePlace {
    /// In hand, to be rolled next.
    Hand,
    /// On the table, just rolled.
    Table,
    /// Saved.
    Saved,
}

/// A card, character or other item of the rules, with the text of a tooltip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogItem {
    /// Its kind: `character`, `card`, `evolution`, `consumable`, `colour`.
    pub kind: &'static str,
    /// Its code.
    pub code: Slug,
    /// Its name.
    pub name: String,
    /// The rule text, with its numbers.
    pub text: String,
    /// The base price, in the money or energy of the game, if it can be bought.
    pub price: Option<i64>,
}

/// An item that can be bought in the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its code.
    pub code: Slug,
    /// Its name.
    pub name: String,
    /// The rule text.
    pub text: String,
    /// The current price, in the money or energy of the game.
    pub price: i64,
    /// For a colour of dice: once bought, a die gets it 1 time in this many.
    pub odds: Option<u32>,
    /// Whether the seat to move could buy it now.
    pub buyable: bool,
}

/// Dice that can be scored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The slots of the dice.
    pub slots: Slots,
    /// The points, with all effects of special dice.
    pub points: Points,
    /// The combinations.
    pub combinations: Vec<Combination>,
    /// Bonuses on top of the combinations.
    pub bonuses: Vec<Boost>,
    /// The money a save of them earns.
    pub dollars: Dollars,
    /// The points of a bank with these dice.
    pub bank: Points,
    /// Whether the round can be banked with these dice at once.
    pub can_bank: bool,
    /// Further points that scoring them adds to the round.
    pub extra: Points,
    /// The number of items that scoring them gives, if there is room for them.
    pub gifts: u32,
}
