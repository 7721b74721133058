//! End-to-end tests of the real binary with a real PostgreSQL, through GraphQL.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod analysts;
mod authorisation;
mod challenge;
mod clocks;
mod dash;
mod disputes;
mod failures;
mod games;
mod hostile;
mod legal_moves;
mod lobby;
mod operation;
mod pages;
mod presence;
mod read_models;
mod remedies;
mod replay;
mod secrets;
mod shop;
mod subscriptions;
mod support;
mod typed_schema;
