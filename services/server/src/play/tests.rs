//! What cannot be waited for or aimed at: games that nobody touches for hours, nodes that are killed between two steps.

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

use super::{NewGame, Once, Tables, Wanted, index, scheduler::Scheduler};
use crate::{
    accounts::{Role, Viewer},
    clock,
    keys::{KeyRing, Purpose},
};

/// A game that was begun so many hours ago, and not touched since.
async fn begun(tables: &Tables, hours: u64) -> Uuid {
    let (game, secret) =
        tables.secrets.prepare(Uuid::now_v7(), Uuid::now_v7(), false).await.unwrap();
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
        tables.store.execute(&request).await.unwrap();
    }
    game
}

/// A house with a database of its own, which is gone with it.
async fn house() -> (Arc<Tables>, Cluster, TempDir) {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let throwaway = cluster::Settings::Throwaway;
    let cluster = Cluster::start(&folder.path().join("cluster"), throwaway).unwrap();
    let url = cluster.url("postgres");
    store::migrate(&url).await.unwrap();
    let store = Store::open(&url, &store::Settings::default()).unwrap();
    let keys = KeyRing::open(&folder.path().join("keys"), Purpose::Dice).unwrap();
    let tables = Arc::new(Tables::new(store, keys, 10));
    (tables, cluster, folder)
}

fn player() -> Viewer {
    let (account, session) = (Uuid::now_v7(), Uuid::now_v7());
    Viewer { account, role: Role::Player, session, until: Moment(u64::MAX) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_nobody_touches_is_closed_without_a_winner() {
    let (tables, _cluster, _folder) = house().await;
    let (forgotten, young) = (begun(&tables, 73).await, begun(&tables, 71).await);
    let index = index::processor(tables.store.clone(), Some(Scheduler::new(Arc::clone(&tables))));
    let consumer = Consumer::new(tables.store.clone(), vec![index], Uuid::now_v7());
    let duties = tokio::spawn(consumer.run_until(std::future::pending()));
    let stage =
        async |game| tables.store.games.fresh(game).await.unwrap().now.clone().unwrap().table.stage;
    for _ in 0..200 {
        if stage(forgotten).await != Stage::Playing {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let Stage::Ended(outcome) = stage(forgotten).await else { panic!("it is still open") };
    assert_eq!(outcome.by, DecidedBy::Abandoned);
    assert!(outcome.winners.is_empty());
    assert_eq!(stage(young).await, Stage::Playing);
    duties.abort();
    tables.store.close().await;
}

/// A node is killed after it has opened a table for somebody in a hurry, before or after they sat down there. Asked again with the
/// same id, they sit at that table, once, and whoever comes next finds them.
#[tokio::test(flavor = "multi_thread")]
async fn a_quick_match_that_was_cut_off_goes_on() {
    let (tables, _cluster, _folder) = house().await;
    let ruleset = Arc::new(Ruleset::preset("farkle", None).unwrap());
    let wanted =
        Wanted { ruleset: Arc::clone(&ruleset), seats: 2, seed: None, dice: None, character: None };
    for sat_down in [false, true] {
        let (ann, bob, id) = (player(), player(), Uuid::now_v7());
        let once = Once { id: Some(id), expected: None };
        let new = NewGame { ruleset: Arc::clone(&ruleset), private: false, seated: sat_down };
        let game = tables.create(&ann, &new, once).await.unwrap().game;
        let note = "INSERT INTO quick_match_answer (player, command, game) VALUES ($1, $2, $3)";
        let note = sqlx::query(note).bind(ann.account).bind(id).bind(game);
        note.execute(tables.store.pool()).await.unwrap();

        let waits = tables.quick_match(&ann, &wanted, once).await.unwrap();
        let seats = waits.state.now.as_ref().unwrap().table.seats.len();
        assert_eq!((waits.game, seats), (game, 1), "sat down before: {sat_down}");
        let found = tables.quick_match(&bob, &wanted, Once::default()).await.unwrap();
        let table = &found.state.now.as_ref().unwrap().table;
        assert_eq!((found.game, &table.stage), (game, &Stage::Playing), "sat down: {sat_down}");
    }
    tables.store.close().await;
}

/// The database was away when somebody signed in, so that they have no wallet: a remedy that gives them money can be proposed.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_for_who_has_no_wallet_yet_can_be_tried() {
    let (tables, _cluster, _folder) = house().await;
    let adjust = AccountCommand::Adjust { change: 5, dispute: Uuid::now_v7() };
    let wallet = tables.wallets.dry_run(Uuid::now_v7(), &adjust).await.unwrap();
    assert_eq!(wallet.now.as_ref().unwrap().balance, 10);
    tables.store.close().await;
}
