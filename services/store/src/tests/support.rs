//! One cluster per test run, one database per test.

use std::sync::{
    LazyLock,
    atomic::{AtomicU32, Ordering},
};

use cluster::Cluster;
use domain::{Event, Moment};
use futures_util::TryStreamExt;
use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::{
    Append, AppendError, Appended, Hash, Head, Recorded, Settings, Shard, Store, StreamId,
};

struct Server {
    _folder: tempfile::TempDir,
    cluster: Cluster,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let cluster = Cluster::start(folder.path(), cluster::Settings::Throwaway).unwrap();
    Server { _folder: folder, cluster }
});

static TEMPLATE: tokio::sync::OnceCell<()> = tokio::sync::OnceCell::const_new();

/// The URL of a new, migrated database.
pub(super) async fn database() -> String {
    TEMPLATE
        .get_or_init(|| async {
            admin("CREATE DATABASE empty_log").await;
            crate::migrate(&SERVER.cluster.url("empty_log")).await.unwrap();
        })
        .await;
    database_from("empty_log").await
}

/// The URL of a new database without our schema.
pub(super) async fn empty_database() -> String {
    database_from("template0").await
}

/// The URL of a copy of a database without connections.
pub(super) async fn database_from(template: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    admin(&format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")).await;
    SERVER.cluster.url(&name)
}

async fn admin(sql: &str) {
    // Copies of one template are made one at a time.
    static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _turn = TURN.lock().await;
    execute(&SERVER.cluster.url("postgres"), sql).await;
}

/// Runs SQL as superuser.
pub(super) async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let done = connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))).await;
    done.unwrap_or_else(|error| panic!("{error}: {sql}"));
    connection.close().await.unwrap();
}

pub(super) async fn store() -> Store {
    Store::open(&database().await, &Settings::default()).unwrap()
}

/// `count` events to append, distinguished by a number.
pub(super) fn events(number: u32, count: u32) -> Vec<Event> {
    (0..count).map(|n| Event::TimedOut { seat: 0, in_a_row: number * 100 + n }).collect()
}

/// Appends events distinguished by a number.
pub(super) async fn append(
    store: &Store,
    stream: StreamId,
    head: Head,
    number: u32,
) -> Result<Appended, AppendError> {
    append_as(store, stream, head, Uuid::new_v4(), number).await
}

/// The same with a given command id.
pub(super) async fn append_as(
    store: &Store,
    stream: StreamId,
    head: Head,
    command: Uuid,
    number: u32,
) -> Result<Appended, AppendError> {
    let (at, request) =
        (Moment(1_800_000_000_000), Hash([u8::try_from(number % 256).unwrap(); 32]));
    let events = &events(number, 3);
    store.append(Append { stream, head, command, request, actor: stream, at, events }).await
}

pub(super) async fn read(store: &Store, stream: StreamId) -> Vec<Recorded> {
    store.stream(stream, 0).try_collect().await.unwrap()
}

/// All events of all shards; checks that positions are 1, 2, 3 … in every shard.
pub(super) async fn whole_log(store: &Store) -> Vec<Recorded> {
    let mut all = Vec::new();
    for shard in Shard::all() {
        let log: Vec<Recorded> = store.log(shard, 0).try_collect().await.unwrap();
        let positions: Vec<i64> = log.iter().map(|event| event.position).collect();
        assert_eq!(positions, (1..=i64::try_from(log.len()).unwrap()).collect::<Vec<_>>());
        all.extend(log);
    }
    all
}
