//! What cannot be waited for: games that nobody touches for hours.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, time::Duration};

use cluster::Cluster;
use domain::{
    Command, DecidedBy, GameId, Moment, PlayerId, Ruleset, Stage,
    fair::{commitment, ruleset_hash},
};
use store::{Request, Store};
use uuid::Uuid;

use super::Tables;
use crate::{
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

#[tokio::test(flavor = "multi_thread")]
async fn a_game_nobody_touches_is_closed_without_a_winner() {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let throwaway = cluster::Settings::Throwaway;
    let cluster = Cluster::start(&folder.path().join("cluster"), throwaway).unwrap();
    let url = cluster.url("postgres");
    store::migrate(&url).await.unwrap();
    let store = Store::open(&url, &store::Settings::default()).unwrap();
    let keys = KeyRing::open(&folder.path().join("keys"), Purpose::Dice).unwrap();
    let tables = Arc::new(Tables::new(store, keys, 10));
    let (forgotten, young) = (begun(&tables, 73).await, begun(&tables, 71).await);
    let duties = tokio::spawn(Arc::clone(&tables).keep_house());
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
