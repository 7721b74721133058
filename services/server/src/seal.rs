//! `croupier seal`: signs what is new, and writes the seals down outside the database too.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::Moment;
use store::{Settings, Store, seal};

use crate::{
    Database,
    terminal::{BROKEN, GOOD, block_on},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,
    /// The signing key: a file of 32 bytes, made if it is not there.
    #[arg(long, env = "CROUPIER_SEAL_KEY", default_value = "seal.key", value_name = "FILE")]
    key: PathBuf,
    /// Where seals are added, one JSON object a line; - is standard output.
    #[arg(long, env = "CROUPIER_SEALS", default_value = "seals.ndjson", value_name = "FILE")]
    seals: PathBuf,
    /// Go on, and seal again after so many seconds.
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
    let url = &options.database.database_url;
    let store = Store::open(url, &Settings::default()).map_err(|error| error.to_string())?;
    loop {
        let sealed = seal::seal(&store, &key, now()).await;
        match (sealed, options.every) {
            (Ok(seals), _) => write_down(&seals, options, out).map_err(at(&options.seals))?,
            (Err(error), None) => return Err(error.to_string()),
            // The database may be away for a moment; what is new then is sealed later.
            (Err(error), Some(_)) => {
                writeln!(out, "{BROKEN}!{BROKEN:#} {error}").map_err(at(&options.seals))?;
            }
        }
        let Some(seconds) = options.every else { return Ok(()) };
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

fn write_down(seals: &[seal::Seal], options: &Options, out: &mut impl Write) -> io::Result<()> {
    let lines: String = seals
        .iter()
        .map(|seal| serde_json::to_string(seal).map(|line| line + "\n"))
        .collect::<Result<_, _>>()?;
    if options.seals.as_os_str() == "-" {
        return out.write_all(lines.as_bytes());
    }
    let mut file: File = OpenOptions::new().create(true).append(true).open(&options.seals)?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()?;
    let events: i64 = seals.iter().map(|seal| seal.last_position - seal.first_position + 1).sum();
    let (count, path) = (seals.len(), options.seals.display());
    writeln!(out, "{GOOD}✓{GOOD:#} {count} seals over {events} new events, also in {path}")
}

fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    // Without randomness there is no key; a key of zeros would be everybody's.
    getrandom::fill(&mut bytes).map_or_else(|_| std::process::exit(2), |()| bytes)
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
