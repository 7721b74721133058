//! The consumer of a node: sends heartbeats, shares ranges with other nodes, and runs a worker for
//! each processor.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use uuid::Uuid;

use super::{
    Processor, ProcessorError,
    checkpoint::ensure_live,
    lease::{LEASE, Shared, Unit, give_back, heartbeat, release_all, take},
    status::report_metrics,
    worker::{Order, Worker},
};
use crate::{Store, StoreError};

/// Interval of heartbeats.
const BEAT: Duration = Duration::from_secs(1);
/// Interval of metrics reports.
const REPORT: Duration = Duration::from_secs(5);

/// A range of a generation of a processor.
pub(super) type Key = (&'static str, i32, i16);

/// The ranges held by this node, and whether it may still work on them.
#[derive(Debug, Default)]
pub(super) struct Held {
    ranges: Mutex<BTreeMap<Key, i64>>,
    seen: Mutex<Option<Instant>>,
    stopping: AtomicBool,
}

impl Held {
    /// Whether the last heartbeat is recent enough that no other node can have taken over a range.
    pub(super) fn is_alive(&self) -> bool {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_some_and(|seen| seen.elapsed() < LEASE) && !self.stopping.load(Ordering::Relaxed)
    }

    pub(super) fn remove(&self, key: &Key) {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    fn insert(&self, key: Key, fence: i64) {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner).insert(key, fence);
    }

    fn all(&self) -> BTreeMap<Key, i64> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a heartbeat. `at` is the time before it was sent, so that our lease ends before the
    /// database's.
    fn seen(&self, at: Instant) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }
}

/// Runs processors on this node, sharing their ranges with other nodes.
#[derive(Debug)]
pub struct Consumer {
    store: Store,
    processors: Vec<Processor>,
    node: Uuid,
}

/// Channels to the workers.
type Orders = HashMap<&'static str, mpsc::UnboundedSender<Order>>;

impl Consumer {
    /// A consumer without ranges. The node id must be unique.
    pub fn new(store: Store, processors: Vec<Processor>, node: Uuid) -> Self {
        Self { store, processors, node }
    }

