//! `croupier export`: the log of a game in a file, as it is stored, so that its chain can be checked without the database.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use store::{Envelope, Hash, Settings, Shard, Store};
use uuid::Uuid;

use crate::terminal::{BROKEN, block_on, database_url};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The game: its id, with or without `game:`.
    #[arg(value_name = "GAME")]
    game: String,
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
    match block_on(work(options, out))? {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            Ok(ExitCode::from(2))
        }
    }
}

async fn work(options: &Options, out: &mut impl Write) -> Result<(), String> {
    let id = options.game.strip_prefix("game:").unwrap_or(&options.game);
    let game = Uuid::try_parse(id).map_err(|_| format!("'{id}' is no id of a game"))?;
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
    if count == 0 { Err(format!("there is no game {game}")) } else { Ok(()) }
}
