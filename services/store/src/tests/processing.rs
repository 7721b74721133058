//! The consumer: sharing ranges, taking them over, parking, and failures.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use sqlx::Row;
use tokio::{sync::oneshot, task::JoinHandle};
use uuid::Uuid;

use super::{
    games_opened,
    support::{append, database, execute, whole_log},
};
use crate::{
    Head, Recorded, Settings, Store,
    processor::{
        CommandHandler, Consumer, Handler, HandlerError, Processor, ProcessorError, RowHandler,
        Target, rebuild, retry, roll_back, status, verify,
    },
};

const TABLE: &str = "
CREATE TABLE seen (generation integer NOT NULL, stream uuid NOT NULL, version bigint NOT NULL, n bigserial);
GRANT SELECT, INSERT, UPDATE, DELETE ON seen TO croupier_app;
GRANT USAGE ON SEQUENCE seen_n_seq TO croupier_app";

/// Inserts every event without deduplication, so that events handled twice are detected.
#[derive(Default)]
struct Seen {
    /// The handler fails at the second event of this stream.
    cursed: Mutex<Option<Uuid>>,
    /// The handler terminates its own connection once.
    suicidal: AtomicBool,
}

impl RowHandler for Seen {
    fn tables(&self) -> &'static [&'static str] {
        &["seen"]
    }

    fn content(&self) -> &'static str {
        "SELECT concat_ws('/', stream, version), count(*)::text FROM seen WHERE generation = $1 GROUP BY stream, version"
    }

    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        async move {
            const WRITE: &str = "
INSERT INTO seen (generation, stream, version) SELECT $1, * FROM unnest($2::uuid[], $3::bigint[])";
            let query = sqlx::query(WRITE).bind(target.generation);
            let query = query.bind(events.iter().map(|event| event.stream).collect::<Vec<_>>());
            let query = query.bind(events.iter().map(|event| event.version).collect::<Vec<_>>());
            query.execute(&mut *target.connection).await?;
            let cursed = *self.cursed.lock().unwrap();
            if let Some(event) = events.iter().find(|e| Some(e.stream) == cursed && e.version == 2)
            {
                assert!(events.len() > 1, "the handler panics at event {}", event.version);
                return Err(HandlerError::Event("this event is cursed".to_owned()));
            }
            if self.suicidal.swap(false, Ordering::Relaxed) {
                let end = "SELECT pg_terminate_backend(pg_backend_pid())";
                sqlx::query(end).execute(&mut *target.connection).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

fn seen(rows: &Arc<Seen>, version: i32, ranges: i16) -> Processor {
    Processor {
        name: "seen",
        version,
        types: &["TimedOut"],
        ranges,
        collect: Duration::from_millis(5),
        handler: Handler::Rows(Arc::clone(rows) as Arc<dyn RowHandler>),
    }
}

async fn prepared() -> (String, Store) {
    let url = database().await;
    execute(&url, TABLE).await;
    let store = open(&url);
    (url, store)
}

fn open(url: &str) -> Store {
    Store::open(url, &Settings::default()).unwrap()
}

/// A node with its own connections, stopped through the sender.
fn node(url: &str, processor: Processor) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let consumer = Consumer::new(open(url), vec![processor], Uuid::new_v4());
    let work = tokio::spawn(consumer.run_until(async move {
        stopped.await.ok();
    }));
    (stop, work)
}

async fn ask(store: &Store, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(store.pool()).await.unwrap().get(0)
}

#[track_caller]
fn eventually<'a>(
    what: &'a str,
    mut holds: impl AsyncFnMut() -> bool + 'a,
) -> impl Future<Output = ()> + 'a {
    let caller = std::panic::Location::caller();
    async move {
        for _ in 0..600 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("{what} ({caller})");
    }
}

/// Number of events that the checkpoint of the live generation covers.
async fn position(store: &Store) -> i64 {
    // A terminated connection fails at its next use.
    let Ok(heads) = store.heads().await else { return 0 };
    let Ok(all) = status(store.pool(), &heads).await else { return 0 };
    let live = all.iter().find(|one| one.name == "seen" && one.state == "live");
    live.map_or(0, crate::processor::Status::position)
}

