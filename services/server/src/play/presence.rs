//! Who follows which game, on all nodes: players who are connected, and how many others watch.
//!
//! A node counts its own subscriptions in memory and writes what changed, at most once a second. Its
//! rows expire, so those of a node that was killed disappear by themselves.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sqlx::{PgPool, Row};
use store::StoreError;
use tokio::{sync::Notify, time::Instant};
use uuid::Uuid;

use crate::clock;

/// Changes are collected for this long before they are written.
const COLLECT: Duration = Duration::from_secs(1);
/// Rows are written again after this long, so that they do not expire.
const REFRESH: Duration = Duration::from_secs(20);
/// A row that was not refreshed for this long is ignored, in milliseconds.
const EXPIRY: i64 = 60_000;

/// A game, and a player of it; nil stands for everyone without a seat.
type Key = (Uuid, Uuid);

/// The subscriptions of this node, and where those of all nodes are kept.
#[derive(Debug)]
pub(crate) struct Presence {
    pool: PgPool,
    node: Uuid,
    counts: Mutex<Counts>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    listeners: HashMap<Key, i32>,
    changed: HashSet<Key>,
}

/// One subscription; it is counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Attendance {
    presence: Arc<Presence>,
    key: Key,
}

/// Who follows a game.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attendees {
    /// Accounts with a seat.
    pub(crate) players: HashSet<Uuid>,
    /// How many subscriptions others have.
    pub(crate) spectators: i64,
}

impl Presence {
    pub(crate) fn new(pool: PgPool) -> Self {
        let node = Uuid::now_v7();
        Self { pool, node, counts: Mutex::default(), changed: Notify::new() }
    }

    /// Counts a subscription to a game, of a player with a seat or of a spectator.
    pub(crate) fn enter(self: &Arc<Self>, game: Uuid, player: Option<Uuid>) -> Attendance {
        let key = (game, player.unwrap_or_default());
        self.add(key, 1);
        Attendance { presence: Arc::clone(self), key }
    }

    /// Who follows these games, in one round trip.
    pub(crate) async fn of(&self, games: &[Uuid]) -> Result<HashMap<Uuid, Attendees>, StoreError> {
        const FIND: &str = "
SELECT game, account, sum(listeners) FROM presence WHERE game = ANY($1) AND seen_at > $2 GROUP BY game, account";
        let since = clock::to_sql(clock::now()) - EXPIRY;
        let mut found: HashMap<Uuid, Attendees> = HashMap::new();
        for row in sqlx::query(FIND).bind(games).bind(since).fetch_all(&self.pool).await? {
            let attendees = found.entry(row.try_get(0)?).or_default();
            let (account, listeners): (Uuid, i64) = (row.try_get(1)?, row.try_get(2)?);
            if account.is_nil() {
                attendees.spectators = listeners;
            } else {
                attendees.players.insert(account);
            }
        }
        Ok(found)
    }

    /// Writes changes, and refreshes all rows of this node, until the store is closed.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut refreshed = Instant::now();
        while !self.pool.is_closed() {
            // Rows are refreshed in time however often others change.
            let wait = REFRESH.saturating_sub(refreshed.elapsed());
            if tokio::time::timeout(wait, self.changed.notified()).await.is_ok() {
                tokio::time::sleep(COLLECT).await;
            }
            let refresh = refreshed.elapsed() >= REFRESH;
            let mut keys = std::mem::take(&mut self.counts().changed);
            if refresh {
                keys.extend(self.counts().listeners.keys().copied());
                refreshed = Instant::now();
            }
            let keys: Vec<Key> = keys.into_iter().collect();
            if keys.is_empty() {
                continue;
            }
            if let Err(error) = self.write(&keys).await {
                tracing::debug!(%error, "presence could not be written");
                self.counts().changed.extend(keys);
            }
        }
    }

    async fn write(&self, keys: &[Key]) -> Result<(), StoreError> {
        const WRITE: &str = "
WITH given AS (SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) AS g (game, account, listeners)),
     gone AS (DELETE FROM presence p USING given g
               WHERE p.node = $1 AND p.game = g.game AND p.account = g.account AND g.listeners = 0),
     expired AS (DELETE FROM presence WHERE node <> $1 AND seen_at < $5 - $6)
INSERT INTO presence (node, game, account, listeners, seen_at)
SELECT $1, game, account, listeners, $5 FROM given WHERE listeners > 0
    ON CONFLICT (game, node, account) DO UPDATE SET listeners = excluded.listeners, seen_at = excluded.seen_at";
        let listeners: Vec<i32> = {
            let counts = self.counts();
            keys.iter().map(|key| counts.listeners.get(key).copied().unwrap_or(0)).collect()
        };
        sqlx::query(WRITE)
            .bind(self.node)
            .bind(keys.iter().map(|key| key.0).collect::<Vec<_>>())
            .bind(keys.iter().map(|key| key.1).collect::<Vec<_>>())
            .bind(listeners)
            .bind(clock::to_sql(clock::now()))
            .bind(EXPIRY)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    fn add(&self, key: Key, by: i32) {
        let mut counts = self.counts();
        let listeners = counts.listeners.entry(key).or_default();
        *listeners += by;
        if *listeners == 0 {
            counts.listeners.remove(&key);
        }
        counts.changed.insert(key);
        drop(counts);
        self.changed.notify_one();
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.presence.add(self.key, -1);
    }
}
