//! Who works on what: a lease for eight shards of a generation, with a fence that grows with each owner.

use sqlx::{PgConnection, PgPool, Row};
use store::{Positions, Shard};
use uuid::Uuid;

use crate::{MODELS, Model, ProjectionError, model::Target, rebuild::one_change_at_a_time};

/// How many shards belong together.
pub(crate) const RANGE: usize = 8;
/// How many ranges there are.
pub(crate) const RANGES: i16 = 8;
/// How long a lease holds if it is not renewed.
pub(crate) const LEASE_SECONDS: i32 = 10;
/// Whoever was not seen for so long does not want to work any more.
const SEEN_SECONDS: i32 = 5;

/// The right to work on a range.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) model: Model,
    pub(crate) generation: i32,
    pub(crate) range: i16,
    pub(crate) fence: i64,
    pub(crate) positions: Positions,
    /// Whether nobody sees it yet.
    pub(crate) building: bool,
}

impl Lease {
    pub(crate) fn target(&self) -> Target {
        Target { generation: self.generation, building: self.building, waits: false }
    }
}

/// The shards of a range.
pub(crate) fn shards(range: i16) -> Vec<Shard> {
    Shard::all().skip(usize::try_from(range).unwrap_or(0) * RANGE).take(RANGE).collect()
}

/// A vector of positions out of an array of those of a range.
pub(crate) fn positions(range: i16, written: &[i64]) -> Positions {
    let mut positions = Positions::default();
    for (shard, &position) in shards(range).into_iter().zip(written) {
        positions.set(shard, position);
    }
    positions
}

/// The positions of a range as an array.
pub(crate) fn array(range: i16, positions: &Positions) -> Vec<i64> {
    shards(range).into_iter().map(|shard| positions.get(shard)).collect()
}

/// A new generation of a read model, with nothing in it.
pub(crate) async fn begin(
    connection: &mut PgConnection,
    model: Model,
    generation: i32,
    state: &str,
) -> Result<(), ProjectionError> {
    const BEGIN: &str =
        "INSERT INTO projection (name, generation, version, state) VALUES ($1, $2, $3, $4)
                         ON CONFLICT DO NOTHING";
    const RANGES_OF: &str = "INSERT INTO projection_range (name, generation, range, positions)
                             SELECT $1, $2, range, array_fill(0::bigint, ARRAY[8]) FROM generate_series(0, 7) AS range
                             ON CONFLICT DO NOTHING";
    let query = sqlx::query(BEGIN).bind(model.name).bind(generation).bind(model.version);
    query.bind(state).execute(&mut *connection).await?;
    sqlx::query(RANGES_OF).bind(model.name).bind(generation).execute(&mut *connection).await?;
    Ok(())
}

/// Every read model has a live generation; the first one is made when there is none.
pub(crate) async fn ensure_live(pool: &PgPool) -> Result<(), ProjectionError> {
    for model in MODELS {
        let mut transaction = pool.begin().await?;
        one_change_at_a_time(&mut transaction, *model).await?;
        let find = "SELECT 1 FROM projection WHERE name = $1 AND state = 'live'";
        if sqlx::query(find).bind(model.name).fetch_optional(&mut *transaction).await?.is_none() {
            let next = next_generation(&mut transaction, model.name).await?;
            begin(&mut transaction, *model, next, "live").await?;
        }
        transaction.commit().await?;
    }
    Ok(())
}

pub(crate) async fn next_generation(
    connection: &mut PgConnection,
    name: &str,
) -> Result<i32, ProjectionError> {
    const NEXT: &str = "SELECT coalesce(max(generation), 0) + 1 FROM projection WHERE name = $1";
    Ok(sqlx::query(NEXT).bind(name).fetch_one(connection).await?.try_get(0)?)
}

