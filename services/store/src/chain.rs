//! The hash chain over the events of a stream.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first event of a stream.
    pub const ZERO: Self = Self([0; 32]);

    /// The first eight bytes, which the database stores for a request.
    pub(crate) fn short(&self) -> i64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        i64::from_be_bytes(first)
    }

    /// A hash read from the database; anything but 32 bytes becomes the zero hash.
    pub(crate) fn from_sql(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(Self::ZERO, Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// Everything that an event's hash covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    pub(crate) stream: Uuid,
    pub(crate) version: i64,
    pub(crate) kind: &'a str,
    pub(crate) schema: i16,
    pub(crate) recorded_at: i64,
    pub(crate) command: Uuid,
    pub(crate) actor: Uuid,
    pub(crate) payload: &'a str,
}

impl Link<'_> {
    /// Numbers are big-endian; fields of variable length are prefixed by their length.
    pub(crate) fn hash(&self, previous: &Hash) -> Hash {
        let mut hash = Sha256::new();
        hash.update(b"croupier/event/1\0");
        hash.update(self.stream.as_bytes());
        hash.update(self.version.to_be_bytes());
        hash.update((self.kind.len() as u64).to_be_bytes());
        hash.update(self.kind.as_bytes());
        hash.update(self.schema.to_be_bytes());
        hash.update(self.recorded_at.to_be_bytes());
        hash.update(self.command.as_bytes());
        hash.update(self.actor.as_bytes());
        hash.update((self.payload.len() as u64).to_be_bytes());
        hash.update(self.payload.as_bytes());
        hash.update(previous.0);
        Hash(hash.finalize().into())
    }
}
