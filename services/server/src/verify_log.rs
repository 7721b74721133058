//! `croupier verify --all`: verifies every chain, position, command and seal of the log.

use std::{
    collections::btree_map::Entry,
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
    prove::{ExternalEvidence, Proof, VerificationError, prove},
    seal::{Seal, hex32},
};

use crate::terminal::{BAD, BROKEN, GOOD, block_on, database_url};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Verify the whole log of the database.
    #[arg(long, conflicts_with = "what")]
    pub(crate) all: bool,
    /// Verify every finished game of the database.
    #[arg(long, conflicts_with_all = ["what", "all"])]
    pub(crate) games: bool,
    /// Verify all wallets of the database.
    #[arg(long, conflicts_with_all = ["what", "all", "games"])]
    pub(crate) wallets: bool,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    pub(crate) database_url: Option<String>,
    /// Data folder of a node with a private PostgreSQL.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    /// File of seals outside the database, to compare with those in it.
    #[arg(long, env = "CROUPIER_SEALS", value_name = "FILE", requires = "all")]
    seals: Option<PathBuf>,
    /// Public key that must have signed every seal, as printed by `croupier seal`.
    #[arg(long, alias = "key", env = "CROUPIER_SEAL_PUBLIC_KEY", value_name = "HEX")]
    seal_key: Option<String>,
}

impl Options {
    /// The trusted public key, if given.
    pub(crate) fn trusted_key(&self) -> Result<Option<[u8; 32]>, String> {
        self.seal_key.as_deref().map(public_key).transpose()
    }

    /// The URL of the database: the given one, or that of a running node.
    pub(crate) fn url(&self) -> Result<String, String> {
        database_url(self.database_url.as_deref(), &self.data)
    }
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let (outside, url) = match outside(options).and_then(|found| Ok((found, options.url()?))) {
        Ok(found) => found,
        Err(problem) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    match block_on(check(&url, &outside))? {
        Ok(Proof { events, streams, commands, seals }) => {
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {events} events of {streams} streams, {commands} commands, {seals} seals"
            )?;
            match (outside.seals.len(), outside.key) {
                (0, None) => writeln!(
                    out,
                    "{BROKEN}!{BROKEN:#} the seals were only compared with the database itself; \
                     give --seals or --seal-key to be sure"
                )?,
                (0, Some(_)) => {
                    writeln!(out, "{GOOD}✓{GOOD:#} all seals are signed by the trusted key")?;
                }
                (count, _) => {
                    writeln!(out, "{GOOD}✓{GOOD:#} {count} seals kept outside the database")?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(VerificationError::Broken(broken)) => {
            writeln!(out, "{BAD}✗{BAD:#} {broken}")?;
            Ok(ExitCode::from(1))
        }
        Err(VerificationError::Store(error)) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn outside(options: &Options) -> Result<ExternalEvidence, String> {
    let mut outside =
        ExternalEvidence { key: options.trusted_key()?, ..ExternalEvidence::default() };
    let Some(path) = &options.seals else { return Ok(outside) };
    let at = |problem: String| format!("{}: {problem}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    for (number, line) in (1..).zip(text.lines()) {
        let problem = |problem: &str| at(format!("line {number}: {problem}"));
        let seal: Seal = serde_json::from_str(line).map_err(|error| problem(&error.to_string()))?;
        if !seal.is_signed() {
            return Err(problem("this seal is not signed by its key"));
        }
        match outside.seals.entry((seal.shard, seal.number)) {
            Entry::Vacant(free) => {
                free.insert(seal);
            }
            Entry::Occupied(known) if *known.get() == seal => {}
            Entry::Occupied(_) => {
                return Err(problem("an earlier line has a different seal with this number"));
            }
        }
    }
    Ok(outside)
}

fn public_key(text: &str) -> Result<[u8; 32], String> {
    let wrong = || {
        format!(
            "'{text}' is not a public key: expected 64 hexadecimal digits, as printed by croupier seal"
        )
    };
    hex32(text).ok_or_else(wrong)
}

async fn check(url: &str, outside: &ExternalEvidence) -> Result<Proof, VerificationError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let connections = u32::try_from(cores).unwrap_or(64).saturating_add(2);
    let store = Store::open(url, &Settings { connections, ..Settings::default() })?;
    let total = store.heads().await?.total();
    let bar = ProgressBar::new(u64::try_from(total).unwrap_or(0)).with_style(style());
    let counted = Arc::new(AtomicU64::new(0));
    let progress = {
        let (bar, counted) = (bar.clone(), Arc::clone(&counted));
        tokio::spawn(async move {
            loop {
                bar.set_position(counted.load(Ordering::Relaxed));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
    };
    let proof = prove(&store, outside, cores, &counted).await;
    progress.abort();
    bar.finish_and_clear();
    store.close().await;
    proof
}

fn style() -> ProgressStyle {
    let line = "{bar:40} {human_pos} of {human_len} events, {per_sec}, {eta} left";
    ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_bar())
}
