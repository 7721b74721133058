//! Folding everything anew beside the live generation, comparing, and flipping in one step.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use sqlx::{Connection, PgConnection, Row};
use store::{Positions, Store};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    MODELS, Model, ProjectionError,
    lease::{
        LEASE_SECONDS, Lease, RANGES, array, begin, ensure_live, next_generation, positions,
        shards, take,
    },
    model::Target,
    records::Records,
    runner::{LARGE_PAGE, Range, TYPES, read, write},
};

/// How many differences are shown.
const SHOWN: i64 = 20;

/// Lets reads see the generation before the last rebuild again; it goes on from where it was left.
pub async fn roll_back(store: &Store, name: &str) -> Result<i32, ProjectionError> {
    const OLD: &str = "SELECT generation FROM projection WHERE name = $1 AND state = 'old' ORDER BY 1 DESC LIMIT 1";
    const SET: &str = "UPDATE projection SET state = $3 WHERE name = $1 AND generation = $2";
    let model = Model::named(name)?;
    let mut connection = store.pool().acquire().await?;
    let mut transaction = connection.begin().await?;
    one_change_at_a_time(&mut transaction, model).await?;
    let row = sqlx::query(OLD).bind(model.name).fetch_optional(&mut *transaction).await?;
    let Some(row) = row else {
        return Err(ProjectionError::NoWayBack { name: model.name.to_owned() });
    };
    let old: i32 = row.try_get(0)?;
    let live = live_generation(&mut transaction, model).await?;
    hold(&mut transaction, model, &[live, old]).await?;
    // Only one can be live at any moment, also within a statement.
    for (generation, state) in [(live, "old"), (old, "live")] {
        let query = sqlx::query(SET).bind(model.name).bind(generation).bind(state);
        query.execute(&mut *transaction).await?;
    }
    free(&mut transaction, model, old).await?;
    transaction.commit().await?;
    Ok(old)
}

/// How far a rebuild is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Events that are folded.
    pub folded: i64,
    /// Of so many.
    pub of: i64,
}

/// A row that is not the same in both generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which row.
    pub key: String,
    /// What the live generation has.
    pub live: Option<String>,
    /// What was folded anew.
    pub rebuilt: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The read model.
    pub name: &'static str,
    /// The generation that reads see now.
    pub live: i32,
    /// How many events were folded.
    pub events: i64,
    /// How many rows differ.
    pub differing: i64,
    /// The first of them.
    pub differences: Vec<Difference>,
}

