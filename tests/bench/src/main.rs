//! Benchmarks and torture tests that print measurements and ratios: `cargo run --release -p bench
//! -- NAME`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what a benchmark is for"
)]

mod append_load;
mod figures;
mod growth;
mod load;
mod pgbench;
mod play;
mod projections;
mod read_load;
mod replay;
mod serve;
mod store_bench;
mod tail_load;
mod torture;

use clap::{Parser, Subcommand};

/// Benchmarks of croupier. Each starts its own PostgreSQL with fsync on.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Appends and reads of the event log, against plain inserts and plain COPY.
    Store(store_bench::Options),
    /// Whole games over GraphQL, against plain inserts; memory of games and listeners.
    Serve(serve::Options),
    /// Rebuilding read models, compared with plain reading; their freshness; leaderboards of a
    /// thousand and a million players.
    Projections(projections::Options),
    /// Replaying a long game with all its states, verifying many games, viewing an old version of a
    /// very long one.
    Replay(replay::Options),
    /// Whether appends and reads cost more in a log ten times larger.
    Growth(growth::Options),
    /// Kills nodes, a follower and PostgreSQL repeatedly while clients play, and checks that
    /// nothing is lost.
    Torture(torture::Options),
    #[command(hide = true)]
    TortureFollower(torture::Part),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match Bench::parse().what {
        What::Store(options) => runtime.block_on(store_bench::run(&options)),
        What::Serve(options) => runtime.block_on(serve::run(&options)),
        What::Projections(options) => runtime.block_on(projections::run(&options)),
        What::Replay(options) => runtime.block_on(replay::run(&options)),
        What::Growth(options) => runtime.block_on(growth::run(&options)),
        What::Torture(options) => runtime.block_on(torture::run(&options)),
        What::TortureFollower(part) => runtime.block_on(torture::follow(&part)),
    }
}
