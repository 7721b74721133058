//! A multiset of dice: how many show each face.

/// The maximum number of dice.
pub const MOST_DICE: u8 = 6;

/// The number of different tallies of up to six dice.
pub const TALLIES: usize = tallies(6, MOST_DICE);

/// The number of dice that show 1, 2 … 6; four bits per face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally(u32);

impl Tally {
    /// No dice.
    pub const EMPTY: Self = Self(0);

    /// Counts faces from 1 to 6, at most six of them; `None` otherwise.
    pub fn of(faces: impl IntoIterator<Item = u8>) -> Option<Self> {
        let mut tally = Self::EMPTY;
        let mut dice = 0;
        for face in faces {
            dice += 1;
            if dice > MOST_DICE || !(1..=6).contains(&face) {
                return None;
            }
            tally = tally.with(face);
        }
        Some(tally)
    }

    /// `count` dice of one face.
    pub(super) const fn kind(face: u8, count: u8) -> Self {
        Self((count as u32) << (4 * (face - 1)))
    }

    /// Adds a die. The face must be 1 to 6, and there must be room.
    #[must_use]
    pub(crate) const fn with(self, face: u8) -> Self {
        Self(self.0 + (1 << (4 * (face - 1))))
    }

    /// Adds all dice of the other.
    #[must_use]
    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// The number of dice that show a face, 1 to 6.
    pub const fn count(self, face: u8) -> u8 {
        (self.0 >> (4 * (face - 1)) & 15) as u8
    }

    /// The number of dice.
    pub fn dice(self) -> u8 {
        (1..=6).map(|face| self.count(face)).sum()
    }

    /// Removes the dice of the other; `None` if not all of them are present.
    pub const fn minus(self, other: Self) -> Option<Self> {
        // With the top bit of every face set, a borrow stays within its face and is visible there.
        const GUARD: u32 = 0x0088_8888;
        let difference = (self.0 | GUARD) - other.0;
        if difference & GUARD == GUARD { Some(Self(difference & !GUARD)) } else { None }
    }

    /// The rank among all tallies, 0 to [`TALLIES`] − 1: its row in a table.
    #[inline]
    pub fn rank(self) -> usize {
        let (mut rank, mut room, mut counts) = (0, MOST_DICE as usize, self.0);
        for rows in &ROWS_BEFORE {
            let count = (counts & 7) as usize;
            rank += rows[room & 7][count] as usize;
            room -= count;
            counts >>= 4;
        }
        rank
    }

    /// All tallies, in the order of their ranks.
    pub fn all() -> Vec<Self> {
        (1..=6).fold(vec![Self::EMPTY], |tallies, face| {
            let more =
                |t: Self| (0..=MOST_DICE - t.dice()).map(move |n| t.plus(Self::kind(face, n)));
            tallies.into_iter().flat_map(more).collect()
        })
    }
}

/// The number of tallies of at most `room` dice over this many faces: C(faces + room, room).
const fn tallies(faces: usize, room: u8) -> usize {
    let (mut ways, mut i) = (1, 1);
    while i <= room as usize {
        ways = ways * (faces + i) / i;
        i += 1;
    }
    ways
}

/// `[face − 1][room left][count]`: the number of tallies with a smaller count of this face.
static ROWS_BEFORE: [[[u16; 8]; 8]; 6] = rows_before();

#[expect(clippy::cast_possible_truncation, reason = "there are 924 tallies")]
const fn rows_before() -> [[[u16; 8]; 8]; 6] {
    let mut table = [[[0; 8]; 8]; 6];
    let mut face = 0;
    while face < 6 {
        let mut room = 0;
        while room <= MOST_DICE {
            let mut count = 0;
            while count < room {
                let fewer = tallies(5 - face, room - count) as u16;
                table[face][room as usize][count as usize + 1] =
                    table[face][room as usize][count as usize] + fewer;
                count += 1;
            }
            room += 1;
        }
        face += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_consecutive() {
        let ranks: Vec<_> = Tally::all().into_iter().map(Tally::rank).collect();
        assert_eq!(ranks, (0..TALLIES).collect::<Vec<_>>());
        assert_eq!(TALLIES, 924);
    }

    #[test]
    fn minus_needs_all_dice() {
        let hand = Tally::of([1, 1, 5]).unwrap();
        assert_eq!(hand.minus(Tally::of([1, 5]).unwrap()), Tally::of([1]));
        assert_eq!(hand.minus(Tally::of([5, 5]).unwrap()), None);
        assert_eq!(hand.minus(Tally::of([6]).unwrap()), None);
        assert_eq!(hand.minus(hand), Some(Tally::EMPTY));
    }

    #[test]
    fn only_six_dice_of_six_faces() {
        assert_eq!(Tally::of([7]), None);
        assert_eq!(Tally::of([0]), None);
        assert_eq!(Tally::of([1; 7]), None);
        assert_eq!(Tally::of([6; 6]).unwrap().count(6), 6);
    }
}