async fn caught_up(store: &Store) {
    let heads = store.heads().await.unwrap().total();
    eventually("everything is handled", async || position(store).await == heads).await;
}

/// Every event of the log was inserted once, each stream in order.
async fn each_once(store: &Store) {
    let rows = sqlx::query(
        "SELECT s.stream, s.version FROM seen s JOIN processor p USING (generation) WHERE p.name = 'seen' AND p.state = 'live' ORDER BY n",
    );
    let rows = rows.fetch_all(store.pool()).await.unwrap();
    let found: Vec<(Uuid, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut of_streams = found.clone();
    of_streams.sort_by_key(|(stream, _)| *stream);
    let mut sorted = found;
    sorted.sort_unstable();
    assert_eq!(of_streams, sorted, "each stream is in order");
    let mut expected: Vec<(Uuid, i64)> =
        whole_log(store).await.iter().map(|event| (event.stream, event.version)).collect();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
}

async fn appends(store: &Store, count: u32) -> Vec<(Uuid, Head)> {
    let mut streams = Vec::new();
    for number in 0..count {
        let stream = Uuid::now_v7();
        streams.push((stream, append(store, stream, Head::NEW, number).await.unwrap().head));
    }
    streams
}

/// A node that starts later gets its share; the ranges of a node that stops are taken over at once.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_ranges_as_they_start_and_stop() {
    let (url, store) = prepared().await;
    let shares = async || {
        let shares = "SELECT count(*) FROM processor_range WHERE owner IS NOT NULL AND name = 'seen' GROUP BY owner ORDER BY 1";
        let rows = sqlx::query(shares).fetch_all(store.pool()).await.unwrap();
        rows.iter().map(|row| row.get::<i64, _>(0)).collect::<Vec<_>>()
    };
    let rows = Arc::new(Seen::default());
    let (stop_first, first) = node(&url, seen(&rows, 1, 8));
    eventually("one node has everything", async || shares().await == [8]).await;
    appends(&store, 20).await;
    let (stop_second, second) = node(&url, seen(&rows, 1, 8));
    eventually("two nodes have half each", async || shares().await == [4, 4]).await;
    appends(&store, 20).await;
    stop_first.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(shares().await.len(), 1, "nobody waits for a lease to expire");
    eventually("the other one has everything", async || shares().await == [8]).await;
    appends(&store, 20).await;
    caught_up(&store).await;
    each_once(&store).await;
    stop_second.send(()).unwrap();
    second.await.unwrap();
}

/// Nodes are killed while they work and their leases expire: no event is lost or handled twice.
#[tokio::test(flavor = "multi_thread")]
async fn killed_nodes_lose_nothing() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let writing = {
        let store = store.clone();
        tokio::spawn(async move { appends(&store, 600).await })
    };
    for number in 0..5u64 {
        let (_stop, work) = node(&url, seen(&rows, 1, 4));
        tokio::time::sleep(Duration::from_millis(60 + 40 * number)).await;
        work.abort();
        execute(&url, "DELETE FROM processor_node").await;
    }
    let (_stop, work) = node(&url, seen(&rows, 1, 4));
    writing.await.unwrap();
    caught_up(&store).await;
    each_once(&store).await;
    work.abort();
}

/// If the handler fails at one event, it is parked with its reason and later ones of its stream
/// wait; other streams continue. Once it can be handled, it is, in order.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_cannot_be_handled_is_parked() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let cursed = Uuid::now_v7();
    *rows.cursed.lock().unwrap() = Some(cursed);
    let (_stop, work) = node(&url, seen(&rows, 1, 1));
    let head = append(&store, cursed, Head::NEW, 1).await.unwrap().head;
    appends(&store, 10).await;
    caught_up(&store).await;
    append(&store, cursed, head, 2).await.unwrap();
    caught_up(&store).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let one = all.iter().find(|one| one.name == "seen").unwrap();
    let parked: Vec<(Uuid, i64, &str)> =
        one.parked.iter().map(|p| (p.stream, p.version, p.reason.as_str())).collect();
    assert_eq!(parked.len(), 5, "{parked:?}");
    assert!(parked.iter().all(|(stream, ..)| *stream == cursed));
    assert!(parked[0].2.contains("the handler panicked"), "{parked:?}");
    assert!(parked[1..].iter().all(|p| p.2 == "an earlier event of this stream is parked"));
    assert_eq!(ask(&store, "SELECT count(*) FROM seen").await, 31, "all others were written");
    // A retry without a change leaves it parked.
    let processors = [seen(&rows, 1, 1)];
    assert_eq!(retry(&store, &processors, "seen").await.unwrap(), 5);
    eventually("it was retried", async || {
        ask(&store, "SELECT max(tries)::bigint FROM processor_parked").await > 0
    })
    .await;
    *rows.cursed.lock().unwrap() = None;
    assert_eq!(retry(&store, &processors, "seen").await.unwrap(), 5);
    eventually("it is handled", async || {
        ask(&store, "SELECT count(*) FROM processor_parked").await == 0
    })
    .await;
    each_once(&store).await;
    let unknown = retry(&store, &processors, "nonsense").await.unwrap_err().to_string();
    assert_eq!(unknown, "there is no processor 'nonsense'; there are: seen");
    work.abort();
}

