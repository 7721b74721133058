//! `croupier verify --games`: verifies every finished game of the database, on all cores.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write},
    process::ExitCode,
};

use domain::Event;
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::{ProgressBar, ProgressStyle};
use store::{Envelope, Positions, Settings, Store, StoreError, bundle::Bundle};
use uuid::Uuid;

use crate::{
    terminal::{BAD, BROKEN, GOOD, block_on},
    verify_log::Options,
};

/// A game that ended or was voided must have revealed the secret of its dice.
const OVER: [&str; 2] = ["Ended", "Voided"];
/// How many finished games of each shard are found per query.
const PAGE: u32 = 50;
/// How many games are read per query.
const BATCH: usize = 50;
/// How many invalid games are listed.
const MAX_LISTED: usize = 20;

/// The totals of a verification.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) games: u64,
    pub(crate) rolls: u64,
    pub(crate) events: u64,
    /// Invalid games, each with its first problem.
    pub(crate) invalid: Vec<(Uuid, String)>,
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let url = match options.url() {
        Ok(url) => url,
        Err(problem) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    let bar = ProgressBar::new(0).with_style(style());
    let began = std::time::Instant::now();
    let checked = block_on(async {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let connections = u32::try_from(cores).unwrap_or(64).saturating_add(2);
        let store = Store::open(&url, &Settings { connections, lanes: 1, ..Settings::default() })?;
        let checked = check(&store, cores, &bar).await;
        store.close().await;
        checked
    })?;
    bar.finish_and_clear();
    match checked {
        Ok(Tally { games, rolls, events, invalid }) => {
            for (game, problem) in invalid.iter().take(MAX_LISTED) {
                writeln!(out, "{BAD}✗{BAD:#} game {game}: {problem}")?;
            }
            let (valid, seconds) = (games - invalid.len() as u64, began.elapsed().as_secs_f64());
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {valid} games: {rolls} rolls drawn again, {events} events chained and decided again, in {seconds:.1} s"
            )?;
            if invalid.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            writeln!(out, "{BAD}✗{BAD:#} {} games are invalid", invalid.len())?;
            Ok(ExitCode::from(1))
        }
        Err(error) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}

fn style() -> ProgressStyle {
    let line =
        "{bar:40} {human_pos} of {human_len} events of the log, {per_sec}, {eta} left, {msg}";
    ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_bar())
}

async fn check(store: &Store, cores: usize, bar: &ProgressBar) -> Result<Tally, StoreError> {
    let mut tally = Tally::default();
    let mut at = Positions::default();
    // A game that was voided after its end is found twice.
    let mut visited: HashSet<Uuid> = HashSet::new();
    bar.set_length(u64::try_from(store.heads().await?.total()).unwrap_or(0));
    loop {
        let found = store.of_types(&OVER, &at, PAGE).await?;
        let games = found.events.iter().map(|event| event.stream);
        let games: Vec<Uuid> = games.filter(|game| visited.insert(*game)).collect();
        let batches: Vec<Vec<Uuid>> = games.chunks(BATCH).map(<[Uuid]>::to_vec).collect();
        let mut verified = stream::iter(batches)
            .map(|games| verify_batch(store.clone(), games))
            .buffer_unordered(2 * cores);
        while let Some(part) = verified.try_next().await? {
            tally.games += part.games;
            tally.rolls += part.rolls;
            tally.events += part.events;
            tally.invalid.extend(part.invalid);
        }
        at = found.looked_at;
        bar.set_position(u64::try_from(at.total()).unwrap_or(0));
        bar.set_message(format!("{} games", tally.games));
        if found.unfinished.is_empty() {
            return Ok(tally);
        }
    }
}

/// Reads some games and verifies them on a blocking thread.
async fn verify_batch(store: Store, games: Vec<Uuid>) -> Result<Tally, StoreError> {
    let mut logs: HashMap<Uuid, Vec<Envelope>> = HashMap::with_capacity(games.len());
    for envelope in store.envelopes(&games).await? {
        logs.entry(envelope.stream).or_default().push(envelope);
    }
    let verified = tokio::task::spawn_blocking(move || {
        let mut tally = Tally::default();
        for (game, events) in logs {
            tally.games += 1;
            let bundle = Bundle { game, events, sealed: None };
            let log = bundle.check().map_err(|bad| bad.to_string());
            let proven = log.and_then(|log| {
                let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
                domain::verify(&events).map_err(|unproven| unproven.to_string())
            });
            match proven {
                Ok(proven) => {
                    tally.rolls += proven.rolls;
                    tally.events += proven.events as u64;
                }
                Err(problem) => tally.invalid.push((game, problem)),
            }
        }
        tally
    });
    verified.await.map_err(|error| StoreError::Fault(error.to_string()))
}
