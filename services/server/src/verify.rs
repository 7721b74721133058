//! `croupier verify`: verifies finished games from files or from the database.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use domain::{Event, Proven};
use store::{
    Hash, Settings, Store,
    bundle::{BadBundle, Bundle, Line},
    seal::hex32,
};
use uuid::Uuid;

use crate::{
    terminal::{BAD, BROKEN, GOOD, block_on},
    verify_log,
};

/// Facts that a player knows from the game and does not have to trust us for.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Knowledge {
    /// Seed that you gave, with your seat: 0=my lucky number. Can be given several times.
    #[arg(long, value_name = "SEAT=TEXT", value_parser = seed)]
    seed: Vec<(u8, String)>,
    /// Commitment that you were shown before you gave your seed.
    #[arg(long, value_name = "HEX", value_parser = hex_digits)]
    commitment: Option<String>,
}

fn seed(text: &str) -> Result<(u8, String), String> {
    let parts = text.split_once('=').and_then(|(seat, seed)| Some((seat.parse().ok()?, seed)));
    parts
        .map(|(seat, seed)| (seat, seed.to_owned()))
        .ok_or_else(|| "expected SEAT=TEXT, such as 0=my lucky number".to_owned())
}

fn hex_digits(text: &str) -> Result<String, String> {
    hex32(text)
        .map(|_| text.to_ascii_lowercase())
        .ok_or_else(|| "it must be 64 hexadecimal digits".to_owned())
}

/// The result of a verification.
enum Verdict {
    Proven(Vec<Found>),
    /// The first problem found.
    Invalid(String),
    /// The input could not be checked.
    Unreadable(String),
}

/// A line of the report.
enum Found {
    Valid(String),
    Unsure(String),
}

pub(crate) fn run(
    what: &[PathBuf],
    known: &Knowledge,
    options: &verify_log::Options,
    out: &mut impl Write,
) -> io::Result<ExitCode> {
    let mut code = 0;
    let key = options.trusted_key();
    for path in what {
        let verdict = match (key.clone(), game_id(path)) {
            (Err(problem), _) => Verdict::Unreadable(problem),
            (Ok(key), Some(game)) if !path.exists() => {
                block_on(from_database(game, options, known, key))?
            }
            (Ok(key), _) => from_file(path, known, key),
        };
        let name = path.display();
        code = code.max(match verdict {
            Verdict::Proven(found) => {
                writeln!(out, "{GOOD}✓{GOOD:#} {name}")?;
                for line in found {
                    match line {
                        Found::Valid(line) => writeln!(out, "  {GOOD}✓{GOOD:#} {line}")?,
                        Found::Unsure(line) => writeln!(out, "  {BROKEN}!{BROKEN:#} {line}")?,
                    }
                }
                0
            }
            Verdict::Invalid(problem) => {
                writeln!(out, "{BAD}✗{BAD:#} {name}: {problem}")?;
                1
            }
            Verdict::Unreadable(problem) => {
                writeln!(out, "{BROKEN}!{BROKEN:#} {name}: {problem}")?;
                2
            }
        });
    }
    Ok(code.into())
}

/// A game's id, with or without `game:`.
fn game_id(path: &std::path::Path) -> Option<Uuid> {
    let text = path.to_str()?;
    Uuid::try_parse(text.strip_prefix("game:").unwrap_or(text)).ok()
}

async fn from_database(
    game: Uuid,
    options: &verify_log::Options,
    known: &Knowledge,
    key: Option<[u8; 32]>,
) -> Verdict {
    let load = async {
        let url = options.url()?;
        let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
        let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
        let bundle = Bundle::load(&store, game).await.map_err(|error| error.to_string());
        store.close().await;
        bundle?.ok_or_else(|| format!("there is no game {game}"))
    };
    match load.await {
        Ok(bundle) => check_bundle(&bundle, known, key),
        Err(problem) => Verdict::Unreadable(problem),
    }
}

fn from_file(path: &std::path::Path, known: &Knowledge, key: Option<[u8; 32]>) -> Verdict {
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Verdict::Unreadable("this file is not UTF-8 text".to_owned()),
        Err(error) => return Verdict::Unreadable(error.to_string()),
    };
    if !Bundle::looks_like(&text) {
        return match read(&text) {
            Ok(log) => prove(&log.events, known, log.chained.then_some(log.events.len())),
            Err(verdict) => verdict,
        };
    }
    match Bundle::parse(&text) {
        Ok(bundle) => check_bundle(&bundle, known, key),
        Err(bad) => bad.into(),
    }
}

impl From<BadBundle> for Verdict {
    fn from(bad: BadBundle) -> Self {
        match bad {
            BadBundle::Unreadable { .. } => Self::Unreadable(bad.to_string()),
            BadBundle::Broken(what) => Self::Invalid(what),
        }
    }
}

