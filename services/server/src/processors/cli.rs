//! `croupier processors`: status, rebuild and retry of processors.

use std::{
    collections::HashMap,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use store::{
    Settings, Store,
    processor::{
        Outcome, Parked, Processor, ProcessorError, Progress, Status, rebuild, retry, roll_back,
        status, verify,
    },
};

use crate::terminal::{BAD, BROKEN, GOOD, block_on, database_url};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    task: Task,
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Data folder of a node with a private PostgreSQL.
    #[arg(
        long,
        global = true,
        env = "CROUPIER_DATA",
        default_value = "croupier-data",
        value_name = "FOLDER"
    )]
    data: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Show the progress of each processor, whether a node runs it, and its parked events.
    Status,
    /// Rebuild a processor from the start of the log.
    ///
    /// Rows are built beside the live ones and compared with them; then reads switch to the new
    /// rows without interruption. A processor that sends commands starts again from the beginning;
    /// its commands are idempotent.
    Rebuild {
        /// Name of the processor as printed by `status`, or `all` for all processors with rows,
        /// which read the log once together.
        name: String,
    },
    /// Build rows again and compare them with the live ones; exits with 1 if they differ.
    Verify {
        /// Name of the processor, or `all` for all processors with rows.
        name: String,
    },
    /// Switch reads back to the rows from before the last rebuild.
    Rollback {
        /// Name of the processor.
        name: String,
    },
    /// Retry parked events now, on the node that runs the processor.
    Retry {
        /// Name of the processor.
        name: String,
    },
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let url = match database_url(options.database_url.as_deref(), &options.data) {
        Ok(url) => url,
        Err(why) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {why}")?;
            return Ok(ExitCode::from(2));
        }
    };
    let result = block_on(async {
        let settings = Settings { connections: 12, ..Settings::default() };
        let store = Store::open(&url, &settings)?;
        let result = run_task(&store, &options.task).await;
        store.close().await;
        result
    })?;
    match result {
        Ok(Report::Status { all, versions }) => {
            show(&all, &versions, out)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Report::Retried(parked)) => {
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {parked} parked events will be retried within two seconds; see: croupier processors status"
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Report::RolledBack(generation)) => {
            writeln!(out, "{GOOD}✓{GOOD:#} reads use generation {generation} again")?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Report::Rebuilt { outcomes, flipped, seconds }) => {
            report(&outcomes, flipped, seconds, out)
        }
        Err(error) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}

/// Instead of a name: all processors with rows.
const ALL: &str = "all";

/// How many parked events are listed per processor.
const MAX_PARKED: usize = 20;

