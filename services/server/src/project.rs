//! `croupier project`: how far the read models are, and folding them anew.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use projections::{
    MODELS, Outcome, Parked, Progress, ProjectionError, Status, rebuild, rebuild_all, roll_back,
    status, verify, verify_all,
};
use store::{Settings, Store};

use crate::terminal::{BAD, BROKEN, GOOD, block_on, database_url};

/// What to do with read models.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    task: Task,
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Where a node keeps its private PostgreSQL.
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
    /// Shows how far each read model is, who works on it, and what is parked.
    Status,
    /// Folds a read model anew beside the live one, compares both, and lets reads see the new one. Reads never stop.
    Rebuild {
        /// The read model, as `status` names it, or `all`: they are folded together, reading the log once.
        name: String,
    },
    /// Folds a read model anew and compares it with the live one. Exits with 1 if they differ.
    Verify {
        /// The read model, or `all`.
        name: String,
    },
    /// Lets reads see the generation before the last rebuild again.
    Rollback {
        /// The read model.
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
    let done = block_on(async {
        let settings = Settings { connections: 12, ..Settings::default() };
        let store = Store::open(&url, &settings)?;
        let done = carry_out(&store, &options.task).await;
        store.close().await;
        done
    })?;
    match done {
        Ok(Report::Status(all)) => {
            show(&all, out)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Report::RolledBack(generation)) => {
            writeln!(out, "{GOOD}✓{GOOD:#} reads see generation {generation} again")?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Report::Folded { outcomes, flipped, seconds }) => told(&outcomes, flipped, seconds, out),
        Err(error) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}

/// In place of a name: every read model.
const ALL: &str = "all";

/// How many parked games are listed of a read model.
const MOST_PARKED: usize = 20;

enum Report {
    Status(Vec<Status>),
    Folded { outcomes: Vec<Outcome>, flipped: bool, seconds: f64 },
    RolledBack(i32),
}

async fn carry_out(store: &Store, task: &Task) -> Result<Report, ProjectionError> {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template(
        "{bar:40} {human_pos} of {human_len} events, {per_sec}, {eta} left",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let progress = |at: Progress| {
        bar.set_length(u64::try_from(at.of).unwrap_or(0));
        bar.set_position(u64::try_from(at.folded).unwrap_or(0));
    };
    let began = std::time::Instant::now();
    let report = match task {
        Task::Status => Report::Status(status(store.pool(), &store.heads().await?).await?),
        Task::Rollback { name } => Report::RolledBack(roll_back(store, name).await?),
        Task::Rebuild { name } => {
            let outcomes = match name.as_str() {
                ALL => rebuild_all(store, progress).await?,
                name => vec![rebuild(store, name, progress).await?],
            };
            Report::Folded { outcomes, flipped: true, seconds: began.elapsed().as_secs_f64() }
        }
        Task::Verify { name } => {
            let outcomes = match name.as_str() {
                ALL => verify_all(store, progress).await?,
                name => vec![verify(store, name, progress).await?],
            };
            Report::Folded { outcomes, flipped: false, seconds: began.elapsed().as_secs_f64() }
        }
    };
    bar.finish_and_clear();
    Ok(report)
}

fn show(all: &[Status], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<20} {:>10} {:<9} {:>14} {:>10} {:>7} {:>7} {:>10}",
        "read model", "generation", "state", "events", "behind", "ranges", "parked", "heartbeat"
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
        for parked in status.parked.iter().take(MOST_PARKED) {
            let (name, Parked { game, why }) = (&status.name, parked);
            writeln!(out, "{BAD}✗{BAD:#} {name}: game {game} is parked: {why}")?;
        }
        let known = MODELS.iter().find(|model| model.name == status.name);
        if known.is_some_and(|model| model.version != status.version) {
            let name = &status.name;
            writeln!(
                out,
                "{BROKEN}!{BROKEN:#} {name} was folded by another version of this program: croupier project rebuild {name}"
            )?;
        }
    }
    Ok(())
}

fn told(
    outcomes: &[Outcome],
    flipped: bool,
    seconds: f64,
    out: &mut impl Write,
) -> io::Result<ExitCode> {
    let events = outcomes.iter().map(|outcome| outcome.events).max().unwrap_or(0);
    writeln!(out, "{GOOD}✓{GOOD:#} {events} events folded in {seconds:.1} s")?;
    let mut same = true;
    for Outcome { name, live, differing, differences, .. } in outcomes {
        same &= *differing == 0;
        for difference in differences {
            let shown = |row: &Option<String>| row.clone().unwrap_or_else(|| "nothing".to_owned());
            writeln!(out, "{BAD}✗{BAD:#} {}", difference.key)?;
            writeln!(out, "    live    {}", shown(&difference.live))?;
            writeln!(out, "    rebuilt {}", shown(&difference.rebuilt))?;
        }
        if *differing == 0 {
            writeln!(out, "{GOOD}✓{GOOD:#} {name}: the same as the live one, row by row")?;
        } else {
            writeln!(out, "{BAD}✗{BAD:#} {name}: {differing} rows were not the same")?;
        }
        if flipped {
            writeln!(out, "{GOOD}✓{GOOD:#} {name}: reads see generation {live}")?;
        }
    }
    Ok(if flipped || same { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
