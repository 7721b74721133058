//! Status of processors.

use sqlx::{PgPool, Row};

use super::{Processor, ProcessorError, lease::LEASE, shards};
use crate::{Positions, Store, StreamId};

/// A generation of a processor.
#[derive(Clone, Debug)]
pub struct Status {
    /// The processor.
    pub name: String,
    /// The generation.
    pub generation: i32,
    /// `building`, `live` or `old`.
    pub state: String,
    /// The version of the program that writes it.
    pub version: i32,
    /// Events that could not be handled.
    pub parked: Vec<Parked>,
    /// Its ranges.
    pub ranges: Vec<RangeStatus>,
}

/// An event that could not be handled.
#[derive(Clone, Debug)]
pub struct Parked {
    /// Its stream.
    pub stream: StreamId,
    /// Its version.
    pub version: i64,
    /// The reason.
    pub reason: String,
    /// Number of retries.
    pub tries: i32,
}

/// A range of shards of a generation.
#[derive(Clone, Debug)]
pub struct RangeStatus {
    /// Its number.
    pub range: i16,
    /// Number of handled events in its shards.
    pub position: i64,
    /// Number of events still to handle.
    pub behind: i64,
    /// By how much the checkpoint is after the end of the log; always 0 unless a backup was
    /// restored.
    pub ahead: i64,
    /// Whether a node holds it.
    pub held: bool,
    /// Seconds since its checkpoint was written, if ever.
    pub heartbeat: Option<f64>,
}

impl Status {
    /// Number of handled events.
    pub fn position(&self) -> i64 {
        self.ranges.iter().map(|range| range.position).sum()
    }

    /// Number of events still to handle.
    pub fn behind(&self) -> i64 {
        self.ranges.iter().map(|range| range.behind).sum()
    }

    /// By how much the checkpoint is after the end of the log.
    pub fn ahead(&self) -> i64 {
        self.ranges.iter().map(|range| range.ahead).sum()
    }
}

/// Every generation of every processor; `heads` is the end of the log.
pub async fn status(pool: &PgPool, heads: &Positions) -> Result<Vec<Status>, ProcessorError> {
    const STATUS: &str = "
SELECT p.name, p.generation, p.state, p.version, p.ranges, r.range, r.positions,
       EXISTS (SELECT 1 FROM processor_node n WHERE n.node = r.owner AND n.seen_at > now() - make_interval(secs => $1)),
       extract(epoch FROM now() - r.heartbeat)::float8
  FROM processor p JOIN processor_range r USING (name, generation)
 ORDER BY p.name, p.generation, r.range";
    const PARKED: &str = "
SELECT name, generation, stream, version, reason, tries FROM processor_parked ORDER BY stream, version";
    let mut all: Vec<Status> = Vec::new();
    for row in sqlx::query(STATUS).bind(LEASE.as_secs_f64()).fetch_all(pool).await? {
        let (name, generation): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
        let (ranges, range): (i16, i16) = (row.try_get(4)?, row.try_get(5)?);
        let written: Vec<i64> = row.try_get(6)?;
        let ends = shards(ranges, range).into_iter().map(|shard| heads.get(shard));
        let gaps = ends.zip(&written).map(|(head, position)| head - position);
        let gaps: Vec<i64> = gaps.collect();
        let range = RangeStatus {
            range,
            position: written.iter().sum(),
            behind: gaps.iter().filter(|gap| **gap > 0).sum(),
            ahead: -gaps.iter().filter(|gap| **gap < 0).sum::<i64>(),
            held: row.try_get(7)?,
            heartbeat: row.try_get(8)?,
        };
        match all.last_mut() {
            Some(last) if last.name == name && last.generation == generation => {
                last.ranges.push(range);
            }
            _ => all.push(Status {
                name,
                generation,
                state: row.try_get(2)?,
                version: row.try_get(3)?,
                parked: Vec::new(),
                ranges: vec![range],
            }),
        }
    }
    for row in sqlx::query(PARKED).fetch_all(pool).await? {
        let (name, generation): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
        let of = |status: &&mut Status| status.name == name && status.generation == generation;
        if let Some(status) = all.iter_mut().find(of) {
            status.parked.push(Parked {
                stream: row.try_get(2)?,
                version: row.try_get(3)?,
                reason: row.try_get(4)?,
                tries: row.try_get(5)?,
            });
        }
    }
    Ok(all)
}

/// The checkpoint of the live generation of a processor.
pub async fn checkpoint(pool: &PgPool, name: &str) -> Result<Positions, ProcessorError> {
    const POSITIONS: &str = "
SELECT p.ranges, r.range, r.positions FROM processor p JOIN processor_range r USING (name, generation)
 WHERE p.name = $1 AND p.state = 'live'";
    let mut all = Positions::default();
    for row in sqlx::query(POSITIONS).bind(name).fetch_all(pool).await? {
        let (ranges, range): (i16, i16) = (row.try_get(0)?, row.try_get(1)?);
        let written: Vec<i64> = row.try_get(2)?;
        for (shard, position) in shards(ranges, range).into_iter().zip(written) {
            all.set(shard, position);
        }
    }
    Ok(all)
}

/// Reports progress and parked events as metrics of this node. Checkpoints are written up to some
/// seconds after the last relevant event, so a small lag is normal.
pub(super) async fn report_metrics(store: &Store, processors: &[Processor], held: usize) {
    metrics::gauge!("croupier_processor_ranges").set(count(held));
    let Ok(heads) = store.heads().await else { return };
    let Ok(all) = status(store.background(), &heads).await else { return };
    for live in all.iter().filter(|status| status.state == "live") {
        let Ok(processor) = Processor::named(processors, &live.name) else { continue };
        let name = processor.name;
        let behind = usize::try_from(live.behind()).unwrap_or(0);
        metrics::gauge!("croupier_processor_behind", "processor" => name).set(count(behind));
        metrics::gauge!("croupier_processor_parked", "processor" => name)
            .set(count(live.parked.len()));
        let free = live.ranges.iter().filter(|range| !range.held).count();
        metrics::gauge!("croupier_processor_unheld_ranges", "processor" => name).set(count(free));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count is small")]
fn count(number: usize) -> f64 {
    number as f64
}
