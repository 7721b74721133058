//! The house's own duties, done by one node at a time: keeping the index, ending turns whose time is up, closing games
//! that nobody touches.
//!
//! The node that holds a lock of the database does them; when it dies, the database frees the lock and another node
//! goes on. Should two ever overlap, nothing happens twice: the rows of games carry versions, commands carry ids that
//! follow from what they answer to.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{Command, Stage};
use futures_util::{StreamExt, stream};
use sqlx::{PgConnection, Row};
use store::{Loaded, Positions, ReadError, Recorded, Store, StoreError};
use tokio::{sync::mpsc, task::JoinHandle};
use uuid::Uuid;

use super::{PlayError, Tables, index, lock::hold};
use crate::clock;

/// How often another node's lock is tried.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// How long changes are collected before they are written.
const COLLECT: Duration = Duration::from_millis(100);
/// How long a round of duties may take.
const ROUND: Duration = Duration::from_secs(20);
/// How many events wait to be written.
const WAITING: usize = 4096;
/// How many turns are ended at a time.
const AT_A_TIME: usize = 16;
/// Refusals that mean: somebody moved in time.
const IN_TIME: [&str; 4] = ["STALE_VERSION", "TIME_NOT_UP", "NOT_YOUR_TURN", "GAME_OVER"];
/// How many games are seen to at once.
const AT_ONCE: i64 = 100;
/// How long a game that cannot be seen to is left alone.
const POSTPONED: u64 = 60_000;
/// The lock of the database that makes a node the house: its name in numbers.
const LOCK: i64 = 0x0063_726f_7570_6965;

/// Games that changed, and the versions at which they did.
type Changed = HashMap<Uuid, i64>;

