//! Databases for tests, and nodes that run the read models in them.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use cluster::Cluster;
use sqlx::{Connection, Executor, PgConnection, Row};
use store::{
    Settings, Store,
    processor::{Consumer, Outcome, Processor, ProcessorError, Progress, Status, status},
};
use uuid::Uuid;

use super::{games_by_day, scale};
use crate::{MODELS, processors};

struct Server {
    _folder: tempfile::TempDir,
    cluster: Cluster,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let cluster = Cluster::start(folder.path(), cluster::Settings::Throwaway).unwrap();
    Server { _folder: folder, cluster }
});

pub(super) async fn database() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    execute(&SERVER.cluster.url("postgres"), &format!("CREATE DATABASE {name}")).await;
    let url = SERVER.cluster.url(&name);
    store::migrate(&url).await.unwrap();
    execute(&url, games_by_day::TABLE).await;
    url
}

pub(super) async fn execute(url: &str, sql: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let done = connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))).await;
    done.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

pub(super) fn open(url: &str) -> Store {
    Store::open(url, &Settings::default()).unwrap()
}

/// A node that runs the read models forever.
pub(super) async fn node(url: String) {
    let store = open(&url);
    let processors = processors(&store);
    Consumer::new(store, processors, Uuid::new_v4()).run_until(std::future::pending()).await;
}

/// Run in a child process by other tests: a node that runs until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn process() {
    if let Ok(url) = std::env::var("CROUPIER_TEST_NODE") {
        node(url).await;
    }
}

/// A node in a child process, which can be killed at any time.
pub(super) struct Process(std::process::Child);

impl Process {
    pub(super) fn start(url: &str) -> Self {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tests::nodes::process"]).env("CROUPIER_TEST_NODE", url);
        let quiet = || std::process::Stdio::null();
        Self(command.stdout(quiet()).stderr(quiet()).spawn().unwrap())
    }
}

impl Drop for Process {
    /// Kills the process, like a crash.
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Removes dead nodes, so that nobody waits for their leases to expire.
pub(super) async fn forget_nodes(url: &str) {
    execute(url, "DELETE FROM processor_node").await;
}

pub(super) fn named(store: &Store, name: &str) -> Vec<Processor> {
    vec![Processor::named(&processors(store), name).unwrap().clone()]
}

pub(super) async fn rebuild(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProcessorError> {
    let built = store::processor::rebuild(store, &named(store, name), progress).await;
    built.map(|mut outcomes| outcomes.pop().unwrap())
}

pub(super) async fn verify(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProcessorError> {
    let built = store::processor::verify(store, &named(store, name), progress).await;
    built.map(|mut outcomes| outcomes.pop().unwrap())
}

/// Waits until everything is folded.
pub(super) async fn settled(store: &Store) {
    for _ in 0..600 * scale() {
        let heads = store.heads().await.unwrap();
        let all = status(store.pool(), &heads).await.unwrap();
        let ours = |status: &&Status| MODELS.iter().any(|model| model.name == status.name);
        let mut live = all.iter().filter(ours).filter(|status| status.state == "live").peekable();
        let due = "SELECT (SELECT count(*) FROM rating_due JOIN processor USING (generation) WHERE name = 'ratings' AND state = 'live')
            + (SELECT count(*) FROM balance_due JOIN processor USING (generation) WHERE name = 'balance' AND state = 'live')";
        let due: i64 = sqlx::query(due).fetch_one(store.pool()).await.unwrap().get(0);
        let uncounted = "SELECT count(*) FROM season s, processor p WHERE p.state = 'live' AND p.name IN ('leaderboards', 'ratings')
            AND NOT EXISTS (SELECT 1 FROM season_counted c WHERE (c.name, c.generation, c.season) = (p.name, p.generation, s.code))";
        let uncounted: i64 = sqlx::query(uncounted).fetch_one(store.pool()).await.unwrap().get(0);
        let waiting = due + uncounted;
        if live.peek().is_some() && live.all(|live| live.behind() == 0) && waiting == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the read models did not catch up");
}
