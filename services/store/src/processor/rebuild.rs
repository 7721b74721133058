//! Rebuilds: folds the whole log beside the live generation, compares both, and switches over
//! atomically.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection, PgConnection, Row};
use tokio::{
    sync::Mutex,
    task::{JoinHandle, JoinSet},
};
use uuid::Uuid;

use super::{
    HandlerError, Processor, ProcessorError, RowHandler, Target,
    batch::Writing,
    checkpoint::{array, begin, ensure_live, lock, next_generation},
    feed::{Item, Page},
    lease::{LEASE, positions},
    live_generation,
};
use crate::{Positions, Shard, Store, StoreError};

/// Maximum number of differences that are returned.
const SHOWN: i64 = 20;
/// Number of shard groups that are read concurrently.
const PARTS: usize = 4;
/// Number of events of a shard that are written at once.
const PAGE: u32 = 250;

/// Progress of a rebuild.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of folded events.
    pub folded: i64,
    /// Total number of events.
    pub of: i64,
}

/// A row that differs between the generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of the row.
    pub key: String,
    /// The row of the live generation.
    pub live: Option<String>,
    /// The rebuilt row.
    pub rebuilt: Option<String>,
}

/// The result of a rebuild.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The processor.
    pub name: &'static str,
    /// The live generation afterwards.
    pub live: i32,
    /// Number of events in the log.
    pub events: i64,
    /// Number of rows that differ.
    pub differing: i64,
    /// The first of them.
    pub differences: Vec<Difference>,
    /// Whether it issues commands: it then restarted from the beginning of the log, and nothing was
    /// compared.
    pub restarted: bool,
}