/// An event that this program cannot decode is parked if the processor handles its type, and
/// skipped otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_event_type_is_parked_or_skipped() {
    let (url, store) = prepared().await;
    let streams = appends(&store, 2).await;
    let (newer, other) = (streams[0].0, streams[1].0);
    execute(&url, &format!("UPDATE event SET schema = 9 WHERE stream = '{newer}' AND version = 2"))
        .await;
    execute(
        &url,
        &format!("UPDATE event SET type = 'Teleported' WHERE stream = '{other}' AND version = 2"),
    )
    .await;
    let rows = Arc::new(Seen::default());
    let (_stop, work) = node(&url, seen(&rows, 1, 1));
    caught_up(&store).await;
    let reason = sqlx::query("SELECT version, reason FROM processor_parked ORDER BY version");
    let parked = reason.fetch_all(store.pool()).await.unwrap();
    let parked: Vec<(i64, String)> = parked.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(parked.len(), 2, "{parked:?}");
    assert!(parked[0].0 == 2 && parked[0].1.contains("schema"), "{parked:?}");
    assert_eq!(ask(&store, "SELECT count(*) FROM seen").await, 3);
    work.abort();
}

/// A node that lost a range cannot write to it, whatever it believes, and then finds out which
/// ranges it has.
#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_lease_is_noticed() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let (_stop, work) = node(&url, seen(&rows, 1, 1));
    appends(&store, 5).await;
    caught_up(&store).await;
    for _ in 0..3 {
        execute(&url, "UPDATE processor_range SET fence = fence + 1, owner = gen_random_uuid()")
            .await;
        appends(&store, 5).await;
        caught_up(&store).await;
        each_once(&store).await;
    }
    work.abort();
}

/// A checkpoint after the end of the log belongs to another log: nothing is handled, and it is
/// reported.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_ahead_of_the_log_is_refused() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    appends(&store, 5).await;
    let processors = [seen(&rows, 1, 1)];
    rebuild(&store, &processors, |_| {}).await.unwrap();
    execute(&url, "UPDATE processor_range SET positions = array_fill(100::bigint, ARRAY[64]) WHERE name = 'seen'")
        .await;
    let (_stop, work) = node(&url, seen(&rows, 1, 1));
    appends(&store, 5).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let all = status(store.pool(), &store.heads().await.unwrap()).await.unwrap();
    let live = all.iter().find(|one| one.name == "seen" && one.state == "live").unwrap();
    assert!(live.ahead() > 6_000, "{live:?}");
    assert_eq!(ask(&store, "SELECT count(*) FROM seen WHERE generation = 2").await, 15);
    let heads = store.heads().await.unwrap().total();
    let outcome = rebuild(&store, &processors, |_| {}).await.unwrap();
    assert_eq!((outcome[0].live, outcome[0].events), (3, heads));
    caught_up(&store).await;
    each_once(&store).await;
    work.abort();
}

