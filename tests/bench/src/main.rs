//! Load, torture and growth runs that print figures and ratios: `cargo run --release -p bench -- NAME`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what a benchmark is for"
)]

mod append_load;
mod figures;
mod pgbench;
mod play;
mod store_bench;

use clap::{Parser, Subcommand};

/// Benchmarks of croupier. Each starts a PostgreSQL of its own with fsync on.
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
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match Bench::parse().what {
        What::Store(options) => runtime.block_on(store_bench::run(&options)),
    }
}
