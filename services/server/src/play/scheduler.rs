//! Clocks: ends turns whose time is up, and closes abandoned games.
//!
//! Each node handles the games in its ranges of the index and sleeps until their next deadline. If
//! two nodes ever overlap, nothing happens twice: the ids of the commands are deterministic.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{Command, Moment, RejectionCode, Stage};
use futures_util::{StreamExt, stream};
use sqlx::Row;
use store::{Shard, StoreError};
use tokio::time::Instant;
use uuid::Uuid;

use super::{AppError, GameService, ServiceCode, UserErrorCode};
use crate::clock;

/// How many turns are ended concurrently.
const CONCURRENCY: usize = 16;
/// Errors that mean that a player moved in time.
const IN_TIME: [UserErrorCode; 4] = [
    UserErrorCode::Service(ServiceCode::StaleVersion),
    UserErrorCode::Rules(RejectionCode::TimeNotUp),
    UserErrorCode::Rules(RejectionCode::NotYourTurn),
    UserErrorCode::Rules(RejectionCode::GameOver),
];
/// How many games are read per query.
const BATCH: i64 = 100;
/// How long a game is postponed after an error.
const POSTPONE_MS: u64 = 60_000;
/// The delay before a busy game is retried.
const BUSY_DELAY: Duration = Duration::from_millis(100);

/// Sends the commands that are due.
#[derive(Debug)]
pub(crate) struct Scheduler {
    games: Arc<GameService>,
    next: Mutex<Next>,
}

#[derive(Debug, Default)]
struct Next {
    /// The shards that were queried.
    shards: Vec<Shard>,
    /// The earliest deadline among them.
    due: Option<Moment>,
}

impl Scheduler {
    pub(crate) fn new(games: Arc<GameService>) -> Self {
        Self { games, next: Mutex::default() }
    }