/// Builds a new generation and lets reads see it. The generation before stays for a way back.
pub async fn rebuild(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProjectionError> {
    one(build(store, &[Model::named(name)?], true, progress).await?)
}

/// Builds all of them anew, reading the log once for all.
pub async fn rebuild_all(
    store: &Store,
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProjectionError> {
    build(store, MODELS, true, progress).await
}

/// Builds a new generation, compares it with the live one, and drops it.
pub async fn verify(
    store: &Store,
    name: &str,
    progress: impl Fn(Progress),
) -> Result<Outcome, ProjectionError> {
    one(build(store, &[Model::named(name)?], false, progress).await?)
}

/// Builds all of them anew, compares them with the live ones, and drops them.
pub async fn verify_all(
    store: &Store,
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProjectionError> {
    build(store, MODELS, false, progress).await
}

fn one(mut outcomes: Vec<Outcome>) -> Result<Outcome, ProjectionError> {
    outcomes.pop().ok_or(ProjectionError::Fenced)
}

async fn build(
    store: &Store,
    models: &[Model],
    flip: bool,
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProjectionError> {
    ensure_live(store.pool()).await?;
    let mut opened = Vec::with_capacity(models.len());
    // Held until the end: leases lapse while everything is worked out at once.
    let mut alone = Vec::with_capacity(models.len());
    for model in models {
        alone.push(alone_with(store, *model).await?);
        opened.push((*model, open(store, *model).await?));
    }
    let heads = store.heads().await?;
    let records = Arc::new(Records::new(store.clone()));
    let folded = Arc::new(AtomicI64::new(0));
    let owner = Uuid::new_v4();
    let mut work = JoinSet::new();
    for _ in 0..RANGES {
        let mut ranges = Vec::with_capacity(models.len());
        for (model, generation) in &opened {
            let lease = take(store.pool(), owner, Some((model.name, *generation))).await?;
            let lease = lease.ok_or(ProjectionError::Fenced)?;
            let (store, records) = (store.clone(), Arc::clone(&records));
            ranges.push(Range::new(store, records, lease, LARGE_PAGE));
        }
        let folded = Arc::clone(&folded);
        work.spawn(async move { fold_all(ranges, &folded).await });
    }
    let of = heads.total() * i64::try_from(models.len()).unwrap_or(1);
    while !work.is_empty() {
        progress(Progress { folded: folded.load(Ordering::Relaxed), of });
        tokio::select! {
            done = work.join_next() => {
                if let Some(done) = done {
                    done.map_err(|error| store::StoreError::Fault(error.to_string()))??;
                }
            }
            () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {}
        }
    }
    progress(Progress { folded: of, of });
    for (model, generation) in &opened {
        work.spawn(settle_all(store.clone(), *model, *generation));
    }
    while let Some(done) = work.join_next().await {
        done.map_err(|error| store::StoreError::Fault(error.to_string()))??;
    }
    let ends = opened.into_iter().map(|(model, generation)| {
        let (store, records) = (store.clone(), Arc::clone(&records));
        tokio::spawn(async move { finish(&store, &records, model, generation, flip).await })
    });
    let mut outcomes = Vec::with_capacity(models.len());
    for done in ends.collect::<Vec<_>>() {
        outcomes.push(done.await.map_err(|error| store::StoreError::Fault(error.to_string()))??);
    }
    drop(alone);
    Ok(outcomes)
}

/// Folds a range for all models, page by page: what one has read, the next one finds in memory.
async fn fold_all(mut ranges: Vec<Range>, folded: &AtomicI64) -> Result<(), ProjectionError> {
    loop {
        let mut done = true;
        for range in &mut ranges {
            let before = range.lease.positions.total();
            let more = range.step().await?;
            let new = range.lease.positions.total() - before;
            folded.fetch_add(new, Ordering::Relaxed);
            done &= !more && new == 0;
        }
        if done {
            return Ok(());
        }
    }
}

/// Nobody else builds this read model as long as the connection is open.
async fn alone_with(store: &Store, model: Model) -> Result<PgConnection, ProjectionError> {
    const LOCK: &str = "SELECT pg_try_advisory_lock(hashtextextended('rebuild/' || $1, 0))";
    let mut connection = store.pool().acquire().await?.detach();
    let row = sqlx::query(LOCK).bind(model.name).fetch_one(&mut connection).await?;
    if row.try_get(0)? {
        return Ok(connection);
    }
    let (name, seconds) = (model.name.to_owned(), LEASE_SECONDS.into());
    Err(ProjectionError::Busy { name, seconds })
}

/// Works out what follows from all facts at once. From then on the generation is kept up to date like a live one.
async fn settle_all(store: Store, model: Model, generation: i32) -> Result<(), ProjectionError> {
    let Some(settle) = model.settle else { return Ok(()) };
    let mut connection = store.pool().acquire().await?;
    let mut transaction = connection.begin().await?;
    without_hurry(&mut transaction).await?;
    settle(&mut transaction, Target { building: true, ..Target::kept(generation) }).await?;
    transaction.commit().await?;
    Ok(())
}

/// A new generation to build; what somebody began and left is dropped.
async fn open(store: &Store, model: Model) -> Result<i32, ProjectionError> {
    const BUILDING: &str = "
SELECT p.generation, ceil(extract(epoch FROM max(r.leased_until) - now()))::bigint
  FROM projection p JOIN projection_range r USING (name, generation)
 WHERE p.name = $1 AND p.state = 'building' GROUP BY p.generation";
    let mut connection = store.pool().acquire().await?;
    let mut transaction = connection.begin().await?;
    without_hurry(&mut transaction).await?;
    one_change_at_a_time(&mut transaction, model).await?;
    for row in sqlx::query(BUILDING).bind(model.name).fetch_all(&mut *transaction).await? {
        let seconds: Option<i64> = row.try_get(1)?;
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
            return Err(ProjectionError::Busy { name: model.name.to_owned(), seconds });
        }
        discard(&mut transaction, model, row.try_get(0)?).await?;
    }
    let generation = next_generation(&mut transaction, model.name).await?;
    begin(&mut transaction, model, generation, "building").await?;
    transaction.commit().await?;
    Ok(generation)
}

/// Which generation is live changes in one place at a time.
pub(crate) async fn one_change_at_a_time(
    connection: &mut PgConnection,
    model: Model,
) -> Result<(), ProjectionError> {
    const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('projection/' || $1, 0))";
    sqlx::query(LOCK).bind(model.name).execute(connection).await?;
    Ok(())
}

/// Nobody works on a generation any more: whoever looks for work need not wait for leases to run out.
async fn free(
    connection: &mut PgConnection,
    model: Model,
    generation: i32,
) -> Result<(), ProjectionError> {
    const FREE: &str =
        "UPDATE projection_range SET owner = NULL, leased_until = NULL, fence = fence + 1
                         WHERE name = $1 AND generation = $2";
    sqlx::query(FREE).bind(model.name).bind(generation).execute(connection).await?;
    Ok(())
}

/// What is built beside the live generation may be lost in a crash, for then it is built again: nobody waits for the disk. What makes
/// it live is durable, and with it everything before.
pub(crate) async fn without_care(connection: &mut PgConnection) -> Result<(), ProjectionError> {
    sqlx::query("SET LOCAL synchronous_commit = off").execute(connection).await?;
    Ok(())
}

/// What compares or removes a whole generation may take its time.
pub(crate) async fn without_hurry(connection: &mut PgConnection) -> Result<(), ProjectionError> {
    sqlx::query("SET LOCAL statement_timeout = 0").execute(connection).await?;
    Ok(())
}

/// The generation that reads see.
async fn live_generation(
    connection: &mut PgConnection,
    model: Model,
) -> Result<i32, ProjectionError> {
    const FIND: &str = "SELECT generation FROM projection WHERE name = $1 AND state = 'live'";
    Ok(sqlx::query(FIND).bind(model.name).fetch_one(connection).await?.try_get(0)?)
}

/// Removes a generation.
async fn discard(
    connection: &mut PgConnection,
    model: Model,
    generation: i32,
) -> Result<(), ProjectionError> {
    for table in model.tables {
        let delete = format!("DELETE FROM {table} WHERE generation = $1");
        let query = sqlx::query(sqlx::AssertSqlSafe(delete)).bind(generation);
        query.execute(&mut *connection).await?;
    }
    let forget = "DELETE FROM projection WHERE name = $1 AND generation = $2";
    sqlx::query(forget).bind(model.name).bind(generation).execute(connection).await?;
    Ok(())
}

/// Brings both generations to the same place, compares them, and flips. While this lasts nobody else writes to either; reads go
/// on as before.
async fn finish(
    store: &Store,
    records: &Records,
    model: Model,
    generation: i32,
    flip: bool,
) -> Result<Outcome, ProjectionError> {
    let mut connection = store.pool().acquire().await?;
    let mut transaction = connection.begin().await?;
    without_hurry(&mut transaction).await?;
    one_change_at_a_time(&mut transaction, model).await?;
    let live = live_generation(&mut transaction, model).await?;
    let mut leases = hold(&mut transaction, model, &[live, generation]).await?;
    if leases.len() != 2 * usize::try_from(RANGES).unwrap_or(0) {
        return Err(ProjectionError::Fenced);
    }
    let heads = store.heads().await?;
    for lease in &mut leases {
        catch_up(&mut transaction, store, records, lease, &heads).await?;
    }
    if let Some(settle) = model.settle {
        settle(&mut transaction, Target::kept(live)).await?;
        settle(&mut transaction, Target::kept(generation)).await?;
    }
    let (differing, differences) = compare(&mut transaction, model, live, generation).await?;
    if flip {
        let old = "SELECT generation FROM projection WHERE name = $1 AND state = 'old'";
        for row in sqlx::query(old).bind(model.name).fetch_all(&mut *transaction).await? {
            discard(&mut transaction, model, row.try_get(0)?).await?;
        }
        for (generation, state) in [(live, "old"), (generation, "live")] {
            let set = "UPDATE projection SET state = $3 WHERE name = $1 AND generation = $2";
            let query = sqlx::query(set).bind(model.name).bind(generation).bind(state);
            query.execute(&mut *transaction).await?;
        }
        free(&mut transaction, model, generation).await?;
    } else {
        discard(&mut transaction, model, generation).await?;
        // Who worked on them thinks they are elsewhere: let somebody look again at once.
        free(&mut transaction, model, live).await?;
    }
    transaction.commit().await?;
    let live = if flip { generation } else { live };
    Ok(Outcome { name: model.name, live, events: heads.total(), differing, differences })
}

/// The ranges of some generations, locked.
async fn hold(
    connection: &mut PgConnection,
    model: Model,
    generations: &[i32],
) -> Result<Vec<Lease>, ProjectionError> {
    const HOLD: &str = "
SELECT generation, range, fence, positions FROM projection_range WHERE name = $1 AND generation = ANY ($2)
 ORDER BY generation, range FOR UPDATE";
    let query = sqlx::query(HOLD).bind(model.name).bind(generations);
    let mut leases = Vec::new();
    for row in query.fetch_all(connection).await? {
        let (range, written): (i16, Vec<i64>) = (row.try_get(1)?, row.try_get(3)?);
        leases.push(Lease {
            model,
            generation: row.try_get(0)?,
            range,
            fence: row.try_get(2)?,
            positions: positions(range, &written),
            building: false,
        });
    }
    Ok(leases)
}

/// Folds what is missing up to the heads, as part of the transaction that holds the range.
async fn catch_up(
    connection: &mut PgConnection,
    store: &Store,
    records: &Records,
    lease: &mut Lease,
    heads: &Positions,
) -> Result<(), ProjectionError> {
    const SET: &str = "UPDATE projection_range SET positions = $4 WHERE name = $1 AND generation = $2 AND range = $3";
    let shards = shards(lease.range);
    let behind = |at: &Positions| shards.iter().any(|&shard| at.get(shard) < heads.get(shard));
    while behind(&lease.positions) {
        let found = store.of_types_in(&shards, &TYPES, &lease.positions, LARGE_PAGE).await?;
        // What came behind the heads is for the next ones.
        let wanted = found.events.iter().filter(|event| event.position <= heads.get(event.shard));
        let news = read(records, wanted).await?;
        write(connection, lease, records, news).await?;
        for &shard in &shards {
            let to = found.looked_at.get(shard).min(heads.get(shard));
            lease.positions.set(shard, to.max(lease.positions.get(shard)));
        }
    }
    let query = sqlx::query(SET).bind(lease.model.name).bind(lease.generation).bind(lease.range);
    query.bind(array(lease.range, &lease.positions)).execute(connection).await?;
    Ok(())
}

/// What all rows of a generation come to: how many there are, and the sum of their hashes, whatever their order.
async fn sum(
    connection: &mut PgConnection,
    model: Model,
    generation: i32,
) -> Result<(i64, String), ProjectionError> {
    let sum = format!(
        "SELECT count(*), coalesce(sum(hashtextextended(key || ' ' || content, 0)), 0)::text FROM ({}) AS a (key, content)",
        model.rows
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sum)).bind(generation);
    let row = query.fetch_one(connection).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// The rows that are not the same. They are put side by side only if their sums are not: that is far cheaper.
async fn compare(
    connection: &mut PgConnection,
    model: Model,
    live: i32,
    rebuilt: i32,
) -> Result<(i64, Vec<Difference>), ProjectionError> {
    if sum(connection, model, live).await? == sum(connection, model, rebuilt).await? {
        return Ok((0, Vec::new()));
    }
    let (ours, theirs) = (model.rows.replace("$1", "$2"), model.rows);
    let compare = format!(
        "SELECT coalesce(a.key, b.key), a.content, b.content, count(*) OVER ()
           FROM ({theirs}) AS a (key, content) FULL JOIN ({ours}) AS b (key, content) ON a.key = b.key
          WHERE a.content IS DISTINCT FROM b.content ORDER BY 1 LIMIT {SHOWN}"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(compare)).bind(live).bind(rebuilt);
    let mut differences = Vec::new();
    let mut differing = 0;
    for row in query.fetch_all(connection).await? {
        differing = row.try_get(3)?;
        differences.push(Difference {
            key: row.try_get(0)?,
            live: row.try_get(1)?,
            rebuilt: row.try_get(2)?,
        });
    }
    Ok((differing, differences))
}
