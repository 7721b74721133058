//! The event log on PostgreSQL: append, read, tail, prove.
//!
//! A stream holds the events of one aggregate, such as a game or an account. Its events are
//! numbered 1, 2, 3 … without gaps and chained by hashes. Streams are spread over 64 shards; within
//! a shard, events have positions 1, 2, 3 … in commit order, so a reader that keeps 64 positions
//! never misses an event. [`Store::append`] adds events if the stream still ends where the caller
//! expects, [`Store::stream`] and [`Store::log`] read, [`Store::tail`] follows, [`seal`] and
//! [`prove`] detect tampering.

mod aggregate;
mod append;
mod chain;
mod codec;
mod commands;
mod committer;
mod envelope;
mod error;
mod execute;
mod merkle;
mod read;
mod shard;
mod states;
mod store;
mod tail;
mod timestamp;
mod watch;

#[cfg(test)]
mod tests;

pub mod bundle;
pub mod processor;
pub mod prove;
pub mod seal;

pub use aggregate::{Aggregate, Audit};
pub use append::{Append, Appended};
pub use chain::Hash;
pub use codec::{Undecodable, decode, encode, schema_of};
pub use envelope::{Envelope, Head, Recorded, StreamId};
pub use error::{AppendError, ReadError, StoreError};
pub use execute::{ExecuteError, Executed, Request};
pub use read::{Loaded, Receipt};
pub use shard::{Positions, SHARDS, Shard};
pub use states::States;
pub use store::{Settings, Store, migrate};
pub use tail::Tail;
pub use watch::Found;
