//! Who works on what, and what happens when it goes wrong.

use std::time::Duration;

use sqlx::Row;
use store::Store;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{NAME, database, deal, execute, holds, live, open, settled};
use crate::{
    MODELS, ProjectionError, Runner, lease, rebuild, records::Records, roll_back, runner::Range,
    status,
};

/// How many ranges each owner has, the most first.
async fn shares(store: &Store) -> Vec<i64> {
    let shares = "SELECT count(*) FROM projection_range WHERE leased_until > now() GROUP BY owner ORDER BY 1 DESC";
    let rows = sqlx::query(shares).fetch_all(store.pool()).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn eventually(what: &str, store: &Store, expected: &[i64]) {
    let mut found = Vec::new();
    for _ in 0..200 {
        found = shares(store).await;
        if found == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: {found:?} in place of {expected:?}");
}

/// A node that comes later gets its share; what a node has that stops is taken over at once.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_the_work_whenever_they_come_and_go() {
    let url = database().await;
    let store = open(&url);
    let all = i64::try_from(8 * MODELS.len()).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let first = Runner::new(open(&url)).run_until(async move {
        stopped.await.ok();
    });
    let first = tokio::spawn(first);
    eventually("one node has everything", &store, &[all]).await;
    let second = tokio::spawn(Runner::new(open(&url)).run());
    eventually("two nodes have half each", &store, &[all / 2, all / 2]).await;
    stop.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(shares(&store).await.len(), 1, "nobody waits for a lease to run out");
    eventually("the other one has everything", &store, &[all]).await;
    second.abort();
}

/// Whoever lost a range and does not know it writes nothing, however often the same games are delivered.
#[tokio::test(flavor = "multi_thread")]
async fn games_that_are_delivered_twice_are_counted_once() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 30).await;
    lease::ensure_live(store.pool()).await.unwrap();
    let records = std::sync::Arc::new(Records::new(store.clone()));
    for _ in 0..8 * MODELS.len() {
        let mut late = lease::take(store.pool(), Uuid::new_v4(), None).await.unwrap().unwrap();
        let lapse = format!(
            "UPDATE projection_range SET leased_until = now() - interval '1 second'
              WHERE name = '{}' AND range = {}",
            late.model.name, late.range
        );
        execute(&url, &lapse).await;
        let next = lease::take(store.pool(), Uuid::new_v4(), None).await.unwrap().unwrap();
        assert_eq!((next.model.name, next.range), (late.model.name, late.range));
        let mut next = Range::new(store.clone(), records.clone(), next, 7);
        while next.step().await.unwrap() {}
        // The one before begins where it was, with the same games.
        let mut before = Range::new(store.clone(), records.clone(), late.clone(), 7);
        let refused = before.step().await;
        assert!(matches!(refused, Err(ProjectionError::Fenced)), "{refused:?}");
        // And the new owner, who forgot how far it was, is refused too.
        late.fence = next.lease.fence;
        let moved = next.lease.positions != late.positions;
        let mut again = Range::new(store.clone(), records.clone(), late, 7);
        assert_eq!(matches!(again.step().await, Err(ProjectionError::Fenced)), moved);
    }
    settled(&store).await;
    holds(&store).await;
}

/// A game at which the fold itself fails is parked with its reason; the others of its batch are taken in.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_cannot_be_written_is_parked_alone() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 20).await;
    let chosen = "SELECT min(stream::text) FROM event WHERE type = 'Ended'
        AND stream NOT IN (SELECT stream FROM event WHERE type = 'Voided')";
    let game: String = sqlx::query(chosen).fetch_one(store.pool()).await.unwrap().get(0);
    execute(
        &url,
        &format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW.game = '{game}' THEN RAISE 'this game is cursed'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON player_game FOR EACH ROW EXECUTE FUNCTION refuse()"
        ),
    )
    .await;
    let work = tokio::spawn(Runner::new(open(&url)).run());
    settled(&store).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let parked: Vec<(&str, String, bool)> = all
        .iter()
        .flat_map(|status| status.parked.iter().map(move |parked| (status, parked)))
        .map(|(status, parked)| {
            (
                status.name.as_str(),
                parked.game.to_string(),
                parked.why.contains("this game is cursed"),
            )
        })
        .collect();
    assert_eq!(parked, [(NAME, game, true)]);
    let taken = "SELECT count(DISTINCT game) FROM player_game";
    let taken: i64 = sqlx::query(taken).fetch_one(store.pool()).await.unwrap().get(0);
    assert_eq!(taken, 20 - 2 - 1, "all but the void ones and this one");
    work.abort();
}

/// There is a way back behind a rebuild, and none before.
#[tokio::test(flavor = "multi_thread")]
async fn the_generation_before_comes_back() {
    let url = database().await;
    let store = open(&url);
    deal(&store, 1, 5).await;
    lease::ensure_live(store.pool()).await.unwrap();
    let refused = roll_back(&store, NAME).await.unwrap_err();
    assert_eq!(refused.to_string(), "'player_statistics' has no earlier generation to go back to");
    assert_eq!(rebuild(&store, NAME, |_| {}).await.unwrap().live, 2);
    deal(&store, 6, 5).await;
    // Both at once: one after the other, whatever comes first.
    let (back, built) = tokio::join!(roll_back(&store, NAME), rebuild(&store, NAME, |_| {}));
    let (back, built) = (back.unwrap(), built.unwrap());
    assert_eq!((built.live, built.differing), (3, 0));
    assert!([1, 2].contains(&back), "{back}");
    let work = tokio::spawn(Runner::new(open(&url)).run());
    settled(&store).await;
    assert!(!live(&store).await.is_empty());
    holds(&store).await;
    work.abort();
}
