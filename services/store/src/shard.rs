//! The 64 shards of the log.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The number of shards. Part of the stored format: it never changes.
pub const SHARDS: usize = 64;

/// A shard's number, 0 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u8);

impl Shard {
    /// The shard of a stream: the first byte of the SHA-256 of its id, modulo 64. In SQL:
    /// `get_byte(sha256(uuid_send(stream)), 0) & 63`.
    pub fn of(stream: Uuid) -> Self {
        Self(Sha256::digest(stream.as_bytes())[0] & 63)
    }

    /// The shard with this number, if it exists.
    pub fn numbered(number: u8) -> Option<Self> {
        (usize::from(number) < SHARDS).then_some(Self(number))
    }

    /// All shards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0u8..).take(SHARDS).map(Self)
    }

    /// Its number, 0 to 63.
    pub fn number(self) -> u8 {
        self.0
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    pub(crate) fn sql(self) -> i16 {
        self.0.into()
    }

    /// From a column that only contains shard numbers.
    pub(crate) fn from_sql(number: i16) -> Self {
        Self(u8::try_from(number & 63).unwrap_or(0))
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How far a reader has read: the last position in each shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions([i64; SHARDS]);

impl Default for Positions {
    /// Nothing has been read.
    fn default() -> Self {
        Self([0; SHARDS])
    }
}

impl Positions {
    /// The last position read in a shard; 0 if none.
    pub fn get(&self, shard: Shard) -> i64 {
        self.0[shard.index()]
    }

    /// Marks everything up to this position of the shard as read.
    pub fn set(&mut self, shard: Shard, position: i64) {
        self.0[shard.index()] = position;
    }

    /// The number of events up to these positions.
    pub fn total(&self) -> i64 {
        self.0.iter().sum()
    }
}
