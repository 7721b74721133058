//! The append protocol: from events to rows.

use domain::{Event, Moment};
use sqlx::{PgConnection, Postgres, Row, postgres::PgArguments};
use uuid::Uuid;

use std::sync::Arc;

use crate::{
    AppendError, Hash, Head, Recorded, Shard, StoreError, StreamId,
    chain::Link,
    codec::{encode, schema_of},
    timestamp::Micros,
};

/// Maximum payload size in bytes.
pub(crate) const MOST_BYTES: usize = 64 * 1024;
/// Maximum number of events per command.
pub(crate) const MOST_EVENTS: usize = 256;

/// Events to append to a stream.
#[derive(Clone, Debug)]
pub struct Append<'a> {
    /// The stream.
    pub stream: StreamId,
    /// The head the events were decided on.
    pub head: Head,
    /// The command id, chosen by the caller.
    pub command: Uuid,
    /// Hash of the request, to tell a retry from a different request.
    pub request: Hash,
    /// Who issued the command; the nil id is the house.
    pub actor: Uuid,
    /// Time of the command.
    pub at: Moment,
    /// The new events.
    pub events: &'a [Event],
}

/// Where the events of a command were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The version of its first event.
    pub first_version: i64,
    /// The head of the stream after the append.
    pub head: Head,
    /// Position of its last event in its shard's log.
    pub position: i64,
}

/// A command with its rows prepared, including hashes.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) shard: Shard,
    pub(crate) stream: StreamId,
    pub(crate) command: Uuid,
    pub(crate) previous: Hash,
    actor: Uuid,
    request: i64,
    head: Head,
    rows: Vec<EventRow>,
}

#[derive(Debug)]
struct EventRow {
    kind: &'static str,
    schema: i16,
    hash: Hash,
    payload: String,
    event: Event,
}

impl Prepared {
    pub(crate) fn new(append: &Append<'_>) -> Result<Self, AppendError> {
        let events = append.events.len();
        if !(1..=MOST_EVENTS).contains(&events) {
            return Err(AppendError::WrongCount { events, most: MOST_EVENTS });
        }
        // Version 0 and the zero hash mean an empty stream, and only together.
        if append.head.version < 0 || (append.head.version == 0) != (append.head.hash == Hash::ZERO)
        {
            return Err(AppendError::Conflict);
        }
        let micros = i64::try_from(append.at.0).unwrap_or(i64::MAX).saturating_mul(1000);
        // Time never goes backwards within a stream, whatever the nodes' clocks say.
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
            rows.push(EventRow { kind, schema, hash: head.hash, payload, event: event.clone() });
        }
        Ok(Self {
            shard: Shard::of(append.stream),
            stream: append.stream,
            command: append.command,
            actor: append.actor,
            request: append.request.short(),
            previous: append.head.hash,
            head,
            rows,
        })
    }

    fn old_version(&self) -> i64 {
        self.head.version - i64::from(self.count())
    }

    /// Number of payload bytes sent to the database.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.payload.len()).sum()
    }

    fn count(&self) -> i32 {
        i32::try_from(self.rows.len()).unwrap_or(i32::MAX)
    }

    /// The result of the append, given the position of its last event.
    fn appended(&self, position: i64) -> Appended {
        Appended { first_version: self.old_version() + 1, head: self.head, position }
    }

    /// Its events as stored in the log.
    pub(crate) fn recorded(self, appended: &Appended) -> Vec<Arc<Recorded>> {
        let first = appended.position - i64::from(self.count()) + 1;
        let at = self.head.at();
        let places = (first..).zip(appended.first_version..);
        let recorded = self.rows.into_iter().zip(places).map(|(row, (position, version))| {
            Arc::new(Recorded {
                shard: self.shard,
                position,
                stream: self.stream,
                version,
                at,
                command: self.command,
                actor: self.actor,
                hash: row.hash,
                event: row.event,
            })
        });
        recorded.collect()
    }
}

/// The result of one command.
pub(crate) type Answer = Result<Appended, AppendError>;

/// Appends a batch with at most one command per stream, sorted by shard and stream. Results are in
/// the order of the commands.
pub(crate) async fn append_batch(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    if let [command] = batch
        && command.old_version() > 0
    {
        return Ok(vec![append_one(connection, command).await?]);
    }
    match append_all(connection, batch).await {
        Ok(answers) => Ok(answers),
        Err(error) if is_conflict(&error) => append_winners(connection, batch).await,
        Err(error) => Err(error),
    }
}

/// The statement divides by zero if a command conflicts.
fn is_conflict(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == "22012")
}

