//! The log on a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod appending;
mod bundles;
mod following;
mod plans;
mod playing;
mod pressure;
mod sealing;
mod support;
mod tampering;
