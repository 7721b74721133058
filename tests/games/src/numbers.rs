//! Deterministic pseudo-random numbers.

/// A generator, whose state must not be 0.
#[derive(Debug)]
pub struct Numbers(
    /// The state.
    pub u64,
);

impl Numbers {
    /// A generator seeded by a number.
    pub const fn of(number: u64) -> Self {
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number from 0, below the limit.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 32) % u64::from(limit)).unwrap()
    }

    /// An index into a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap()) as usize
    }

    /// One of the choices.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}