/// One column over the commands of a batch.
fn column<'a, T>(batch: &[&'a Prepared], value: impl Fn(&'a Prepared) -> T) -> Vec<T> {
    batch.iter().map(|&command| value(command)).collect()
}

/// One column over all events of a batch.
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

/// Binds the parameters that both statements start with: the new stream heads.
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

/// Appends one command to an existing stream.
async fn append_one(
    connection: &mut PgConnection,
    command: &Prepared,
) -> Result<Answer, sqlx::Error> {
    let batch = &[command];
    let rows = sqlx::query(include_str!("append_one.sql"))
        .bind(command.shard.sql())
        .bind(command.stream)
        .bind(command.head.version)
        .bind(command.count())
        .bind(command.head.hash.0.as_slice())
        .bind(command.previous.0.as_slice())
        .bind(Micros(command.head.recorded_at))
        .bind(command.command)
        .bind(command.actor)
        .bind(command.request)
        .bind(versions(batch))
        .bind(event_column(batch, |_, row| row.schema))
        .bind(event_column(batch, |_, row| row.kind))
        .bind(event_column(batch, |_, row| row.hash.0.as_slice()))
        .bind(event_column(batch, |_, row| row.payload.as_str()))
        .fetch_all(connection)
        .await?;
    let mut last = None;
    for row in rows {
        last = last.max(Some(row.try_get::<i64, _>(0)?));
    }
    Ok(last.map(|position| command.appended(position)).ok_or(AppendError::Conflict))
}

/// Appends all commands, or none and returns an error.
pub(crate) async fn append_all(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    let created = batch.iter().filter(|command| command.old_version() == 0).count();
    let shards: Vec<(Shard, i64)> = batch
        .chunk_by(|a, b| a.shard == b.shard)
        .map(|commands| (commands[0].shard, commands.iter().map(|c| i64::from(c.count())).sum()))
        .collect();
    let from_end = shards.iter().flat_map(|&(_, events)| (0..events).rev()).collect::<Vec<_>>();
    let row = with_heads(include_str!("append_all.sql"), batch)
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
        .bind(event_column(batch, |c, _| c.request))
        .fetch_one(connection)
        .await?;
    let ends: Vec<i64> = row.try_get(1)?;
    let mut answers = Vec::with_capacity(batch.len());
    for (commands, end) in batch.chunk_by(|a, b| a.shard == b.shard).zip(ends) {
        let mut position = end - commands.iter().map(|c| i64::from(c.count())).sum::<i64>();
        for command in commands {
            position += i64::from(command.count());
            answers.push(Ok(command.appended(position)));
        }
    }
    Ok(answers)
}

/// Appends the commands that do not conflict and reports the others.
async fn append_winners(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    let numbers =
        (1i32..).zip(batch).flat_map(|(number, command)| command.rows.iter().map(move |_| number));
    let rows = with_heads(include_str!("append.sql"), batch)
        .bind(column(batch, |c| c.command))
        .bind(column(batch, |c| c.actor))
        .bind(column(batch, |c| c.request))
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
            let before: i64 = row.try_get(1)?;
            *answer = Ok(command.appended(before + i64::from(command.count())));
        }
    }
    Ok(answers)
}

/// Corrects the results of a batch that was sent again because the connection broke: a command that
/// was committed by the first attempt conflicts with itself. Its last event is then in the log with
/// the same hash.
pub(crate) async fn recognise_own(
    connection: &mut PgConnection,
    batch: &[&Prepared],
    answers: &mut [Answer],
) -> Result<(), sqlx::Error> {
    const OWN: &str = "
SELECT w.number, e.position
  FROM unnest($1::smallint[], $2::uuid[], $3::bigint[], $4::bytea[]) WITH ORDINALITY
       AS w (shard, stream, version, hash, number)
  JOIN event e USING (shard, stream, version, hash)";
    if answers.iter().all(Result::is_ok) {
        return Ok(());
    }
    let rows = sqlx::query(OWN)
        .bind(column(batch, |c| c.shard.sql()))
        .bind(column(batch, |c| c.stream))
        .bind(column(batch, |c| c.head.version))
        .bind(column(batch, |c| c.head.hash.0.as_slice()))
        .fetch_all(connection)
        .await?;
    for row in rows {
        let index = usize::try_from(row.try_get::<i64, _>(0)? - 1).unwrap_or(usize::MAX);
        if let (Some(answer), Some(command)) = (answers.get_mut(index), batch.get(index)) {
            *answer = Ok(command.appended(row.try_get(1)?));
        }
    }
    Ok(())
}
