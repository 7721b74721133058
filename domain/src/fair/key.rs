//! The key of a game's dice, and the dice derived from it.

use hkdf::Hkdf;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use sha2::Sha256;

use super::{RulesetHash, Secret, SeedsHash, draws::die, seeds_hash};
use crate::{Dice, Draw, Game, GameId};

/// The key of all draws of a game, derived from the secret of the house and the seeds of the
/// players.
#[derive(Clone)]
pub struct DiceKey([u8; 32]);

impl DiceKey {
    /// Derives the key of a game.
    pub fn derive(secret: &Secret, seeds: &SeedsHash, game: GameId, ruleset: &RulesetHash) -> Self {
        let info: [&[u8]; 3] = [b"croupier/dice-key/1\0", game.0.as_bytes(), &ruleset.0];
        let mut key = [0; 32];
        // HKDF-SHA256 can output up to 8,160 bytes; 32 never fail.
        let expanded = Hkdf::<Sha256>::new(Some(&seeds.0), &secret.0)
            .expand_multi_info(&info, &mut key)
            .is_ok();
        debug_assert!(expanded, "32 bytes are within the limit of HKDF");
        Self(key)
    }

    /// The key itself. Whoever has it can compute every draw.
    pub fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first `count` values of a draw.
    pub fn draw(&self, draw: Draw, count: usize) -> Vec<u32> {
        let mut words = self.words(draw);
        (0..count).map(|_| die(&mut words, draw.sides)).collect()
    }

    /// Every draw has its own stream, purpose · 2⁵⁶ + number, read from its first block.
    fn words(&self, draw: Draw) -> ChaCha20Rng {
        let mut words = ChaCha20Rng::from_seed(self.0);
        words.set_stream((draw.purpose as u64) << 56 | draw.number & ((1 << 56) - 1));
        words
    }
}

impl std::fmt::Debug for DiceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DiceKey(hidden)")
    }
}

/// The fair dice of one game.
#[derive(Clone, Debug)]
pub struct FairDice {
    secret: Secret,
    key: DiceKey,
}

impl FairDice {
    /// The dice of a game, from the secret behind its commitment and the seeds of its seats.
    pub fn new(secret: Secret, game: &Game) -> Self {
        let seeds = seeds_hash(game.table.seats.iter().map(|seat| seat.seed.as_ref()));
        let key = DiceKey::derive(&secret, &seeds, game.table.id, &game.table.ruleset_hash);
        Self { secret, key }
    }
}

impl Dice for FairDice {
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        self.key.draw(draw, count.into())
    }

    fn secret(&self) -> Option<Secret> {
        Some(self.secret)
    }
}
