//! Verifies the whole log: every chain, position, head and seal.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::{StreamExt, TryStreamExt, stream};
use sqlx::{Executor, PgConnection, Postgres, Row, Transaction, postgres::PgRow};

use crate::{
    Envelope, Hash, Shard, Store, StoreError, StreamId,
    merkle::Tree,
    read::{LOG_PAGE, PAGE, envelope},
    seal::{Seal, seals_of},
    timestamp::Micros,
};

/// Counts of what was verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Events with the right hash and position.
    pub events: u64,
    /// Streams that end as their heads say.
    pub streams: u64,
    /// Commands, each of which occurs once in its stream.
    pub commands: u64,
    /// Seals that match the events and each other.
    pub seals: u64,
}

/// The first inconsistency found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The shard, if it is in one.
    pub shard: Option<Shard>,
    /// The stream, if known.
    pub stream: Option<StreamId>,
    /// The version in the stream, if known.
    pub version: Option<i64>,
    /// The mismatch.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.stream, self.version, self.shard) {
            (Some(stream), Some(version), _) => write!(f, "stream {stream}, event {version}: ")?,
            (Some(stream), None, _) => write!(f, "stream {stream}: ")?,
            (None, _, Some(shard)) => write!(f, "shard {shard}: ")?,
            (None, _, None) => {}
        }
        f.write_str(&self.what)
    }
}

/// Why verification failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum VerificationError {
    /// The log was tampered with.
    #[error("{0}")]
    Broken(Broken),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is known from outside the database.
#[derive(Clone, Debug, Default)]
pub struct ExternalEvidence {
    /// Seals kept elsewhere, by shard and number.
    pub seals: BTreeMap<(u8, i64), Seal>,
    /// The public key that must have signed every seal.
    pub key: Option<[u8; 32]>,
}

/// Verifies everything, several shards concurrently. `progress` counts verified events.
pub async fn prove(
    store: &Store,
    known: &ExternalEvidence,
    at_once: usize,
    progress: &Arc<AtomicU64>,
) -> Result<Proof, VerificationError> {
    check_unknown_shards(store).await?;
    let known = Arc::new(known.clone());
    let shards = Shard::all().map(|shard| {
        let (store, known, progress) = (store.clone(), Arc::clone(&known), Arc::clone(progress));
        // Each shard is a task of its own, so that all cores are used.
        async move {
            let task = async move { prove_shard(&store, shard, &known, &progress).await };
            tokio::spawn(task).await.unwrap_or_else(|stopped| {
                Err(StoreError::Fault(format!("the check was stopped: {stopped}")).into())
            })
        }
    });
    let mut proofs = stream::iter(shards).buffered(at_once.max(1));
    let mut whole = Proof::default();
    while let Some(proof) = proofs.try_next().await? {
        whole.events += proof.events;
        whole.streams += proof.streams;
        whole.commands += proof.commands;
        whole.seals += proof.seals;
    }
    Ok(whole)
}

/// The end of a stream according to its events.
#[derive(Clone, Copy, PartialEq)]
struct End {
    version: i64,
    hash: Hash,
    recorded_at: i64,
}

/// Rows in shards outside 0 to 63 would be missed by reads of single shards but seen by queries
/// over all of them. Two conditions, so that each is an index probe.
async fn check_unknown_shards(store: &Store) -> Result<(), VerificationError> {
    const UNKNOWN_SHARDS: &str = "
          SELECT 'event' FROM event WHERE shard < 0
UNION ALL SELECT 'event' FROM event WHERE shard > 63
UNION ALL SELECT 'stream_head' FROM stream_head WHERE shard < 0
UNION ALL SELECT 'stream_head' FROM stream_head WHERE shard > 63
UNION ALL SELECT 'shard_head' FROM shard_head WHERE shard < 0 OR shard > 63
UNION ALL SELECT 'seal' FROM seal WHERE shard < 0 OR shard > 63
LIMIT 1";
    let mut snapshot = snapshot(store).await?;
    let found = sqlx::query(UNKNOWN_SHARDS).fetch_optional(&mut *snapshot).await;
    let Some(row) = found.map_err(StoreError::from)? else { return Ok(()) };
    let table: String = row.try_get(0).map_err(StoreError::from)?;
    let what = format!("a row of {table} is in a shard that does not exist");
    Err(VerificationError::Broken(Broken { shard: None, stream: None, version: None, what }))
}

/// A snapshot of the database for the whole verification: appends continue meanwhile.
async fn snapshot(store: &Store) -> Result<Transaction<'static, Postgres>, StoreError> {
    let mut snapshot = store.pool.begin().await?;
    snapshot
        .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = 0")
        .await?;
    Ok(snapshot)
}