/// While two versions of the program run, each generation is updated by nodes of its own version.
#[tokio::test(flavor = "multi_thread")]
async fn a_generation_is_updated_by_its_own_version() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let (_stop, old) = node(&url, seen(&rows, 1, 1));
    appends(&store, 5).await;
    caught_up(&store).await;
    let (_stop, new) = node(&url, seen(&rows, 2, 1));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    appends(&store, 5).await;
    caught_up(&store).await;
    each_once(&store).await;
    old.abort();
    execute(&url, "DELETE FROM processor_node").await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let before = ask(&store, "SELECT count(*) FROM seen").await;
    appends(&store, 5).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        ask(&store, "SELECT count(*) FROM seen").await,
        before,
        "the new version writes nothing"
    );
    // Once rebuilt by the new version, it belongs to the new version.
    rebuild(&store, &[seen(&rows, 2, 1)], |_| {}).await.unwrap();
    appends(&store, 5).await;
    caught_up(&store).await;
    each_once(&store).await;
    new.abort();
}

/// A connection that fails between writing rows and the checkpoint rolls back both; the batch is
/// written again, once.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_rolls_back_rows_and_checkpoint() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let (_stop, work) = node(&url, seen(&rows, 1, 1));
    for _ in 0..5 {
        rows.suicidal.store(true, Ordering::Relaxed);
        appends(&store, 5).await;
        caught_up(&store).await;
        assert!(!rows.suicidal.load(Ordering::Relaxed));
        each_once(&store).await;
    }
    work.abort();
}

/// Records what it did, as if by commands with ids derived from the events.
#[derive(Default)]
struct Acts {
    done: Mutex<Vec<(Uuid, i64)>>,
    /// SQL that runs before the first result, as another process might.
    meanwhile: Mutex<Option<(String, &'static str)>>,
    away: AtomicBool,
}

impl CommandHandler for Acts {
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>> {
        async move {
            if self.away.swap(false, Ordering::Relaxed) {
                let away = crate::StoreError::Unavailable("unreachable".to_owned());
                return vec![(0, away.into())];
            }
            let new = events.iter().map(|event| (event.stream, event.version));
            self.done.lock().unwrap().extend(new);
            let meanwhile = self.meanwhile.lock().unwrap().take();
            if let Some((url, sql)) = meanwhile {
                execute(&url, sql).await;
            }
            Vec::new()
        }
        .boxed()
    }
}

/// A command processor handles everything at least once: also when its lease is stolen in
/// mid-batch, when the database goes away before the checkpoint, and when it restarts from the
/// beginning.
#[tokio::test(flavor = "multi_thread")]
async fn commands_are_repeated_but_never_skipped() {
    let (url, _) = prepared().await;
    let acts = Arc::new(Acts::default());
    let handler = Handler::Commands(Arc::clone(&acts) as Arc<dyn CommandHandler>);
    let processor = Processor { handler, ..seen(&Arc::default(), 1, 2) };
    let (stop, work) = node(&url, processor.clone());
    let stolen = "UPDATE processor_range SET fence = fence + 1, owner = NULL WHERE name = 'seen'";
    let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'croupier' AND datname = current_database()";
    for meanwhile in [stolen, ended] {
        *acts.meanwhile.lock().unwrap() = Some((url.clone(), meanwhile));
        acts.away.store(true, Ordering::Relaxed);
        let all = open(&url);
        appends(&all, 10).await;
        caught_up(&open(&url)).await;
    }
    let mut expected: Vec<(Uuid, i64)> =
        whole_log(&open(&url)).await.iter().map(|e| (e.stream, e.version)).collect();
    expected.sort_unstable();
    let done = |acts: &Acts| {
        let mut done = acts.done.lock().unwrap().clone();
        done.sort_unstable();
        done.dedup();
        done
    };
    assert_eq!(done(&acts), expected);
    // Restarted, it handles everything again.
    acts.done.lock().unwrap().clear();
    let store = open(&url);
    let outcome = rebuild(&store, std::slice::from_ref(&processor), |_| {}).await.unwrap();
    assert!(outcome[0].restarted);
    eventually("everything is done again", async || done(&acts) == expected).await;
    let refused = verify(&store, std::slice::from_ref(&processor), |_| {}).await.unwrap_err();
    assert!(matches!(refused, ProcessorError::NoRows { .. }), "{refused}");
    let refused = roll_back(&store, &processor).await.unwrap_err();
    assert!(matches!(refused, ProcessorError::NoRows { .. }), "{refused}");
    stop.send(()).unwrap();
    work.await.unwrap();
}

/// Processors that are up to date cause no queries: events that this node appends are not read from
/// the log.
#[tokio::test(flavor = "multi_thread")]
async fn an_up_to_date_processor_is_fed_from_memory() {
    let (url, _) = prepared().await;
    let store = open(&url);
    let rows = Arc::new(Seen::default());
    let (stop, stopped) = oneshot::channel::<()>();
    let consumer = Consumer::new(store.clone(), vec![seen(&rows, 1, 8)], Uuid::new_v4());
    let work = tokio::spawn(consumer.run_until(async move {
        stopped.await.ok();
    }));
    appends(&store, 5).await;
    caught_up(&store).await;
    let reads =
        "SELECT (idx_scan)::bigint FROM pg_stat_user_indexes WHERE indexrelname = 'event_position'";
    // Statistics appear with a delay.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let before = ask(&open(&url), reads).await;
    appends(&store, 200).await;
    eventually("all are written", async || ask(&store, "SELECT count(*) FROM seen").await == 615)
        .await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let after = ask(&open(&url), reads).await;
    assert!(after - before < 20, "the log was read {} times for 200 appends", after - before);
    stop.send(()).unwrap();
    work.await.unwrap();
}

/// A live node may own ranges it does not work on, such as after a worker dropped a pending page
/// while it had to release a range: other nodes get them, and processing continues.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_ranges_go_to_other_nodes() {
    let (url, store) = prepared().await;
    let rows = Arc::new(Seen::default());
    let nodes = [node(&url, seen(&rows, 1, 8)), node(&url, seen(&rows, 1, 8))];
    let shares = "SELECT count(*) FROM (SELECT owner FROM processor_range WHERE name = 'seen' AND owner IS NOT NULL GROUP BY owner HAVING count(*) = 4) AS share";
    eventually("each node has its share", async || ask(&store, shares).await == 2).await;
    let move_all = "UPDATE processor_range SET fence = fence + 1,
        owner = (SELECT min(owner::text)::uuid FROM processor_range WHERE name = 'seen')
        WHERE name = 'seen' AND owner <> (SELECT min(owner::text)::uuid FROM processor_range WHERE name = 'seen')";
    execute(&url, move_all).await;
    eventually("each node has its share again", async || ask(&store, shares).await == 2).await;
    appends(&store, 20).await;
    caught_up(&store).await;
    each_once(&store).await;
    for (stop, work) in nodes {
        stop.send(()).unwrap();
        work.await.unwrap();
    }
}

