//! Contention, back-pressure, and an unavailable database.

use std::time::{Duration, Instant};

use sqlx::{Connection, Executor, PgConnection, Row};
use uuid::Uuid;

use super::support::{append, append_as, database, read, whole_log};
use crate::{AppendError, Head, Settings, Store, StoreError};

/// Nodes that append batches to the same streams do not deadlock.
#[tokio::test(flavor = "multi_thread")]
async fn batches_of_several_nodes_do_not_deadlock() {
    let url = database().await;
    let nodes = [0; 3].map(|_| Store::open(&url, &Settings::default()).unwrap());
    let streams: Vec<Uuid> = (0..40).map(|_| Uuid::now_v7()).collect();
    let tasks: Vec<_> = nodes
        .iter()
        .flat_map(|node| streams.iter().map(move |&stream| (node.clone(), stream)))
        .map(|(node, stream)| {
            tokio::spawn(async move {
                for n in 0..6 {
                    let head = node.games.latest(stream).await.unwrap().head;
                    match append(&node, stream, head, n).await {
                        Ok(_) | Err(AppendError::Conflict) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(connection.fetch_one(deadlocks).await.unwrap().get::<i64, _>(0), 0);
    whole_log(&nodes[0]).await;
}

/// Contention on one stream does not fill memory: one command succeeds, conflicting ones fail,
/// further ones are refused as busy.
#[tokio::test(flavor = "multi_thread")]
async fn conflicts_on_a_hot_stream_fail_at_once() {
    let settings = Settings { lanes: 1, queue: 64, ..Settings::default() };
    let store = Store::open(&database().await, &settings).unwrap();
    let stream = Uuid::now_v7();
    let rivals: Vec<_> = (0..2000)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { append(&store, stream, Head::NEW, n).await })
        })
        .collect();
    let mut won = 0;
    for rival in rivals {
        match rival.await.unwrap() {
            Ok(_) => won += 1,
            Err(AppendError::Conflict | AppendError::Busy) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(read(&store, stream).await.len(), 3);
}

/// Closing commits the accepted commands.
#[tokio::test(flavor = "multi_thread")]
async fn closing_loses_nothing() {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let asked: Vec<_> = (0..200)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { append(&store, Uuid::now_v7(), Head::NEW, n).await })
        })
        .collect();
    tokio::task::yield_now().await;
    store.close().await;
    let mut done = 0;
    for answer in asked {
        match answer.await.unwrap() {
            Ok(_) => done += 1,
            Err(AppendError::Store(StoreError::Unavailable(_))) => {}
            Err(other) => panic!("{other}"),
        }
    }
    let again = Store::open(&url, &Settings::default()).unwrap();
    assert_eq!(whole_log(&again).await.len(), done * 3, "acknowledged is stored, and nothing else");
    assert!(store.tail(crate::Positions::default()).next().await.is_err());
}

/// A full queue refuses commands at once instead of growing.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_busy() {
    let url = database().await;
    let settings = Settings { lanes: 1, queue: 8, ..Settings::default() };
    let store = Store::open(&url, &settings).unwrap();
    append(&store, Uuid::now_v7(), Head::NEW, 1).await.unwrap();

    let mut blocker = PgConnection::connect(&url).await.unwrap();
    let mut lock = blocker.begin().await.unwrap();
    lock.execute("LOCK TABLE event IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let waiting: Vec<_> = (0..400)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { append(&store, Uuid::now_v7(), Head::NEW, n).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    lock.rollback().await.unwrap();
    let (mut done, mut busy) = (0, 0);
    for answer in waiting {
        match answer.await.unwrap() {
            Ok(_) => done += 1,
            Err(AppendError::Busy) => busy += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(busy > 0 && done > 0, "{done} done, {busy} busy");
    assert_eq!(whole_log(&store).await.len(), (done + 1) * 3);
}

/// The database goes away and comes back: the process stays up, reports it as unavailable, and
/// recovers.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_down_is_unavailable_and_recovers() {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let cluster = cluster::Cluster::start(folder.path(), cluster::Settings::Durable).unwrap();
    let url = cluster.url("postgres");
    crate::migrate(&url).await.unwrap();
    let patience = Duration::from_millis(300);
    let store = Store::open(&url, &Settings { patience, ..Settings::default() }).unwrap();
    let follower = tokio::spawn(super::following::collect(store.clone(), 6));
    let (stream, command) = (Uuid::now_v7(), Uuid::new_v4());
    let head = append(&store, stream, Head::NEW, 1).await.unwrap().head;

    cluster.kill();
    // A backend may survive for a moment, until it notices that its server is gone.
    while append(&store, Uuid::now_v7(), Head::NEW, 9).await.is_ok() || store.heads().await.is_ok()
    {
    }
    for _ in 0..3 {
        let start = Instant::now();
        let refused = append_as(&store, stream, head, command, 2).await;
        assert!(
            matches!(refused, Err(AppendError::Store(StoreError::Unavailable(_)))),
            "{refused:?}"
        );
        assert!(start.elapsed() < Duration::from_secs(3));
        assert!(matches!(store.heads().await, Err(StoreError::Unavailable(_))));
    }
    let _cluster = cluster::Cluster::start(folder.path(), cluster::Settings::Durable).unwrap();
    let start = Instant::now();
    while append_as(&store, stream, head, command, 2).await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not recover");
    }
    assert_eq!(read(&store, stream).await.len(), 6);
    assert_eq!(follower.await.unwrap().len(), 6, "the follower recovered by itself");
}