impl Tables {
    /// Does the duties whenever it is this node's turn, until the store is closed.
    pub(crate) async fn keep_house(self: Arc<Self>) {
        while !self.store.pool().is_closed() {
            match hold(self.store.pool(), LOCK).await {
                Ok(Some(mut connection)) => {
                    tracing::info!("this node keeps the house");
                    metrics::gauge!("croupier_keeps_house").set(1.0);
                    if let Err(error) = self.duties(&mut connection).await
                        && !self.store.pool().is_closed()
                    {
                        tracing::warn!(%error, "this node keeps the house no more");
                    }
                    metrics::gauge!("croupier_keeps_house").set(0.0);
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "the house is not open yet"),
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }

    /// Everything is written with the connection that holds the lock: without the lock, nothing is.
    async fn duties(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        let mut followed = Followed::begin(&self.store, index::FOLDED.read(connection).await?);
        loop {
            let changed = followed.collect().await?;
            let round = async {
                if let Some(changed) = changed {
                    self.write_index(connection, changed, &followed.positions).await?;
                }
                self.see_to_clocks(connection).await?;
                self.see_to_abandoned(connection).await
            };
            let done = tokio::time::timeout(ROUND, round).await;
            done.map_err(|_| StoreError::Unavailable("it does not answer".to_owned()))??;
        }
    }

    async fn write_index(
        &self,
        connection: &mut PgConnection,
        changed: Changed,
        positions: &Positions,
    ) -> Result<(), StoreError> {
        let mut games = Vec::with_capacity(changed.len());
        let mut unread = Vec::new();
        for (game, version) in changed {
            match self.store.games.remembered(game).filter(|state| state.head.version >= version) {
                Some(state) => games.push((game, state)),
                None => unread.push(game),
            }
        }
        if !unread.is_empty() {
            games.extend(self.read_all(unread).await?);
        }
        index::write(connection, &games, positions).await
    }

    /// Reads games; one that cannot be read does not hide the others.
    async fn read_all(&self, games: Vec<Uuid>) -> Result<Vec<(Uuid, Arc<Loaded>)>, StoreError> {
        match self.store.games.fresh_all(&games).await {
            Ok(states) => return Ok(states.into_iter().collect()),
            Err(ReadError::Store(error)) => return Err(error),
            Err(error) => tracing::error!(%error, "a game cannot be read for the index"),
        }
        let mut read = Vec::new();
        for game in games {
            match self.store.games.fresh(game).await {
                Ok(state) => read.push((game, state)),
                Err(ReadError::Store(error)) => return Err(error),
                Err(error) => tracing::error!(%error, %game, "this one"),
            }
        }
        Ok(read)
    }

    /// Ends turns whose time is up.
    async fn see_to_clocks(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        const DUE: &str =
            "SELECT game FROM game_index WHERE deadline <= $1 ORDER BY deadline LIMIT $2";
        const POSTPONE: &str =
            "UPDATE game_index SET deadline = $2 WHERE game = $1 AND deadline IS NOT NULL";
        let due = due(connection, DUE).await?;
        let ended = stream::iter(due).map(async |game| (game, self.time_out(game).await));
        let ended: Vec<_> = ended.buffer_unordered(AT_A_TIME).collect().await;
        for (game, ended) in ended {
            match ended {
                // What is busy is tried again at once.
                Ok(()) | Err(PlayError::Busy) => {}
                Err(PlayError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => {
                    tracing::warn!(?error, %game, "a turn cannot be ended yet");
                    postpone(connection, POSTPONE, game).await?;
                }
            }
        }
        Ok(())
    }

    async fn time_out(&self, game: Uuid) -> Result<(), PlayError> {
        let state = self.store.games.fresh(game).await?;
        let turn = state.now.as_ref().filter(|game| game.table.stage == Stage::Playing);
        let turn = turn.map(|game| game.table.turn);
        let due =
            turn.filter(|turn| turn.deadline.is_some_and(|deadline| deadline <= clock::now()));
        // The index is a moment behind: somebody moved in time.
        let Some(turn) = due else { return Ok(()) };
        let id = self.house_id(game, &state.head.version.to_le_bytes()).await?;
        let command = Command::TimeOut { seat: turn.to_move() };
        match self.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_time_outs").increment(1),
            Err(PlayError::Refused(refusal)) if IN_TIME.contains(&refusal.code.as_ref()) => {
                tracing::debug!(?refusal, %game, "somebody moved in the last moment");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Closes games that nobody touched for their expiry time.
    async fn see_to_abandoned(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        const DUE: &str =
            "SELECT game FROM game_index WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2";
        const POSTPONE: &str =
            "UPDATE game_index SET expires_at = $2 WHERE game = $1 AND expires_at IS NOT NULL";
        for game in due(connection, DUE).await? {
            match self.abandon(game).await {
                Ok(()) => {}
                Err(PlayError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => tracing::warn!(?error, %game, "a game cannot be closed yet"),
            }
            // Moves do not write the index, so a game may have been touched since.
            postpone(connection, POSTPONE, game).await?;
        }
        Ok(())
    }

    async fn abandon(&self, game: Uuid) -> Result<(), PlayError> {
        let state = self.store.games.fresh(game).await?;
        let id = self.house_id(game, b"abandon").await?;
        let command = Command::Abandon { touched: state.head.at() };
        match self.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_abandoned").increment(1),
            Err(PlayError::Refused(refusal)) => {
                tracing::debug!(?refusal, %game, "this game is not abandoned");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The log, followed by a task of its own: reading a long past is not interrupted by what else there is to do.
struct Followed {
    events: mpsc::Receiver<Arc<Recorded>>,
    /// How far everything was collected.
    positions: Positions,
    task: JoinHandle<()>,
}

impl Followed {
    fn begin(store: &Store, positions: Positions) -> Self {
        let mut tail = store.tail(positions.clone());
        let (sender, events) = mpsc::channel(WAITING);
        let pool = store.pool().clone();
        let task = tokio::spawn(async move {
            loop {
                match tail.next().await {
                    Ok(event) => {
                        if sender.send(event).await.is_err() {
                            return;
                        }
                    }
                    Err(_) if pool.is_closed() => return,
                    // Its shard stands still; the others go on.
                    Err(error) => tracing::error!(%error, "the index stands still here"),
                }
            }
        });
        Self { events, positions, task }
    }

    /// The games that changed within a little time; `None` if nothing happened at all.
    async fn collect(&mut self) -> Result<Option<Changed>, StoreError> {
        let (mut changed, mut happened) = (Changed::new(), false);
        let until = tokio::time::Instant::now() + COLLECT;
        while let Ok(event) = tokio::time::timeout_at(until, self.events.recv()).await {
            let closed = || StoreError::Unavailable("the store is closed".to_owned());
            let event = event.ok_or_else(closed)?;
            happened = true;
            self.positions.set(event.shard, event.position);
            if index::changes_index(&event.event) {
                changed.insert(event.stream, event.version);
            }
        }
        Ok(happened.then_some(changed))
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn due(connection: &mut PgConnection, query: &'static str) -> Result<Vec<Uuid>, StoreError> {
    let now = clock::to_sql(clock::now());
    let rows = sqlx::query(query).bind(now).bind(AT_ONCE).fetch_all(connection).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

async fn postpone(
    connection: &mut PgConnection,
    query: &'static str,
    game: Uuid,
) -> Result<(), StoreError> {
    let later = i64::try_from(clock::now().0.saturating_add(POSTPONED)).unwrap_or(i64::MAX);
    sqlx::query(query).bind(game).bind(later).execute(connection).await?;
    Ok(())
}
