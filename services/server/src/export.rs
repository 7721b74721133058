//! `croupier export`: the log of a game in a file, as it is stored, so that its chain can be checked without the database; or a
//! table of what the read models know.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::ValueEnum;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use store::{Envelope, Hash, Settings, Shard, Store};
use uuid::Uuid;

use crate::{
    export_table::{self, Format, Table, day},
    terminal::{BROKEN, block_on, database_url},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The id of a game, with or without `game:`; or a table: games, seats, balance, statistics, leaderboards, ratings.
    #[arg(value_name = "GAME|TABLE")]
    what: String,
    /// How a table is written.
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// Only days from this one on, in UTC: 2026-11-16.
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<i32>,
    /// Only days up to this one.
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<i32>,
    /// Where to; the standard output if you do not say.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Where a node keeps its private PostgreSQL.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    data: PathBuf,
}

/// An event as a line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    stream: Uuid,
    version: i64,
    #[serde(rename = "type")]
    kind: String,
    schema: i16,
    /// Microseconds since 1970.
    recorded_at: i64,
    command: Uuid,
    actor: Uuid,
    /// Byte for byte as it was hashed.
    payload: String,
    hash: String,
}

impl From<Envelope> for Line {
    fn from(envelope: Envelope) -> Self {
        let Envelope {
            stream, version, kind, schema, recorded_at, command, actor, payload, ..
        } = envelope;
        let hash = envelope.hash.to_string();
        Self { stream, version, kind, schema, recorded_at, command, actor, payload, hash }
    }
}

impl Line {
    /// The event as the log has it.
    pub(crate) fn envelope(self) -> Option<Envelope> {
        Some(Envelope {
            shard: Shard::of(self.stream),
            position: 0,
            stream: self.stream,
            version: self.version,
            kind: self.kind,
            schema: self.schema,
            recorded_at: self.recorded_at,
            command: self.command,
            actor: self.actor,
            payload: self.payload,
            hash: Hash(hex32(&self.hash)?),
        })
    }
}

/// 32 bytes out of 64 hexadecimal digits.
pub(crate) fn hex32(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let done = match &options.output {
        None => block_on(work(options, out))?,
        Some(path) => match File::create(path) {
            Ok(file) => block_on(work(options, &mut BufWriter::new(file)))?,
            Err(error) => Err(format!("{} cannot be written: {error}", path.display())),
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
    let tables = Table::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let game = Uuid::try_parse(id).map_err(|_| {
        let known: Vec<String> = tables.map(|table| table.get_name().to_owned()).collect();
        format!("'{id}' is neither the id of a game nor a table; there are: {}", known.join(", "))
    })?;
    let url = database_url(options.database_url.as_deref(), &options.data)?;
    let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
    let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
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
