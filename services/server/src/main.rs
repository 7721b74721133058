//! The `croupier` binary: the server and its command line tools.

mod accounts;
mod api;
mod app;
mod buckets;
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

/// GraphQL responses need many small allocations; mimalloc makes requests about 10 % faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A backend for dice games: event-sourced, provably fair, replayable.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Croupier {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run a node: the GraphQL API, subscriptions and background processors.
    ///
    /// Without a database, a private PostgreSQL is started. Ctrl-C finishes open requests and
    /// stops.
    #[command(args_override_self = true)]
    Serve(Box<serve::Settings>),
    /// Export the log of a game, or a table of statistics.
    Export(export::Options),
    /// Show a game step by step: the board, what happened, and why.
    ///
    /// In a terminal, use the arrow keys; otherwise prints text. Includes refused commands and
    /// connections of players, as long as they are kept.
    Replay(replay::Options),
    /// Replay a game with other rules, dice, loadouts or moves, and compare it with the original.
    ///
    /// With only other rules, the same dice and choices are scored again, and choices that are no
    /// longer legal are marked. Nothing is stored.
    WhatIf(what_if_cli::Options),
    /// Issue and revoke staff tokens, and rotate keys.
    Token(token::Options),
    /// Print the GraphQL schema.
    Schema,
    /// Run scenario files against the rules.
    ///
    /// Exits with 0 if all pass, 1 if one fails, 2 if a file is invalid.
    Scenario {
        /// Scenario files (YAML), or folders of them.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print every step: what was rolled, saved and banked, and why it scored.
        #[arg(short, long)]
        steps: bool,
    },
    /// Verify games, the whole log, or all wallets.
    ///
    /// Files are verified without a database: every roll of a finished game is drawn again from the
    /// revealed secret and the players' seeds, and every event is decided again under the game's
    /// own rules. A file is a proof bundle (`croupier export GAME --proof`), whose chain and seal
    /// are checked too, or has one event per line. The id of a game verifies it in the database,
    /// --games every finished game.
    ///
    /// With --all, every chain, position, command and seal of the log is checked, and the first
    /// broken event is reported. With --wallets, every balance must be the sum of its ledger, and
    /// every award of a game must be credited once.
    ///
    /// Exits with 0 if everything is valid, 1 if not, 2 if it could not be checked.
    Verify {
        /// Proof bundles, event files (NDJSON), or ids of games.
        #[arg(required_unless_present_any = ["all", "games", "wallets"], value_name = "FILE|GAME")]
        what: Vec<PathBuf>,
        #[command(flatten)]
        known: verify::Knowledge,
        #[command(flatten)]
        log: verify_log::Options,
    },
    /// Migrate the database to the current schema.
    Migrate {
        #[command(flatten)]
        database: Database,
    },
    /// Inspect and rebuild what follows the log: indexes, payouts, remedies, read models.
    Processors(processors::cli::Options),
    /// Sign the new events of the log; seals are stored in the database and in a file.
    Seal(seal::Options),
}

/// The help text of all options for the database.
const DATABASE_HELP: &str = "Database to use: postgres://user@host/name";

/// The option for the database.
#[derive(Clone, Debug, clap::Args)]
struct Database {
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = DATABASE_HELP)]
    database_url: String,
}

fn main() -> ExitCode {
    let task = Croupier::parse().task;
    let mut out = anstream::AutoStream::auto(std::io::stdout()).lock();
    let result = match task {
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
    // Output may fail because its reader is gone (`croupier … | head`): there is nothing to report.
    result.unwrap_or(ExitCode::FAILURE)
}
