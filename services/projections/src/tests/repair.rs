//! Errors in rows and games are detected, parked or refused, and repaired.

use std::time::Duration;

use sqlx::Row;
use store::processor::{Processor, ProcessorError};

use super::{
    NAME,
    games::deal,
    holds,
    nodes::{database, execute, forget_nodes, node, open, rebuild, settled, verify},
};
use crate::processors;

/// A row that was changed by hand is detected by verification, and gone after a rebuild.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_row_is_found_and_repaired() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 20).await;
    assert_eq!(
        rebuild(&store, NAME, |_| {}).await.unwrap().differing,
        0,
        "both generations caught up"
    );
    execute(&url, "UPDATE player_statistics SET statistics = '{}' WHERE (generation, player, kind, preset) IN
        (SELECT generation, player, kind, preset FROM player_statistics WHERE generation = 2 ORDER BY 2, 3, 4 LIMIT 1)").await;
    let found = verify(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((found.differing, found.differences.len()), (1, 1));
    assert_eq!(found.differences[0].live.as_deref(), Some("{}"));
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().differing, 1);
    assert_eq!(verify(&store, NAME, |_| {}).await.unwrap().differing, 0);
    holds(&store).await;
}

/// A game that cannot be decoded is parked, the others continue; once it can be decoded, it is
/// added.
#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_game_is_parked_and_added_later() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 10).await;
    // One that counts, and one that is void.
    let poison = "UPDATE event SET payload = '{\"nonsense\":1}' WHERE type = 'Ended' AND stream IN (
        (SELECT stream FROM event WHERE type = 'Voided'),
        (SELECT min(stream::text)::uuid FROM event WHERE stream NOT IN (SELECT stream FROM event WHERE type = 'Voided')))";
    execute(&url, "CREATE TABLE saved AS SELECT shard, stream, version, payload FROM event WHERE type = 'Ended'").await;
    execute(&url, poison).await;
    let work = tokio::spawn(node(url.clone()));
    settled(&store).await;
    let parked = "SELECT count(DISTINCT stream) FROM processor_parked";
    let count =
        async || sqlx::query(parked).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(count().await, 2);
    let games = "SELECT count(DISTINCT game) FROM player_game";
    let taken_in =
        async || sqlx::query(games).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0);
    assert_eq!(taken_in().await, 8);
    work.abort();
    execute(&url, "UPDATE event e SET payload = s.payload FROM saved s WHERE e.shard = s.shard AND e.stream = s.stream AND e.version = s.version").await;
    forget_nodes(&url).await;
    // Parked games are retried when a worker starts.
    let work = tokio::spawn(node(url.clone()));
    for _ in 0..200 {
        if count().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((count().await, taken_in().await), (0, 9));
    holds(&store).await;
    work.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_read_model_and_a_second_rebuild_are_refused() {
    let url = database().await;
    let store = open(&url);
    let all = processors(&store);
    let unknown = Processor::named(&all, "nonsense").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no processor 'nonsense'; there are: player_statistics, leaderboards, ratings, balance, games_by_day"
    );
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 2);
    let begun = "INSERT INTO processor (name, generation, version, state, ranges) VALUES ('player_statistics', 7, 1, 'building', 1);
        INSERT INTO processor_node (node, works) VALUES ('00000000-0000-0000-0000-000000000007', false);
        INSERT INTO processor_range (name, generation, range, positions, owner)
        VALUES ('player_statistics', 7, 0, array_fill(0, ARRAY[64]), '00000000-0000-0000-0000-000000000007')";
    execute(&url, begun).await;
    let busy = rebuild(&store, NAME, |_| {}).await.unwrap_err();
    assert!(matches!(busy, ProcessorError::Busy { .. }), "{busy}");
    // The process that started it is gone: its generation is discarded.
    forget_nodes(&url).await;
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 3);
}
