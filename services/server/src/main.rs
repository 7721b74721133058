//! `croupier`: one binary for the games, their scenarios and their proofs.

mod scenario;
mod terminal;
mod verify;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Dice games that are event-sourced, provably fair and replayable.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Croupier {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Plays scenario files against the rules and compares what they expect.
    ///
    /// Exits with 0 if all pass, 1 if one fails, 2 if a file is broken.
    Scenario {
        /// Scenario files (YAML), or folders of them.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Tell every step: what was rolled, saved and banked, and why it scored.
        #[arg(short, long)]
        steps: bool,
    },
    /// Proves finished games from their events alone.
    ///
    /// Every roll is drawn again from the revealed secret and the players' seeds, and every event is
    /// decided again under the game's own rules. A file has one event a line, as JSON. Exits with 0 if
    /// every game is proven, 1 if one is not, 2 if a file cannot be read.
    Verify {
        /// Event files (NDJSON).
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    let mut out = anstream::AutoStream::auto(std::io::stdout()).lock();
    let done = match Croupier::parse().task {
        Task::Scenario { files, steps } => scenario::run(&files, steps, &mut out),
        Task::Verify { files } => verify::run(&files, &mut out),
    };
    // The reader of our output may have gone (`croupier … | head`): nobody is left to be told.
    done.unwrap_or(ExitCode::FAILURE)
}
