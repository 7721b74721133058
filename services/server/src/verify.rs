//! `croupier verify`: plays finished games again, from files or from the database.

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

/// What whoever checks a game knows themselves, and need not believe.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Knowledge {
    /// A seed that you gave, with your seat: 0=my lucky number. Can be said for several seats.
    #[arg(long, value_name = "SEAT=TEXT", value_parser = seed)]
    seed: Vec<(u8, String)>,
    /// The commitment that you were shown before you gave your seed.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    commitment: Option<String>,
}

fn seed(text: &str) -> Result<(u8, String), String> {
    let parts = text.split_once('=').and_then(|(seat, seed)| Some((seat.parse().ok()?, seed)));
    parts
        .map(|(seat, seed)| (seat, seed.to_owned()))
        .ok_or_else(|| "write it as 0=text: the seat, and what your client gave".to_owned())
}

fn digits(text: &str) -> Result<String, String> {
    hex32(text)
        .map(|_| text.to_ascii_lowercase())
        .ok_or_else(|| "it must be 64 hexadecimal digits".to_owned())
}

/// What was found to be right, or not.
enum Judged {
    /// Lines of the report.
    Proven(Vec<Found>),
    /// The first thing that is not right.
    Wrong(String),
    /// Nothing can be said.
    Unreadable(String),
}

