//! `croupier`: one binary for the games, their scenarios and their proofs.

mod accounts;
mod api;
mod app;
mod clock;
mod disputes;
mod documents;
mod export;
mod export_table;
mod http;
mod keys;
mod migrate;
mod observe;
mod play;
mod processors;
mod replay;
mod scenario;
mod schema;
mod seal;
mod serve;
mod terminal;
mod token;
mod verify;
mod verify_games;
mod verify_log;
mod verify_wallets;
mod wallets;
mod what_if;
mod what_if_cli;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// Answering GraphQL allocates a lot of small things: this takes a tenth less time for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Dice games that are event-sourced, provably fair and replayable.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Croupier {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Deals: the GraphQL API, its subscriptions, and the house's own duties.
    ///
    /// Without a database, a private PostgreSQL is started. Ctrl-C finishes what is under way and stops.
    #[command(args_override_self = true)]
    Serve(Box<serve::Settings>),
    /// Writes the log of a game, for `croupier verify`; or a table of figures, for spreadsheets and notebooks.
    Export(export::Options),
    /// Shows a game step by step: the board, what happened, and why.
    ///
    /// In a terminal with the arrow keys; anywhere else as text. Refused commands and who came and went are part of it, where they are
    /// still kept.
    Replay(replay::Options),
    /// Plays a game otherwise, beside the original: other rules, dice, loadouts or moves, from any point on.
    ///
    /// With other rules alone it is scored again: the same dice and choices, and where a choice would no longer be lawful it is
    /// marked. Nothing is stored.
    WhatIf(what_if_cli::Options),
    /// Makes and takes back tokens of staff, and rotates keys.
    Token(token::Options),
    /// Prints the GraphQL schema.
    Schema,
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
    /// Proves games, the whole log, or all wallets.
    ///
    /// With files, far from any database: every roll of a finished game is drawn again from the revealed secret and the players'
    /// seeds, and every event is decided again under the game's own rules. A file is a proof bundle (`croupier export GAME --proof`), whose
    /// chain and seal are checked too, or has one event a line. With the id of a game: the same from the database; with --games: of every finished
    /// game. With --all: every chain, position, command and seal of the log is checked, and the first broken event is named. With --wallets: every balance is the sum of its ledger, and every award of a game reached
    /// its wallet once. Exits with 0 if all is proven, 1 if not, 2 if it could not be checked.
    Verify {
        /// Proof bundles, event files (NDJSON), or ids of games.
        #[arg(required_unless_present_any = ["all", "games", "wallets"], value_name = "FILE|GAME")]
        what: Vec<PathBuf>,
        #[command(flatten)]
        known: verify::Knowledge,
        #[command(flatten)]
        log: verify_log::Options,
    },
    /// Brings the database to the current schema.
    Migrate {
        #[command(flatten)]
        database: Database,
    },
    /// Looks after everything that follows the log: indexes, payouts, remedies, read models.
    Processors(processors::cli::Options),
    /// Signs what is new in the log, in the database and in a file outside it.
    Seal(seal::Options),
}

/// What is said about the address of the database.
const DATABASE_HELP: &str = "The database, as postgres://user@host/name";

/// Where the log is.
#[derive(Clone, Debug, clap::Args)]
struct Database {
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = DATABASE_HELP)]
    database_url: String,
}

fn main() -> ExitCode {
    let task = Croupier::parse().task;
    let mut out = anstream::AutoStream::auto(std::io::stdout()).lock();
    let done = match task {
        Task::Scenario { files, steps } => scenario::run(&files, steps, &mut out),
        Task::Verify { log, .. } if log.wallets => verify_wallets::run(&log, &mut out),
        Task::Verify { log, .. } if log.all => verify_log::run(&log, &mut out),
        Task::Verify { log, .. } if log.games => verify_games::run(&log, &mut out),
        Task::Verify { what, known, log } => verify::run(&what, &known, &log, &mut out),
        Task::Migrate { database } => migrate::run(&database.database_url, &mut out),
        Task::Processors(options) => processors::cli::run(&options, &mut out),
        Task::Seal(options) => seal::run(&options, &mut out),
        Task::Serve(settings) => serve::run(*settings, &mut out),
        Task::Token(options) => token::run(&options, &mut out),
        Task::Export(options) => export::run(&options, &mut out),
        Task::Replay(options) => replay::run(&options, &mut out),
        Task::WhatIf(options) => what_if_cli::run(&options, &mut out),
        Task::Schema => schema::run(&mut out),
    };
    // The reader of our output may have gone (`croupier … | head`): nobody is left to be told.
    done.unwrap_or(ExitCode::FAILURE)
}
