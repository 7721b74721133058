//! Proving the whole log: every chain, every position, every head, every seal.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::{StreamExt, TryStreamExt, stream};
use sqlx::Row;

use crate::{
    Envelope, Hash, Shard, Store, StoreError, StreamId,
    merkle::Tree,
    seal::{Seal, seals_of},
};

/// What was found to be right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Events whose hash and place are right.
    pub events: u64,
    /// Streams that end as their heads say.
    pub streams: u64,
    /// Receipts that name the events of their command.
    pub receipts: u64,
    /// Seals that fit the events and each other.
    pub seals: u64,
}

/// The first thing that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The shard.
    pub shard: Shard,
    /// The stream, where it is known.
    pub stream: Option<StreamId>,
    /// The version in the stream, where it is known.
    pub version: Option<i64>,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.stream, self.version) {
            (Some(stream), Some(version)) => write!(f, "stream {stream}, event {version}")?,
            (Some(stream), None) => write!(f, "stream {stream}")?,
            _ => write!(f, "shard {}", self.shard)?,
        }
        write!(f, ": {}", self.what)
    }
}

/// Why the log is not proven.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unproven {
    /// Somebody changed it.
    #[error("{0}")]
    Broken(Broken),
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Seals from outside the database, to compare with those in it.
pub type KnownSeals = BTreeMap<(u8, i64), Seal>;

/// Checks everything, several shards at once. `progress` counts events as they are checked.
pub async fn prove(
    store: &Store,
    known: &KnownSeals,
    at_once: usize,
    progress: &Arc<AtomicU64>,
) -> Result<Proof, Unproven> {
    let known = Arc::new(known.clone());
    let shards = Shard::all().map(|shard| {
        let (store, known, progress) = (store.clone(), Arc::clone(&known), Arc::clone(progress));
        // A task of its own when its turn comes, so that shards use all cores.
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
        whole.receipts += proof.receipts;
        whole.seals += proof.seals;
    }
    Ok(whole)
}

/// What the events of a stream said so far.
#[derive(Clone, Copy)]
struct End {
    version: i64,
    hash: Hash,
}

async fn prove_shard(
    store: &Store,
    shard: Shard,
    known: &KnownSeals,
    counter: &AtomicU64,
) -> Result<Proof, Unproven> {
    let seals = seals_of(&store.pool, shard).await?;
    check_seal_chain(shard, &seals, known)?;
    let mut streams: HashMap<StreamId, End> = HashMap::new();
    let mut roots = Roots { shard, seals: &seals, tree: Tree::default(), next: 0 };
    let mut position = 0;
    let mut events = store.log_envelopes(shard, 0);
    while let Some(event) = events.try_next().await? {
        position += 1;
        check_event(&event, position, &mut streams)?;
        roots.add(&event)?;
        counter.fetch_add(1, Ordering::Relaxed);
    }
    roots.finish(position)?;
    check_stream_heads(store, shard, &streams).await?;
    check_shard_head(store, shard, position).await?;
    let receipts = check_receipts(store, shard).await?;
    Ok(Proof {
        events: u64::try_from(position).unwrap_or(0),
        streams: streams.len() as u64,
        receipts,
        seals: seals.len() as u64,
    })
}

fn check_event(
    event: &Envelope,
    position: i64,
    streams: &mut HashMap<StreamId, End>,
) -> Result<(), Unproven> {
    let broken = |what: String| {
        let (stream, version) = (Some(event.stream), Some(event.version));
        Err(Unproven::Broken(Broken { shard: event.shard, stream, version, what }))
    };
    if event.shard != Shard::of(event.stream) {
        return broken(format!("it is in shard {}, not in its own", event.shard));
    }
    let end = streams.entry(event.stream).or_insert(End { version: 0, hash: Hash::ZERO });
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
    *end = End { version: event.version, hash: event.hash };
    Ok(())
}

fn at_shard(shard: Shard, what: String) -> Unproven {
    Unproven::Broken(Broken { shard, stream: None, version: None, what })
}

/// Numbers without holes, each chained to the one before, signed, and the same as outside.
fn check_seal_chain(shard: Shard, seals: &[Seal], known: &KnownSeals) -> Result<(), Unproven> {
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
        if known.get(&(seal.shard, number)).is_some_and(|outside| outside != seal) {
            return wrong("is not the one kept outside the database");
        }
        previous = (seal.hash(), seal.last_position);
    }
    let count = i64::try_from(seals.len()).unwrap_or(i64::MAX);
    let number = u8::try_from(shard.sql()).unwrap_or(0);
    match known.range((number, 1)..=(number, i64::MAX)).last() {
        Some(((_, last), _)) if *last > count => Err(at_shard(
            shard,
            format!("seal {} is missing, it is kept outside the database", count + 1),
        )),
        _ => Ok(()),
    }
}