/// Rebuilds these processors, reading the log once for all of them, and switches to the new
/// generations. Processors that issue commands restart from the beginning of the log: repeated
/// commands return their first result.
pub async fn rebuild(
    store: &Store,
    processors: &[Processor],
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProcessorError> {
    let (keep, act): (Vec<Processor>, Vec<Processor>) =
        processors.iter().cloned().partition(|processor| processor.rows().is_some());
    let mut outcomes = build(store, &keep, true, progress).await?;
    for processor in &act {
        outcomes.push(restart(store, processor).await?);
    }
    Ok(outcomes)
}

/// Rebuilds these processors, compares the result with the live generations, and discards it.
pub async fn verify(
    store: &Store,
    processors: &[Processor],
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProcessorError> {
    if let Some(processor) = processors.iter().find(|processor| processor.rows().is_none()) {
        let name = processor.name.to_owned();
        return Err(ProcessorError::NoRows { name, what: "compare" });
    }
    build(store, processors, false, progress).await
}

/// Switches back to the generation before the last rebuild; it continues from its checkpoint.
pub async fn roll_back(store: &Store, processor: &Processor) -> Result<i32, ProcessorError> {
    const OLD: &str = "
SELECT generation FROM processor WHERE name = $1 AND state = 'old' ORDER BY generation DESC LIMIT 1";
    let name = processor.name;
    if processor.rows().is_none() {
        return Err(ProcessorError::NoRows { name: name.to_owned(), what: "roll back to" });
    }
    let mut connection = store.background().acquire().await?;
    let mut transaction = connection.begin().await?;
    lock(&mut transaction, name).await?;
    let row = sqlx::query(OLD).bind(name).fetch_optional(&mut *transaction).await?;
    let Some(row) = row else {
        return Err(ProcessorError::NoWayBack { name: name.to_owned() });
    };
    let old: i32 = row.try_get(0)?;
    let live = live_generation(&mut transaction, name).await?;
    free(&mut transaction, name, &[live, old]).await?;
    // At most one may be live at any time, even within a statement.
    set_state(&mut transaction, name, live, "old").await?;
    set_state(&mut transaction, name, old, "live").await?;
    transaction.commit().await?;
    Ok(old)
}

/// Restarts a command processor from the beginning of the log.
async fn restart(store: &Store, processor: &Processor) -> Result<Outcome, ProcessorError> {
    const RESET: &str = "
UPDATE processor_range SET positions = array_fill(0::bigint, ARRAY[cardinality(positions)]), fence = fence + 1, owner = NULL
 WHERE name = $1 AND generation = $2";
    ensure_live(store.background(), std::slice::from_ref(processor)).await?;
    let mut connection = store.background().acquire().await?;
    let mut transaction = connection.begin().await?;
    lock(&mut transaction, processor.name).await?;
    let live = live_generation(&mut transaction, processor.name).await?;
    sqlx::query(RESET).bind(processor.name).bind(live).execute(&mut *transaction).await?;
    transaction.commit().await?;
    let events = store.heads().await?.total();
    let (name, differences) = (processor.name, Vec::new());
    Ok(Outcome { name, live, events, differing: 0, differences, restarted: true })
}

/// A generation that is being built.
struct Building {
    processor: Processor,
    rows: Arc<dyn RowHandler>,
    generation: i32,
    /// Rows span shards, so only one shard group writes at a time.
    parked: Mutex<HashSet<Uuid>>,
}

async fn build(
    store: &Store,
    processors: &[Processor],
    flip: bool,
    progress: impl Fn(Progress),
) -> Result<Vec<Outcome>, ProcessorError> {
    ensure_live(store.background(), processors).await?;
    let builder = Builder::start(store.clone()).await?;
    let mut building = Vec::with_capacity(processors.len());
    for processor in processors {
        let Some(rows) = processor.rows().cloned() else { continue };
        let generation = open(store, processor, builder.node).await?;
        let (processor, parked) = (processor.clone(), Mutex::default());
        building.push(Building { processor, rows, generation, parked });
    }
    let building = Arc::new(building);
    let heads = store.heads().await?;
    let of = heads.total();
    let folded = Arc::new(AtomicI64::new(0));
    let mut work = JoinSet::new();
    for part in 0..PARTS {
        let shards: Vec<Shard> = Shard::all().skip(part).step_by(PARTS).collect();
        let (store, building, folded) = (store.clone(), Arc::clone(&building), Arc::clone(&folded));
        let heads = heads.clone();
        work.spawn(async move { fold(&store, &building, &shards, &heads, &folded).await });
    }
    while !work.is_empty() {
        progress(Progress { folded: folded.load(Ordering::Relaxed).min(of), of });
        tokio::select! {
            done = work.join_next() => joined(done)?,
            () = tokio::time::sleep(Duration::from_millis(100)) => {}
        }
    }
    progress(Progress { folded: of, of });
    for number in 0..building.len() {
        let (store, building, heads) = (store.clone(), Arc::clone(&building), heads.clone());
        work.spawn(async move { derive(&store, &building[number], &heads).await });
    }
    while !work.is_empty() {
        joined(work.join_next().await)?;
    }
    let mut outcomes = Vec::with_capacity(building.len());
    for one in building.iter() {
        outcomes.push(finish(store, one, flip).await?);
    }
    builder.stop().await;
    Ok(outcomes)
}

fn joined(
    done: Option<Result<Result<(), ProcessorError>, tokio::task::JoinError>>,
) -> Result<(), ProcessorError> {
    match done {
        None => Ok(()),
        Some(Ok(done)) => done,
        Some(Err(error)) => Err(StoreError::Fault(error.to_string()).into()),
    }
}

/// Keeps the lease of a rebuild alive, so that no other process starts the same one.
struct Builder {
    store: Store,
    node: Uuid,
    beat: JoinHandle<()>,
}

impl Builder {
    async fn start(store: Store) -> Result<Self, ProcessorError> {
        const ALIVE: &str = "
INSERT INTO processor_node (node, works) VALUES ($1, false) ON CONFLICT (node) DO UPDATE SET seen_at = now()";
        let row = sqlx::query("SELECT gen_random_uuid()").fetch_one(store.background()).await?;
        let node: Uuid = row.try_get(0)?;
        sqlx::query(ALIVE).bind(node).execute(store.background()).await?;
        let pool = store.background().clone();
        let beat = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LEASE / 5).await;
                if let Err(error) = sqlx::query(ALIVE).bind(node).execute(&pool).await {
                    tracing::debug!(%error, "cannot send the heartbeat of a rebuild");
                }
            }
        });
        Ok(Self { store, node, beat })
    }

    async fn stop(self) {
        self.beat.abort();
        let forget = sqlx::query("DELETE FROM processor_node WHERE node = $1").bind(self.node);
        // It expires after a minute anyway.
        forget.execute(self.store.background()).await.ok();
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.beat.abort();
    }
}

/// Creates a generation to build; one that was abandoned is discarded.
async fn open(store: &Store, processor: &Processor, builder: Uuid) -> Result<i32, ProcessorError> {
    const BUILDING: &str = "
SELECT p.generation, ceil($2 - extract(epoch FROM now() - n.seen_at))::bigint
  FROM processor p JOIN processor_range r USING (name, generation) LEFT JOIN processor_node n ON n.node = r.owner
 WHERE p.name = $1 AND p.state = 'building' AND r.range = 0";
    const OWN: &str = "UPDATE processor_range SET owner = $3 WHERE name = $1 AND generation = $2";
    let name = processor.name;
    let mut connection = store.background().acquire().await?;
    let mut transaction = connection.begin().await?;
    lock(&mut transaction, name).await?;
    let query = sqlx::query(BUILDING).bind(name).bind(LEASE.as_secs_f64());
    for row in query.fetch_all(&mut *transaction).await? {
        let seconds: Option<i64> = row.try_get(1)?;
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
            return Err(ProcessorError::Busy { name: name.to_owned(), seconds });
        }
        discard(&mut transaction, processor, row.try_get(0)?).await?;
    }
    let generation = next_generation(&mut transaction, name).await?;
    begin(&mut transaction, processor, generation, "building").await?;
    let query = sqlx::query(OWN).bind(name).bind(generation).bind(builder);
    query.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(generation)
}

