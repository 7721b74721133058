//! Chance that can be repeated.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Numbers from a seed.
#[derive(Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 1 to this.
    pub(super) fn up_to(&mut self, most: u32) -> u32 {
        self.0.next_u32() % most + 1
    }
}
