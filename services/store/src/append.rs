//! The append protocol: from events to rows.

use domain::{Event, Moment};
use sqlx::{PgConnection, Postgres, Row, postgres::PgArguments};
use uuid::Uuid;

use crate::{
    AppendError, Hash, Head, Shard, StoreError, StreamId,
    chain::Link,
    codec::{encode, schema_of},
    timestamp::Micros,
};

/// The largest payload, in bytes.
pub(crate) const MOST_BYTES: usize = 64 * 1024;
/// The most events of one command.
pub(crate) const MOST_EVENTS: usize = 256;

/// Events to be added to the end of a stream.
#[derive(Clone, Debug)]
pub struct Append<'a> {
    /// The stream.
    pub stream: StreamId,
    /// Where it ended when the events were decided.
    pub head: Head,
    /// The id of the command, chosen by who gave it.
    pub command: Uuid,
    /// The hash of what was asked, to tell a retry from another request.
    pub request: Hash,
    /// Who gave the command; the nil id is the house.
    pub actor: Uuid,
    /// When.
    pub at: Moment,
    /// What happened.
    pub events: &'a [Event],
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The version of its first event.
    pub first_version: i64,
    /// The version of its last event.
    pub last_version: i64,
    /// Where the stream ends now; `None` for a command that went through before.
    pub head: Option<Head>,
}

impl Appended {
    /// Whether this is the answer of a command that went through before.
    pub fn is_repeated(&self) -> bool {
        self.head.is_none()
    }
}

/// A command with its rows made ready, hashes and all.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) shard: Shard,
    pub(crate) stream: StreamId,
    pub(crate) command: Uuid,
    pub(crate) previous: Hash,
    actor: Uuid,
    request: Hash,
    head: Head,
    rows: Vec<EventRow>,
}

#[derive(Debug)]
struct EventRow {
    kind: &'static str,
    schema: i16,
    hash: Hash,
    payload: String,
}

impl Prepared {
    pub(crate) fn new(append: &Append<'_>) -> Result<Self, AppendError> {
        let events = append.events.len();
        if !(1..=MOST_EVENTS).contains(&events) {
            return Err(AppendError::WrongCount { events, most: MOST_EVENTS });
        }
        // A stream begins with version 0 and the zero hash, and only there.
        if append.head.version < 0 || (append.head.version == 0) != (append.head.hash == Hash::ZERO)
        {
            return Err(AppendError::Conflict);
        }
        let micros = i64::try_from(append.at.0).unwrap_or(i64::MAX).saturating_mul(1000);
        // Time never runs backwards within a stream, whatever the clocks of the nodes say.
        let recorded_at = micros.max(append.head.recorded_at);
        let mut head = Head { recorded_at, ..append.head };
        let mut rows = Vec::with_capacity(events);
        for event in append.events {
            let payload = encode(event).map_err(|error| StoreError::Fault(error.to_string()))?;
            if payload.len() > MOST_BYTES {
                return Err(AppendError::TooLarge { bytes: payload.len(), most: MOST_BYTES });
            }
            head.version = head.version.checked_add(1).ok_or(AppendError::Conflict)?;
            let (kind, schema) = (event.name(), schema_of(event.name()));
            let link = Link {
                stream: append.stream,
                version: head.version,
                kind,
                schema,
                recorded_at,
                command: append.command,
                actor: append.actor,
                payload: &payload,
            };
            head.hash = link.hash(&head.hash);
            rows.push(EventRow { kind, schema, hash: head.hash, payload });
        }
        Ok(Self {
            shard: Shard::of(append.stream),
            stream: append.stream,
            command: append.command,
            actor: append.actor,
            request: append.request,
            previous: append.head.hash,
            head,
            rows,
        })
    }

    fn old_version(&self) -> i64 {
        self.head.version - i64::from(self.count())
    }

    /// How much it sends to the database.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.payload.len()).sum()
    }

    fn count(&self) -> i32 {
        i32::try_from(self.rows.len()).unwrap_or(i32::MAX)
    }

    fn appended(&self) -> Appended {
        let (first_version, last_version) = (self.old_version() + 1, self.head.version);
        Appended { first_version, last_version, head: Some(self.head) }
    }

    /// What the statement's row about this command means.
    fn answer(&self, row: &sqlx::postgres::PgRow) -> Result<Answer, sqlx::Error> {
        if row.try_get::<bool, _>(1)? {
            return Ok(Ok(self.appended()));
        }
        let Some(request) = row.try_get::<Option<&[u8]>, _>(2)? else {
            return Ok(Err(AppendError::Conflict));
        };
        if request != self.request.0 {
            return Ok(Err(AppendError::CommandReused));
        }
        let (first_version, last_version) = (row.try_get(3)?, row.try_get(4)?);
        Ok(Ok(Appended { first_version, last_version, head: None }))
    }
}

/// The answer to one command.
pub(crate) type Answer = Result<Appended, AppendError>;

