//! `croupier verify --all`: every chain, position, receipt and seal of the log.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use store::{
    Settings, Store,
    prove::{KnownSeals, Proof, Unproven, prove},
    seal::Seal,
};

use crate::terminal::{BAD, BROKEN, GOOD, block_on};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Check the whole log of the database.
    #[arg(long, conflicts_with = "files", requires = "database_url")]
    pub(crate) all: bool,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Seals kept outside the database, to compare with those in it.
    #[arg(long, env = "CROUPIER_SEALS", value_name = "FILE", requires = "all")]
    seals: Option<PathBuf>,
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let known = match known_seals(options) {
        Ok(known) => known,
        Err(problem) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    match block_on(check(options.database_url.as_deref().unwrap_or_default(), &known))? {
        Ok(Proof { events, streams, receipts, seals }) => {
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {events} events of {streams} streams, {receipts} receipts, {seals} seals"
            )?;
            if !known.is_empty() {
                writeln!(out, "{GOOD}✓{GOOD:#} {} seals kept outside the database", known.len())?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Unproven::Broken(broken)) => {
            writeln!(out, "{BAD}✗{BAD:#} {broken}")?;
            Ok(ExitCode::from(1))
        }
        Err(Unproven::Store(error)) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn known_seals(options: &Options) -> Result<KnownSeals, String> {
    let Some(path) = &options.seals else { return Ok(KnownSeals::new()) };
    let at = |error: String| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let seals = (1..).zip(text.lines()).map(|(number, line)| {
        let seal: Seal =
            serde_json::from_str(line).map_err(|error| at(format!("line {number}: {error}")))?;
        Ok(((seal.shard, seal.number), seal))
    });
    seals.collect()
}

async fn check(url: &str, known: &KnownSeals) -> Result<Proof, Unproven> {
    let store = Store::open(url, &Settings::default())?;
    let total = store.heads().await?.total();
    let bar = ProgressBar::new(u64::try_from(total).unwrap_or(0)).with_style(style());
    let counted = Arc::new(AtomicU64::new(0));
    let shown = {
        let (bar, counted) = (bar.clone(), Arc::clone(&counted));
        tokio::spawn(async move {
            loop {
                bar.set_position(counted.load(Ordering::Relaxed));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let proof = prove(&store, known, cores, &counted).await;
    shown.abort();
    bar.finish_and_clear();
    store.close().await;
    proof
}

fn style() -> ProgressStyle {
    let line = "{bar:40} {human_pos} of {human_len} events, {per_sec}, {eta} left";
    ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_bar())
}
