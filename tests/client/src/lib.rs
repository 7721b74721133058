//! A client for tests and benchmarks: GraphQL over HTTP and over a WebSocket.
//!
//! Small and fast, so that a benchmark measures the server: one connection, kept open, one request
//! at a time.

mod http;
mod socket;

use std::{error::Error, io, time::Duration};

pub use http::{Answer, Http};
pub use socket::{Heard, Socket};

/// Timeout of a response.
const SILENCE: Duration = Duration::from_mins(1);

/// An error of the client.
pub type ClientError = Box<dyn Error + Send + Sync>;

/// An error with a message.
pub(crate) fn trouble(what: &str) -> ClientError {
    io::Error::other(what.to_owned()).into()
}
