//! Migrations after 42 move positions, parked items and receipts to their new tables.

use futures_util::future::join_all;
use sqlx::{Connection, PgConnection, Row};
use uuid::Uuid;

use super::support::{empty_database, execute};
use crate::{
    Positions, Settings, Shard, Store,
    processor::{checkpoint, status},
    store::migrate_up_to,
};

/// The last migration before everything that follows the log became a processor.
const BEFORE: i64 = 42;

#[tokio::test]
async fn positions_parked_items_and_receipts_move() {
    let url = empty_database().await;
    migrate_up_to(&url, BEFORE).await.unwrap();
    let (game, command) = (Uuid::now_v7(), Uuid::new_v4());
    let shard = Shard::of(game);
    let old = format!(
        "UPDATE index_position SET position = shard + 100;
         UPDATE reactor_position SET position = shard + 200;
         INSERT INTO projection VALUES ('ratings', 3, 2, 'live'), ('player_statistics', 1, 2, 'live');
         INSERT INTO projection_range (name, generation, range, positions)
         SELECT name, generation, range, ARRAY(SELECT (range * 8 + n)::bigint + 300 FROM generate_series(0, 7) AS n)
           FROM projection, generate_series(0, 7) AS range;
         INSERT INTO reactor_parked (stream, version, why) VALUES ('{game}', 7, 'no wallet');
         INSERT INTO projection_parked (name, generation, game, why, void) VALUES ('ratings', 3, '{game}', 'unreadable', false);
         INSERT INTO event (version, position, recorded_at, stream, command, actor, shard, schema, type, hash, payload)
         SELECT v, v, now(), '{game}', '{command}', '{game}', {shard}, 1, CASE v WHEN 9 THEN 'Ended' ELSE 'TimedOut' END, '', '{{}}'
           FROM generate_series(8, 9) AS v;
         INSERT INTO receipt (first_version, last_version, stream, command, shard, request)
         VALUES (8, 9, '{game}', '{command}', {shard}, decode('0102030405060708' || repeat('00', 24), 'hex'));
         INSERT INTO game_index (game, version, open, kind, preset, stage) VALUES ('{game}', 9, false, 'farkle', 'classic', 'ended')"
    );
    execute(&url, &old).await;
    crate::migrate(&url).await.unwrap();

    let store = Store::open(&url, &Settings::default()).unwrap();
    for (name, from) in [("game_index", 100), ("payouts", 200), ("ratings", 300), ("balance", 300)]
    {
        let mut expected = Positions::default();
        for shard in Shard::all() {
            expected.set(shard, i64::from(shard.number()) + from);
        }
        assert_eq!(checkpoint(store.pool(), name).await.unwrap(), expected, "{name}");
    }
    let all = status(store.pool(), &Positions::default()).await.unwrap();
    let parked: Vec<(&str, i64, &str)> = all
        .iter()
        .flat_map(|one| {
            one.parked.iter().map(|p| (one.name.as_str(), p.version, p.reason.as_str()))
        })
        .collect();
    assert_eq!(parked, [("payouts", 7, "no wallet"), ("ratings", 9, "unreadable")]);
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let row = sqlx::query("SELECT min(request), max(request) FROM event");
    let row = row.fetch_one(&mut connection).await.unwrap();
    assert_eq!((row.get(0), row.get(1)), (0x0102_0304_0506_0708i64, 0x0102_0304_0506_0708i64));
    let row = sqlx::query("SELECT shard, generation FROM game_index");
    let row = row.fetch_one(&mut connection).await.unwrap();
    assert_eq!((row.get::<i16, _>(0), row.get::<i32, _>(1)), (i16::from(shard.number()), 1));
}

/// Nodes that start together migrate the database once, and none of them fails.
#[tokio::test]
async fn nodes_that_start_together_migrate_once() {
    let url = empty_database().await;
    for node in join_all((0..4).map(|_| crate::migrate(&url))).await {
        node.unwrap();
    }
    let store = Store::open(&url, &Settings::default()).unwrap();
    assert!(store.is_migrated().await.unwrap());
}
