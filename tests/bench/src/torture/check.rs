//! What must be true afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    path::Path,
};

use domain::Event;
use futures_util::TryStreamExt;
use store::{Recorded, Shard, Store};
use uuid::Uuid;

use super::journal::{self, Journal, Note, digest};

/// What the log says about a command.
struct Done {
    first_version: i64,
    events: Vec<Event>,
}

pub(super) async fn check(
    store: &Store,
    folder: &Path,
    workers: u32,
) -> Result<(), Box<dyn Error>> {
    let mut log = Vec::new();
    for shard in Shard::all() {
        log.extend(store.log(shard, 0).try_collect::<Vec<Recorded>>().await?);
    }
    let commands = by_command(&log)?;
    let mut asked = BTreeSet::new();
    let (mut answered, mut refused, mut repeated) = (0, 0, 0);
    for number in 0..workers {
        for note in journal::read(&Journal::path(folder, number))? {
            match note {
                Note::Asked { id, .. } => {
                    asked.insert(id);
                }
                Note::Refused { id } => {
                    refused += 1;
                    must(!commands.contains_key(&id), "a refused command changed something", id)?;
                }
                Note::Answered { id, first_version, digest: said, .. } => {
                    answered += 1;
                    must(
                        agrees(&commands, id, first_version, &said)?,
                        "an acknowledged command is lost",
                        id,
                    )?;
                }
                Note::Repeated { id, first_version, digest: said } => {
                    repeated += 1;
                    must(
                        agrees(&commands, id, first_version, &said)?,
                        "a repeated answer differs",
                        id,
                    )?;
                }
            }
        }
    }
    for id in commands.keys() {
        must(asked.contains(id), "nobody asked for this command", *id)?;
    }
    println!("commands: {answered} acknowledged, {repeated} asked again, {refused} refused");
    println!("games: {} finished and proven, dice and all", prove_games(&log)?);
    let followed = check_follower(&log, &folder.join("follower.txt"))?;
    println!("follower: {followed} events, each exactly once, in order");
    Ok(())
}

fn must(holds: bool, otherwise: &str, id: Uuid) -> Result<(), Box<dyn Error>> {
    if holds { Ok(()) } else { Err(format!("{otherwise}: command {id}").into()) }
}

/// The events of each command stand together, and each command stands once.
fn by_command(log: &[Recorded]) -> Result<BTreeMap<Uuid, Done>, Box<dyn Error>> {
    let mut commands: BTreeMap<Uuid, Done> = BTreeMap::new();
    for recorded in log {
        let done = commands
            .entry(recorded.command)
            .or_insert(Done { first_version: recorded.version, events: Vec::new() });
        let due = done.first_version + i64::try_from(done.events.len())?;
        must(recorded.version == due, "a command happened twice", recorded.command)?;
        done.events.push(recorded.event.clone());
    }
    Ok(commands)
}

fn agrees(
    commands: &BTreeMap<Uuid, Done>,
    id: Uuid,
    first_version: i64,
    said: &str,
) -> Result<bool, Box<dyn Error>> {
    let Some(done) = commands.get(&id) else { return Ok(false) };
    Ok(done.first_version == first_version && digest(&done.events)? == said)
}

/// Every finished game is decided again, its dice drawn again.
fn prove_games(log: &[Recorded]) -> Result<usize, Box<dyn Error>> {
    let mut games: BTreeMap<Uuid, Vec<Event>> = BTreeMap::new();
    for recorded in log {
        games.entry(recorded.stream).or_default().push(recorded.event.clone());
    }
    let finished = |events: &&Vec<Event>| matches!(events.last(), Some(Event::SeedRevealed { .. }));
    let mut proven = 0;
    for events in games.values().filter(finished) {
        domain::verify(events)?;
        proven += 1;
    }
    Ok(proven)
}

fn check_follower(log: &[Recorded], path: &Path) -> Result<usize, Box<dyn Error>> {
    let mut followed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let shard = line.split(' ').next().unwrap_or_default().to_owned();
        followed.entry(shard).or_default().push(line.to_owned());
    }
    let mut stored: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for e in log {
        let line = format!("{} {} {} {}", e.shard, e.position, e.stream, e.version);
        stored.entry(e.shard.to_string()).or_default().push(line);
    }
    if followed == stored {
        Ok(log.len())
    } else {
        Err("the follower saw something else than the log".into())
    }
}