enum Report {
    Status { all: Vec<Status>, versions: HashMap<&'static str, i32> },
    Rebuilt { outcomes: Vec<Outcome>, flipped: bool, seconds: f64 },
    RolledBack(i32),
    Retried(i64),
}

/// The processors with this name.
fn select(all: &[Processor], name: &str) -> Result<Vec<Processor>, ProcessorError> {
    if name == ALL {
        return Ok(all.iter().filter(|one| one.keeps_rows()).cloned().collect());
    }
    Ok(vec![Processor::named(all, name)?.clone()])
}

async fn run_task(store: &Store, task: &Task) -> Result<Report, ProcessorError> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template(
        "{bar:40} {human_pos} of {human_len} events, {per_sec}, {eta} left",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let progress = |at: Progress| {
        bar.set_length(u64::try_from(at.of).unwrap_or(0));
        bar.set_position(u64::try_from(at.folded).unwrap_or(0));
    };
    let all = super::offline(store);
    let began = std::time::Instant::now();
    let report = match task {
        Task::Status => Report::Status {
            versions: all.iter().map(|one| (one.name, one.version)).collect(),
            all: status(store.pool(), &store.heads().await?).await?,
        },
        Task::Rollback { name } => {
            Report::RolledBack(roll_back(store, Processor::named(&all, name)?).await?)
        }
        Task::Retry { name } => Report::Retried(retry(store, &all, name).await?),
        Task::Rebuild { name } => {
            let outcomes = rebuild(store, &select(&all, name)?, progress).await?;
            Report::Rebuilt { outcomes, flipped: true, seconds: began.elapsed().as_secs_f64() }
        }
        Task::Verify { name } => {
            let outcomes = verify(store, &select(&all, name)?, progress).await?;
            Report::Rebuilt { outcomes, flipped: false, seconds: began.elapsed().as_secs_f64() }
        }
    };
    bar.finish_and_clear();
    Ok(report)
}

fn show(
    all: &[Status],
    versions: &HashMap<&'static str, i32>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "{:<20} {:>10} {:<9} {:>14} {:>10} {:>7} {:>7} {:>10}",
        "processor", "generation", "state", "events", "behind", "ranges", "parked", "heartbeat"
    )?;
    for status in all {
        let held = status.ranges.iter().filter(|range| range.held).count();
        let beats = status.ranges.iter().filter_map(|range| range.heartbeat);
        let oldest = beats.fold(None, |oldest: Option<f64>, beat| {
            Some(oldest.map_or(beat, |oldest| oldest.max(beat)))
        });
        writeln!(
            out,
            "{:<20} {:>10} {:<9} {:>14} {:>10} {:>5}/{} {:>7} {:>10}",
            status.name,
            status.generation,
            status.state,
            status.position(),
            status.behind(),
            held,
            status.ranges.len(),
            status.parked.len(),
            oldest.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds:.1} s ago")),
        )?;
    }
    for status in all.iter().filter(|status| status.state == "live") {
        let name = &status.name;
        for Parked { stream, version, reason, tries } in status.parked.iter().take(MAX_PARKED) {
            writeln!(
                out,
                "{BAD}✗{BAD:#} {name}: event {version} of {stream} is parked after {tries} attempts: {reason}"
            )?;
        }
        if status.ahead() > 0 {
            writeln!(
                out,
                "{BAD}✗{BAD:#} the checkpoint of {name} is after the end of the log, which was restored from an older backup; run: croupier processors rebuild {name}"
            )?;
        }
        if versions.get(name.as_str()).is_some_and(|version| *version != status.version) {
            writeln!(
                out,
                "{BROKEN}!{BROKEN:#} {name} was built by another version of this program; run: croupier processors rebuild {name}"
            )?;
        }
    }
    Ok(())
}

fn report(
    outcomes: &[Outcome],
    flipped: bool,
    seconds: f64,
    out: &mut impl Write,
) -> io::Result<ExitCode> {
    let events = outcomes.iter().map(|outcome| outcome.events).max().unwrap_or(0);
    writeln!(out, "{GOOD}✓{GOOD:#} {events} events processed in {seconds:.1} s")?;
    let mut same = true;
    for Outcome { name, live, differing, differences, restarted, .. } in outcomes {
        if *restarted {
            writeln!(out, "{GOOD}✓{GOOD:#} {name}: restarts at the beginning of the log")?;
            continue;
        }
        same &= *differing == 0;
        for difference in differences {
            let shown = |row: &Option<String>| row.clone().unwrap_or_else(|| "nothing".to_owned());
            writeln!(out, "{BAD}✗{BAD:#} {}", difference.key)?;
            writeln!(out, "    live    {}", shown(&difference.live))?;
            writeln!(out, "    rebuilt {}", shown(&difference.rebuilt))?;
        }
        if *differing == 0 {
            writeln!(out, "{GOOD}✓{GOOD:#} {name}: all rows equal the live ones")?;
        } else {
            writeln!(out, "{BAD}✗{BAD:#} {name}: {differing} rows differ")?;
        }
        if flipped {
            writeln!(out, "{GOOD}✓{GOOD:#} {name}: reads use generation {live}")?;
        }
    }
    Ok(if flipped || same { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
