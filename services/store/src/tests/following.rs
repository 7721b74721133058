use std::time::Duration;

use uuid::Uuid;

use super::support::{append, database, execute, store, whole_log};
use crate::{Head, Positions, ReadError, Settings, Shard, Store};

/// Follows the log from the beginning until `count` events came; returns their streams and
/// versions. Checks that nothing comes twice or out of order.
pub(super) async fn collect(store: Store, count: usize) -> Vec<(Uuid, i64)> {
    collect_after(store, Positions::default(), count).await
}

async fn collect_after(store: Store, after: Positions, count: usize) -> Vec<(Uuid, i64)> {
    let mut tail = store.tail(after.clone());
    let mut seen = after;
    let mut collected = Vec::with_capacity(count);
    while collected.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(30), tail.next());
        let event = next.await.expect("the next event comes in time").unwrap();
        assert_eq!(event.position, seen.get(event.shard) + 1, "in shard {}", event.shard);
        seen.set(event.shard, event.position);
        collected.push((event.stream, event.version));
    }
    assert_eq!(*tail.positions(), seen);
    collected
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_get_old_events_and_then_new_ones() {
    let store = store().await;
    for n in 0..20 {
        append(&store, Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    let from_start = tokio::spawn(collect(store.clone(), 120));
    let now = store.heads().await.unwrap();
    assert_eq!(now.total(), 60);
    let from_now = tokio::spawn(collect_after(store.clone(), now, 60));
    tokio::time::sleep(Duration::from_millis(30)).await;
    for n in 0..20 {
        append(&store, Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    let all: Vec<_> = whole_log(&store).await.iter().map(|e| (e.stream, e.version)).collect();
    let mut from_start = from_start.await.unwrap();
    from_start.sort_unstable();
    let mut expected = all.clone();
    expected.sort_unstable();
    assert_eq!(from_start, expected);
    let from_now = from_now.await.unwrap();
    assert!(from_now.iter().all(|event| all.contains(event)));
}

/// Appends of this node arrive through memory; those of other nodes by polling.
#[tokio::test(flavor = "multi_thread")]
async fn appends_of_every_node_arrive() {
    let url = database().await;
    let here = Store::open(&url, &Settings::default()).unwrap();
    let there = Store::open(&url, &Settings::default()).unwrap();
    let followers = [&here, &there].map(|node| tokio::spawn(collect(node.clone(), 120)));
    for n in 0..20 {
        append(&here, Uuid::now_v7(), Head::NEW, n).await.unwrap();
        append(&there, Uuid::now_v7(), Head::NEW, n).await.unwrap();
    }
    for follower in followers {
        follower.await.unwrap();
    }
}

/// A follower that cannot keep up falls back to reading the log, and misses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_follower_misses_nothing() {
    let store = store().await;
    let mut slow = store.tail(Positions::default());
    let quick = tokio::spawn(collect(store.clone(), 3 * 1200));
    append(&store, Uuid::now_v7(), Head::NEW, 0).await.unwrap();
    slow.next().await.unwrap();
    let writers: Vec<_> = (0..12)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..100 {
                    append(&store, Uuid::now_v7(), Head::NEW, n).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut seen = slow.positions().clone();
    for _ in 1..3 * 1201 {
        let event = slow.next().await.unwrap();
        assert_eq!(event.position, seen.get(event.shard) + 1);
        seen.set(event.shard, event.position);
    }
    assert_eq!(seen, store.heads().await.unwrap());
    quick.await.unwrap();
}

/// An event that cannot be decoded stops its shard, not the others, and is reported once.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_event_parks_its_shard() {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let (poisoned, healthy) = {
        let first = Uuid::now_v7();
        let other =
            std::iter::repeat_with(Uuid::now_v7).find(|&o| Shard::of(o) != Shard::of(first));
        (first, other.unwrap())
    };
    let head = append(&store, poisoned, Head::NEW, 1).await.unwrap().head;
    execute(&url, "UPDATE event SET type = 'Teleported' WHERE version = 2").await;
    let mut tail = store.tail(Positions::default());
    assert_eq!(tail.next().await.unwrap().version, 1);
    let error = tail.next().await.unwrap_err();
    assert!(
        matches!(error, ReadError::Undecodable { version: 2, stream, .. } if stream == poisoned)
    );
    assert_eq!(tail.parked(), [Shard::of(poisoned)]);

    append(&store, poisoned, head, 2).await.unwrap();
    append(&store, healthy, Head::NEW, 3).await.unwrap();
    for version in 1..=3 {
        let event = tail.next().await.unwrap();
        assert_eq!((event.stream, event.version), (healthy, version));
    }
    assert_eq!(tail.positions().get(Shard::of(poisoned)), 1, "nothing was skipped");
}

/// Removed events are not skipped either.
#[tokio::test(flavor = "multi_thread")]
async fn a_gap_in_the_log_is_reported() {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let stream = Uuid::now_v7();
    append(&store, stream, Head::NEW, 1).await.unwrap();
    execute(&url, "DELETE FROM event WHERE version = 2").await;
    let mut tail = store.tail(Positions::default());
    assert_eq!(tail.next().await.unwrap().version, 1);
    let error = tail.next().await.unwrap_err();
    assert!(matches!(error, ReadError::Hole { position: 2, shard } if shard == Shard::of(stream)));
    assert_eq!(tail.parked(), [Shard::of(stream)]);
}
