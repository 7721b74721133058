//! Whole games through the log.

use std::sync::Arc;

use domain::{
    Command, GameId, Moment, Play, PlayerId, Rejection, Ruleset, Stage,
    fair::{Secret, commitment, ruleset_hash},
};
use futures_util::TryStreamExt;
use uuid::Uuid;

use super::support::{database, read, store};
use crate::{AppendError, ExecuteError, Executed, Request, Settings, Store, StreamId};

const SECRET: Secret = Secret([3; 32]);

async fn execute(
    store: &Store,
    stream: StreamId,
    id: Uuid,
    command: &Command,
) -> Result<Executed, ExecuteError> {
    let (actor, now, secret) = (Uuid::nil(), Moment(1_800_000_000_000), SECRET);
    store
        .execute(&Request { stream, command, id, actor, now, context: secret, expected: None })
        .await
}

fn create(stream: StreamId) -> Command {
    let ruleset = Arc::new(Ruleset::preset("farkle", None).unwrap());
    let commitment = commitment(&SECRET, GameId(stream), ruleset_hash(&ruleset));
    Command::Create { game: GameId(stream), ruleset, commitment }
}

fn join(number: u128) -> Command {
    let player = PlayerId(Uuid::from_u128(number));
    Command::Join { player, name: format!("player {number}"), seed: None }
}

