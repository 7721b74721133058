//! The services of a node, and the health of its database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection, PgConnection};
use tokio::sync::Notify;

use crate::{
    accounts::Accounts,
    disputes::Disputes,
    play::{AppError, GameService},
    replay::Recordings,
};

/// Interval of health checks while the database is reachable, and while it is not.
const PROBE_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(200)];
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The services that requests use.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) games: Arc<GameService>,
    pub(crate) accounts: Accounts,
    pub(crate) disputes: Disputes,
    pub(crate) recordings: Recordings,
    pub(crate) database: Database,
}

/// The health of the database. While it is unreachable, requests fail immediately instead of
/// waiting for a timeout. Health checks use a connection of their own, so that a busy pool is not
/// mistaken for an outage.
#[derive(Debug, Default)]
pub(crate) struct Database {
    away: AtomicBool,
    read_only: AtomicBool,
    migrated: AtomicBool,
    lag: AtomicI64,
    probe_now: Notify,
}

impl Database {
    pub(crate) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Whether it has the current schema.
    pub(crate) fn is_migrated(&self) -> bool {
        self.migrated.load(Ordering::Relaxed)
    }

    /// Whether it refuses writes: it is a standby, or an administrator made it read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Relaxed)
    }

    /// How many events of the log were not yet published at the last check.
    pub(crate) fn lag(&self) -> i64 {
        self.lag.load(Ordering::Relaxed)
    }

    /// Triggers a health check after an error.
    pub(crate) fn look(&self) {
        self.probe_now.notify_one();
    }

    /// Fails if the database is unreachable.
    pub(crate) fn check(&self) -> Result<(), AppError> {
        if self.is_away() {
            return Err(AppError::Unavailable("it does not respond at the moment".to_owned()));
        }
        Ok(())
    }

    fn set_away(&self, away: bool) {
        if self.away.swap(away, Ordering::Relaxed) != away {
            if away {
                tracing::error!("the database is unreachable");
            } else {
                tracing::info!("the database is reachable again");
            }
        }
    }
}

impl App {
    /// Checks the database periodically, forever.
    pub(crate) async fn watch_database(&self, url: &str) {
        let mut probe_connection: Option<PgConnection> = None;
        loop {
            let probed = tokio::time::timeout(PROBE_TIMEOUT, probe(url, &mut probe_connection));
            let accepts_writes = probed.await.ok().and_then(Result::ok);
            let reachable = accepts_writes.is_some();
            self.database.set_away(!reachable);
            self.database.read_only.store(accepts_writes == Some(false), Ordering::Relaxed);
            if reachable {
                self.update_status().await;
            } else {
                // Existing connections are broken.
                probe_connection = None;
                self.games.store.forget_connections();
            }
            let pause = tokio::time::sleep(PROBE_INTERVALS[usize::from(!reachable)]);
            tokio::select! { () = pause => {}, () = self.database.probe_now.notified() => {} }
        }
    }

    async fn update_status(&self) {
        let store = &self.games.store;
        if !self.database.is_migrated()
            && let Ok(migrated) = store.is_migrated().await
        {
            self.database.migrated.store(migrated, Ordering::Relaxed);
        }
        if let (Ok(heads), Some(published)) = (store.heads().await, self.games.live.published()) {
            self.database.lag.store((heads.total() - published).max(0), Ordering::Relaxed);
        }
    }
}

/// Whether the database responds and accepts writes.
async fn probe(
    url: &str,
    probe_connection: &mut Option<PgConnection>,
) -> Result<bool, sqlx::Error> {
    let connection = match probe_connection {
        Some(connection) => connection,
        None => probe_connection.insert(PgConnection::connect(url).await?),
    };
    match accepts_writes(connection).await {
        Ok(accepts) => Ok(accepts),
        Err(error) => {
            // Perhaps only this connection is broken: try a new one.
            *probe_connection = None;
            tracing::debug!(%error, "health check failed; reconnecting");
            accepts_writes(probe_connection.insert(PgConnection::connect(url).await?)).await
        }
    }
}

/// Whether the database can be written to: a standby cannot.
async fn accepts_writes(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let read_only: String =
        sqlx::query_scalar("SHOW transaction_read_only").fetch_one(connection).await?;
    Ok(read_only == "off")
}
