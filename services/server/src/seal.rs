//! `croupier seal`: signs new events and appends the seals to a file outside the database.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use store::{Settings, Store, StoreError, seal};

use crate::{
    Database, clock,
    terminal::{BROKEN, GOOD, block_on},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,
    /// Signing key: a file of 32 bytes, created if it does not exist.
    #[arg(long, env = "CROUPIER_SEAL_KEY", default_value = "seal.key", value_name = "FILE")]
    key: PathBuf,
    /// File to which seals are appended, one JSON object per line; - is standard output.
    #[arg(long, env = "CROUPIER_SEALS", default_value = "seals.ndjson", value_name = "FILE")]
    seals: PathBuf,
    /// Keep running and seal at this interval, in seconds. Without it, seals once.
    #[arg(long, value_name = "SECONDS")]
    every: Option<u64>,
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    match block_on(work(options, out))? {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {problem}")?;
            Ok(ExitCode::from(2))
        }
    }
}

async fn work(options: &Options, out: &mut impl Write) -> Result<(), String> {
    let at = |path: &PathBuf| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let key = seal::signing_key(&options.key, random).map_err(at(&options.key))?;
    let mut seals = SealFile::open(&options.seals).map_err(at(&options.seals))?;
    let url = &options.database.database_url;
    let store = Store::open(url, &Settings::default()).map_err(|error| error.to_string())?;
    loop {
        match (seal_once(&store, &key, &mut seals, out).await, options.every) {
            (Ok(()), _) => {}
            (Err(SealError::File(error)), _) => return Err(at(&options.seals)(error)),
            (Err(SealError::Store(error)), None) => return Err(error.to_string()),
            // The database may be unavailable for a moment; the next round seals the rest.
            (Err(SealError::Store(error)), Some(_)) => {
                writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {error}")
                    .map_err(at(&options.seals))?;
            }
        }
        let Some(seconds) = options.every else { return Ok(()) };
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

enum SealError {
    File(io::Error),
    Store(StoreError),
}

/// Seals new events and appends all seals that are missing in the file: also those of other
/// processes, and those that were not written because of a crash.
async fn seal_once(
    store: &Store,
    key: &seal::SigningKey,
    file: &mut SealFile,
    out: &mut impl Write,
) -> Result<(), SealError> {
    seal::seal(store, key, clock::now()).await.map_err(SealError::Store)?;
    let missing = seal::seals_after(store, &file.last).await.map_err(SealError::Store)?;
    file.add(&missing, out).map_err(SealError::File)?;
    if file.path.is_some() {
        let events: i64 =
            missing.iter().map(|seal| seal.last_position - seal.first_position + 1).sum();
        let (count, key) = (missing.len(), hex(key.verifying_key().as_bytes()));
        writeln!(out, "{GOOD}✓{GOOD:#} {count} seals over {events} new events, signed by {key}")
            .map_err(SealError::File)?;
    }
    Ok(())
}

/// The file of seals; without a path, standard output.
struct SealFile {
    path: Option<PathBuf>,
    /// The last number written, by shard.
    last: BTreeMap<u8, i64>,
}

impl SealFile {
    /// Reads the file. A partial last line after a crash is removed; its seal is written again.
    fn open(path: &Path) -> io::Result<Self> {
        let mut last = BTreeMap::new();
        if path.as_os_str() == "-" {
            return Ok(Self { path: None, last });
        }
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let text = std::fs::read_to_string(path)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        for line in text[..whole].lines() {
            let seal: seal::Seal = serde_json::from_str(line)?;
            last.insert(seal.shard, seal.number);
        }
        Ok(Self { path: Some(path.to_owned()), last })
    }

    fn add(&mut self, seals: &[seal::Seal], out: &mut impl Write) -> io::Result<()> {
        let mut lines = String::new();
        for seal in seals {
            lines += &serde_json::to_string(seal)?;
            lines.push('\n');
        }
        match &self.path {
            None => out.write_all(lines.as_bytes())?,
            Some(path) => {
                let mut file = OpenOptions::new().append(true).open(path)?;
                file.write_all(lines.as_bytes())?;
                file.sync_all()?;
            }
        }
        self.last.extend(seals.iter().map(|seal| (seal.shard, seal.number)));
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|d| char::from_digit(d.into(), 16))
        .collect()
}

fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    // Without randomness the key would be all zeros, so exit instead.
    getrandom::fill(&mut bytes).map_or_else(|_| std::process::exit(2), |()| bytes)
}
