//! The faces of dice.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::byte_list;

/// The faces of up to sixteen dice in slot order, each 1 to 15. Serialized as a list: `[1, 5, 5]`.
///
/// Uses four bits per die, so a roll is copied and compared like a number.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Faces(u64);

impl Faces {
    /// No dice.
    pub const EMPTY: Self = Self(0);

    /// Appends a die; `None` if there is no room or the face is out of range.
    pub fn with(self, face: u8) -> Option<Self> {
        let dice = self.len();
        let fits = dice < 16 && (1..=15).contains(&face);
        fits.then(|| Self(self.0 | u64::from(face) << (4 * dice)))
    }

    /// The faces of a list; `None` if one is out of range.
    pub fn of(faces: &[u8]) -> Option<Self> {
        faces.iter().try_fold(Self::EMPTY, |all, &face| all.with(face))
    }

    /// The number of dice.
    pub const fn len(self) -> u32 {
        (67 - self.0.leading_zeros()) / 4
    }

    /// Whether there are no dice.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The faces in slot order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let face = left & 15;
            left >>= 4;
            if face == 0 { None } else { u8::try_from(face).ok() }
        })
    }
}

impl fmt::Debug for Faces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Faces {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Faces {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        byte_list::read(from, "faces from 1 to 15, at most 16", Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_sixteen_and_no_more() {
        let full = Faces::of(&[15; 16]).unwrap();
        assert_eq!(full.len(), 16);
        assert_eq!(full.with(1), None);
        assert_eq!(Faces::EMPTY.len(), 0);
        assert_eq!(Faces::of(&[6, 1]).unwrap().iter().collect::<Vec<_>>(), [6, 1]);
        assert_eq!(Faces::of(&[0]), None);
        assert_eq!(Faces::of(&[16]), None);
    }
}