    /// Runs until `stop` resolves, then releases its ranges, so that other nodes continue at once.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let held = Arc::new(Held::default());
        let (mut workers, mut orders) = (JoinSet::new(), Orders::new());
        for processor in &self.processors {
            let (sender, receiver) = mpsc::unbounded_channel();
            orders.insert(processor.name, sender);
            let held = Arc::clone(&held);
            workers.spawn(Worker::new(self.store.clone(), processor.clone(), held, receiver).run());
        }
        tokio::select! { () = self.share(&held, &orders) => {}, () = stop => {} }
        held.stopping.store(true, Ordering::Relaxed);
        for worker in orders.values() {
            // The worker may have ended already.
            worker.send(Order::Stop).ok();
        }
        while workers.join_next().await.is_some() {}
        if let Err(error) = release_all(self.store.background(), self.node).await {
            tracing::debug!(%error, "cannot release ranges, their leases will expire");
        }
    }

    /// Shares ranges with other nodes while the store is open.
    async fn share(&self, held: &Held, orders: &Orders) {
        let mut ready = false;
        let mut wakes: HashMap<String, i64> = HashMap::new();
        let mut reported = None::<Instant>;
        while !self.store.pool().is_closed() {
            match self.beat(held, orders, &mut wakes, ready).await {
                Ok(()) => ready = true,
                Err(ProcessorError::Store(StoreError::Unavailable(why))) => {
                    tracing::debug!(why, "cannot share ranges, the database is unavailable");
                }
                Err(error) => tracing::error!(%error, "cannot share ranges"),
            }
            if reported.is_none_or(|at| at.elapsed() >= REPORT) {
                reported = Some(Instant::now());
                report_metrics(&self.store, &self.processors, held.all().len()).await;
            }
            tokio::time::sleep(BEAT).await;
        }
    }

    async fn beat(
        &self,
        held: &Held,
        orders: &Orders,
        wakes: &mut HashMap<String, i64>,
        ready: bool,
    ) -> Result<(), ProcessorError> {
        let pool = self.store.background();
        if !ready {
            ensure_live(pool, &self.processors).await?;
        }
        let before = Instant::now();
        let shared = heartbeat(pool, self.node, &self.processors).await?;
        held.seen(before);
        self.store.tailer.set_alone(shared.others == 0);
        let Shared { units, others } = shared;
        let units: Vec<(&Processor, Unit)> =
            units.into_iter().filter_map(|unit| self.runnable(unit)).collect();
        let ours = drop_lost(&units, held, orders);
        wake(&units, wakes, orders);
        // This node's fair share of all ranges.
        let share = units.len().div_ceil(others + 1);
        let surplus = ours.len().saturating_sub(share);
        for (name, generation, range) in ours.keys().rev().take(surplus) {
            send_order(orders, name, Order::Give { generation: *generation, range: *range });
        }
        let free = units.iter().filter(|(processor, unit)| {
            !unit.theirs && !ours.contains_key(&(processor.name, unit.generation, unit.range))
        });
        let free: Vec<&Unit> = free.map(|(_, unit)| unit).collect();
        let room = share.saturating_sub(ours.len()).min(free.len());
        let (wanted, rest) = free.split_at(room);
        // Ranges that a worker dropped are still leased by this node in the database: release them.
        let dropped: Vec<&Unit> = rest.iter().copied().filter(|unit| unit.ours).collect();
        if !dropped.is_empty() {
            give_back(pool, &dropped).await?;
        }
        if wanted.is_empty() {
            return Ok(());
        }
        for (name, lease) in take(pool, self.node, wanted, &self.processors).await? {
            let name = Processor::named(&self.processors, &name)?.name;
            held.insert((name, lease.generation, lease.range), lease.fence);
            send_order(orders, name, Order::Take(Box::new(lease)));
        }
        Ok(())
    }

    /// A range that this program can work on: generations of another version are left to nodes with
    /// that version.
    fn runnable(&self, unit: Unit) -> Option<(&Processor, Unit)> {
        let processor = self.processors.iter().find(|one| one.name == unit.name)?;
        let fits = processor.version == unit.version
            || (processor.rows().is_none() && processor.version > unit.version);
        if !fits && unit.range == 0 {
            let (name, found, known) = (unit.name.clone(), unit.version, processor.version);
            let error = ProcessorError::OtherVersion { name, found, known };
            tracing::warn!(%error, "leaving the range to nodes of that version");
        }
        fits.then_some((processor, unit))
    }
}

/// Drops ranges that are no longer leased by this node; returns the others.
fn drop_lost(units: &[(&Processor, Unit)], held: &Held, orders: &Orders) -> BTreeMap<Key, i64> {
    let mut ours = held.all();
    ours.retain(|&(name, generation, range), fence| {
        let still = units.iter().any(|(_, unit)| {
            (unit.name.as_str(), unit.generation, unit.range) == (name, generation, range)
                && unit.ours
                && unit.fence == *fence
        });
        if !still {
            held.remove(&(name, generation, range));
            send_order(orders, name, Order::Give { generation, range });
        }
        still
    });
    ours
}

fn wake(units: &[(&Processor, Unit)], wakes: &mut HashMap<String, i64>, orders: &Orders) {
    for (processor, unit) in units.iter().filter(|(_, unit)| unit.range == 0) {
        let before = wakes.insert(unit.name.clone(), unit.wake);
        if before.is_some_and(|before| before != unit.wake) {
            send_order(orders, processor.name, Order::Wake);
        }
    }
}

fn send_order(orders: &Orders, name: &str, order: Order) {
    if let Some(worker) = orders.get(name) {
        // Workers only end when the consumer stops.
        worker.send(order).ok();
    }
}
