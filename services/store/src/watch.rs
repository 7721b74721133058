//! Finding events of certain types.

use std::collections::HashSet;

use sqlx::Row;

use crate::{
    Envelope, Positions, ReadError, Recorded, Shard, Store, StoreError, StreamId,
    error::in_time,
    read::{decode, envelope},
};

/// The next events of these types in all shards with new events, and where those shards end.
pub(crate) const OF_TYPES: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash, w.shard, h.last, h.position
  FROM unnest($1::smallint[], $2::bigint[]) AS w (shard, after)
 CROSS JOIN LATERAL (
        SELECT h.position, least(h.position, w.after + $5) AS last
          FROM shard_head h WHERE h.shard = w.shard AND h.position > w.after LIMIT 1) h
  LEFT JOIN LATERAL (
        SELECT * FROM event WHERE shard = w.shard AND position > w.after AND position <= h.last AND type = ANY ($3)
         ORDER BY position LIMIT $4) e ON true";

/// Number of events of a shard scanned at once: long stretches without a match are crossed in
/// steps.
const WINDOW: i64 = 10_000;

/// The events of a stream before a version that have one of these types, newest first.
pub(crate) const BACKWARDS: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash
  FROM event
 WHERE shard = $1 AND stream = $2 AND version < $3 AND type = ANY ($4) ORDER BY version DESC LIMIT $5";

/// Events of a stream of some types, the oldest first.
pub(crate) const FORWARDS: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash
  FROM event
 WHERE shard = $1 AND stream = $2 AND version > $3 AND type = ANY ($4) ORDER BY version LIMIT $5";

/// All events of several streams, ordered by stream.
pub(crate) const STREAMS: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::uuid[]) AS w (shard, stream)
 CROSS JOIN LATERAL (
        SELECT * FROM event WHERE shard = w.shard AND stream = w.stream ORDER BY version) e";

const ONE: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash
  FROM event WHERE shard = $1 AND stream = $2 AND version = $3";

/// Events found in the log, and how far it was scanned.
#[derive(Clone, Debug)]
pub struct Found {
    /// The events, in order within each shard; not decoded, so one that cannot be decoded does not
    /// hide others.
    pub events: Vec<Envelope>,
    /// Everything up to here was scanned.
    pub looked_at: Positions,
    /// Shards that may have more events.
    pub unfinished: HashSet<Shard>,
}

impl Store {
    /// The next events of some types after these positions, at most `most` per shard.
    pub async fn of_types(
        &self,
        types: &[&str],
        after: &Positions,
        most: u32,
    ) -> Result<Found, StoreError> {
        let all: Vec<Shard> = Shard::all().collect();
        self.of_types_in(&all, types, after, most).await
    }

    /// The same, in some of the shards.
    pub async fn of_types_in(
        &self,
        shards: &[Shard],
        types: &[&str],
        after: &Positions,
        most: u32,
    ) -> Result<Found, StoreError> {
        let query = sqlx::query(OF_TYPES)
            .bind(shards.iter().map(|shard| shard.sql()).collect::<Vec<_>>())
            .bind(shards.iter().map(|&shard| after.get(shard)).collect::<Vec<_>>())
            .bind(types)
            .bind(i64::from(most))
            .bind(WINDOW);
        let mut found =
            Found { events: Vec::new(), looked_at: after.clone(), unfinished: HashSet::new() };
        let mut counts = [0u32; crate::SHARDS];
        for row in in_time(query.fetch_all(&self.pool)).await? {
            let shard = Shard::from_sql(row.try_get(11)?);
            let (last, head): (i64, i64) = (row.try_get(12)?, row.try_get(13)?);
            found.looked_at.set(shard, last);
            if last < head {
                found.unfinished.insert(shard);
            }
            if row.try_get::<Option<i64>, _>(1)?.is_none() {
                continue;
            }
            let event = envelope(&row)?;
            counts[shard.index()] += 1;
            if counts[shard.index()] == most {
                // There may be more after the last one.
                found.looked_at.set(shard, event.position);
                found.unfinished.insert(shard);
            }
            found.events.push(event);
        }
        Ok(found)
    }

    /// All events of several streams, not decoded, each stream in order, in one round trip.
    pub async fn envelopes(&self, streams: &[StreamId]) -> Result<Vec<Envelope>, StoreError> {
        let query = sqlx::query(STREAMS)
            .bind(streams.iter().map(|&stream| Shard::of(stream).sql()).collect::<Vec<_>>())
            .bind(streams);
        let rows = in_time(query.fetch_all(&self.pool)).await?;
        rows.iter().map(|row| envelope(row).map_err(StoreError::from)).collect()
    }

    /// One event of a stream, not decoded, if it exists.
    pub async fn envelope(
        &self,
        stream: StreamId,
        version: i64,
    ) -> Result<Option<Envelope>, StoreError> {
        let query = sqlx::query(ONE).bind(Shard::of(stream).sql()).bind(stream).bind(version);
        let row = in_time(query.fetch_optional(&self.pool)).await?;
        Ok(row.as_ref().map(envelope).transpose()?)
    }

    /// The events of a stream before a version that have one of these types, newest first.
    pub async fn backwards(
        &self,
        stream: StreamId,
        before: i64,
        types: &[&str],
        most: i64,
    ) -> Result<Vec<Recorded>, ReadError> {
        self.of_stream(BACKWARDS, stream, before, types, most).await
    }

    /// The events of a stream after a version that are of these types, the oldest first.
    pub async fn forwards(
        &self,
        stream: StreamId,
        after: i64,
        types: &[&str],
        most: i64,
    ) -> Result<Vec<Recorded>, ReadError> {
        self.of_stream(FORWARDS, stream, after, types, most).await
    }

    /// How many events of these types a stream has.
    pub async fn count(&self, stream: StreamId, types: &[&str]) -> Result<i64, StoreError> {
        const COUNT: &str =
            "SELECT count(*) FROM event WHERE shard = $1 AND stream = $2 AND type = ANY ($3)";
        let query = sqlx::query(COUNT).bind(Shard::of(stream).sql()).bind(stream).bind(types);
        Ok(in_time(query.fetch_one(&self.pool)).await?.try_get(0)?)
    }

    async fn of_stream(
        &self,
        select: &'static str,
        stream: StreamId,
        from: i64,
        types: &[&str],
        most: i64,
    ) -> Result<Vec<Recorded>, ReadError> {
        let query = sqlx::query(select)
            .bind(Shard::of(stream).sql())
            .bind(stream)
            .bind(from)
            .bind(types)
            .bind(most);
        let rows = in_time(query.fetch_all(&self.pool)).await?;
        rows.iter().map(|row| decode(&envelope(row).map_err(StoreError::from)?)).collect()
    }
}
