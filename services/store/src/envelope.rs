//! Events with their metadata.

use domain::{Event, Moment};
use uuid::Uuid;

use crate::{Hash, Shard, Undecodable, chain::Link, codec::decode};

/// The id of a stream; for a game, the id of the game.
pub type StreamId = Uuid;

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The version of the last event; 0 if the stream is empty.
    pub version: i64,
    /// The hash of the last event.
    pub hash: Hash,
    /// When the last event was recorded, in microseconds.
    pub recorded_at: i64,
}

impl Head {
    /// The head of an empty stream.
    pub const NEW: Self = Self { version: 0, hash: Hash::ZERO, recorded_at: 0 };

    /// When the last event was recorded.
    pub fn at(&self) -> Moment {
        Moment(u64::try_from(self.recorded_at / 1000).unwrap_or(0))
    }
}

/// An event as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The shard of the stream.
    pub shard: Shard,
    /// Position in the shard's log.
    pub position: i64,
    /// The stream.
    pub stream: StreamId,
    /// Version in the stream.
    pub version: i64,
    /// The event's type.
    pub kind: String,
    /// The schema number of the payload.
    pub schema: i16,
    /// When it was recorded, in microseconds since the Unix epoch.
    pub recorded_at: i64,
    /// The command that produced it.
    pub command: Uuid,
    /// Who issued the command; the nil id is the house.
    pub actor: Uuid,
    /// The stored payload.
    pub payload: String,
    /// The stored hash.
    pub hash: Hash,
}

impl Envelope {
    /// The hash this event must have, given the hash of the previous one.
    pub fn expected_hash(&self, previous: &Hash) -> Hash {
        Link {
            stream: self.stream,
            version: self.version,
            kind: &self.kind,
            schema: self.schema,
            recorded_at: self.recorded_at,
            command: self.command,
            actor: self.actor,
            payload: &self.payload,
        }
        .hash(previous)
    }

    /// Decodes the event, upcast to its current schema.
    pub fn decode(&self) -> Result<Recorded, Undecodable> {
        let event = decode(&self.kind, self.schema, &self.payload)?;
        Ok(Recorded {
            shard: self.shard,
            position: self.position,
            stream: self.stream,
            version: self.version,
            at: Moment(u64::try_from(self.recorded_at / 1000).unwrap_or(0)),
            command: self.command,
            actor: self.actor,
            hash: self.hash,
            event,
        })
    }
}

/// A decoded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The shard of the stream.
    pub shard: Shard,
    /// Position in the shard's log.
    pub position: i64,
    /// The stream.
    pub stream: StreamId,
    /// Version in the stream.
    pub version: i64,
    /// When it was recorded.
    pub at: Moment,
    /// The command that produced it.
    pub command: Uuid,
    /// Who issued the command; the nil id is the house.
    pub actor: Uuid,
    /// The event's hash in the chain.
    pub hash: Hash,
    /// The event itself.
    pub event: Event,
}

impl Recorded {
    /// The head of the stream if this is its last event.
    pub fn head(&self) -> Head {
        let recorded_at = i64::try_from(self.at.0).unwrap_or(i64::MAX).saturating_mul(1000);
        Head { version: self.version, hash: self.hash, recorded_at }
    }
}