/// Checks chain, seal, dice and decisions of a bundle.
fn check_bundle(bundle: &Bundle, known: &Knowledge, key: Option<[u8; 32]>) -> Verdict {
    let log = match bundle.check() {
        Ok(log) => log,
        Err(bad) => return bad.into(),
    };
    let seal = match (&bundle.sealed, key) {
        (None, Some(_)) => {
            return Verdict::Invalid("this game is not sealed by the key you trust".to_owned());
        }
        (None, None) => Found::Unsure("not sealed yet; try again in a minute".to_owned()),
        (Some(sealed), Some(key)) if sealed.seal.key != key => {
            let found = Hash(sealed.seal.key);
            return Verdict::Invalid(format!(
                "the seal is signed by key {found}, but you trust {}",
                Hash(key)
            ));
        }
        (Some(sealed), _) => {
            let (seal, key) = (&sealed.seal, Hash(sealed.seal.key));
            Found::Valid(format!("seal {} of shard {}, key {key}", seal.number, seal.shard))
        }
    };
    let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
    if let Some(Event::Created { game, .. }) = events.first()
        && game.0 != bundle.game
    {
        return Verdict::Invalid(format!("these are the events of game {game}"));
    }
    match prove(&events, known, Some(events.len())) {
        Verdict::Proven(mut found) => {
            found.push(seal);
            if key.is_none() && bundle.sealed.is_some() {
                let sure = "give --seal-key to be sure whose seal it is";
                found.push(Found::Unsure(sure.to_owned()));
            }
            Verdict::Proven(found)
        }
        verdict @ (Verdict::Invalid(_) | Verdict::Unreadable(_)) => verdict,
    }
}

/// Checks known facts, dice and decisions.
fn prove(events: &[Event], known: &Knowledge, chained: Option<usize>) -> Verdict {
    if let Err(problem) = compare(events, known) {
        return Verdict::Invalid(problem);
    }
    let (rolls, decided) = match domain::verify(events) {
        Ok(Proven { rolls, events }) => (rolls, events),
        Err(unproven) => return Verdict::Invalid(unproven.to_string()),
    };
    let mut found = vec![
        Found::Valid("commitment, seeds".to_owned()),
        Found::Valid(format!("{rolls} rolls drawn again")),
    ];
    found.extend(chained.map(|events| Found::Valid(format!("chain of {events} events"))));
    if let Some(Event::Created { ruleset, .. }) = events.first() {
        let (game, preset, version) = (ruleset.rules.game(), &ruleset.preset, ruleset.version);
        let rules =
            format!("{decided} events decided again under {game} {preset}, version {version}");
        found.push(Found::Valid(rules));
    }
    Verdict::Proven(found)
}

/// Compares the events with the facts that the player knows.
fn compare(events: &[Event], known: &Knowledge) -> Result<(), String> {
    let mut seeds: Vec<(u8, &str)> = Vec::new();
    for event in events {
        if let (Event::Created { commitment, .. }, Some(shown)) = (event, &known.commitment) {
            let found = serde_json::to_value(commitment).unwrap_or_default();
            if found != shown.as_str() {
                return Err(format!("the commitment is {found}, but you were shown \"{shown}\""));
            }
        }
        if let Event::SeedChosen { seat, seed } = event {
            seeds.push((*seat, seed.as_str()));
        }
    }
    for (seat, given) in &known.seed {
        let found = seeds.iter().rev().find(|(of, _)| of == seat).map(|(_, seed)| *seed);
        if found != Some(given.as_str()) {
            let found = found.map_or_else(|| "none".to_owned(), |seed| format!("{seed:?}"));
            return Err(format!("the seed of seat {seat} is {found}, but you gave {given:?}"));
        }
    }
    Ok(())
}

/// The events of a file, and whether they have a valid chain.
struct Log {
    events: Vec<Event>,
    chained: bool,
}

/// Parses events; checks their chain if they have one.
pub(crate) fn events(text: &str) -> Result<Vec<Event>, String> {
    match read(text) {
        Ok(log) => Ok(log.events),
        Err(Verdict::Invalid(problem) | Verdict::Unreadable(problem)) => Err(problem),
        Err(Verdict::Proven(_)) => Ok(Vec::new()),
    }
}

/// A file has plain events, or events with hashes as written by `croupier export`.
fn read(text: &str) -> Result<Log, Verdict> {
    let lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
    let (mut log, mut previous) = (Log { events: Vec::new(), chained: false }, Hash::ZERO);
    for (number, line) in lines {
        let unreadable = |why: String| Verdict::Unreadable(format!("line {number}: {why}"));
        let broken = |why: &str| Verdict::Invalid(format!("line {number}: {why}"));
        let Ok(exported) = serde_json::from_str::<Line>(line) else {
            let event =
                serde_json::from_str(line).map_err(|error| unreadable(error.to_string()))?;
            if log.chained {
                return Err(broken("this event has no hash"));
            }
            log.events.push(event);
            continue;
        };
        if !log.chained && !log.events.is_empty() {
            return Err(broken("the events before have no hashes"));
        }
        log.chained = true;
        let envelope =
            exported.envelope().ok_or_else(|| unreadable("this is not a hash".to_owned()))?;
        if envelope.version != number || envelope.hash != envelope.expected_hash(&previous) {
            return Err(broken("the chain is broken: this event, or one before it, was changed"));
        }
        previous = envelope.hash;
        let recorded = envelope.decode().map_err(|error| unreadable(error.to_string()))?;
        log.events.push(recorded.event);
    }
    Ok(log)
}
