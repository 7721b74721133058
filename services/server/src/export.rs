//! `croupier export`: writes the log of a game as it is stored, so that its chain can be checked
//! without the database; or a table of a read model.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::ValueEnum;
use futures_util::TryStreamExt;
use store::{
    Settings, Store,
    bundle::{Bundle, Line},
};
use uuid::Uuid;

use crate::{
    export_table::{self, Format, Table, day},
    terminal::{BROKEN, block_on, database_url},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Id of a game, with or without `game:`, or a table: games, seats, balance, statistics,
    /// leaderboards, ratings.
    #[arg(value_name = "GAME|TABLE")]
    what: String,
    /// Write a proof bundle of the game: its log with the seal, for `croupier verify` and others.
    #[arg(long)]
    proof: bool,
    /// Write a compact record of the game, one line per round.
    #[arg(long, conflicts_with = "proof")]
    record: bool,
    /// Format of a table.
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// First day of a table, in UTC: 2026-11-16.
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<i32>,
    /// Last day of a table, in UTC.
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<i32>,
    /// File to write. Defaults to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Data folder of a node with a private PostgreSQL.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    data: PathBuf,
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let done = match &options.output {
        None => block_on(work(options, out))?,
        Some(path) => match File::create(path) {
            Ok(file) => block_on(work(options, &mut BufWriter::new(file)))?,
            Err(error) => Err(format!("cannot write {}: {error}", path.display())),
        },
    };
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            Ok(ExitCode::from(2))
        }
    }
}

async fn work(options: &Options, out: &mut impl Write) -> Result<(), String> {
    if let Ok(table) = Table::from_str(&options.what, false) {
        let url = database_url(options.database_url.as_deref(), &options.data)?;
        let days = (options.from, options.to);
        return export_table::write(&url, table, options.format, days, out).await;
    }
    let id = options.what.strip_prefix("game:").unwrap_or(&options.what);
    let games = Table::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let game = Uuid::try_parse(id).map_err(|_| {
        let known: Vec<String> = games.map(|table| table.get_name().to_owned()).collect();
        format!(
            "'{id}' is neither the id of a game nor a table; the tables are: {}",
            known.join(", ")
        )
    })?;
    let url = database_url(options.database_url.as_deref(), &options.data)?;
    let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
    let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
    if options.proof || options.record {
        let bundle = Bundle::load(&store, game).await.map_err(|error| error.to_string())?;
        store.close().await;
        let bundle = bundle.ok_or_else(|| format!("there is no game {game}"))?;
        let written = if options.record {
            let log = bundle.check().map_err(|bad| bad.to_string())?;
            let events: Vec<_> = log.into_iter().map(|recorded| recorded.event).collect();
            domain::write_record(&events).map_err(|unproven| unproven.to_string())?
        } else {
            bundle.write().map_err(|error| error.to_string())?
        };
        return out.write_all(written.as_bytes()).map_err(|error| error.to_string());
    }
    let mut events = store.stream_envelopes(game, 0);
    let mut count = 0;
    while let Some(envelope) = events.try_next().await.map_err(|error| error.to_string())? {
        let line =
            serde_json::to_string(&Line::from(envelope)).map_err(|error| error.to_string())?;
        writeln!(out, "{line}").map_err(|error| error.to_string())?;
        count += 1;
    }
    store.close().await;
    out.flush().map_err(|error| error.to_string())?;
    if count == 0 { Err(format!("there is no game {game}")) } else { Ok(()) }
}
