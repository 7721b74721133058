//! Checkpoints: how far a generation is, written only by the holder of the lease.

use sqlx::{PgConnection, PgPool, Row};

use super::{Processor, ProcessorError, lease::Lease, shards};
use crate::{Positions, read::heads};

/// The positions of a range as an SQL array literal.
pub(super) fn array(positions: &Positions, ranges: i16, range: i16) -> String {
    let numbers = shards(ranges, range).into_iter().map(|shard| positions.get(shard).to_string());
    format!("{{{}}}", numbers.collect::<Vec<_>>().join(","))
}

/// Advances the checkpoints of some ranges, if all are still leased by this owner and unchanged.
/// The rows stay locked until the transaction ends, so no other node can take over a range in
/// between.
pub(super) async fn advance(
    connection: &mut PgConnection,
    processor: &Processor,
    leases: &[(&Lease, String, String)],
) -> Result<(), ProcessorError> {
    const ADVANCE: &str = "
UPDATE processor_range r SET positions = w.new::bigint[], heartbeat = now()
  FROM unnest($3::smallint[], $4::bigint[], $5::text[], $6::text[]) AS w (range, fence, old, new)
 WHERE r.name = $1 AND r.generation = $2 AND r.range = w.range AND r.fence = w.fence AND r.positions = w.old::bigint[]";
    let Some((first, ..)) = leases.first() else { return Ok(()) };
    let query = sqlx::query(ADVANCE)
        .bind(processor.name)
        .bind(first.generation)
        .bind(leases.iter().map(|(lease, ..)| lease.range).collect::<Vec<_>>())
        .bind(leases.iter().map(|(lease, ..)| lease.fence).collect::<Vec<_>>())
        .bind(leases.iter().map(|(_, old, _)| old.as_str()).collect::<Vec<_>>())
        .bind(leases.iter().map(|(.., new)| new.as_str()).collect::<Vec<_>>());
    let moved = query.execute(connection).await?.rows_affected();
    if moved == u64::try_from(leases.len()).unwrap_or(u64::MAX) {
        Ok(())
    } else {
        Err(ProcessorError::Fenced)
    }
}

/// Fails if a checkpoint is after the end of the log.
pub(super) async fn check(
    pool: &PgPool,
    processor: &Processor,
    lease: &Lease,
) -> Result<(), ProcessorError> {
    let heads = heads(pool).await?;
    for shard in processor.shards(lease.range) {
        let (position, head) = (lease.positions.get(shard), heads.get(shard));
        if position > head {
            let name = processor.name.to_owned();
            return Err(ProcessorError::AheadOfLog { name, shard, position, head });
        }
    }
    Ok(())
}

/// Creates an empty generation of a processor.
pub(super) async fn begin(
    connection: &mut PgConnection,
    processor: &Processor,
    generation: i32,
    state: &str,
) -> Result<(), ProcessorError> {
    const BEGIN: &str =
        "INSERT INTO processor (name, generation, version, state, ranges) VALUES ($1, $2, $3, $4, $5)
                         ON CONFLICT DO NOTHING";
    const RANGES: &str = "
INSERT INTO processor_range (name, generation, range, positions)
SELECT $1, $2, range, array_fill(0::bigint, ARRAY[64 / $3::integer]) FROM generate_series(0, $3 - 1) AS range
    ON CONFLICT DO NOTHING";
    let query = sqlx::query(BEGIN).bind(processor.name).bind(generation).bind(processor.version);
    query.bind(state).bind(processor.ranges).execute(&mut *connection).await?;
    let query = sqlx::query(RANGES).bind(processor.name).bind(generation);
    query.bind(i32::from(processor.ranges)).execute(&mut *connection).await?;
    Ok(())
}

/// Ensures that every processor has a live generation. A command processor continues under the
/// newest version of the program.
pub(super) async fn ensure_live(
    pool: &PgPool,
    processors: &[Processor],
) -> Result<(), ProcessorError> {
    const LIVE: &str = "SELECT 1 FROM processor WHERE name = $1 AND state = 'live'";
    const UPGRADE: &str =
        "UPDATE processor SET version = $2 WHERE name = $1 AND state = 'live' AND version < $2";
    for processor in processors {
        let mut transaction = pool.begin().await?;
        lock(&mut transaction, processor.name).await?;
        let live = sqlx::query(LIVE).bind(processor.name).fetch_optional(&mut *transaction);
        if live.await?.is_none() {
            let next = next_generation(&mut transaction, processor.name).await?;
            begin(&mut transaction, processor, next, "live").await?;
        }
        if processor.rows().is_none() {
            let query = sqlx::query(UPGRADE).bind(processor.name).bind(processor.version);
            query.execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

/// Serializes changes of the live generation: the row of the processor's name is locked until the
/// transaction ends.
pub(super) async fn lock(connection: &mut PgConnection, name: &str) -> Result<(), ProcessorError> {
    const ROW: &str = "INSERT INTO processor_lock (name) VALUES ($1) ON CONFLICT DO NOTHING";
    const LOCK: &str = "SELECT 1 FROM processor_lock WHERE name = $1 FOR UPDATE";
    sqlx::query(ROW).bind(name).execute(&mut *connection).await?;
    sqlx::query(LOCK).bind(name).execute(connection).await?;
    Ok(())
}

pub(super) async fn next_generation(
    connection: &mut PgConnection,
    name: &str,
) -> Result<i32, ProcessorError> {
    const NEXT: &str = "SELECT coalesce(max(generation), 0) + 1 FROM processor WHERE name = $1";
    Ok(sqlx::query(NEXT).bind(name).fetch_one(connection).await?.try_get(0)?)
}
