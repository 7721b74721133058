//! Cache of aggregates: kept in memory while in use, otherwise folded from the log.
//!
//! A cached state may be stale. An append on it then conflicts, and [`States::fresh`] reads the
//! events that any node appended since.

use std::{collections::HashMap, sync::Arc};

use domain::Moment;
use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};

use crate::{
    Aggregate, Head, Loaded, ReadError, Recorded, Shard, Store, StoreError, StreamId,
    commands::Commands,
    error::in_time,
    read::{decode, envelope},
    timestamp::Micros,
};

/// The cached states of one kind of aggregate; rarely used ones are evicted.
#[derive(Debug)]
pub struct States<A> {
    pool: PgPool,
    cache: Cache<StreamId, Arc<Loaded<A>>>,
}

/// Number of events of a stream that are read at once.
const PAGE: usize = 2000;

/// The events of several streams, each after a version.
pub(crate) const STREAMS_PAGE: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::uuid[], $3::bigint[]) AS w (shard, stream, after)
 CROSS JOIN LATERAL (
        SELECT * FROM event
         WHERE shard = w.shard AND stream = w.stream AND version > w.after ORDER BY version LIMIT $4) e";

/// The events of the last command of each of several streams.
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
    /// When the first event of these types was recorded in each of these streams, in one round
    /// trip.
    pub async fn first_times(
        &self,
        streams: &[StreamId],
        types: &[&str],
    ) -> Result<HashMap<(StreamId, String), Moment>, StoreError> {
        const FIRST: &str = "
SELECT e.stream, e.type, min(e.recorded_at)
  FROM unnest($1::smallint[], $2::uuid[]) AS w (shard, stream)
  JOIN event e ON e.shard = w.shard AND e.stream = w.stream
 WHERE e.type = ANY($3)
 GROUP BY e.stream, e.type";
        let query = sqlx::query(FIRST)
            .bind(streams.iter().map(|&stream| Shard::of(stream).sql()).collect::<Vec<_>>())
            .bind(streams)
            .bind(types);
        let mut times = HashMap::new();
        for row in in_time(query.fetch_all(&self.pool)).await? {
            let at: Micros = row.try_get(2)?;
            times.insert(
                (row.try_get(0)?, row.try_get(1)?),
                Moment(u64::try_from(at.0 / 1000).unwrap_or(0)),
            );
        }
        Ok(times)
    }

    /// The events of the last command of each of these streams, in one round trip.
    pub async fn last_actions(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, ReadError> {
        let query = sqlx::query(LAST_ACTIONS)
            .bind(streams.iter().map(|&stream| Shard::of(stream).sql()).collect::<Vec<_>>())
            .bind(streams);
        let mut actions: HashMap<StreamId, Vec<Recorded>> = HashMap::new();
        for row in in_time(query.fetch_all(&self.pool)).await? {
            let recorded = decode(&envelope(&row).map_err(StoreError::from)?)?;
            actions.entry(recorded.stream).or_default().push(recorded);
        }
        Ok(actions)
    }
}

impl<A: Aggregate> States<A> {
    pub(crate) fn new(pool: PgPool, room: usize) -> Self {
        Self { pool, cache: Cache::new(room) }
    }

    /// The current state of a stream.
    pub async fn latest(&self, stream: StreamId) -> Result<Arc<Loaded<A>>, ReadError> {
        let mut states = self.fresh_all(&[stream]).await?;
        Ok(states.remove(&stream).unwrap_or_default())
    }

    /// The current states of several streams, in one round trip. An empty stream has no state.
    pub async fn fresh_all(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Arc<Loaded<A>>>, ReadError> {
        let remembered = |&stream| (stream, self.cached(stream).unwrap_or_default());
        let mut states: HashMap<StreamId, Arc<Loaded<A>>> =
            streams.iter().map(remembered).collect();
        let mut behind: Vec<StreamId> = states.keys().copied().collect();
        while !behind.is_empty() {
            behind = self.catch_up(&mut states, &behind).await?;
        }
        Ok(states)
    }

    /// A state at this version or later; from the cache if possible.
    pub async fn at_least(
        &self,
        stream: StreamId,
        version: i64,
    ) -> Result<Arc<Loaded<A>>, ReadError> {
        match self.cached(stream).filter(|state| state.head.version >= version) {
            Some(state) => Ok(state),
            None => self.latest(stream).await,
        }
    }

    /// Applies an event to the cached state, if it is the next one.
    pub(crate) fn learn(&self, recorded: &Recorded) {
        let known = self.cache.peek(&recorded.stream);
        let Some(known) = known.filter(|known| known.head.version + 1 == recorded.version) else {
            return;
        };
        let aggregate = A::evolve(known.aggregate.clone(), &recorded.event);
        let commands = known.commands.with(recorded.command);
        self.cache(
            recorded.stream,
            &Arc::new(Loaded { aggregate, head: recorded.head(), commands }),
        );
    }

    /// The cached state, which may be stale.
    pub fn cached(&self, stream: StreamId) -> Option<Arc<Loaded<A>>> {
        self.cache.get(&stream)
    }

    /// Number of cached states.
    pub fn in_memory(&self) -> usize {
        self.cache.len()
    }

    pub(crate) fn cache(&self, stream: StreamId, state: &Arc<Loaded<A>>) {
        let known = self.cache.peek(&stream);
        if known.is_none_or(|known| known.head.version < state.head.version) {
            self.cache.insert(stream, Arc::clone(state));
        }
    }

    /// Applies the events since the cached versions; returns the streams that may have more.
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
            let recorded = decode(&envelope(row).map_err(StoreError::from)?)?;
            *news.entry(recorded.stream).or_default() += 1;
            let state = states.entry(recorded.stream).or_default();
            let state = Arc::make_mut(state);
            state.aggregate = A::evolve(state.aggregate.take(), &recorded.event);
            state.head = recorded.head();
            state.commands = state.commands.with(recorded.command);
        }
        for stream in news.keys() {
            if let Some(state) = states.get(stream) {
                self.cache(*stream, state);
            }
        }
        Ok(news.into_iter().filter(|&(_, read)| read == PAGE).map(|(stream, _)| stream).collect())
    }
}

impl<A> Default for Loaded<A> {
    fn default() -> Self {
        Self { aggregate: None, head: Head::NEW, commands: Commands::default() }
    }
}