pub(super) async fn running(store: &Store) -> StreamId {
    let stream = Uuid::now_v7();
    for command in [create(stream), join(1), join(2), Command::Start] {
        execute(store, stream, Uuid::new_v4(), &command).await.unwrap();
    }
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_played_through_the_log_and_proven_from_it() {
    let store = store().await;
    let stream = running(&store).await;
    let mut rolls = 0;
    while let Some(seat) =
        store.games.latest(stream).await.unwrap().aggregate.as_ref().and_then(domain::Game::to_move)
    {
        let plays = [Play::Bank { slots: None }, Play::Roll, Play::Forfeit];
        for play in plays {
            rolls += u32::from(play == Play::Roll);
            match execute(&store, stream, Uuid::new_v4(), &Command::Play { seat, play }).await {
                Ok(_) => break,
                Err(ExecuteError::Rejected(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        if rolls > 30 {
            execute(&store, stream, Uuid::new_v4(), &Command::Leave { seat }).await.unwrap();
        }
    }
    let events: Vec<_> = read(&store, stream).await.into_iter().map(|r| r.event).collect();
    assert_eq!(domain::verify(&events).unwrap().events, events.len());
    let game = store.games.latest(stream).await.unwrap().aggregate.clone().unwrap();
    assert!(matches!(game.table.stage, Stage::Ended(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retried_roll_is_rolled_once() {
    let store = store().await;
    let stream = running(&store).await;
    let (id, roll) = (Uuid::new_v4(), Command::Play { seat: 0, play: Play::Roll });
    let first = execute(&store, stream, id, &roll).await.unwrap();
    let version = store.games.latest(stream).await.unwrap().head.version;
    for _ in 0..3 {
        let again = execute(&store, stream, id, &roll).await.unwrap();
        assert!(again.repeated && !first.repeated);
        assert_eq!(
            (again.events, again.first_version),
            (first.events.clone(), first.first_version)
        );
        assert_eq!(again.at, first.at);
    }
    assert_eq!(store.games.latest(stream).await.unwrap().head.version, version);
    let other = Command::Play { seat: 0, play: Play::Forfeit };
    let misused = execute(&store, stream, id, &other).await;
    assert!(
        matches!(misused, Err(ExecuteError::Append(AppendError::CommandReused))),
        "{misused:?}"
    );
    let refused = execute(&store, stream, Uuid::new_v4(), &roll).await;
    if first.events.len() == 1 {
        assert!(
            matches!(refused, Err(ExecuteError::Rejected(Rejection::SaveFirst))),
            "{refused:?}"
        );
    }
    let nowhere = execute(&store, Uuid::now_v7(), Uuid::new_v4(), &roll).await;
    assert!(matches!(nowhere, Err(ExecuteError::Rejected(Rejection::NoSuchGame))), "{nowhere:?}");
}

/// Two nodes, thirty-two clients, one table: every client gets a seat or a rejection.
#[tokio::test(flavor = "multi_thread")]
async fn conflicting_commands_are_decided_again() {
    let url = database().await;
    let nodes = [0, 1].map(|_| Store::open(&url, &Settings::default()).unwrap());
    let stream = Uuid::now_v7();
    execute(&nodes[0], stream, Uuid::new_v4(), &create(stream)).await.unwrap();
    let clients: Vec<_> = (0..32usize)
        .map(|number| {
            let node = nodes[number % 2].clone();
            tokio::spawn(async move {
                loop {
                    let id = Uuid::from_u128(number as u128);
                    match execute(&node, stream, id, &join(number as u128)).await {
                        Ok(_) => return true,
                        Err(ExecuteError::Rejected(Rejection::TableFull { .. })) => return false,
                        Err(ExecuteError::Append(AppendError::Conflict)) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            })
        })
        .collect();
    let mut seated = 0;
    for client in clients {
        seated += u32::from(client.await.unwrap());
    }
    assert_eq!(seated, 8);
    let game = nodes[0].games.latest(stream).await.unwrap().aggregate.clone().unwrap();
    assert_eq!(game.table.seats.len(), 8);
    let events: Vec<_> = nodes[1].stream(stream, 0).try_collect().await.unwrap();
    assert_eq!(events.len(), 9);
}

/// A node with a stale state decides on the current one, and reports its version when it refuses.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_cache_is_never_trusted() {
    let url = database().await;
    let nodes = [0, 1].map(|_| Store::open(&url, &Settings::default()).unwrap());
    let stream = running(&nodes[0]).await;
    assert_eq!(nodes[1].games.latest(stream).await.unwrap().head.version, 5);
    let leave = |seat| Command::Leave { seat };
    execute(&nodes[0], stream, Uuid::new_v4(), &leave(0)).await.unwrap();
    assert_eq!(nodes[1].games.cached(stream).unwrap().head.version, 5);
    let late = execute(&nodes[1], stream, Uuid::new_v4(), &leave(0)).await;
    assert!(matches!(late, Err(ExecuteError::Rejected(Rejection::GameOver))), "{late:?}");
    let known = |node: &Store| node.games.cached(stream).map(|s| (s.aggregate.clone(), s.head));
    assert_eq!(known(&nodes[1]), known(&nodes[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expected_version_is_checked_except_for_retries() {
    let store = store().await;
    let stream = running(&store).await;
    let leave = Command::Leave { seat: 1 };
    let ask = async |id, expected| {
        let (actor, now, secret) = (Uuid::nil(), Moment(1_800_000_000_000), SECRET);
        let command = &leave;
        store
            .execute::<domain::Game>(&Request {
                stream,
                command,
                id,
                actor,
                now,
                context: secret,
                expected,
            })
            .await
    };
    let stale = ask(Uuid::new_v4(), Some(4)).await;
    assert!(matches!(stale, Err(ExecuteError::Stale { expected: 4, version: 5 })), "{stale:?}");
    let id = Uuid::new_v4();
    assert!(!ask(id, Some(5)).await.unwrap().repeated);
    assert!(ask(id, Some(5)).await.unwrap().repeated);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_is_bounded_and_evicted_games_are_folded_again() {
    let url = database().await;
    let small = Store::open(&url, &Settings { games: 4, ..Settings::default() }).unwrap();
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(running(&small).await);
    }
    assert!(small.games.in_memory() <= 4, "{}", small.games.in_memory());
    let nowhere = Uuid::now_v7();
    streams.push(nowhere);
    let states = small.games.fresh_all(&streams).await.unwrap();
    assert_eq!(states.len(), 21);
    assert!(states.iter().all(|(id, state)| state.aggregate.is_some() == (*id != nowhere)));
}
