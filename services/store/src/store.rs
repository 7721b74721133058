//! The log itself.

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

/// The schema, step by step: number, title, SQL.
const MIGRATIONS: &[(i64, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The steps up to one of them, as sqlx runs them. Listed when the program is built: the macro of sqlx needs a second copy of all of sqlx for that.
fn migrator(last: i64) -> Migrator {
    let step = |&(version, title, sql): &(i64, &'static str, &'static str)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(version, title.into(), MigrationType::Simple, sql, false)
    };
    let steps = MIGRATIONS.iter().filter(|(version, ..)| *version <= last);
    Migrator::with_migrations(steps.map(step).collect())
}

/// How a store works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The most connections to the database.
    pub connections: u32,
    /// The most connections of processors.
    pub background: u32,
    /// How many batches can be on their way at once.
    pub lanes: usize,
    /// How many commands may wait in each lane before more are refused as busy.
    pub queue: usize,
    /// How many games are kept in memory, at most.
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

/// The event log. Clones share everything.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pool: PgPool,
    /// Connections of processors: what they do takes none away from requests.
    background: PgPool,
    committer: Committer,
    pub(crate) tailer: Arc<Tailer>,
    /// Games.
    pub games: Arc<States<Game>>,
    /// Wallets and inventories.
    pub accounts: Arc<States<Account>>,
    /// The catalogue of special dice, which is one stream.
    pub catalogues: Arc<States<Catalogue>>,
    /// Disputes.
    pub disputes: Arc<States<Dispute>>,
    /// What staff did, which is one stream.
    pub audits: Arc<States<Audit>>,
}

/// Brings the database of this address to the current schema; harmless if it is there already.
pub async fn migrate(url: &str) -> Result<(), StoreError> {
    migrate_up_to(url, i64::MAX).await
}

/// Brings a database as far as one of the steps: all that are missing, or none. Nodes that start together wait for each
/// other by a lock of the transaction, not of the session, so that a connection pooler may stand before PostgreSQL.
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
    /// Opens the log of a migrated database. Connections are made when they are needed, so the
    /// database need not be up yet.
    pub fn open(url: &str, settings: &Settings) -> Result<Self, StoreError> {
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(settings.patience)
            // A broken connection shows itself at its first use; asking before costs a round trip.
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

    /// Adds events to a stream, if it still ends where the caller thinks. Acknowledged is durable.
    ///
    /// It does not look for the id of the command: [`Store::execute`] does, on the state it decides on. After
    /// [`StoreError::Unavailable`] nobody knows whether the command went through; reading the stream tells.
    pub async fn append(&self, append: Append<'_>) -> Result<Appended, AppendError> {
        self.committer.commit(Prepared::new(&append)?).await
    }

    /// Learns an event of something that this node remembers.
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

    /// Gives up connections that nobody uses: after the database was away they are of no use.
    pub fn forget_connections(&self) {
        for pool in [&self.pool, &self.background] {
            while let Some(connection) = pool.try_acquire() {
                drop(connection.detach());
            }
        }
    }

    /// Whether the database has our schema, or a newer one.
    pub async fn is_migrated(&self) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT max(version) FROM _sqlx_migrations WHERE success");
        let newest: Option<i64> = query.fetch_one(&self.pool).await?.try_get(0)?;
        let ours = MIGRATIONS.iter().map(|(version, ..)| *version).max();
        Ok(newest >= ours)
    }

    /// The connections, for tables that stand beside the log.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The connections of processors.
    pub(crate) fn background(&self) -> &PgPool {
        &self.background
    }

    /// Commits what is under way, takes nothing more, and closes all connections.
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

/// The application's role can add events and not change them. Plans are made once a connection, for
/// every batch size, and use indexes however small a table was when they were made.
async fn act_as_application(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection
        .execute(
            "SET ROLE croupier_app; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
             SET enable_bitmapscan = off; SET jit = off; SET statement_timeout = '10s'",
        )
        .await
        .map(|_| ())
}

/// Processors may take their time. What they write is repeated from their checkpoint if a crash of the database loses it, for the
/// checkpoint is lost with it: nobody waits for the disk.
async fn act_in_background(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    act_as_application(connection).await?;
    connection.execute("SET statement_timeout = 0; SET synchronous_commit = off").await.map(|_| ())
}
