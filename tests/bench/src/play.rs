//! Secrets of games that benchmarks make up.

use domain::fair::Secret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The secret of a game's dice, made from its id: a benchmark keeps no secrets.
pub(crate) fn secret(stream: Uuid) -> Secret {
    Secret(Sha256::digest(stream.as_bytes()).into())
}
