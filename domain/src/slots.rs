//! Sets of dice, by slot.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Rejection, byte_list};

/// A set of dice by their slots, 0 to 15. Serialized as a sorted list: `[0, 2, 5]`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slots(u16);

impl Slots {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The first `dice` slots: a full set.
    pub const fn first(dice: u8) -> Self {
        if dice >= 16 { Self(u16::MAX) } else { Self((1 << dice) - 1) }
    }

    /// Parses the slots that a player gave; `dice` is the size of the player's set.
    pub fn parse(named: &[u8], dice: u8) -> Result<Self, Rejection> {
        let mut slots = Self::EMPTY;
        for &slot in named {
            if slot >= dice || slot >= 16 {
                return Err(Rejection::NoSuchSlot { slot, dice });
            }
            if slots.contains(slot) {
                return Err(Rejection::RepeatedSlot { slot });
            }
            slots = slots.with(slot);
        }
        if slots.is_empty() { Err(Rejection::EmptySelection) } else { Ok(slots) }
    }

    /// Adds a die.
    #[must_use]
    pub const fn with(self, slot: u8) -> Self {
        Self(self.0 | 1 << (slot & 15))
    }

    /// The dice of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set contains the die of this slot.
    pub const fn contains(self, slot: u8) -> bool {
        slot < 16 && self.0 >> slot & 1 == 1
    }

    /// The number of dice.
    #[expect(clippy::cast_possible_truncation, reason = "a u16 has at most 16 ones")]
    pub const fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The slots in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let slot = left.trailing_zeros();
            left &= left - 1;
            u8::try_from(slot).ok()
        })
    }

    /// Every non-empty subset, in ascending order of its bits.
    pub fn subsets(self) -> impl Iterator<Item = Self> {
        let all = self.0;
        let mut last = 0u16;
        std::iter::from_fn(move || {
            last = last.wrapping_sub(all) & all;
            (last != 0).then_some(Self(last))
        })
    }

    /// The slots as a list.
    pub fn to_vec(self) -> Vec<u8> {
        self.iter().collect()
    }
}

impl FromIterator<u8> for Slots {
    fn from_iter<I: IntoIterator<Item = u8>>(slots: I) -> Self {
        slots.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Slots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        byte_list::read(from, "slots from 0 to 15", Self::EMPTY, |slots, slot| {
            (slot < 16 && !slots.contains(slot)).then(|| slots.with(slot))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_every_subset_once() {
        let set = Slots::from_iter([0, 3, 5]);
        let mut subsets: Vec<_> = set.subsets().collect();
        subsets.sort();
        subsets.dedup();
        assert_eq!(subsets.len(), 7);
        assert!(subsets.iter().all(|s| s.without(set).is_empty()));
        assert_eq!(Slots::EMPTY.subsets().count(), 0);
    }

    #[test]
    fn parse_rejects_bad_slots() {
        assert_eq!(Slots::parse(&[4, 0], 6).unwrap().to_vec(), [0, 4]);
        assert_eq!(Slots::parse(&[], 6), Err(Rejection::EmptySelection));
        assert_eq!(Slots::parse(&[1, 1], 6), Err(Rejection::RepeatedSlot { slot: 1 }));
        assert_eq!(Slots::parse(&[6], 6), Err(Rejection::NoSuchSlot { slot: 6, dice: 6 }));
        assert_eq!(Slots::parse(&[255], 20), Err(Rejection::NoSuchSlot { slot: 255, dice: 20 }));
    }

    #[test]
    fn json_is_a_sorted_list() {
        assert_eq!(serde_json::to_string(&Slots::from_iter([5, 1])).unwrap(), "[1,5]");
        assert!(serde_json::from_str::<Slots>("[16]").is_err());
        assert!(serde_json::from_str::<Slots>("[2,2]").is_err());
    }
}
