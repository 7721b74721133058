//! A player's client, for tests and benchmarks: GraphQL over HTTP and over a WebSocket.
//!
//! As small and fast as can be, so that a benchmark measures the server: one connection, kept open, one request at a time.

mod http;
mod socket;

use std::{error::Error, io, time::Duration};

pub use http::{Answer, Http};
pub use socket::{Heard, Socket};

/// How long an answer may take: whoever waits longer waits for ever.
const SILENCE: Duration = Duration::from_mins(1);

/// Why there is no answer.
pub type Trouble = Box<dyn Error + Send + Sync>;

/// Trouble in words.
pub(crate) fn trouble(what: &str) -> Trouble {
    io::Error::other(what.to_owned()).into()
}