    /// Adds the deadlines of rows that were written.
    pub(super) fn add_deadlines(&self, deadlines: impl IntoIterator<Item = Moment>) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.due = deadlines.into_iter().chain(next.due).min();
    }

    /// Handles what is due in these shards and returns when to run again. The database is only
    /// queried when something is due.
    pub(super) async fn run(
        &self,
        generation: i32,
        shards: &[Shard],
    ) -> Result<Option<Instant>, StoreError> {
        if !self.is_due(shards) {
            return Ok(self.wake_at());
        }
        let busy = self.end_turns(generation, shards).await?;
        self.close_abandoned(generation, shards).await?;
        self.refresh(generation, shards).await?;
        Ok(if busy { Some(Instant::now() + BUSY_DELAY) } else { self.wake_at() })
    }

    fn is_due(&self, shards: &[Shard]) -> bool {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.shards != shards || next.due.is_some_and(|due| due <= clock::now())
    }

    fn wake_at(&self) -> Option<Instant> {
        let due = self.next.lock().unwrap_or_else(PoisonError::into_inner).due?;
        Some(Instant::now() + Duration::from_millis(due.0.saturating_sub(clock::now().0)))
    }

    /// Reads the next deadline from the index.
    async fn refresh(&self, generation: i32, shards: &[Shard]) -> Result<(), StoreError> {
        const NEXT: &str = "
SELECT least((SELECT min(deadline) FROM game_index WHERE generation = $1 AND deadline IS NOT NULL AND shard = ANY ($2)),
             (SELECT min(expires_at) FROM game_index WHERE generation = $1 AND expires_at IS NOT NULL AND shard = ANY ($2)))";
        let query = sqlx::query(NEXT).bind(generation).bind(numbers(shards));
        let due: Option<i64> = query.fetch_one(self.games.store.pool()).await?.try_get(0)?;
        let due = due.map(clock::from_sql);
        let next = Next { shards: shards.to_vec(), due };
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// Ends turns whose time is up; returns whether to run again soon.
    async fn end_turns(&self, generation: i32, shards: &[Shard]) -> Result<bool, StoreError> {
        const DUE: &str = "
SELECT game FROM game_index
 WHERE generation = $1 AND shard = ANY ($2) AND deadline <= $3 ORDER BY deadline LIMIT $4";
        const POSTPONE: &str = "
UPDATE game_index SET deadline = $3 WHERE generation = $1 AND game = $2 AND deadline IS NOT NULL";
        let due = self.due(DUE, generation, shards).await?;
        let ended = stream::iter(due).map(async |game| (game, self.time_out(game).await));
        let ended: Vec<_> = ended.buffer_unordered(CONCURRENCY).collect().await;
        let mut busy = false;
        for (game, ended) in ended {
            match ended {
                // The index is updated soon.
                Ok(()) => busy = true,
                Err(AppError::Busy) => busy = true,
                Err(AppError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => {
                    tracing::warn!(?error, %game, "ending a turn failed; it is postponed");
                    self.postpone(POSTPONE, generation, game).await?;
                }
            }
        }
        Ok(busy)
    }

    async fn time_out(&self, game: Uuid) -> Result<(), AppError> {
        let games = &self.games;
        let state = games.store.games.latest(game).await?;
        let turn = state.aggregate.as_ref().filter(|game| game.table.stage == Stage::Playing);
        let turn = turn.map(|game| game.table.turn);
        let due =
            turn.filter(|turn| turn.deadline.is_some_and(|deadline| deadline <= clock::now()));
        // The index lags behind the log: the player has moved in time.
        let Some(turn) = due else { return Ok(()) };
        let id = games.system_command_id(game, &state.head.version.to_le_bytes()).await?;
        let command = Command::TimeOut { seat: turn.to_move() };
        match games.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_time_outs").increment(1),
            Err(AppError::User(refusal)) if IN_TIME.contains(&refusal.code) => {
                tracing::debug!(?refusal, %game, "the player moved in time");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Closes games that have had no command for their expiry time.
    async fn close_abandoned(&self, generation: i32, shards: &[Shard]) -> Result<(), StoreError> {
        const DUE: &str = "
SELECT game FROM game_index
 WHERE generation = $1 AND shard = ANY ($2) AND expires_at <= $3 ORDER BY expires_at LIMIT $4";
        const POSTPONE: &str = "
UPDATE game_index SET expires_at = $3 WHERE generation = $1 AND game = $2 AND expires_at IS NOT NULL";
        for game in self.due(DUE, generation, shards).await? {
            match self.abandon(game).await {
                Ok(()) => {}
                Err(AppError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => {
                    tracing::warn!(?error, %game, "closing a game failed; it is postponed");
                }
            }
            // Moves do not update the index, so the game may be in use.
            self.postpone(POSTPONE, generation, game).await?;
        }
        Ok(())
    }

    async fn abandon(&self, game: Uuid) -> Result<(), AppError> {
        let games = &self.games;
        let state = games.store.games.latest(game).await?;
        let id = games.system_command_id(game, b"abandon").await?;
        let command = Command::Abandon { touched: state.head.at() };
        match games.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_abandoned").increment(1),
            Err(AppError::User(refusal)) => {
                tracing::debug!(?refusal, %game, "the game is not abandoned");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn due(
        &self,
        query: &'static str,
        generation: i32,
        shards: &[Shard],
    ) -> Result<Vec<Uuid>, StoreError> {
        let query = sqlx::query(query).bind(generation).bind(numbers(shards));
        let query = query.bind(clock::to_sql(clock::now())).bind(BATCH);
        let rows = query.fetch_all(self.games.store.pool()).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    async fn postpone(
        &self,
        query: &'static str,
        generation: i32,
        game: Uuid,
    ) -> Result<(), StoreError> {
        let later = clock::to_sql(Moment(clock::now().0.saturating_add(POSTPONE_MS)));
        let query = sqlx::query(query).bind(generation).bind(game).bind(later);
        query.execute(self.games.store.pool()).await?;
        Ok(())
    }
}

fn numbers(shards: &[Shard]) -> Vec<i16> {
    shards.iter().map(|shard| shard.number().into()).collect()
}
