//! The append protocol: from events to rows.

use domain::{Event, Moment};
use sqlx::{PgConnection, Row};
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
pub(crate) const MOST_EVENTS: usize = 64;

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
    command: Uuid,
    actor: Uuid,
    request: Hash,
    previous: Hash,
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
            head.version += 1;
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

    fn count(&self) -> i32 {
        i32::try_from(self.rows.len()).unwrap_or(i32::MAX)
    }

    /// What the statement's row about this command means.
    fn answer(&self, row: &sqlx::postgres::PgRow) -> Result<Answer, sqlx::Error> {
        if row.try_get::<Option<i64>, _>(1)?.is_some() {
            return Ok(Ok(Appended {
                first_version: self.old_version() + 1,
                last_version: self.head.version,
                head: Some(self.head),
            }));
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

/// Appends a batch; at most one command a stream. The answers come in the order of the commands.
pub(crate) async fn append_batch(
    connection: &mut PgConnection,
    batch: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    let column = |value: fn(&Prepared) -> Uuid| batch.iter().map(|p| value(p)).collect::<Vec<_>>();
    let hashes = |value: fn(&Prepared) -> &Hash| {
        batch.iter().map(|p| value(p).0.as_slice()).collect::<Vec<&[u8]>>()
    };
    let rows =
        || (1i32..).zip(batch).flat_map(|(number, p)| p.rows.iter().map(move |r| (number, r)));
    let versions = batch.iter().flat_map(|p| p.old_version() + 1..=p.head.version);
    let query = sqlx::query(include_str!("append.sql"))
        .bind(batch.iter().map(|p| p.shard.sql()).collect::<Vec<_>>())
        .bind(column(|p| p.stream))
        .bind(batch.iter().map(|p| p.head.version).collect::<Vec<_>>())
        .bind(batch.iter().map(|p| p.count()).collect::<Vec<_>>())
        .bind(hashes(|p| &p.head.hash))
        .bind(hashes(|p| &p.previous))
        .bind(batch.iter().map(|p| Micros(p.head.recorded_at)).collect::<Vec<_>>())
        .bind(column(|p| p.command))
        .bind(column(|p| p.actor))
        .bind(hashes(|p| &p.request))
        .bind(rows().map(|(number, _)| number).collect::<Vec<_>>())
        .bind(versions.collect::<Vec<_>>())
        .bind(rows().map(|(_, row)| row.schema).collect::<Vec<_>>())
        .bind(rows().map(|(_, row)| row.kind).collect::<Vec<_>>())
        .bind(rows().map(|(_, row)| row.hash.0.as_slice()).collect::<Vec<&[u8]>>())
        .bind(rows().map(|(_, row)| row.payload.as_str()).collect::<Vec<_>>());
    let mut answers: Vec<Answer> = vec![Err(AppendError::Conflict); batch.len()];
    for row in query.fetch_all(connection).await? {
        let number = usize::try_from(row.try_get::<i32, _>(0)?).unwrap_or(0);
        if let (Some(answer), Some(command)) =
            (answers.get_mut(number.wrapping_sub(1)), batch.get(number.wrapping_sub(1)))
        {
            *answer = command.answer(&row)?;
        }
    }
    Ok(answers)
}
