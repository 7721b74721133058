//! The entry point to the event log.

use std::{str::FromStr, sync::Arc, time::Duration};

use domain::{Account, Dispute, Event, Game, special_dice::Catalogue};
use sqlx::{
    ConnectOptions, Connection, Executor, PgConnection, PgPool, Row, SqlStr,
    migrate::{Migration, MigrationType, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::mpsc;

use crate::{
    Append, AppendError, Appended, Audit, Recorded, StoreError, append::Prepared,
    committer::Committer, states::States, tail::Tailer,
};

/// The migrations: number, title, SQL.
const MIGRATIONS: &[(i64, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The migrations up to one of them. They are listed by the build script: the macro of sqlx would
/// compile a second copy of all of sqlx.
fn migrator(last: i64) -> Migrator {
    let step = |&(version, title, sql): &(i64, &'static str, &'static str)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(version, title.into(), MigrationType::Simple, sql, false)
    };
    let steps = MIGRATIONS.iter().filter(|(version, ..)| *version <= last);
    Migrator::with_migrations(steps.map(step).collect())
}

/// Settings of a store.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Maximum number of connections to the database.
    pub connections: u32,
    /// Maximum number of connections used by processors.
    pub background: u32,
    /// Number of batches that may be committed concurrently.
    pub lanes: usize,
    /// Number of commands that may wait in each lane before more are refused as busy.
    pub queue: usize,
    /// Maximum number of cached games.
    pub games: usize,
    /// How long to wait for a connection before the database counts as unavailable.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections: 16,
            background: 6,
            lanes: 3,
            queue: 2048,
            games: 20_000,
            patience: Duration::from_secs(2),
        }
    }
}

/// The event log. Clones share the same connections and caches.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pool: PgPool,
    /// Connections of processors, separate so that they take none away from requests.
    background: PgPool,
    committer: Committer,
    pub(crate) tailer: Arc<Tailer>,
    /// Cached games.
    pub games: Arc<States<Game>>,
    /// Cached accounts: wallets and inventories.
    pub accounts: Arc<States<Account>>,
    /// The cached catalogue of special dice, which is one stream.
    pub catalogues: Arc<States<Catalogue>>,
    /// Cached disputes.
    pub disputes: Arc<States<Dispute>>,
    /// The cached audit log, which is one stream.
    pub audits: Arc<States<Audit>>,
}

/// Migrates a database to the current schema; does nothing if it is current.
pub async fn migrate(url: &str) -> Result<(), StoreError> {
    migrate_up_to(url, i64::MAX).await
}

/// Runs all missing migrations up to one of them, or none. Nodes that start together are serialized
/// by a lock of the transaction, not of the session, so that it works behind a connection pooler.
pub(crate) async fn migrate_up_to(url: &str, last: i64) -> Result<(), StoreError> {
    const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('croupier migrations', 0))";
    let mut connection = connect_options(url)?.connect().await?;
    let mut transaction = connection.begin().await?;
    sqlx::query(LOCK).execute(&mut *transaction).await?;
    migrator(last).set_locking(false).run(&mut *transaction).await?;
    transaction.commit().await?;
    connection.close().await?;
    Ok(())
}

impl Store {
    /// Opens the log of a migrated database. Connections are opened on demand, so the database need
    /// not be up yet.
    pub fn open(url: &str, settings: &Settings) -> Result<Self, StoreError> {
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(settings.patience)
            // A broken connection fails at its first use; testing it before costs a round trip.
            .test_before_acquire(false)
            .after_connect(|connection, _| Box::pin(act_as_application(connection)))
            .connect_lazy_with(connect_options(url)?);
        let background = PgPoolOptions::new()
            .max_connections(settings.background)
            .acquire_timeout(settings.patience * 15)
            .test_before_acquire(false)
            .after_connect(|connection, _| Box::pin(act_in_background(connection)))
            .connect_lazy_with(connect_options(url)?);
        let (published, appended) = mpsc::unbounded_channel();
        let tailer = Tailer::start(pool.clone(), appended);
        let committer = Committer::start(&pool, settings.lanes, settings.queue, published);
        Ok(Self {
            games: Arc::new(States::new(pool.clone(), settings.games)),
            accounts: Arc::new(States::new(pool.clone(), settings.games)),
            catalogues: Arc::new(States::new(pool.clone(), 1)),
            disputes: Arc::new(States::new(pool.clone(), 1_000)),
            audits: Arc::new(States::new(pool.clone(), 1)),
            pool,
            background,
            committer,
            tailer,
        })
    }

    /// Appends events to a stream if it still ends where the caller expects. A successful append is
    /// durable.
    ///
    /// This does not check the command id: [`Store::execute`] does, on the state it decides on.
    /// After [`StoreError::Unavailable`] the outcome is unknown; read the stream to find out.
    pub async fn append(&self, append: Append<'_>) -> Result<Appended, AppendError> {
        self.committer.commit(Prepared::new(&append)?).await
    }

    /// Applies an event to the cached state of its aggregate.
    pub fn learn(&self, recorded: &Recorded) {
        if let Event::Account(_) = &recorded.event {
            self.accounts.learn(recorded);
        } else if let Event::Catalogue(_) = &recorded.event {
            self.catalogues.learn(recorded);
        } else if let Event::Dispute(_) = &recorded.event {
            self.disputes.learn(recorded);
        } else if let Event::Staff(_) = &recorded.event {
            self.audits.learn(recorded);
        } else {
            self.games.learn(recorded);
        }
    }

    /// Closes idle connections: they are useless after the database was away.
    pub fn forget_connections(&self) {
        for pool in [&self.pool, &self.background] {
            while let Some(connection) = pool.try_acquire() {
                drop(connection.detach());
            }
        }
    }

    /// Whether the database has our schema or a newer one.
    pub async fn is_migrated(&self) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT max(version) FROM _sqlx_migrations WHERE success");
        let newest: Option<i64> = query.fetch_one(&self.pool).await?.try_get(0)?;
        let ours = MIGRATIONS.iter().map(|(version, ..)| *version).max();
        Ok(newest >= ours)
    }

    /// The connection pool, for tables besides the log.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The connection pool of processors.
    pub(crate) fn background(&self) -> &PgPool {
        &self.background
    }

    /// Commits pending commands, accepts no more, and closes all connections.
    pub async fn close(&self) {
        self.committer.close().await;
        self.pool.close().await;
        self.background.close().await;
    }
}

fn connect_options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|error| StoreError::Fault(format!("the database's address is wrong: {error}")))?;
    Ok(options.application_name("croupier").disable_statement_logging())
}

/// The application's role can insert events but not change them. Generic plans are made once per
/// connection for every batch size, and use indexes however small a table was when they were made.
async fn act_as_application(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection
        .execute(
            "SET ROLE croupier_app; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
             SET enable_bitmapscan = off; SET jit = off; SET statement_timeout = '10s'",
        )
        .await
        .map(|_| ())
}

/// Processors have no statement timeout. Their commits do not wait for the disk: if a crash of the
/// database loses their writes, it also loses the checkpoint, and the events are handled again.
async fn act_in_background(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    act_as_application(connection).await?;
    connection.execute("SET statement_timeout = 0; SET synchronous_commit = off").await.map(|_| ())
}