async fn prove_shard(
    store: &Store,
    shard: Shard,
    known: &ExternalEvidence,
    counter: &AtomicU64,
) -> Result<Proof, VerificationError> {
    let mut snapshot = snapshot(store).await?;
    let seals = seals_of(&mut snapshot, shard, i64::MIN).await?;
    check_seal_chain(shard, &seals, known)?;
    let mut streams: HashMap<StreamId, End> = HashMap::new();
    let mut roots = Roots { shard, seals: &seals, tree: Tree::default(), next: 0 };
    let (mut position, mut read) = (0, i64::MIN);
    loop {
        let page = sqlx::query(LOG_PAGE).bind(shard.sql()).bind(read).bind(PAGE);
        let rows = page.fetch_all(&mut *snapshot).await.map_err(StoreError::from)?;
        for row in &rows {
            let event = envelope(row).map_err(StoreError::from)?;
            position += 1;
            check_event(&event, position, &mut streams)?;
            roots.add(&event)?;
            read = event.position;
        }
        counter.fetch_add(rows.len() as u64, Ordering::Relaxed);
        if rows.is_empty() {
            break;
        }
    }
    roots.finish(position)?;
    check_stream_heads(&mut snapshot, shard, &streams).await?;
    check_shard_head(&mut snapshot, shard, position).await?;
    let commands = check_commands(&mut snapshot, shard).await?;
    Ok(Proof {
        events: u64::try_from(position).unwrap_or(0),
        streams: streams.len() as u64,
        commands,
        seals: seals.len() as u64,
    })
}

fn check_event(
    event: &Envelope,
    position: i64,
    streams: &mut HashMap<StreamId, End>,
) -> Result<(), VerificationError> {
    let broken = |what: String| {
        let (stream, version) = (Some(event.stream), Some(event.version));
        Err(VerificationError::Broken(Broken { shard: Some(event.shard), stream, version, what }))
    };
    if event.shard != Shard::of(event.stream) {
        return broken(format!("it is in shard {}, not in its own", event.shard));
    }
    let end =
        streams.entry(event.stream).or_insert(End { version: 0, hash: Hash::ZERO, recorded_at: 0 });
    if event.version != end.version + 1 {
        return broken(format!("version {} should come here", end.version + 1));
    }
    if event.position != position {
        return broken(format!("it has position {}, {position} should come here", event.position));
    }
    let expected = event.expected_hash(&end.hash);
    if event.hash != expected {
        return broken(format!("its hash is {}, its contents give {expected}", event.hash));
    }
    *end = End { version: event.version, hash: event.hash, recorded_at: event.recorded_at };
    Ok(())
}

fn at_shard(shard: Shard, what: String) -> VerificationError {
    VerificationError::Broken(Broken { shard: Some(shard), stream: None, version: None, what })
}

/// Seals are numbered without gaps, chained, signed, and equal to those kept outside.
fn check_seal_chain(
    shard: Shard,
    seals: &[Seal],
    known: &ExternalEvidence,
) -> Result<(), VerificationError> {
    let mut previous = (Hash::ZERO, 0);
    for (number, seal) in (1..).zip(seals) {
        let wrong = |what: &str| Err(at_shard(shard, format!("seal {number} {what}")));
        if seal.number != number || seal.first_position != previous.1 + 1 {
            return wrong("is missing, or not where it should be");
        }
        if seal.previous != previous.0.0 {
            return wrong("is not chained to the one before");
        }
        if !seal.is_signed() {
            return wrong("is not signed by its key");
        }
        if known.key.is_some_and(|key| key != seal.key) {
            return wrong("is signed by another key than the trusted one");
        }
        if known.seals.get(&(seal.shard, number)).is_some_and(|outside| outside != seal) {
            return wrong("is not the one kept outside the database");
        }
        previous = (seal.hash(), seal.last_position);
    }
    let count = i64::try_from(seals.len()).unwrap_or(i64::MAX);
    let number = u8::try_from(shard.sql()).unwrap_or(0);
    match known.seals.range((number, 1)..=(number, i64::MAX)).last() {
        Some(((_, last), _)) if *last > count => Err(at_shard(
            shard,
            format!("seal {} is missing, it is kept outside the database", count + 1),
        )),
        _ => Ok(()),
    }
}

/// Compares Merkle roots with the seals while events are read.
struct Roots<'a> {
    shard: Shard,
    seals: &'a [Seal],
    tree: Tree,
    next: usize,
}

