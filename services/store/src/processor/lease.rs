//! Leases: a node owns ranges while it sends heartbeats.
//!
//! Each range has a fencing token that increases with every owner. A node that was paused for too
//! long may still believe that it owns a range; its writes carry an old token and are refused.

use std::time::Duration;

use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{Processor, ProcessorError, shards};
use crate::Positions;

/// How long a node keeps its ranges without a heartbeat.
pub(super) const LEASE: Duration = Duration::from_secs(3);

/// The right to work on a range.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) generation: i32,
    pub(super) range: i16,
    pub(super) fence: i64,
    /// The checkpoint, for the shards of the range.
    pub(super) positions: Positions,
}

/// A range of a live generation, as stored in the database.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) generation: i32,
    pub(super) version: i32,
    /// Increases when the processor should look for work again.
    pub(super) wake: i64,
    pub(super) range: i16,
    pub(super) fence: i64,
    /// Whether this node owns it.
    pub(super) ours: bool,
    /// Whether another live node owns it.
    pub(super) theirs: bool,
}

/// All ranges, and the number of other nodes.
pub(super) struct Shared {
    pub(super) units: Vec<Unit>,
    pub(super) others: usize,
}

/// Sends the heartbeat of this node; returns all ranges of these processors and their owners, in
/// one statement.
pub(super) async fn heartbeat(
    pool: &PgPool,
    node: Uuid,
    processors: &[Processor],
) -> Result<Shared, ProcessorError> {
    const BEAT: &str = "
WITH here AS (
    INSERT INTO processor_node (node) VALUES ($1) ON CONFLICT (node) DO UPDATE SET seen_at = now()),
gone AS (
    DELETE FROM processor_node WHERE seen_at < now() - interval '1 minute' AND node <> $1),
alive AS MATERIALIZED (
    SELECT node, works FROM processor_node WHERE seen_at > now() - make_interval(secs => $2) AND node <> $1)
SELECT p.name, p.generation, p.version, p.wake, r.range, r.fence, coalesce(r.owner = $1, false),
       r.owner IN (SELECT node FROM alive), (SELECT count(*) FROM alive WHERE works)
  FROM processor p JOIN processor_range r USING (name, generation)
 WHERE p.state = 'live' AND p.name = ANY ($3)
 ORDER BY r.range, p.name";
    let names: Vec<&str> = processors.iter().map(|processor| processor.name).collect();
    let query = sqlx::query(BEAT).bind(node).bind(LEASE.as_secs_f64()).bind(names);
    let mut shared = Shared { units: Vec::new(), others: 0 };
    for row in query.fetch_all(pool).await? {
        shared.others = usize::try_from(row.try_get::<i64, _>(8)?).unwrap_or(0);
        shared.units.push(Unit {
            name: row.try_get(0)?,
            generation: row.try_get(1)?,
            version: row.try_get(2)?,
            wake: row.try_get(3)?,
            range: row.try_get(4)?,
            fence: row.try_get(5)?,
            ours: row.try_get(6)?,
            theirs: row.try_get::<Option<bool>, _>(7)?.unwrap_or(false),
        });
    }
    Ok(shared)
}

/// Takes over these ranges, except those that another node took first.
pub(super) async fn take(
    pool: &PgPool,
    node: Uuid,
    units: &[&Unit],
    processors: &[Processor],
) -> Result<Vec<(String, Lease)>, ProcessorError> {
    const TAKE: &str = "
UPDATE processor_range r SET owner = $1, fence = r.fence + 1, heartbeat = now()
  FROM unnest($2::text[], $3::integer[], $4::smallint[], $5::bigint[]) AS w (name, generation, range, fence)
 WHERE r.name = w.name AND r.generation = w.generation AND r.range = w.range AND r.fence = w.fence
RETURNING r.name, r.generation, r.range, r.fence, r.positions";
    let query = sqlx::query(TAKE)
        .bind(node)
        .bind(units.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.generation).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.range).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.fence).collect::<Vec<_>>());
    let mut taken = Vec::new();
    for row in query.fetch_all(pool).await? {
        let (name, range): (String, i16) = (row.try_get(0)?, row.try_get(2)?);
        let written: Vec<i64> = row.try_get(4)?;
        let ranges = Processor::named(processors, &name)?.ranges;
        let positions = positions(ranges, range, &written);
        let lease = Lease { generation: row.try_get(1)?, range, fence: row.try_get(3)?, positions };
        taken.push((name, lease));
    }
    Ok(taken)
}

/// Converts the stored array of a range to positions.
pub(super) fn positions(ranges: i16, range: i16, written: &[i64]) -> Positions {
    let mut positions = Positions::default();
    for (shard, &position) in shards(ranges, range).into_iter().zip(written) {
        positions.set(shard, position);
    }
    positions
}

/// Releases a range, so that another node need not wait for the lease to expire.
pub(super) async fn release(
    pool: &PgPool,
    name: &str,
    lease: &Lease,
) -> Result<(), ProcessorError> {
    const RELEASE: &str = "UPDATE processor_range SET owner = NULL
                            WHERE name = $1 AND generation = $2 AND range = $3 AND fence = $4";
    let query = sqlx::query(RELEASE).bind(name).bind(lease.generation).bind(lease.range);
    query.bind(lease.fence).execute(pool).await?;
    Ok(())
}

/// Releases ranges that this node owns but does not work on.
pub(super) async fn give_back(pool: &PgPool, units: &[&Unit]) -> Result<(), ProcessorError> {
    const GIVE: &str = "
UPDATE processor_range r SET owner = NULL
  FROM unnest($1::text[], $2::integer[], $3::smallint[], $4::bigint[]) AS w (name, generation, range, fence)
 WHERE r.name = w.name AND r.generation = w.generation AND r.range = w.range AND r.fence = w.fence";
    let query = sqlx::query(GIVE)
        .bind(units.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.generation).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.range).collect::<Vec<_>>())
        .bind(units.iter().map(|unit| unit.fence).collect::<Vec<_>>());
    query.execute(pool).await?;
    Ok(())
}

/// Releases all ranges of a node and removes the node.
pub(super) async fn release_all(pool: &PgPool, node: Uuid) -> Result<(), ProcessorError> {
    const RELEASE: &str =
        "UPDATE processor_range SET owner = NULL, fence = fence + 1 WHERE owner = $1";
    sqlx::query(RELEASE).bind(node).execute(pool).await?;
    sqlx::query("DELETE FROM processor_node WHERE node = $1").bind(node).execute(pool).await?;
    Ok(())
}
