//! The law of read models: live = rebuilt = a naive fold of the log, whatever happens to the nodes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::similar_names,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fold as plain as can be"
)]

mod balance;
mod boards;
mod games;
pub(crate) mod games_by_day;
mod nodes;
mod plain;
mod ratings;
mod repair;
mod seats;
mod sharing;

use std::{collections::BTreeMap, time::Duration};

use sqlx::Row;
use store::{Store, processor::status};
use test_games::player;
use uuid::Uuid;

use self::{
    boards::boards_hold,
    games::{deal, void_some},
    nodes::{Process, database, forget_nodes, open, rebuild, settled, verify},
    ratings::{day, ratings_hold},
    seats::plain_seats,
};
use crate::{MODELS, Season, Statistics, processors, seasons, statistics_of};

const NAME: &str = "player_statistics";

/// What reads see now.
async fn live(store: &Store) -> BTreeMap<(Uuid, String, String), Statistics> {
    let players: Vec<Uuid> = (0..20).map(|number| player(number).0).collect();
    let found = statistics_of(store.pool(), &players).await.unwrap();
    let rows = found.into_iter().flat_map(|(player, all)| {
        all.into_iter().map(move |s| ((player, s.kind, s.preset), s.statistics))
    });
    rows.collect()
}

async fn holds(store: &Store) {
    let found = live(store).await.into_iter();
    let found = found.map(|(key, statistics)| (key, serde_json::to_value(statistics).unwrap()));
    let found: BTreeMap<plain::Key, serde_json::Value> = found.collect();
    let expected = plain::statistics(store).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (key, expected) in expected {
        assert_eq!(found[&key], expected, "{key:?}");
    }
}

fn season(code: &str, first: i32, last: i32) -> Season {
    Season { code: code.to_owned(), title: code.to_owned(), first, last }
}

/// Factor for the number of games: `CROUPIER_LAW=15` plays thousands.
fn scale() -> u64 {
    std::env::var("CROUPIER_LAW").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Live = naive = rebuilt, with two nodes, games played and voided meanwhile, seasons created, and
/// nodes killed.
#[tokio::test(flavor = "multi_thread")]
async fn live_is_rebuilt_is_naive() {
    let url = database().await;
    let (store, more) = (open(&url), 60 * scale());
    deal(&store, 1, more).await;
    // Games end from day 20833 to day 20837. One season is created before anything is folded, one
    // afterwards.
    let mut named = vec![season("early", 20_833, 20_834), season("late", 20_835, 30_000)];
    assert!(seasons::create(store.pool(), &named[0], Uuid::nil()).await.unwrap());
    // Processes are killed at any time: others take over.
    for number in 0..4u64 {
        let doomed = Process::start(&url);
        tokio::time::sleep(Duration::from_millis(150 + 150 * number)).await;
        drop(doomed);
        forget_nodes(&url).await;
    }
    let mut work = [Process::start(&url), Process::start(&url)];
    deal(&store, 1 + more, more / 2).await;
    // One of two nodes is killed while games are played; another one starts.
    work[0] = Process::start(&url);
    deal(&store, 1 + more + more / 2, more - more / 2).await;
    settled(&store).await;
    assert!(seasons::create(store.pool(), &named[1], Uuid::nil()).await.unwrap());
    assert!(!seasons::create(store.pool(), &named[1], Uuid::nil()).await.unwrap());
    settled(&store).await;
    everything_holds(&store, &named).await;
    void_some(&store, 5).await;
    settled(&store).await;
    everything_holds(&store, &named).await;
    // Rebuilt while games are played and voided.
    let dealing = {
        let store = store.clone();
        tokio::spawn(async move {
            deal(&store, 1 + 2 * more, more).await;
            void_some(&store, 11).await;
        })
    };
    let built = rebuild(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((built.differing, built.differences), (0, Vec::new()));
    assert_eq!(built.live, 2);
    dealing.await.unwrap();
    named.push(season("whole", 0, 40_000));
    assert!(seasons::create(store.pool(), &named[2], Uuid::nil()).await.unwrap());
    settled(&store).await;
    everything_holds(&store, &named).await;
    let same = verify(&store, NAME, |_| {}).await.unwrap();
    assert_eq!((same.live, same.differing), (2, 0));
    let all = processors(&store);
    for built in store::processor::rebuild(&store, &all, |_| {}).await.unwrap() {
        assert_eq!((built.differing, built.differences), (0, Vec::new()), "{}", built.name);
    }
    everything_holds(&store, &named).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let states: Vec<_> = all
        .iter()
        .filter(|status| MODELS.iter().any(|model| model.name == status.name))
        .map(|status| (status.generation, status.state.as_str()))
        .collect();
    let old_and_new = [(1, "old"), (2, "live"), (2, "old"), (3, "live"), (1, "old"), (2, "live")];
    assert_eq!(
        states.len(),
        2 * MODELS.len(),
        "the previous ones are kept for a rollback: {states:?}"
    );
    assert!(old_and_new.iter().all(|state| states.contains(state)), "{states:?}");
    // Once all games are void, nobody has any statistics left.
    void_some(&store, 1).await;
    settled(&store).await;
    let left = "SELECT (SELECT count(*) FROM player_statistics JOIN processor p USING (generation) WHERE p.name = 'player_statistics' AND p.state = 'live')
        + (SELECT count(*) FROM leaderboard JOIN processor p USING (generation) WHERE p.name = 'leaderboards' AND p.state = 'live')
        + (SELECT coalesce(sum(players), 0) FROM leaderboard_count JOIN processor p USING (generation) WHERE p.name = 'leaderboards' AND p.state = 'live')::bigint
        + (SELECT count(*) FROM rating JOIN processor p USING (generation) WHERE p.name = 'ratings' AND p.state = 'live')
        + (SELECT count(*) FROM rating_board JOIN processor p USING (generation) WHERE p.name = 'ratings' AND p.state = 'live')
        + (SELECT count(*) FROM balance_cell JOIN processor p USING (generation) WHERE p.name = 'balance' AND p.state = 'live')";
    assert_eq!(sqlx::query(left).fetch_one(store.pool()).await.unwrap().get::<i64, _>(0), 0);
    drop(work);
}

async fn everything_holds(store: &Store, seasons: &[Season]) {
    holds(store).await;
    let mut days: BTreeMap<(String, i32), i64> = BTreeMap::new();
    for seat in plain_seats(store).await.into_iter().filter(|seat| seat.position == 1) {
        *days.entry((seat.kind, day(seat.at))).or_default() += 1;
    }
    for ((kind, day), games) in days {
        assert_eq!(games_by_day::games_on(store.pool(), &kind, day).await.unwrap(), games);
    }
    boards_hold(store, seasons).await;
    ratings_hold(store, seasons).await;
}