/// A line of the report.
enum Found {
    Right(String),
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
        let judged = match (key.clone(), game_id(path)) {
            (Err(problem), _) => Judged::Unreadable(problem),
            (Ok(key), Some(game)) if !path.exists() => {
                block_on(from_database(game, options, known, key))?
            }
            (Ok(key), _) => from_file(path, known, key),
        };
        let name = path.display();
        code = code.max(match judged {
            Judged::Proven(found) => {
                writeln!(out, "{GOOD}✓{GOOD:#} {name}")?;
                for line in found {
                    match line {
                        Found::Right(line) => writeln!(out, "  {GOOD}✓{GOOD:#} {line}")?,
                        Found::Unsure(line) => writeln!(out, "  {BROKEN}!{BROKEN:#} {line}")?,
                    }
                }
                0
            }
            Judged::Wrong(problem) => {
                writeln!(out, "{BAD}✗{BAD:#} {name}: {problem}")?;
                1
            }
            Judged::Unreadable(problem) => {
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
) -> Judged {
    let load = async {
        let url = options.url()?;
        let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
        let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
        let bundle = Bundle::load(&store, game).await.map_err(|error| error.to_string());
        store.close().await;
        bundle?.ok_or_else(|| format!("there is no game {game}"))
    };
    match load.await {
        Ok(bundle) => judge(&bundle, known, key),
        Err(problem) => Judged::Unreadable(problem),
    }
}

fn from_file(path: &std::path::Path, known: &Knowledge, key: Option<[u8; 32]>) -> Judged {
    let text = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Judged::Unreadable("this is no text".to_owned()),
        Err(error) => return Judged::Unreadable(error.to_string()),
    };
    if !Bundle::looks_like(&text) {
        return match read(&text) {
            Ok(log) => prove(&log.events, known, log.chained.then_some(log.events.len())),
            Err(judged) => judged,
        };
    }
    match Bundle::parse(&text) {
        Ok(bundle) => judge(&bundle, known, key),
        Err(bad) => bad.into(),
    }
}

impl From<BadBundle> for Judged {
    fn from(bad: BadBundle) -> Self {
        match bad {
            BadBundle::Unreadable { .. } => Self::Unreadable(bad.to_string()),
            BadBundle::Broken(what) => Self::Wrong(what),
        }
    }
}

/// Everything about a bundle: chain, seal, dice, decisions.
fn judge(bundle: &Bundle, known: &Knowledge, key: Option<[u8; 32]>) -> Judged {
    let log = match bundle.check() {
        Ok(log) => log,
        Err(bad) => return bad.into(),
    };
    let seal = match (&bundle.sealed, key) {
        (None, Some(_)) => {
            return Judged::Wrong("nothing of this game is sealed by the key you trust".to_owned());
        }
        (None, None) => Found::Unsure("not sealed yet; ask again in a minute".to_owned()),
        (Some(sealed), Some(key)) if sealed.seal.key != key => {
            let found = Hash(sealed.seal.key);
            return Judged::Wrong(format!(
                "the seal is of key {found}, but you trust {}",
                Hash(key)
            ));
        }
        (Some(sealed), _) => {
            let (seal, key) = (&sealed.seal, Hash(sealed.seal.key));
            Found::Right(format!("seal {} of shard {}, key {key}", seal.number, seal.shard))
        }
    };
    let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
    if let Some(Event::Created { game, .. }) = events.first()
        && game.0 != bundle.game
    {
        return Judged::Wrong(format!("these are the events of game {game}"));
    }
    match prove(&events, known, Some(events.len())) {
        Judged::Proven(mut found) => {
            found.push(seal);
            if key.is_none() && bundle.sealed.is_some() {
                let sure = "give --seal-key to be sure whose seal it is";
                found.push(Found::Unsure(sure.to_owned()));
            }
            Judged::Proven(found)
        }
        judged @ (Judged::Wrong(_) | Judged::Unreadable(_)) => judged,
    }
}

/// What is known from elsewhere, the dice, the decisions.
fn prove(events: &[Event], known: &Knowledge, chained: Option<usize>) -> Judged {
    if let Err(problem) = compare(events, known) {
        return Judged::Wrong(problem);
    }
    let (rolls, decided) = match domain::verify(events) {
        Ok(Proven { rolls, events }) => (rolls, events),
        Err(unproven) => return Judged::Wrong(unproven.to_string()),
    };
    let mut found = vec![
        Found::Right("commitment, seeds".to_owned()),
        Found::Right(format!("{rolls} rolls drawn again")),
    ];
    found.extend(chained.map(|events| Found::Right(format!("chain of {events} events"))));
    if let Some(Event::Created { ruleset, .. }) = events.first() {
        let (game, preset, version) = (ruleset.rules.game(), &ruleset.preset, ruleset.version);
        let rules =
            format!("{decided} events decided again under {game} {preset}, version {version}");
        found.push(Found::Right(rules));
    }
    Judged::Proven(found)
}

/// Whether the game is the one that somebody remembers.
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

/// The events of a file, and whether their chain was checked.
struct Log {
    events: Vec<Event>,
    chained: bool,
}

/// The events of a text, of which it was seen that their chain holds if they have one.
pub(crate) fn events(text: &str) -> Result<Vec<Event>, String> {
    match read(text) {
        Ok(log) => Ok(log.events),
        Err(Judged::Wrong(problem) | Judged::Unreadable(problem)) => Err(problem),
        Err(Judged::Proven(_)) => Ok(Vec::new()),
    }
}

/// A file has events alone, or as `croupier export` writes them, with their hashes.
fn read(text: &str) -> Result<Log, Judged> {
    let lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
    let (mut log, mut previous) = (Log { events: Vec::new(), chained: false }, Hash::ZERO);
    for (number, line) in lines {
        let unreadable = |why: String| Judged::Unreadable(format!("line {number}: {why}"));
        let broken = |why: &str| Judged::Wrong(format!("line {number}: {why}"));
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
            exported.envelope().ok_or_else(|| unreadable("this is no hash".to_owned()))?;
        if envelope.version != number || envelope.hash != envelope.expected_hash(&previous) {
            return Err(broken("the chain is broken: this event, or one before it, was changed"));
        }
        previous = envelope.hash;
        let recorded = envelope.decode().map_err(|error| unreadable(error.to_string()))?;
        log.events.push(recorded.event);
    }
    Ok(log)
}
