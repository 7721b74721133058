//! Dice secrets of benchmark games.

use domain::fair::Secret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The dice secret of a game, derived from its id: a benchmark needs no secrecy.
pub(crate) fn secret(stream: Uuid) -> Secret {
    Secret(Sha256::digest(stream.as_bytes()).into())
}
