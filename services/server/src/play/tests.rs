//! Cases that are hard to reach from outside: games idle for days, nodes killed between two steps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, time::Duration};

use cluster::Cluster;
use domain::{
    AccountCommand, Command, DecidedBy, GameId, Moment, PlayerId, Ruleset, Stage,
    fair::{commitment, ruleset_hash},
};
use store::{Request, Store, processor::Consumer};
use tempfile::TempDir;
use uuid::Uuid;

use super::{GameService, Idempotency, MatchRequest, NewGame, index, scheduler::Scheduler};
use crate::{
    accounts::{Role, Viewer},
    clock,
    keys::{KeyRing, Purpose},
};

/// A game that was started this many hours ago, with no command since.
async fn started(games: &GameService, hours: u64) -> Uuid {
    let (game, secret) =
        games.secrets.prepare(Uuid::now_v7(), Uuid::now_v7(), false).await.unwrap();
    let ruleset = Arc::new(Ruleset::preset("farkle", None).unwrap());
    let commitment = commitment(&secret, GameId(game), ruleset_hash(&ruleset));
    let player = PlayerId(Uuid::now_v7());
    let commands = [
        Command::Create { game: GameId(game), ruleset, commitment },
        Command::Join { player, name: "player".to_owned(), seed: None },
        Command::Start,
    ];
    for command in &commands {
        let now = Moment(clock::now().0 - hours * 3_600_000);
        let (id, actor, expected) = (Uuid::now_v7(), player.0, None);
        let request: Request<'_> =
            Request { stream: game, command, id, actor, now, context: secret, expected };
        games.store.execute(&request).await.unwrap();
    }
    game
}

/// A game service with a database of its own.
async fn service() -> (Arc<GameService>, Cluster, TempDir) {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let throwaway = cluster::Settings::Throwaway;
    let cluster = Cluster::start(&folder.path().join("cluster"), throwaway).unwrap();
    let url = cluster.url("postgres");
    store::migrate(&url).await.unwrap();
    let store = Store::open(&url, &store::Settings::default()).unwrap();
    let keys = KeyRing::open(&folder.path().join("keys"), Purpose::Dice).unwrap();
    let games = Arc::new(GameService::new(store, keys, 10));
    (games, cluster, folder)
}

fn player() -> Viewer {
    let (account, session) = (Uuid::now_v7(), Uuid::now_v7());
    Viewer { account, role: Role::Player, session, until: Moment(u64::MAX) }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_game_is_closed_without_a_winner() {
    let (games, _cluster, _folder) = service().await;
    let (idle, recent) = (started(&games, 73).await, started(&games, 71).await);
    let index = index::processor(games.store.clone(), Some(Scheduler::new(Arc::clone(&games))));
    let consumer = Consumer::new(games.store.clone(), vec![index], Uuid::now_v7());
    let task = tokio::spawn(consumer.run_until(std::future::pending()));
    let stage = async |game| {
        games.store.games.latest(game).await.unwrap().aggregate.clone().unwrap().table.stage
    };
    for _ in 0..200 {
        if stage(idle).await != Stage::Playing {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let Stage::Ended(outcome) = stage(idle).await else { panic!("the game has not ended") };
    assert_eq!(outcome.by, DecidedBy::Abandoned);
    assert!(outcome.winners.is_empty());
    assert_eq!(stage(recent).await, Stage::Playing);
    task.abort();
    games.store.close().await;
}

/// A node is killed after it has opened a table for a quick match, before or after the player
/// joined. A retry with the same id gives that table and one seat, and the next player finds it.
#[tokio::test(flavor = "multi_thread")]
async fn a_quick_match_resumes_after_a_crash() {
    let (games, _cluster, _folder) = service().await;
    let ruleset = Arc::new(Ruleset::preset("farkle", None).unwrap());
    let request = MatchRequest {
        ruleset: Arc::clone(&ruleset),
        seats: 2,
        seed: None,
        dice: None,
        character: None,
    };
    for joined in [false, true] {
        let (ann, bob, id) = (player(), player(), Uuid::now_v7());
        let idempotency = Idempotency { id: Some(id), expected: None };
        let new = NewGame { ruleset: Arc::clone(&ruleset), private: false, seated: joined };
        let game = games.create(&ann, &new, idempotency).await.unwrap().game;
        let note = "INSERT INTO quick_match_answer (player, command, game) VALUES ($1, $2, $3)";
        let note = sqlx::query(note).bind(ann.account).bind(id).bind(game);
        note.execute(games.store.pool()).await.unwrap();

        let waiting = games.quick_match(&ann, &request, idempotency).await.unwrap();
        let seats = waiting.state.aggregate.as_ref().unwrap().table.seats.len();
        assert_eq!((waiting.game, seats), (game, 1), "joined before: {joined}");
        let found = games.quick_match(&bob, &request, Idempotency::default()).await.unwrap();
        let table = &found.state.aggregate.as_ref().unwrap().table;
        assert_eq!((found.game, &table.stage), (game, &Stage::Playing), "joined: {joined}");
    }
    games.store.close().await;
}

/// The database was unavailable when the player signed in, so they have no wallet yet. A remedy
/// that gives them money can still be proposed.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_can_be_tried_before_the_player_has_a_wallet() {
    let (games, _cluster, _folder) = service().await;
    let adjust = AccountCommand::Adjust { change: 5, dispute: Uuid::now_v7() };
    let wallet = games.wallets.dry_run(Uuid::now_v7(), &adjust).await.unwrap();
    assert_eq!(wallet.aggregate.as_ref().unwrap().balance, 10);
    games.store.close().await;
}
