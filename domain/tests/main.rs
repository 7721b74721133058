//! The tests of the rules, in one program, to share the time of compilation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod catalogue;
mod cheats;
mod dash;
mod dice_games;
mod dice_means;
mod dice_oracle;
mod disputes;
mod every_game;
mod fair_vectors;
mod frozen_events;
mod frozen_games;
mod infer_commands;
mod measures;
mod neon_oracle;
mod oracle;
mod properties;
mod purity;
mod record;
mod rejections;
mod rogue_oracle;
mod statistics;
mod what_if;
