//! The real binary with a real PostgreSQL: GraphQL in, facts out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod analysts;
mod authorisation;
mod challenge;
mod clocks;
mod dash;
mod disputes;
mod failures;
mod figures;
mod games;
mod hostile;
mod house;
mod listed;
mod lobby;
mod operation;
mod remedies;
mod replay;
mod shop;
mod subscriptions;
mod support;
