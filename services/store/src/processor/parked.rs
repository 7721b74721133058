//! Events that could not be handled. They are stored with a reason and retried; processing
//! continues with the others.

use std::collections::HashSet;

use sqlx::{PgConnection, PgPool, Row};

use super::{Processor, ProcessorError};
use crate::{Store, StoreError, StreamId};

/// Parks an event.
pub(super) async fn park(
    connection: &mut PgConnection,
    name: &str,
    generation: i32,
    (stream, version): (StreamId, i64),
    reason: &str,
) -> Result<(), ProcessorError> {
    const PARK: &str = "
INSERT INTO processor_parked (name, generation, stream, version, reason) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (name, generation, stream, version) DO UPDATE
   SET reason = excluded.reason, tries = processor_parked.tries + 1";
    tracing::error!(processor = name, %stream, version, reason, "parked an event");
    metrics::counter!("croupier_processor_parked_total", "processor" => name.to_owned())
        .increment(1);
    // PostgreSQL text cannot contain zero bytes.
    let reason = reason.replace('\0', "");
    let query = sqlx::query(PARK).bind(name).bind(generation).bind(stream).bind(version);
    query.bind(reason).execute(connection).await?;
    Ok(())
}

/// Removes a parked event that was handled.
pub(super) async fn free(
    connection: &mut PgConnection,
    name: &str,
    generation: i32,
    (stream, version): (StreamId, i64),
) -> Result<(), ProcessorError> {
    const FREE: &str = "
DELETE FROM processor_parked WHERE name = $1 AND generation = $2 AND stream = $3 AND version = $4";
    tracing::info!(processor = name, %stream, version, "handled a parked event");
    let query = sqlx::query(FREE).bind(name).bind(generation).bind(stream).bind(version);
    query.execute(connection).await?;
    Ok(())
}

/// All parked events of a generation, each stream in order.
pub(super) async fn list(
    pool: &PgPool,
    name: &str,
    generation: i32,
) -> Result<Vec<(StreamId, i64)>, ProcessorError> {
    const LIST: &str = "
SELECT stream, version FROM processor_parked WHERE name = $1 AND generation = $2 ORDER BY stream, version";
    let rows = sqlx::query(LIST).bind(name).bind(generation).fetch_all(pool).await?;
    Ok(rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<Result<_, sqlx::Error>>()?)
}

/// The streams with parked events: their later events wait too, so that each stream stays in order.
pub(super) fn streams(parked: &[(StreamId, i64)]) -> HashSet<StreamId> {
    parked.iter().map(|(stream, _)| *stream).collect()
}

/// Makes the node that runs a processor retry its parked events now; returns how many there are.
pub async fn retry(
    store: &Store,
    processors: &[Processor],
    name: &str,
) -> Result<i64, ProcessorError> {
    const COUNT: &str = "
SELECT count(*) FROM processor_parked JOIN processor USING (name, generation) WHERE name = $1 AND state = 'live'";
    let name = Processor::named(processors, name)?.name;
    wake(store.pool(), name).await?;
    Ok(sqlx::query(COUNT).bind(name).fetch_one(store.pool()).await?.try_get(0)?)
}

/// Wakes a processor on whichever node runs it, to check for work that is not in the log.
pub async fn wake(pool: &PgPool, name: &str) -> Result<(), StoreError> {
    const WAKE: &str = "UPDATE processor SET wake = wake + 1 WHERE name = $1 AND state = 'live'";
    sqlx::query(WAKE).bind(name).execute(pool).await?;
    Ok(())
}
