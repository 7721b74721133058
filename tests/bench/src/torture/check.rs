//! The invariants that must hold afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    path::Path,
    sync::atomic::AtomicU64,
};

use domain::Event;
use futures_util::TryStreamExt;
use store::{Recorded, Shard, Store, prove::prove};
use uuid::Uuid;

use super::{
    house::House,
    journal::{Acknowledged, Heard, Journal, Refused, Told, counted, noted},
    remedies,
};

/// The events of each command in each stream.
type Done = BTreeMap<(Uuid, Uuid), Vec<Told>>;

pub(super) async fn check(
    store: &Store,
    journal: &Journal,
    house: &House,
) -> Result<(), Box<dyn Error>> {
    let mut log = Vec::new();
    for shard in Shard::all() {
        log.extend(store.log(shard, 0).try_collect::<Vec<Recorded>>().await?);
    }
    check_commands(&log, journal)?;
    println!("games: {} finished and verified, including their dice", prove_games(&log)?);
    let named = |name: &str| log.iter().filter(|recorded| recorded.event.name() == name).count();
    println!("money: {} awards, {} credited", named("MoneyAwarded"), named("MoneyCredited"));
    let (proposed, applied) = remedies::check(&log)?;
    println!(
        "remedies: {proposed} proposed, {applied} applied, each once; {} disputes",
        named("DisputeOpened")
    );
    let followed = check_follower(&log, &house.notes.join("follower.txt"))?;
    println!("follower: {followed} events, each exactly once, in order");
    let (games, events) = check_listeners(&log, &noted(&journal.heard))?;
    println!(
        "listeners: {events} events of {games} games, each exactly once, in order, after {} losses",
        counted(&journal.resumed)
    );
    let proof = prove(store, &house.outside, 2, &AtomicU64::new(0).into()).await?;
    let compared = house.outside.seals.len();
    println!(
        "log: {} events of {} streams, {} seals, {compared} of them compared with outside: every chain holds",
        proof.events, proof.streams, proof.seals
    );
    for what in ["--all", "--wallets", "--games"] {
        house.place.run(&["verify", what])?;
    }
    house.place.run(&["processors", "verify", "all"])?;
    println!("croupier verify and croupier processors verify find nothing wrong");
    Ok(())
}

fn check_commands(log: &[Recorded], journal: &Journal) -> Result<(), Box<dyn Error>> {
    let done = by_command(log)?;
    let acknowledged = noted(&journal.acknowledged);
    for one in &acknowledged {
        stands(&done, one)?;
    }
    check_matches(log, &acknowledged)?;
    let known: BTreeSet<Uuid> = log.iter().map(|recorded| recorded.command).collect();
    let refused = noted(&journal.refused);
    for one in &refused {
        if known.contains(&one.command) {
            let Refused { mutation, code, command } = one;
            return Err(format!(
                "{mutation} was refused ({code}), but command {command} is in the log"
            )
            .into());
        }
    }
    println!(
        "commands: {} acknowledged, {} asked again, {} refused; {} answers were lost",
        acknowledged.len(),
        counted(&journal.again),
        refused.len(),
        counted(&journal.lost)
    );
    Ok(())
}

/// The events of each command are consecutive in a stream, and each command occurs there once.
fn by_command(log: &[Recorded]) -> Result<Done, Box<dyn Error>> {
    let mut commands = Done::new();
    for recorded in log {
        let events = commands.entry((recorded.stream, recorded.command)).or_default();
        if events.last().is_some_and(|last| last.version + 1 != recorded.version) {
            let (command, stream) = (recorded.command, recorded.stream);
            return Err(format!("command {command} occurs twice in stream {stream}").into());
        }
        let kind = recorded.event.name().to_owned();
        events.push(Told { version: recorded.version, kind, command: recorded.command });
    }
    Ok(commands)
}

/// An acknowledged command is in the log, with exactly the events that its client got.
fn stands(done: &Done, one: &Acknowledged) -> Result<(), Box<dyn Error>> {
    let of = |command: Uuid| done.get(&(one.stream, command)).map_or(&[][..], Vec::as_slice);
    if one.told.is_empty() {
        return if one.commands.iter().any(|command| !of(*command).is_empty()) {
            Ok(())
        } else {
            let Acknowledged { mutation, stream, commands, .. } = one;
            Err(format!("{mutation} was acknowledged, but {stream} has none of {commands:?}")
                .into())
        };
    }
    let commands: BTreeSet<Uuid> = one.told.iter().map(|told| told.command).collect();
    for command in commands {
        let told: Vec<&Told> = one.told.iter().filter(|told| told.command == command).collect();
        if of(command).iter().collect::<Vec<_>>() != told {
            let (mutation, stream, stored) = (one.mutation, one.stream, of(command));
            return Err(format!(
                "{mutation} of {stream} returned {told:?}, but the log has {stored:?}"
            )
            .into());
        }
    }
    Ok(())
}

/// Two players never wait for a match at two tables: at most one table was not started when all had
/// left.
fn check_matches(log: &[Recorded], acknowledged: &[Acknowledged]) -> Result<(), Box<dyn Error>> {
    let begun = log.iter().filter(|recorded| matches!(recorded.event, Event::Started { .. }));
    let begun: BTreeSet<Uuid> = begun.map(|recorded| recorded.stream).collect();
    let matches = acknowledged.iter().filter(|one| one.mutation == "quickMatch");
    let waiting: BTreeSet<Uuid> =
        matches.map(|one| one.stream).filter(|game| !begun.contains(game)).collect();
    if waiting.len() > 1 {
        return Err(format!("players wait for a match at several tables: {waiting:?}").into());
    }
    Ok(())
}

/// Every finished game is decided again and its dice are drawn again.
fn prove_games(log: &[Recorded]) -> Result<usize, Box<dyn Error>> {
    let mut proven = 0;
    for (game, events) in streams(log) {
        let events: Vec<Event> =
            events.into_iter().map(|recorded| recorded.event.clone()).collect();
        if events.iter().any(|event| matches!(event, Event::SeedRevealed { .. })) {
            domain::verify(&events).map_err(|unproven| format!("game {game}: {unproven}"))?;
            proven += 1;
        }
    }
    Ok(proven)
}

/// The events of each stream, in order.
fn streams(log: &[Recorded]) -> BTreeMap<Uuid, Vec<&Recorded>> {
    let mut streams: BTreeMap<Uuid, Vec<&Recorded>> = BTreeMap::new();
    for recorded in log {
        streams.entry(recorded.stream).or_default().push(recorded);
    }
    streams
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
        Err("the follower received other events than the log has".into())
    }
}

/// The events that listeners received equal those in the log, up to the end of the game.
fn check_listeners(log: &[Recorded], heard: &[Heard]) -> Result<(usize, usize), Box<dyn Error>> {
    let streams = streams(log);
    let mut events = 0;
    for one in heard {
        let stored = streams.get(&one.game).into_iter().flatten();
        let stored = stored.map(|recorded| (recorded.version, recorded.event.name().to_owned()));
        if stored.take(one.events.len()).collect::<Vec<_>>() != one.events {
            return Err(format!("a listener received other events of game {}", one.game).into());
        }
        events += one.events.len();
    }
    Ok((heard.len(), events))
}
