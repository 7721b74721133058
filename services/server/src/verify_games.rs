//! `croupier verify --games`: every finished game of the database is played again, with all cores.

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

/// A game that is over, or void, must have revealed what its dice were made from.
const OVER: [&str; 2] = ["Ended", "Voided"];
/// How many finished games of each shard are looked for at once.
const PAGE: u32 = 50;
/// How many games are read in one round trip.
const AT_ONCE: usize = 50;
/// How many games that are not right are listed.
const SHOWN: usize = 20;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) games: u64,
    pub(crate) rolls: u64,
    pub(crate) events: u64,
    /// Games that are not right, each with the first thing that is wrong.
    pub(crate) wrong: Vec<(Uuid, String)>,
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
        Ok(Tally { games, rolls, events, wrong }) => {
            for (game, problem) in wrong.iter().take(SHOWN) {
                writeln!(out, "{BAD}✗{BAD:#} game {game}: {problem}")?;
            }
            let (right, seconds) = (games - wrong.len() as u64, began.elapsed().as_secs_f64());
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {right} games: {rolls} rolls drawn again, {events} events chained and decided again, in {seconds:.1} s"
            )?;
            if wrong.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
            writeln!(out, "{BAD}✗{BAD:#} {} games are not right", wrong.len())?;
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
    // One that was made void behind its end is checked once.
    let mut seen: HashSet<Uuid> = HashSet::new();
    bar.set_length(u64::try_from(store.heads().await?.total()).unwrap_or(0));
    loop {
        let found = store.of_types(&OVER, &at, PAGE).await?;
        let games = found.events.iter().map(|event| event.stream);
        let games: Vec<Uuid> = games.filter(|game| seen.insert(*game)).collect();
        let batches: Vec<Vec<Uuid>> = games.chunks(AT_ONCE).map(<[Uuid]>::to_vec).collect();
        let mut judged = stream::iter(batches)
            .map(|games| judge(store.clone(), games))
            .buffer_unordered(2 * cores);
        while let Some(part) = judged.try_next().await? {
            tally.games += part.games;
            tally.rolls += part.rolls;
            tally.events += part.events;
            tally.wrong.extend(part.wrong);
        }
        at = found.looked_at;
        bar.set_position(u64::try_from(at.total()).unwrap_or(0));
        bar.set_message(format!("{} games", tally.games));
        if found.unfinished.is_empty() {
            return Ok(tally);
        }
    }
}

/// Reads some games, and plays them again on a thread of its own.
async fn judge(store: Store, games: Vec<Uuid>) -> Result<Tally, StoreError> {
    let mut logs: HashMap<Uuid, Vec<Envelope>> = HashMap::with_capacity(games.len());
    for envelope in store.envelopes(&games).await? {
        logs.entry(envelope.stream).or_default().push(envelope);
    }
    let judged = tokio::task::spawn_blocking(move || {
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
                Err(problem) => tally.wrong.push((game, problem)),
            }
        }
        tally
    });
    judged.await.map_err(|error| StoreError::Fault(error.to_string()))
}
