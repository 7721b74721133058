//! Clocks: ending turns whose time is up, and closing games that nobody touches.
//!
//! Each node sees to the games whose ranges of the index it has. It sleeps until the next deadline it knows of. Should two nodes
//! ever overlap, nothing happens twice: the commands carry ids that follow from what they answer to.

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

use super::{PlayError, RefusalCode, ServiceCode, Tables};
use crate::clock;

/// How many turns are ended at a time.
const AT_A_TIME: usize = 16;
/// Refusals that mean: a player moved in time.
const IN_TIME: [RefusalCode; 4] = [
    RefusalCode::Service(ServiceCode::StaleVersion),
    RefusalCode::Rules(RejectionCode::TimeNotUp),
    RefusalCode::Rules(RejectionCode::NotYourTurn),
    RefusalCode::Rules(RejectionCode::GameOver),
];
/// How many games are seen to at once.
const AT_ONCE: i64 = 100;
/// How long a game that cannot be seen to is left alone.
const POSTPONED: u64 = 60_000;
/// How soon a game is tried again that is busy.
const BUSY: Duration = Duration::from_millis(100);

/// When something is due next, as far as this node knows.
#[derive(Debug)]
pub(crate) struct Scheduler {
    tables: Arc<Tables>,
    next: Mutex<Next>,
}

#[derive(Debug, Default)]
struct Next {
    /// The shards that were looked at.
    shards: Vec<Shard>,
    /// The earliest deadline among them.
    due: Option<Moment>,
}

impl Scheduler {
    pub(crate) fn new(tables: Arc<Tables>) -> Self {
        Self { tables, next: Mutex::default() }
    }

    /// A row was written with these deadlines.
    pub(super) fn learn(&self, deadlines: impl IntoIterator<Item = Moment>) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.due = deadlines.into_iter().chain(next.due).min();
    }

    /// Does what is due in these shards; says when to look again. Nothing is asked of the database before something is due.
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
        self.look(generation, shards).await?;
        Ok(if busy { Some(Instant::now() + BUSY) } else { self.wake_at() })
    }

    fn is_due(&self, shards: &[Shard]) -> bool {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.shards != shards || next.due.is_some_and(|due| due <= clock::now())
    }

    fn wake_at(&self) -> Option<Instant> {
        let due = self.next.lock().unwrap_or_else(PoisonError::into_inner).due?;
        Some(Instant::now() + Duration::from_millis(due.0.saturating_sub(clock::now().0)))
    }

    /// Finds out when something is due next.
    async fn look(&self, generation: i32, shards: &[Shard]) -> Result<(), StoreError> {
        const NEXT: &str = "
SELECT least((SELECT min(deadline) FROM game_index WHERE generation = $1 AND deadline IS NOT NULL AND shard = ANY ($2)),
             (SELECT min(expires_at) FROM game_index WHERE generation = $1 AND expires_at IS NOT NULL AND shard = ANY ($2)))";
        let query = sqlx::query(NEXT).bind(generation).bind(numbers(shards));
        let due: Option<i64> = query.fetch_one(self.tables.store.pool()).await?.try_get(0)?;
        let due = due.map(clock::from_sql);
        let next = Next { shards: shards.to_vec(), due };
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// Ends turns whose time is up; whether some games were busy.
    async fn end_turns(&self, generation: i32, shards: &[Shard]) -> Result<bool, StoreError> {
        const DUE: &str = "
SELECT game FROM game_index
 WHERE generation = $1 AND shard = ANY ($2) AND deadline <= $3 ORDER BY deadline LIMIT $4";
        const POSTPONE: &str = "
UPDATE game_index SET deadline = $3 WHERE generation = $1 AND game = $2 AND deadline IS NOT NULL";
        let due = self.due(DUE, generation, shards).await?;
        let ended = stream::iter(due).map(async |game| (game, self.time_out(game).await));
        let ended: Vec<_> = ended.buffer_unordered(AT_A_TIME).collect().await;
        let mut busy = false;
        for (game, ended) in ended {
            match ended {
                // The index hears of it in a moment.
                Ok(()) => busy = true,
                Err(PlayError::Busy) => busy = true,
                Err(PlayError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => {
                    tracing::warn!(?error, %game, "a turn cannot be ended yet");
                    self.postpone(POSTPONE, generation, game).await?;
                }
            }
        }
        Ok(busy)
    }

    async fn time_out(&self, game: Uuid) -> Result<(), PlayError> {
        let tables = &self.tables;
        let state = tables.store.games.fresh(game).await?;
        let turn = state.now.as_ref().filter(|game| game.table.stage == Stage::Playing);
        let turn = turn.map(|game| game.table.turn);
        let due =
            turn.filter(|turn| turn.deadline.is_some_and(|deadline| deadline <= clock::now()));
        // The index is a moment behind: a player moved in time.
        let Some(turn) = due else { return Ok(()) };
        let id = tables.house_id(game, &state.head.version.to_le_bytes()).await?;
        let command = Command::TimeOut { seat: turn.to_move() };
        match tables.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_time_outs").increment(1),
            Err(PlayError::Refused(refusal)) if IN_TIME.contains(&refusal.code) => {
                tracing::debug!(?refusal, %game, "a player moved in the last moment");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Closes games that nobody touched for their expiry time.
    async fn close_abandoned(&self, generation: i32, shards: &[Shard]) -> Result<(), StoreError> {
        const DUE: &str = "
SELECT game FROM game_index
 WHERE generation = $1 AND shard = ANY ($2) AND expires_at <= $3 ORDER BY expires_at LIMIT $4";
        const POSTPONE: &str = "
UPDATE game_index SET expires_at = $3 WHERE generation = $1 AND game = $2 AND expires_at IS NOT NULL";
        for game in self.due(DUE, generation, shards).await? {
            match self.abandon(game).await {
                Ok(()) => {}
                Err(PlayError::Unavailable(why)) => return Err(StoreError::Unavailable(why)),
                Err(error) => tracing::warn!(?error, %game, "a game cannot be closed yet"),
            }
            // Moves do not write the index, so a game may have been touched since.
            self.postpone(POSTPONE, generation, game).await?;
        }
        Ok(())
    }

    async fn abandon(&self, game: Uuid) -> Result<(), PlayError> {
        let tables = &self.tables;
        let state = tables.store.games.fresh(game).await?;
        let id = tables.house_id(game, b"abandon").await?;
        let command = Command::Abandon { touched: state.head.at() };
        match tables.execute(game, &command, id, Uuid::nil(), Some(state.head.version)).await {
            Ok(_) => metrics::counter!("croupier_abandoned").increment(1),
            Err(PlayError::Refused(refusal)) => {
                tracing::debug!(?refusal, %game, "this game is not abandoned");
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
        let query = query.bind(clock::to_sql(clock::now())).bind(AT_ONCE);
        let rows = query.fetch_all(self.tables.store.pool()).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    async fn postpone(
        &self,
        query: &'static str,
        generation: i32,
        game: Uuid,
    ) -> Result<(), StoreError> {
        let later = clock::to_sql(Moment(clock::now().0.saturating_add(POSTPONED)));
        let query = sqlx::query(query).bind(generation).bind(game).bind(later);
        query.execute(self.tables.store.pool()).await?;
        Ok(())
    }
}

fn numbers(shards: &[Shard]) -> Vec<i16> {
    shards.iter().map(|shard| shard.number().into()).collect()
}