/// Events of other types advance the checkpoint too, a second or two later, so that the processor
/// is not reported as lagging.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_other_types_advance_the_checkpoint() {
    let (url, store) = prepared().await;
    let unwanted = Processor { types: &["Voided"], ..seen(&Arc::new(Seen::default()), 1, 1) };
    let (stop, work) = node(&url, unwanted);
    appends(&store, 5).await;
    caught_up(&store).await;
    // It is idle now and waits for relevant events.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    appends(&store, 5).await;
    caught_up(&store).await;
    assert_eq!(ask(&store, "SELECT count(*) FROM seen").await, 0);
    stop.send(()).unwrap();
    work.await.unwrap();
}

/// The example in CONTRIBUTING.md is this file, and it works, live and rebuilt.
#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_processor_counts() {
    let shown = include_str!("../../../../CONTRIBUTING.md");
    let (_, code) = include_str!("games_opened.rs").split_once("pub(super)").unwrap();
    assert!(shown.contains(code), "CONTRIBUTING.md shows different code");

    let (url, store) = prepared().await;
    execute(
        &url,
        "CREATE TABLE games_opened (generation integer, day date, games bigint, PRIMARY KEY (generation, day));
         GRANT SELECT, INSERT, UPDATE, DELETE ON games_opened TO croupier_app",
    )
    .await;
    let (_stop, work) = node(&url, games_opened::processor());
    for _ in 0..5 {
        super::playing::running(&store).await;
    }
    eventually("all are counted", async || {
        ask(&store, "SELECT coalesce(sum(games), 0)::bigint FROM games_opened").await == 5
    })
    .await;
    let built = rebuild(&store, &[games_opened::processor()], |_| {}).await.unwrap();
    assert_eq!((built[0].live, built[0].differing), (2, 0));
    work.abort();
}
