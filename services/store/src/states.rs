//! Cache of aggregates: kept in memory while they are used, folded from the log when they are not.
//!
//! A cached state may be behind the log. An append on it then conflicts, and [`States::fresh`] reads
//! what came after it, from whichever node.

use std::{collections::HashMap, sync::Arc};

use quick_cache::sync::Cache;
use sqlx::PgPool;

use crate::{
    Aggregate, Head, Loaded, ReadError, Recorded, Shard, Store, StreamId,
    commands::Commands,
    error::in_time,
    read::{decode, envelope},
};

/// The states of one kind of thing: the least used ones make room in memory.
#[derive(Debug)]
pub struct States<A> {
    pool: PgPool,
    cache: Cache<StreamId, Arc<Loaded<A>>>,
}

/// How many events of a stream are read at once.
const PAGE: usize = 2000;

/// What came behind a version, of several streams.
pub(crate) const STREAMS_PAGE: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::uuid[], $3::bigint[]) AS w (shard, stream, after)
 CROSS JOIN LATERAL (
        SELECT * FROM event
         WHERE shard = w.shard AND stream = w.stream AND version > w.after ORDER BY version LIMIT $4) e";

/// What the last command of several streams did.
pub(crate) const LAST_ACTIONS: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::uuid[]) AS w (shard, stream)
 CROSS JOIN LATERAL (
        SELECT h.version, h.appended FROM stream_head h WHERE h.shard = w.shard AND h.stream = w.stream LIMIT 1) h
 CROSS JOIN LATERAL (
        SELECT * FROM event
         WHERE shard = w.shard AND stream = w.stream AND version > h.version - h.appended ORDER BY version) e";

impl Store {
    /// What the last command of each of these streams did, in one round trip.
    pub async fn last_actions(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, ReadError> {
        let query = sqlx::query(LAST_ACTIONS)
            .bind(streams.iter().map(|&stream| Shard::of(stream).sql()).collect::<Vec<_>>())
            .bind(streams);
        let mut actions: HashMap<StreamId, Vec<Recorded>> = HashMap::new();
        for row in in_time(query.fetch_all(&self.pool)).await? {
            let recorded = decode(&envelope(&row).map_err(crate::StoreError::from)?)?;
            actions.entry(recorded.stream).or_default().push(recorded);
        }
        Ok(actions)
    }
}

impl<A: Aggregate> States<A> {
    pub(crate) fn new(pool: PgPool, room: usize) -> Self {
        Self { pool, cache: Cache::new(room) }
    }

    /// One as the log has it now.
    pub async fn fresh(&self, stream: StreamId) -> Result<Arc<Loaded<A>>, ReadError> {
        let mut states = self.fresh_all(&[stream]).await?;
        Ok(states.remove(&stream).unwrap_or_default())
    }

    /// Several as the log has them now, in one round trip. One that was never created is nothing yet.
    pub async fn fresh_all(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Arc<Loaded<A>>>, ReadError> {
        let remembered = |&stream| (stream, self.remembered(stream).unwrap_or_default());
        let mut states: HashMap<StreamId, Arc<Loaded<A>>> =
            streams.iter().map(remembered).collect();
        let mut behind: Vec<StreamId> = states.keys().copied().collect();
        while !behind.is_empty() {
            behind = self.catch_up(&mut states, &behind).await?;
        }
        Ok(states)
    }

    /// One that is at least as far as this version: from memory, if it is there.
    pub async fn at_least(
        &self,
        stream: StreamId,
        version: i64,
    ) -> Result<Arc<Loaded<A>>, ReadError> {
        match self.remembered(stream).filter(|state| state.head.version >= version) {
            Some(state) => Ok(state),
            None => self.fresh(stream).await,
        }
    }

    /// Learns an event of one that this node remembers, if it is the next one.
    pub(crate) fn learn(&self, recorded: &Recorded) {
        let known = self.cache.peek(&recorded.stream);
        let Some(known) = known.filter(|known| known.head.version + 1 == recorded.version) else {
            return;
        };
        let now = A::evolve(known.now.clone(), &recorded.event);
        let commands = known.commands.with(recorded.command);
        self.remember(recorded.stream, &Arc::new(Loaded { now, head: recorded.head(), commands }));
    }

    /// One as this node knows it.
    pub fn remembered(&self, stream: StreamId) -> Option<Arc<Loaded<A>>> {
        self.cache.get(&stream)
    }

    /// How many are in memory.
    pub fn in_memory(&self) -> usize {
        self.cache.len()
    }

    pub(crate) fn remember(&self, stream: StreamId, state: &Arc<Loaded<A>>) {
        let known = self.cache.peek(&stream);
        if known.is_none_or(|known| known.head.version < state.head.version) {
            self.cache.insert(stream, Arc::clone(state));
        }
    }

    /// Folds what came since; gives the streams that may have more.
    async fn catch_up(
        &self,
        states: &mut HashMap<StreamId, Arc<Loaded<A>>>,
        behind: &[StreamId],
    ) -> Result<Vec<StreamId>, ReadError> {
        let version = |stream| states.get(stream).map_or(0, |state| state.head.version);
        let query = sqlx::query(STREAMS_PAGE)
            .bind(behind.iter().map(|&stream| Shard::of(stream).sql()).collect::<Vec<_>>())
            .bind(behind)
            .bind(behind.iter().map(version).collect::<Vec<_>>())
            .bind(i64::try_from(PAGE).unwrap_or(i64::MAX));
        let rows = in_time(query.fetch_all(&self.pool)).await?;
        let mut news: HashMap<StreamId, usize> = HashMap::new();
        for row in &rows {
            let recorded = decode(&envelope(row).map_err(crate::StoreError::from)?)?;
            *news.entry(recorded.stream).or_default() += 1;
            let state = states.entry(recorded.stream).or_default();
            let state = Arc::make_mut(state);
            state.now = A::evolve(state.now.take(), &recorded.event);
            state.head = recorded.head();
            state.commands = state.commands.with(recorded.command);
        }
        for stream in news.keys() {
            if let Some(state) = states.get(stream) {
                self.remember(*stream, state);
            }
        }
        Ok(news.into_iter().filter(|&(_, read)| read == PAGE).map(|(stream, _)| stream).collect())
    }
}

impl<A> Default for Loaded<A> {
    fn default() -> Self {
        Self { now: None, head: Head::NEW, commands: Commands::default() }
    }
}
