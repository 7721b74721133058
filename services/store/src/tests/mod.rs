//! Tests on a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod appending;
mod bundles;
mod following;
mod games_opened;
mod migrating;
mod plans;
mod playing;
mod pressure;
mod processing;
mod sealing;
mod support;
mod tampering;
