//! What a node is made of.

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
    play::{PlayError, Tables},
};

/// How often the database is asked whether it is there: when it is, and when it is not.
const PROBE: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(200)];
/// How long it may take to answer that.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything a request may need.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) tables: Arc<Tables>,
    pub(crate) accounts: Accounts,
    pub(crate) disputes: Disputes,
    pub(crate) database: Database,
}

/// Whether the database answers. While it does not, requests are refused at once instead of waiting for it one by one.
/// It is asked on a connection of its own: that all others are busy does not mean that it is away.
#[derive(Debug, Default)]
pub(crate) struct Database {
    away: AtomicBool,
    migrated: AtomicBool,
    lag: AtomicI64,
    doubt: Notify,
}

impl Database {
    pub(crate) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Whether it has our schema.
    pub(crate) fn is_migrated(&self) -> bool {
        self.migrated.load(Ordering::Relaxed)
    }

    /// How many events of the log were not yet handed on when we last looked.
    pub(crate) fn lag(&self) -> i64 {
        self.lag.load(Ordering::Relaxed)
    }

    /// Something went wrong: looks now whether it is there.
    pub(crate) fn look(&self) {
        self.doubt.notify_one();
    }

    /// Refuses if the database is known to be away.
    pub(crate) fn check(&self) -> Result<(), PlayError> {
        if self.is_away() {
            return Err(PlayError::Unavailable("it does not answer at the moment".to_owned()));
        }
        Ok(())
    }

    fn found(&self, away: bool) {
        if self.away.swap(away, Ordering::Relaxed) != away {
            if away {
                tracing::error!("the database is away");
            } else {
                tracing::info!("the database is back");
            }
        }
    }
}

impl App {
    /// Looks after the database, for ever.
    pub(crate) async fn watch_database(&self, url: &str) {
        let mut line: Option<PgConnection> = None;
        loop {
            let there =
                matches!(tokio::time::timeout(PATIENCE, ping(url, &mut line)).await, Ok(Ok(())));
            self.database.found(!there);
            if there {
                self.look_closer().await;
            } else {
                // What was connected before is of no use after.
                line = None;
                self.tables.store.forget_connections();
            }
            let pause = tokio::time::sleep(PROBE[usize::from(!there)]);
            tokio::select! { () = pause => {}, () = self.database.doubt.notified() => {} }
        }
    }

    async fn look_closer(&self) {
        let store = &self.tables.store;
        if !self.database.is_migrated()
            && let Ok(migrated) = store.is_migrated().await
        {
            self.database.migrated.store(migrated, Ordering::Relaxed);
        }
        if let (Ok(heads), Some(handed_on)) = (store.heads().await, self.tables.live.handed_on()) {
            self.database.lag.store((heads.total() - handed_on).max(0), Ordering::Relaxed);
        }
    }
}

async fn ping(url: &str, line: &mut Option<PgConnection>) -> Result<(), sqlx::Error> {
    let connection = match line {
        Some(connection) => connection,
        None => line.insert(PgConnection::connect(url).await?),
    };
    if let Err(error) = connection.ping().await {
        // It may only have been this connection: the next one tells.
        *line = None;
        tracing::debug!(%error, "the database is asked again");
        line.insert(PgConnection::connect(url).await?).ping().await?;
    }
    Ok(())
}
