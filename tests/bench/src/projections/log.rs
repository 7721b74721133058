//! A log of many games.

use std::{error::Error, sync::Arc};

use domain::{
    Command, Event, Game, GameId, Legal, Moment, Play, PlayerId, Ruleset, decide, evolve,
    fair::{FairDice, commitment, ruleset_hash},
    legal_commands,
};
use serde_json::json;
use store::{Append, Hash, Head, Store};
use uuid::Uuid;

use crate::play::secret;

/// How many players there are.
const PLAYERS: u64 = 20_000;

/// Adds copies of games, by players drawn anew, until there are so many events.
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

/// Appends a copy of a game under an id of its own.
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
    let mut numbers = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |limit: usize| {
        numbers ^= numbers << 13;
        numbers ^= numbers >> 7;
        numbers ^= numbers << 17;
        usize::try_from(numbers >> 33).unwrap_or(0) % limit
    };
    let (kind, preset) = KINDS[below(KINDS.len())];
    let mut ruleset = Ruleset::preset(kind, Some(preset)).unwrap_or_else(|error| panic!("{error}"));
    if let Some(short) = json!({ "target": 1000 }).as_object().filter(|_| kind == "farkle") {
        let short = ruleset.with(short).unwrap_or_else(|error| panic!("{error}"));
        // It counts as what it is short for.
        ruleset = Ruleset { preset: ruleset.preset, ..short };
    }
    let stream = Uuid::from_u128(number.into());
    let (game, secret) = (GameId(stream), secret(stream));
    let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
    let mut commands = vec![Command::Create { game, ruleset: Arc::new(ruleset), commitment }];
    for seat in 0..2u128 {
        let player = PlayerId(Uuid::from_u128(seat + 1));
        commands.push(Command::Join { player, name: format!("player {seat}"), seed: None });
    }
    if preset.starts_with("challenge") {
        let codes = ["MIDAS", "HOT", "HOT", "TRIPLE", "HEAVY", "LUCKY", "PHOENIX"];
        let dice = (0..3).map(|_| codes[below(codes.len())].to_owned()).collect();
        commands.push(Command::ChooseLoadout { seat: 0, dice });
    }
    commands.push(Command::Start);
    let mut commands = commands.into_iter();
    let (mut log, mut state): (Vec<Event>, Option<Game>) = (Vec::new(), None);
    loop {
        let next = commands.next().or_else(|| {
            let seat = state.as_ref()?.to_move()?;
            let plays: Vec<Play> = legal_commands(state.as_ref())
                .into_iter()
                .filter_map(
                    |legal| if let Legal::Play(_, play) = legal { Some(play) } else { None },
                )
                .collect();
            Some(Command::Play { seat, play: plays[below(plays.len())].clone() })
        });
        let Some(command) = next else { return log };
        let decided = match &state {
            Some(game) => decide(Some(game), &command, Moment(0), &mut FairDice::new(secret, game)),
            None => decide(None, &command, Moment(0), &mut domain::NoDice),
        };
        for event in decided.unwrap_or_else(|error| panic!("{error}")) {
            state = evolve(state, &event);
            log.push(event);
        }
    }
}
