//! A log of many games.

use std::{error::Error, sync::Arc};

use domain::{Event, GameId, Moment, PlayerId, Ruleset};
use serde_json::json;
use store::{Append, Hash, Head, Store};
use test_games::{Numbers, Whole};
use uuid::Uuid;

use crate::play::secret;

/// Number of players.
const PLAYERS: u64 = 20_000;

/// Appends copies of games, with random players, until there are this many events.
pub(super) async fn fill(
    store: &Store,
    games: &Arc<Vec<Vec<Event>>>,
    wanted: usize,
) -> Result<(), Box<dyn Error>> {
    const WRITERS: usize = 64;
    let tasks: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, games) = (store.clone(), Arc::clone(games));
            tokio::spawn(async move {
                let (mut written, mut number) = (0, writer);
                while written < wanted / WRITERS {
                    let log = &games[number % games.len()];
                    deal(&store, log, u64::try_from(number).unwrap_or(0)).await?;
                    written += log.len();
                    number += WRITERS;
                }
                Ok::<(), store::AppendError>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// Appends a copy of a game under a new id.
async fn deal(store: &Store, log: &[Event], number: u64) -> Result<(), store::AppendError> {
    let (stream, mut head) = (Uuid::now_v7(), Head::NEW);
    let log: Vec<Event> = log.iter().map(|event| by_others(event, number)).collect();
    // A game ends every forty seconds: five million events are a month.
    let began = 1_700_000_000_000 + number * 40_000;
    for (n, events) in (0..).zip(log.chunks(200)) {
        let at = Moment(began + n * 1000);
        let (command, request) = (Uuid::new_v4(), Hash::ZERO);
        let append = Append { stream, head, command, request, actor: stream, at, events };
        head = store.append(append).await?.head;
    }
    Ok(())
}

/// The same event, with another player on each seat.
fn by_others(event: &Event, number: u64) -> Event {
    let mut event = event.clone();
    if let Event::SeatTaken { seat, player, .. } = &mut event {
        let player_number =
            number.wrapping_mul(0x9E37_79B9).wrapping_add(u64::from(*seat) * 7) % PLAYERS;
        *player = PlayerId(Uuid::from_u128(u128::from(player_number) + 1));
    }
    event
}

/// A game of some kind by random moves, from the first event to the last.
pub(super) fn random_game(number: u64) -> Vec<Event> {
    const KINDS: [(&str, &str); 4] = [
        ("farkle", "classic"),
        ("farkle", "challenge-standard"),
        ("last_line", "standard"),
        ("neonpolis", "standard"),
    ];
    const DICE: [&str; 6] = ["MIDAS", "HOT", "TRIPLE", "HEAVY", "LUCKY", "PHOENIX"];
    let mut numbers = Numbers::of(number);
    let (kind, preset) = numbers.one_of(&KINDS);
    let mut ruleset = Ruleset::preset(kind, Some(preset)).unwrap_or_else(|error| panic!("{error}"));
    if let Some(short) = json!({ "target": 1000 }).as_object().filter(|_| kind == "farkle") {
        let short = ruleset.with(short).unwrap_or_else(|error| panic!("{error}"));
        // It counts as the preset that it shortens.
        ruleset = Ruleset { preset: ruleset.preset, ..short };
    }
    let id = Uuid::from_u128(number.into());
    let mut whole = Whole::new(GameId(id), secret(id), ruleset);
    if preset.starts_with("challenge") {
        whole.dice = (0..3).map(|_| numbers.one_of(&DICE).to_owned()).collect();
    }
    whole.play(&mut numbers)
}