/// Compares the roots of the sealed stretches as the events come.
struct Roots<'a> {
    shard: Shard,
    seals: &'a [Seal],
    tree: Tree,
    next: usize,
}

impl Roots<'_> {
    fn add(&mut self, event: &Envelope) -> Result<(), Unproven> {
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

    fn finish(&self, position: i64) -> Result<(), Unproven> {
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

async fn check_shard_head(store: &Store, shard: Shard, position: i64) -> Result<(), Unproven> {
    let head = store.heads().await?.get(shard);
    // Appends may go on while we check; the head can only be ahead of what was read.
    let missing = sqlx::query(
        "SELECT count(*) FROM event WHERE shard = $1 AND position > $2 AND position <= $3",
    )
    .bind(shard.sql())
    .bind(position)
    .bind(head)
    .fetch_one(&store.pool)
    .await
    .and_then(|row| row.try_get::<i64, _>(0))
    .map_err(StoreError::from)?;
    if head < position || head - position != missing {
        return Err(at_shard(shard, format!("its head says {head}, its events end at {position}")));
    }
    Ok(())
}

/// Every stream ends where its head says, and every head has a stream.
async fn check_stream_heads(
    store: &Store,
    shard: Shard,
    streams: &HashMap<StreamId, End>,
) -> Result<(), Unproven> {
    let rows = sqlx::query("SELECT stream, version, hash FROM stream_head WHERE shard = $1")
        .bind(shard.sql())
        .fetch_all(&store.pool)
        .await
        .map_err(StoreError::from)?;
    let mut heads = HashMap::with_capacity(rows.len());
    for row in rows {
        let read = || {
            Ok::<_, sqlx::Error>((
                row.try_get(0)?,
                row.try_get(1)?,
                Hash::from_sql(row.try_get(2)?),
            ))
        };
        let (stream, version, hash): (StreamId, i64, Hash) = read().map_err(StoreError::from)?;
        heads.insert(stream, End { version, hash });
    }
    let broken = |stream: StreamId, version: i64, what: String| {
        Err(Unproven::Broken(Broken { shard, stream: Some(stream), version: Some(version), what }))
    };
    for (&stream, end) in streams {
        match heads.remove(&stream) {
            None => return broken(stream, end.version, "it has no head".to_owned()),
            Some(head)
                if head.version < end.version
                    || (head.version == end.version && head.hash != end.hash) =>
            {
                return broken(
                    stream,
                    end.version,
                    format!("its head says version {}", head.version),
                );
            }
            // Appended since, unless events are missing at the end.
            Some(head) if head.version > end.version => {
                let now =
                    store.stream_envelopes(stream, end.version).try_collect::<Vec<_>>().await?;
                if now.last().is_none_or(|last| last.version < head.version) {
                    let what =
                        format!("events are missing: its head says version {}", head.version);
                    return broken(stream, end.version, what);
                }
            }
            Some(_) => {}
        }
    }
    for (stream, head) in heads {
        let begun = store.stream_envelopes(stream, 0).try_next().await?;
        if begun.is_none() {
            return broken(stream, 1, format!("all its {} events are missing", head.version));
        }
    }
    Ok(())
}

/// Every command of the log has a receipt that names its events, and no receipt names others.
async fn check_receipts(store: &Store, shard: Shard) -> Result<u64, Unproven> {
    const COMPARED: &str = "
WITH done AS (
    SELECT stream, command, min(version) AS first_version, max(version) AS last_version
      FROM event WHERE shard = $1 GROUP BY stream, command)
SELECT coalesce(d.stream, r.stream), coalesce(d.first_version, r.first_version), d.stream IS NULL, r.stream IS NULL
  FROM done d
  FULL JOIN (SELECT * FROM receipt WHERE shard = $1) r
    ON r.stream = d.stream AND r.command = d.command
   AND r.first_version = d.first_version AND r.last_version = d.last_version
 WHERE d.stream IS NULL OR r.stream IS NULL
 ORDER BY 1, 2 LIMIT 1";
    let row = sqlx::query(COMPARED)
        .bind(shard.sql())
        .fetch_optional(&store.pool)
        .await
        .map_err(StoreError::from)?;
    if let Some(row) = row {
        let read = || Ok::<_, sqlx::Error>((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
        let (stream, version, no_events): (StreamId, i64, bool) =
            read().map_err(StoreError::from)?;
        let what = if no_events {
            "a receipt names events that its command did not append"
        } else {
            "the command of this event has no receipt, or another one"
        };
        let (stream, version) = (Some(stream), Some(version));
        return Err(Unproven::Broken(Broken { shard, stream, version, what: what.to_owned() }));
    }
    let count = sqlx::query("SELECT count(*) FROM receipt WHERE shard = $1").bind(shard.sql());
    let count = count.fetch_one(&store.pool).await.and_then(|row| row.try_get::<i64, _>(0));
    Ok(u64::try_from(count.map_err(StoreError::from)?).unwrap_or(0))
}