impl Roots<'_> {
    fn add(&mut self, event: &Envelope) -> Result<(), VerificationError> {
        let Some(seal) = self.seals.get(self.next) else { return Ok(()) };
        self.tree.push(&event.hash);
        if event.position < seal.last_position {
            return Ok(());
        }
        if self.tree.root().0 != seal.root {
            let (first, last) = (seal.first_position, seal.last_position);
            let what = format!(
                "events at positions {first} to {last} are not those of seal {}",
                seal.number
            );
            return Err(at_shard(self.shard, what));
        }
        self.tree = Tree::default();
        self.next += 1;
        Ok(())
    }

    fn finish(&self, position: i64) -> Result<(), VerificationError> {
        match self.seals.get(self.next) {
            Some(seal) => {
                let last = seal.last_position;
                let what = format!("it ends at position {position}, but was sealed up to {last}");
                Err(at_shard(self.shard, what))
            }
            None => Ok(()),
        }
    }
}

async fn check_shard_head(
    snapshot: &mut PgConnection,
    shard: Shard,
    position: i64,
) -> Result<(), VerificationError> {
    let row = sqlx::query("SELECT position FROM shard_head WHERE shard = $1")
        .bind(shard.sql())
        .fetch_optional(snapshot)
        .await
        .map_err(StoreError::from)?;
    let head = row.map(|row| row.try_get::<i64, _>(0)).transpose().map_err(StoreError::from)?;
    if head == Some(position) {
        return Ok(());
    }
    let head = head.map_or_else(|| "nothing".to_owned(), |head| head.to_string());
    Err(at_shard(shard, format!("its head says {head}, its events end at {position}")))
}

/// Every stream ends where its head says, and every head has a stream.
async fn check_stream_heads(
    snapshot: &mut PgConnection,
    shard: Shard,
    streams: &HashMap<StreamId, End>,
) -> Result<(), VerificationError> {
    const HEADS: &str =
        "SELECT stream, version, hash, recorded_at FROM stream_head WHERE shard = $1";
    let rows = sqlx::query(HEADS).bind(shard.sql()).fetch_all(snapshot).await;
    let mut heads = HashMap::new();
    for row in rows.map_err(StoreError::from)? {
        let (stream, end) = head(&row).map_err(StoreError::from)?;
        heads.insert(stream, end);
    }
    let broken = |stream: StreamId, version: i64, what: String| {
        Err(VerificationError::Broken(Broken {
            shard: Some(shard),
            stream: Some(stream),
            version: Some(version),
            what,
        }))
    };
    for (&stream, end) in streams {
        match heads.remove(&stream) {
            Some(head) if head == *end => {}
            Some(head) if head.version > end.version => {
                let what = format!("events are missing: its head says version {}", head.version);
                return broken(stream, end.version, what);
            }
            Some(head) => {
                let what =
                    format!("its head says version {} with another hash or time", head.version);
                return broken(stream, end.version, what);
            }
            None => return broken(stream, end.version, "it has no head".to_owned()),
        }
    }
    match heads.into_iter().next() {
        Some((stream, head)) => {
            broken(stream, 1, format!("all its {} events are missing", head.version))
        }
        None => Ok(()),
    }
}

fn head(row: &PgRow) -> Result<(StreamId, End), sqlx::Error> {
    let (version, hash) = (row.try_get(1)?, Hash::from_sql(row.try_get(2)?));
    let recorded_at = row.try_get::<Micros, _>(3)?.0;
    Ok((row.try_get(0)?, End { version, hash, recorded_at }))
}

/// The events of a command are consecutive, and each command occurs once in its stream. Returns the
/// number of commands.
async fn check_commands(
    snapshot: &mut PgConnection,
    shard: Shard,
) -> Result<u64, VerificationError> {
    const COMMANDS: &str = "
WITH command AS (
    SELECT stream, min(version) AS first, max(version) - min(version) + 1 = count(*) AND min(request) = max(request) AS whole
      FROM event WHERE shard = $1 GROUP BY stream, command)
SELECT count(*), (SELECT stream FROM command WHERE NOT whole ORDER BY stream, first LIMIT 1),
       (SELECT first FROM command WHERE NOT whole ORDER BY stream, first LIMIT 1)
  FROM command";
    let row = sqlx::query(COMMANDS).bind(shard.sql()).fetch_one(&mut *snapshot).await;
    let row = row.map_err(StoreError::from)?;
    let (stream, version): (Option<StreamId>, Option<i64>) =
        (row.try_get(1).map_err(StoreError::from)?, row.try_get(2).map_err(StoreError::from)?);
    if stream.is_some() {
        let what = "the command of this event stands twice in its stream".to_owned();
        return Err(VerificationError::Broken(Broken {
            shard: Some(shard),
            stream,
            version,
            what,
        }));
    }
    let count: i64 = row.try_get(0).map_err(StoreError::from)?;
    Ok(u64::try_from(count).unwrap_or(0))
}
