//! Reproducible randomness.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Random numbers from a seed.
#[derive(Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 1 to `most`.
    pub(super) fn up_to(&mut self, most: u32) -> u32 {
        self.0.next_u32() % most + 1
    }

    /// True once in `times` times.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        self.up_to(times) == 1
    }

    /// An index into a list of this length, which must not be empty.
    pub(super) fn place(&mut self, length: usize) -> usize {
        let length = u32::try_from(length).unwrap_or(u32::MAX).max(1);
        self.up_to(length) as usize - 1
    }
}