/// Takes a free range, if this owner has fewer than its share of the live ones.
pub(crate) async fn take(
    pool: &PgPool,
    owner: Uuid,
    of: Option<(&str, i32)>,
) -> Result<Option<Lease>, ProjectionError> {
    // Found once, whatever the plan: a subquery may be asked once for every row that is to be changed, and give another one each time.
    const TAKE: &str = "
WITH free AS MATERIALIZED (
    SELECT f.name, f.generation, f.range
      FROM projection_range f JOIN projection p USING (name, generation)
     WHERE (f.leased_until IS NULL OR f.leased_until < now())
       AND CASE WHEN $3::text IS NULL THEN p.state = 'live' AND f.name = ANY ($5)
                ELSE f.name = $3 AND f.generation = $4 END
     ORDER BY f.name, f.generation, f.range
     LIMIT 1 FOR UPDATE OF f SKIP LOCKED)
UPDATE projection_range r
   SET owner = $1, fence = r.fence + 1, leased_until = now() + make_interval(secs => $2), heartbeat = now()
  FROM free
 WHERE r.name = free.name AND r.generation = free.generation AND r.range = free.range
RETURNING r.name, r.generation, r.range, r.fence, r.positions";
    let query = sqlx::query(TAKE).bind(owner).bind(f64::from(LEASE_SECONDS));
    let query = query.bind(of.map(|(name, _)| name)).bind(of.map(|(_, generation)| generation));
    let Some(row) = query.bind(known()).fetch_optional(pool).await? else { return Ok(None) };
    let (name, range): (String, i16) = (row.try_get(0)?, row.try_get(2)?);
    let written: Vec<i64> = row.try_get(4)?;
    Ok(Some(Lease {
        model: Model::named(&name)?,
        generation: row.try_get(1)?,
        range,
        fence: row.try_get(3)?,
        positions: positions(range, &written),
        building: of.is_some(),
    }))
}

/// How many live ranges this owner may have: its share among all who want to work, this one included from now on.
pub(crate) async fn share(pool: &PgPool, owner: Uuid) -> Result<usize, ProjectionError> {
    const SEEN: &str = "
WITH here AS (
    INSERT INTO projection_worker (owner) VALUES ($1) ON CONFLICT (owner) DO UPDATE SET seen_at = now()),
gone AS (
    DELETE FROM projection_worker WHERE seen_at < now() - interval '1 minute' AND owner <> $1)
SELECT (SELECT count(*) FROM projection_range r JOIN projection p USING (name, generation) WHERE p.state = 'live' AND r.name = ANY ($3)),
       (SELECT count(*) FROM projection_worker WHERE seen_at > now() - make_interval(secs => $2) AND owner <> $1)";
    let query = sqlx::query(SEEN).bind(owner).bind(f64::from(SEEN_SECONDS)).bind(known());
    let row = query.fetch_one(pool).await?;
    let (ranges, others): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(usize::try_from(ranges).unwrap_or(0).div_ceil(usize::try_from(others).unwrap_or(0) + 1))
}

/// Gives everything back that an owner has: others need not wait for its leases to run out.
pub(crate) async fn release_all(pool: &PgPool, owner: Uuid) -> Result<(), ProjectionError> {
    const RELEASE: &str = "UPDATE projection_range SET owner = NULL, leased_until = NULL, fence = fence + 1 WHERE owner = $1";
    sqlx::query(RELEASE).bind(owner).execute(pool).await?;
    sqlx::query("DELETE FROM projection_worker WHERE owner = $1").bind(owner).execute(pool).await?;
    Ok(())
}

/// The read models that this program can fold.
fn known() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

impl Lease {
    /// Goes on to these positions and renews the lease, if it is still this owner's. The row is locked until the transaction
    /// ends, so nobody else can take the range over in between.
    pub(crate) async fn advance(
        &mut self,
        connection: &mut PgConnection,
        to: &Positions,
    ) -> Result<(), ProjectionError> {
        const ADVANCE: &str = "
UPDATE projection_range SET positions = $6, leased_until = now() + make_interval(secs => $7), heartbeat = now()
 WHERE name = $1 AND generation = $2 AND range = $3 AND fence = $4 AND positions = $5
   AND EXISTS (SELECT 1 FROM projection p WHERE p.name = $1 AND p.generation = $2 AND p.state <> 'old')";
        let (before, after) = (array(self.range, &self.positions), array(self.range, to));
        let query = sqlx::query(ADVANCE).bind(self.model.name).bind(self.generation);
        let query = query.bind(self.range).bind(self.fence).bind(before).bind(after);
        let done = query.bind(f64::from(LEASE_SECONDS)).execute(connection).await?;
        if done.rows_affected() == 0 {
            return Err(ProjectionError::Fenced);
        }
        Ok(())
    }

    /// Gives the range back, so that somebody else need not wait.
    pub(crate) async fn release(&self, pool: &PgPool) -> Result<(), ProjectionError> {
        const RELEASE: &str = "UPDATE projection_range SET owner = NULL, leased_until = NULL
                                WHERE name = $1 AND generation = $2 AND range = $3 AND fence = $4";
        let query = sqlx::query(RELEASE).bind(self.model.name).bind(self.generation);
        query.bind(self.range).bind(self.fence).execute(pool).await?;
        Ok(())
    }
}