/// Appends a batch; at most one command a stream, sorted by shard and stream. The answers come in the
/// order of the commands.
pub(crate) async fn append_batch(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    match append_all(connection, batch).await {
        Ok(()) => Ok(batch.iter().map(|command| Ok(command.appended())).collect()),
        Err(error) if somebody_lost(&error) => append_winners(connection, batch).await,
        Err(error) => Err(error),
    }
}

/// The statement divides by zero if a command lost; a used command id violates a key.
fn somebody_lost(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == "22012" || code == "23505")
}

/// A column of a batch.
fn column<'a, T>(batch: &[&'a Prepared], value: impl Fn(&'a Prepared) -> T) -> Vec<T> {
    batch.iter().map(|&command| value(command)).collect()
}

/// A column of all events of a batch.
fn event_column<'a, T>(
    batch: &[&'a Prepared],
    value: impl Fn(&'a Prepared, &'a EventRow) -> T,
) -> Vec<T> {
    let rows = batch.iter().flat_map(|&command| command.rows.iter().map(move |row| (command, row)));
    rows.map(|(command, row)| value(command, row)).collect()
}

fn versions(batch: &[&Prepared]) -> Vec<i64> {
    batch.iter().flat_map(|command| command.old_version() + 1..=command.head.version).collect()
}

/// A statement with what both forms of it begin with: where the streams shall end.
fn with_heads<'a>(
    sql: &'static str,
    batch: &[&'a Prepared],
) -> sqlx::query::Query<'a, Postgres, PgArguments> {
    sqlx::query(sql)
        .bind(column(batch, |c| c.shard.sql()))
        .bind(column(batch, |c| c.stream))
        .bind(column(batch, |c| c.head.version))
        .bind(column(batch, Prepared::count))
        .bind(column(batch, |c| c.head.hash.0.as_slice()))
        .bind(column(batch, |c| c.previous.0.as_slice()))
        .bind(column(batch, |c| Micros(c.head.recorded_at)))
}

/// All commands, or none and an error.
pub(crate) async fn append_all(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<(), sqlx::Error> {
    let created = batch.iter().filter(|command| command.old_version() == 0).count();
    let shards: Vec<(Shard, i64)> = batch
        .chunk_by(|a, b| a.shard == b.shard)
        .map(|commands| (commands[0].shard, commands.iter().map(|c| i64::from(c.count())).sum()))
        .collect();
    let from_end = shards.iter().flat_map(|&(_, events)| (0..events).rev()).collect::<Vec<_>>();
    with_heads(include_str!("append_all.sql"), batch)
        .bind(i64::try_from(created).unwrap_or(i64::MAX))
        .bind(shards.iter().map(|(shard, _)| shard.sql()).collect::<Vec<_>>())
        .bind(shards.iter().map(|(_, events)| *events).collect::<Vec<_>>())
        .bind(event_column(batch, |c, _| c.shard.sql()))
        .bind(event_column(batch, |c, _| c.stream))
        .bind(versions(batch))
        .bind(from_end)
        .bind(event_column(batch, |c, _| Micros(c.head.recorded_at)))
        .bind(event_column(batch, |c, _| c.command))
        .bind(event_column(batch, |c, _| c.actor))
        .bind(event_column(batch, |_, row| row.schema))
        .bind(event_column(batch, |_, row| row.kind))
        .bind(event_column(batch, |_, row| row.hash.0.as_slice()))
        .bind(event_column(batch, |_, row| row.payload.as_str()))
        .bind(column(batch, |c| c.command))
        .bind(column(batch, |c| c.old_version() + 1))
        .bind(column(batch, |c| c.request.0.as_slice()))
        .fetch_one(connection)
        .await?;
    Ok(())
}

/// Those that win; the others are told.
async fn append_winners(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    let numbers =
        (1i32..).zip(batch).flat_map(|(number, command)| command.rows.iter().map(move |_| number));
    let rows = with_heads(include_str!("append.sql"), batch)
        .bind(column(batch, |c| c.command))
        .bind(column(batch, |c| c.actor))
        .bind(column(batch, |c| c.request.0.as_slice()))
        .bind(numbers.collect::<Vec<_>>())
        .bind(versions(batch))
        .bind(event_column(batch, |_, row| row.schema))
        .bind(event_column(batch, |_, row| row.kind))
        .bind(event_column(batch, |_, row| row.hash.0.as_slice()))
        .bind(event_column(batch, |_, row| row.payload.as_str()))
        .fetch_all(connection)
        .await?;
    let mut answers: Vec<Answer> = vec![Err(AppendError::Conflict); batch.len()];
    for row in rows {
        let index = usize::try_from(row.try_get::<i32, _>(0)? - 1).unwrap_or(usize::MAX);
        if let (Some(answer), Some(command)) = (answers.get_mut(index), batch.get(index)) {
            *answer = command.answer(&row)?;
        }
    }
    Ok(answers)
}