/// Folds some shards for all generations page by page, so that each page is read once.
async fn fold(
    store: &Store,
    building: &[Building],
    shards: &[Shard],
    heads: &Positions,
    folded: &AtomicI64,
) -> Result<(), ProcessorError> {
    let mut types: Vec<&'static str> =
        building.iter().flat_map(|one| one.processor.types.iter().copied()).collect();
    types.sort_unstable();
    types.dedup();
    let mut at = Positions::default();
    loop {
        let page = read(store, shards, &types, &at, heads, PAGE).await?;
        for one in building {
            let wanted: Vec<Item> =
                page.items.iter().filter(|item| item.is_of(one.processor.types)).cloned().collect();
            if wanted.is_empty() {
                continue;
            }
            let mut parked = one.parked.lock().await;
            let mut connection = store.background().acquire().await?;
            let mut transaction = connection.begin().await?;
            let (name, generation) = (one.processor.name, one.generation);
            let mut writing = Writing { name, generation, building: true, parked: &mut parked };
            writing.page(&mut transaction, &*one.rows, &wanted).await?;
            transaction.commit().await?;
        }
        folded.fetch_add(page.to.total() - at.total(), Ordering::Relaxed);
        at = page.to;
        if !page.more {
            return Ok(());
        }
    }
}

