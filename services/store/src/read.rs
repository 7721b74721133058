//! Reads: a stream after a version, a shard after a position, the events of a command.

use domain::{Event, Game, Moment};
use futures_util::{
    Stream, StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};
use uuid::Uuid;

use crate::{
    Envelope, Hash, Head, Positions, ReadError, Recorded, Shard, Store, StoreError, StreamId,
    commands::Commands, error::in_time, timestamp::Micros,
};

/// Number of events per page.
pub(crate) const PAGE: i64 = 2000;

pub(crate) const STREAM_PAGE: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash
  FROM event
 WHERE shard = $1 AND stream = $2 AND version > $3
 ORDER BY version
 LIMIT $4";

/// The events of one command of a stream.
pub(crate) const RECEIPT: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash, request
  FROM event
 WHERE shard = $1 AND stream = $2 AND command = $3
 ORDER BY version";

pub(crate) const LOG_PAGE: &str = "
SELECT shard, position, stream, version, type, schema, recorded_at, command, actor, payload::text, hash
  FROM event
 WHERE shard = $1 AND position > $2
 ORDER BY position
 LIMIT $3";

/// The next events of several shards, ordered by shard.
pub(crate) const LOG_PAGES: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::bigint[]) AS w (shard, after)
 CROSS JOIN LATERAL (
        SELECT * FROM event WHERE shard = w.shard AND position > w.after ORDER BY position LIMIT $3) e";

/// The next events of all shards that have new ones, in one round trip; cheap if there are none.
pub(crate) const NEWS: &str = "
SELECT e.shard, e.position, e.stream, e.version, e.type, e.schema, e.recorded_at, e.command, e.actor, e.payload::text,
       e.hash
  FROM unnest($1::smallint[], $2::bigint[]) AS w (shard, after)
 CROSS JOIN LATERAL (
        SELECT h.position FROM shard_head h WHERE h.shard = w.shard AND h.position > w.after LIMIT 1) h
 CROSS JOIN LATERAL (
        SELECT * FROM event WHERE shard = w.shard AND position > w.after ORDER BY position LIMIT $3) e";

/// The state folded from a stream.
#[derive(Clone, Debug)]
pub struct Loaded<A = Game> {
    /// The current state; `None` if the stream is empty.
    pub aggregate: Option<A>,
    /// The head of the stream.
    pub head: Head,
    /// The commands of the stream.
    pub(crate) commands: Commands,
}

impl<A> Loaded<A> {
    /// A state at some version, not to be decided on: it knows no commands.
    pub fn at(aggregate: Option<A>, head: Head) -> Self {
        Self { aggregate, head, commands: Commands::default() }
    }
}

/// The result of a command that was executed earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The first eight bytes of the request's hash.
    pub request: i64,
    /// The version of its first event.
    pub first_version: i64,
    /// When its events were recorded.
    pub at: Moment,
    /// Its events.
    pub events: Vec<Event>,
}

impl Store {
    /// The events of a stream after a version, in order. It is an error if the stream does not
    /// exist, or ends before that version; nothing after the last event is not.
    pub fn stream(
        &self,
        stream: StreamId,
        after: i64,
    ) -> impl Stream<Item = Result<Recorded, ReadError>> + Send + use<> {
        let mut events = Box::pin(decoded(self.stream_envelopes(stream, after)).peekable());
        let pool = self.pool.clone();
        let checked = async move {
            match events.as_mut().peek().await {
                None => check_end(&pool, stream, after).await.map(|()| events),
                Some(_) => Ok(events),
            }
        };
        stream::once(checked).try_flatten()
    }

    /// At most `most` events of a stream after a version.
    pub async fn page(
        &self,
        stream: StreamId,
        after: i64,
        most: i64,
    ) -> Result<Vec<Recorded>, ReadError> {
        let shard = Shard::of(stream).sql();
        let query = sqlx::query(STREAM_PAGE).bind(shard).bind(stream).bind(after).bind(most);
        let rows = in_time(query.fetch_all(&self.pool)).await?;
        rows.iter().map(|row| decode(&envelope(row).map_err(StoreError::from)?)).collect()
    }

    /// The events of a shard after a position, in commit order.
    pub fn log(
        &self,
        shard: Shard,
        after: i64,
    ) -> impl Stream<Item = Result<Recorded, ReadError>> + Send + use<> {
        decoded(self.log_envelopes(shard, after))
    }

    /// The same as [`Store::stream`], not decoded and without the check of the end.
    pub fn stream_envelopes(
        &self,
        stream: StreamId,
        after: i64,
    ) -> BoxStream<'static, Result<Envelope, StoreError>> {
        let (pool, shard) = (self.pool.clone(), Shard::of(stream));
        pages(after, move |after| {
            let pool = pool.clone();
            async move {
                let query =
                    sqlx::query(STREAM_PAGE).bind(shard.sql()).bind(stream).bind(after).bind(PAGE);
                envelopes(in_time(query.fetch_all(&pool)).await?, |envelope| envelope.version)
            }
        })
    }

    /// The same as [`Store::log`], not decoded.
    pub fn log_envelopes(
        &self,
        shard: Shard,
        after: i64,
    ) -> BoxStream<'static, Result<Envelope, StoreError>> {
        let pool = self.pool.clone();
        pages(after, move |after| {
            let pool = pool.clone();
            async move {
                let query = sqlx::query(LOG_PAGE).bind(shard.sql()).bind(after).bind(PAGE);
                envelopes(in_time(query.fetch_all(&pool)).await?, |envelope| envelope.position)
            }
        })
    }

    /// The result of the command with this id, if it was executed.
    pub async fn receipt(
        &self,
        stream: StreamId,
        command: Uuid,
    ) -> Result<Option<Receipt>, ReadError> {
        let query = sqlx::query(RECEIPT).bind(Shard::of(stream).sql()).bind(stream).bind(command);
        let rows = in_time(query.fetch_all(&self.pool)).await?;
        let Some(first) = rows.first() else { return Ok(None) };
        let request = first.try_get(11).map_err(StoreError::from)?;
        let recorded: Vec<Recorded> = rows
            .iter()
            .map(|row| decode(&envelope(row).map_err(StoreError::from)?))
            .collect::<Result<_, _>>()?;
        let (first_version, at) = (recorded[0].version, recorded[0].at);
        let events = recorded.into_iter().map(|recorded| recorded.event).collect();
        Ok(Some(Receipt { request, first_version, at, events }))
    }

    /// The last position of every shard.
    pub async fn heads(&self) -> Result<Positions, StoreError> {
        heads(&self.pool).await
    }
}

