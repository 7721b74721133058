//! An event with everything the log knows about it.

use domain::{Event, Moment};
use uuid::Uuid;

use crate::{Hash, Shard, Undecodable, chain::Link, codec::decode};

/// The id of a stream, which for a game is the game's.
pub type StreamId = Uuid;

/// Where a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The version of the last event; 0 is a stream that does not exist yet.
    pub version: i64,
    /// The hash of the last event.
    pub hash: Hash,
    /// When it was recorded, in microseconds.
    pub recorded_at: i64,
}

impl Head {
    /// A stream that does not exist yet.
    pub const NEW: Self = Self { version: 0, hash: Hash::ZERO, recorded_at: 0 };

    /// When the last event was recorded.
    pub fn at(&self) -> Moment {
        Moment(u64::try_from(self.recorded_at / 1000).unwrap_or(0))
    }
}

/// An event as the log stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The shard of the stream.
    pub shard: Shard,
    /// The place in the log of the shard.
    pub position: i64,
    /// The stream.
    pub stream: StreamId,
    /// The place in the stream.
    pub version: i64,
    /// The event's type.
    pub kind: String,
    /// The version of the type's payload.
    pub schema: i16,
    /// When it was recorded: microseconds since 1970.
    pub recorded_at: i64,
    /// The command it came from.
    pub command: Uuid,
    /// Who gave the command; the nil id is the house.
    pub actor: Uuid,
    /// The payload as stored.
    pub payload: String,
    /// The hash as stored.
    pub hash: Hash,
}

impl Envelope {
    /// The hash that the event must have behind this one.
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

    /// The event itself, brought to the current form.
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

/// An event of the log, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The shard of the stream.
    pub shard: Shard,
    /// The place in the log of the shard.
    pub position: i64,
    /// The stream.
    pub stream: StreamId,
    /// The place in the stream.
    pub version: i64,
    /// When it was recorded.
    pub at: Moment,
    /// The command it came from.
    pub command: Uuid,
    /// Who gave the command; the nil id is the house.
    pub actor: Uuid,
    /// The event's link in the chain.
    pub hash: Hash,
    /// What happened.
    pub event: Event,
}

impl Recorded {
    /// Where the stream ends if this is its last event.
    pub fn head(&self) -> Head {
        let recorded_at = i64::try_from(self.at.0).unwrap_or(i64::MAX).saturating_mul(1000);
        Head { version: self.version, hash: self.hash, recorded_at }
    }
}
