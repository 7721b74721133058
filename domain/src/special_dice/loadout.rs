//! The dice a player brings: one per slot.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::effects::Effect;
use super::{Catalogue, Code, DieKind, ORDINARY};
use crate::byte_list;

/// The maximum number of dice.
pub(crate) const SLOTS: u8 = 6;

/// The die in each slot: 0 is a standard die, n the n-th row of the game's catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loadout {
    rows: [u8; SLOTS as usize],
}

/// A die of a player: its slot and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieAt {
    /// Its slot.
    pub slot: u8,
    /// Its kind.
    pub code: Code,
}

/// A special die in a slot, with its row of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Die<'a> {
    /// Its slot.
    pub slot: u8,
    /// Its kind.
    pub kind: &'a DieKind,
}

impl<'a> Die<'a> {
    /// The die as named in events.
    pub const fn at(self) -> DieAt {
        DieAt { slot: self.slot, code: self.kind.code }
    }

    pub(crate) const fn effect(self) -> &'a Effect {
        &self.kind.effect
    }
}

impl Loadout {
    /// Only standard dice.
    pub const ORDINARY: Self = Self { rows: [0; SLOTS as usize] };

    /// The dice with these codes, one per slot; an unknown code is a standard die.
    pub(crate) fn of(codes: &[Code], catalogue: &Catalogue) -> Self {
        let mut rows = [0; SLOTS as usize];
        for (row, code) in rows.iter_mut().zip(codes) {
            let found = catalogue.dice.iter().position(|die| die.code == *code);
            *row = found.and_then(|n| u8::try_from(n + 1).ok()).unwrap_or(0);
        }
        Self { rows }
    }

    /// Whether it has only standard dice.
    pub const fn is_ordinary(&self) -> bool {
        matches!(self.rows, [0, 0, 0, 0, 0, 0])
    }

    /// The special dice, by slot.
    pub fn special(self, catalogue: Option<&Catalogue>) -> impl Iterator<Item = Die<'_>> {
        (0u8..).zip(self.rows).filter_map(move |(slot, row)| {
            let kind = catalogue?.dice.get(usize::from(row).checked_sub(1)?)?;
            Some(Die { slot, kind })
        })
    }

    /// The kind in a slot; `None` for a standard die.
    pub fn kind(self, slot: u8, catalogue: Option<&Catalogue>) -> Option<&DieKind> {
        let row = usize::from(*self.rows.get(usize::from(slot))?);
        catalogue?.dice.get(row.checked_sub(1)?)
    }

    /// The face of a die for a raw value from 1 to 6.
    pub(crate) fn face(self, slot: u8, raw: u8, catalogue: Option<&Catalogue>) -> u8 {
        let faces = self.kind(slot, catalogue).map_or(ORDINARY, DieKind::faces);
        raw.checked_sub(1).and_then(|side| faces.get(usize::from(side))).copied().unwrap_or(raw)
    }
}

impl Serialize for Loadout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.rows)
    }
}

impl<'de> Deserialize<'de> for Loadout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let empty = ([0; SLOTS as usize], 0usize);
        let read =
            byte_list::read(from, "rows of a catalogue, at most 6", empty, |(mut rows, n), row| {
                *rows.get_mut(n)? = row;
                Some((rows, n + 1))
            });
        Ok(Self { rows: read?.0 })
    }
}