/// Called if nothing was read: fails if the stream does not exist or ends before `after`.
async fn check_end(pool: &PgPool, stream: StreamId, after: i64) -> Result<(), ReadError> {
    const END: &str = "SELECT version FROM stream_head WHERE shard = $1 AND stream = $2";
    let query = sqlx::query(END).bind(Shard::of(stream).sql()).bind(stream);
    let row = in_time(query.fetch_optional(pool)).await?.ok_or(ReadError::NoSuchStream(stream))?;
    match row.try_get(0).map_err(StoreError::from)? {
        last if last < after => Err(ReadError::VersionAhead { stream, after, last }),
        _ => Ok(()),
    }
}

pub(crate) async fn heads(pool: &PgPool) -> Result<Positions, StoreError> {
    let query = sqlx::query("SELECT shard, position FROM shard_head");
    let rows = in_time(query.fetch_all(pool)).await?;
    let mut positions = Positions::default();
    for row in rows {
        positions.set(Shard::from_sql(row.try_get(0)?), row.try_get(1)?);
    }
    Ok(positions)
}

/// The next events of these shards, at most `most` per shard.
pub(crate) async fn log_pages(
    pool: &PgPool,
    shards: &[Shard],
    after: &Positions,
    most: i64,
) -> Result<Vec<Envelope>, StoreError> {
    let query = sqlx::query(LOG_PAGES)
        .bind(shards.iter().map(|shard| shard.sql()).collect::<Vec<_>>())
        .bind(shards.iter().map(|&shard| after.get(shard)).collect::<Vec<_>>())
        .bind(most);
    Ok(in_time(query.fetch_all(pool)).await?.iter().map(envelope).collect::<Result<_, _>>()?)
}

/// The next events of all shards, at most `most` per shard.
pub(crate) async fn news(
    connection: &mut PgConnection,
    after: &Positions,
    most: i64,
) -> Result<Vec<Envelope>, StoreError> {
    let query = sqlx::query(NEWS)
        .bind(Shard::all().map(Shard::sql).collect::<Vec<_>>())
        .bind(Shard::all().map(|shard| after.get(shard)).collect::<Vec<_>>())
        .bind(most);
    Ok(in_time(query.fetch_all(connection))
        .await?
        .iter()
        .map(envelope)
        .collect::<Result<_, _>>()?)
}

pub(crate) fn envelope(row: &PgRow) -> Result<Envelope, sqlx::Error> {
    Ok(Envelope {
        shard: Shard::from_sql(row.try_get(0)?),
        position: row.try_get(1)?,
        stream: row.try_get(2)?,
        version: row.try_get(3)?,
        kind: row.try_get(4)?,
        schema: row.try_get(5)?,
        recorded_at: row.try_get::<Micros, _>(6)?.0,
        command: row.try_get(7)?,
        actor: row.try_get(8)?,
        payload: row.try_get(9)?,
        hash: Hash::from_sql(row.try_get(10)?),
    })
}

/// Decodes an event, naming its stream and version on failure.
pub(crate) fn decode(envelope: &Envelope) -> Result<Recorded, ReadError> {
    envelope.decode().map_err(|why| ReadError::Undecodable {
        stream: envelope.stream,
        version: envelope.version,
        why,
    })
}

fn decoded(
    envelopes: BoxStream<'static, Result<Envelope, StoreError>>,
) -> impl Stream<Item = Result<Recorded, ReadError>> + Send {
    envelopes.map(|envelope| decode(&envelope?))
}

type Page = (Vec<Envelope>, Option<i64>);

/// The events of a page, and where the next one starts if this one was full.
fn envelopes(rows: Vec<PgRow>, place: fn(&Envelope) -> i64) -> Result<Page, StoreError> {
    let full = rows.len() == usize::try_from(PAGE).unwrap_or(0);
    let page = rows.iter().map(envelope).collect::<Result<Vec<_>, _>>()?;
    let next = page.last().map(place).filter(|_| full);
    Ok((page, next))
}

/// Streams page by page: at most one page is in memory.
fn pages<F, P>(after: i64, fetch: F) -> BoxStream<'static, Result<Envelope, StoreError>>
where
    F: Fn(i64) -> P + Send + 'static,
    P: Future<Output = Result<Page, StoreError>> + Send,
{
    stream::try_unfold((Some(after), fetch), |(after, fetch)| async move {
        let Some(after) = after else { return Ok::<_, StoreError>(None) };
        let (page, next) = fetch(after).await?;
        Ok(Some((stream::iter(page.into_iter().map(Ok)), (next, fetch))))
    })
    .try_flatten()
    .boxed()
}