/// The next events of these types, up to the heads.
async fn read(
    store: &Store,
    shards: &[Shard],
    types: &[&'static str],
    at: &Positions,
    heads: &Positions,
    most: u32,
) -> Result<Page, ProcessorError> {
    let found = store.of_types_in(shards, types, at, most).await?;
    let (mut to, mut more) = (at.clone(), false);
    for &shard in shards {
        let looked = found.looked_at.get(shard).min(heads.get(shard));
        to.set(shard, looked.max(at.get(shard)));
        more |= to.get(shard) < heads.get(shard);
    }
    // Events after the heads are left for the next read.
    let events = found.events.into_iter().filter(|event| event.position <= heads.get(event.shard));
    Ok(Page { items: events.map(Item::of).collect(), to, more })
}

/// Derives rows from all facts at once. From then on the generation is updated like a live one.
async fn derive(store: &Store, one: &Building, heads: &Positions) -> Result<(), ProcessorError> {
    let mut connection = store.background().acquire().await?;
    let mut transaction = connection.begin().await?;
    let generation = one.generation;
    let target = Target { connection: &mut transaction, generation, building: true };
    one.rows.derive(target).await?;
    set_positions(&mut transaction, &one.processor, generation, heads).await?;
    transaction.commit().await?;
    Ok(())
}

async fn set_positions(
    connection: &mut PgConnection,
    processor: &Processor,
    generation: i32,
    to: &Positions,
) -> Result<(), ProcessorError> {
    const SET: &str = "
UPDATE processor_range SET positions = $4::text::bigint[], heartbeat = now() WHERE name = $1 AND generation = $2 AND range = $3";
    for range in 0..processor.ranges {
        let query = sqlx::query(SET).bind(processor.name).bind(generation).bind(range);
        let query = query.bind(array(to, processor.ranges, range));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Brings both generations to the same positions, compares them, and switches over. Meanwhile
/// neither is written by others; reads continue.
async fn finish(store: &Store, one: &Building, flip: bool) -> Result<Outcome, ProcessorError> {
    let (processor, rows, generation) = (&one.processor, &*one.rows, one.generation);
    let name = processor.name;
    let mut connection = store.background().acquire().await?;
    let mut transaction = connection.begin().await?;
    lock(&mut transaction, name).await?;
    let live = live_generation(&mut transaction, name).await?;
    let places = [
        hold(&mut transaction, processor, live).await?,
        hold(&mut transaction, processor, generation).await?,
    ];
    let heads = store.heads().await?;
    for (generation, at) in [live, generation].into_iter().zip(places) {
        catch_up(&mut transaction, store, one, generation, at, &heads).await?;
        let target = Target { connection: &mut transaction, generation, building: false };
        rows.derive(target).await?;
    }
    let (differing, differences) = compare(&mut transaction, rows, live, generation).await?;
    // The nodes that worked on them lose their leases and look again.
    free(&mut transaction, name, &[live, generation]).await?;
    if flip {
        const OLD: &str = "SELECT generation FROM processor WHERE name = $1 AND state = 'old'";
        for row in sqlx::query(OLD).bind(name).fetch_all(&mut *transaction).await? {
            discard(&mut transaction, processor, row.try_get(0)?).await?;
        }
        set_state(&mut transaction, name, live, "old").await?;
        set_state(&mut transaction, name, generation, "live").await?;
    } else {
        discard(&mut transaction, processor, generation).await?;
    }
    // The switch-over is durable, and with it everything before.
    sqlx::query("SET LOCAL synchronous_commit = on").execute(&mut *transaction).await?;
    transaction.commit().await?;
    let live = if flip { generation } else { live };
    let events = heads.total();
    Ok(Outcome { name, live, events, differing, differences, restarted: false })
}

/// The positions of a generation, with its ranges locked.
async fn hold(
    connection: &mut PgConnection,
    processor: &Processor,
    generation: i32,
) -> Result<Positions, ProcessorError> {
    const HOLD: &str = "
SELECT range, positions FROM processor_range WHERE name = $1 AND generation = $2 ORDER BY range FOR UPDATE";
    let query = sqlx::query(HOLD).bind(processor.name).bind(generation);
    let mut all = Positions::default();
    for row in query.fetch_all(connection).await? {
        let (range, written): (i16, Vec<i64>) = (row.try_get(0)?, row.try_get(1)?);
        let here = positions(processor.ranges, range, &written);
        for shard in processor.shards(range) {
            all.set(shard, here.get(shard));
        }
    }
    Ok(all)
}

/// Writes the missing events up to the heads, within the transaction that locks the generation.
async fn catch_up(
    transaction: &mut PgConnection,
    store: &Store,
    one: &Building,
    generation: i32,
    mut at: Positions,
    heads: &Positions,
) -> Result<(), ProcessorError> {
    let shards: Vec<Shard> = Shard::all().collect();
    let mut parked = one.parked.lock().await;
    loop {
        let page = read(store, &shards, one.processor.types, &at, heads, PAGE / 8).await?;
        let name = one.processor.name;
        let mut writing = Writing { name, generation, building: false, parked: &mut parked };
        writing.page(transaction, &*one.rows, &page.items).await?;
        at = page.to;
        if !page.more {
            break;
        }
    }
    set_positions(transaction, &one.processor, generation, &at).await
}

/// Takes these generations away from the nodes that work on them.
async fn free(
    connection: &mut PgConnection,
    name: &str,
    generations: &[i32],
) -> Result<(), ProcessorError> {
    const FREE: &str = "
UPDATE processor_range SET owner = NULL, fence = fence + 1 WHERE name = $1 AND generation = ANY ($2)";
    sqlx::query(FREE).bind(name).bind(generations).execute(connection).await?;
    Ok(())
}

async fn set_state(
    connection: &mut PgConnection,
    name: &str,
    generation: i32,
    state: &str,
) -> Result<(), ProcessorError> {
    const SET: &str = "UPDATE processor SET state = $3 WHERE name = $1 AND generation = $2";
    sqlx::query(SET).bind(name).bind(generation).bind(state).execute(connection).await?;
    Ok(())
}

/// Deletes a generation.
async fn discard(
    connection: &mut PgConnection,
    processor: &Processor,
    generation: i32,
) -> Result<(), ProcessorError> {
    const FORGET: &str = "DELETE FROM processor WHERE name = $1 AND generation = $2";
    for table in processor.rows().map_or(&[][..], |rows| rows.tables()) {
        let delete = format!("DELETE FROM {table} WHERE generation = $1");
        let query = sqlx::query(sqlx::AssertSqlSafe(delete)).bind(generation);
        query.execute(&mut *connection).await?;
    }
    sqlx::query(FORGET).bind(processor.name).bind(generation).execute(connection).await?;
    Ok(())
}

/// A checksum over all rows of a generation: their number and the sum of their hashes, independent
/// of their order.
async fn sum(
    connection: &mut PgConnection,
    content: &str,
    generation: i32,
) -> Result<(i64, String), HandlerError> {
    let sum = format!(
        "SELECT count(*), coalesce(sum(hashtextextended(key || ' ' || content, 0)), 0)::text FROM ({content}) AS a (key, content)"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sum)).bind(generation);
    let row = query.fetch_one(connection).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// The rows that differ. They are only joined if the checksums differ, which is far cheaper.
async fn compare(
    connection: &mut PgConnection,
    rows: &dyn RowHandler,
    live: i32,
    rebuilt: i32,
) -> Result<(i64, Vec<Difference>), ProcessorError> {
    let content = rows.content();
    if sum(connection, content, live).await? == sum(connection, content, rebuilt).await? {
        return Ok((0, Vec::new()));
    }
    let ours = content.replace("$1", "$2");
    let compare = format!(
        "SELECT coalesce(a.key, b.key), a.content, b.content, count(*) OVER ()
           FROM ({content}) AS a (key, content) FULL JOIN ({ours}) AS b (key, content) ON a.key = b.key
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
