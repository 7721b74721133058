//! The task of one processor on one node: takes events, runs the handler, advances the checkpoint.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use sqlx::{Connection, PgConnection};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    CommandHandler, Handler, HandlerError, Processor, ProcessorError, RowHandler, Target,
    batch::{Writing, act, attempt, events_of, unreadable},
    checkpoint::{advance, array, check},
    consumer::Held,
    feed::{Feed, Page},
    lease::{Lease, release},
    parked,
};
use crate::{Recorded, Shard, Store, StoreError, StreamId};

/// Delay after a transient error.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// Interval of retries of parked events.
const RETRY_PARKED: Duration = Duration::from_mins(1);
/// Interval of checkpoints without relevant events, and of processors that issue commands.
const CHECKPOINT: Duration = Duration::from_secs(1);
/// Interval of `derive` while a processor is behind.
const DERIVE: Duration = Duration::from_secs(3);

/// A message from the consumer to a worker.
#[derive(Debug)]
pub(super) enum Order {
    /// Start working on this range.
    Take(Box<Lease>),
    /// Release this range of a generation.
    Give { generation: i32, range: i16 },
    /// Retry parked events, and check for work that is not in the log.
    Wake,
    /// Write checkpoints and end.
    Stop,
}

pub(super) struct Worker {
    store: Store,
    processor: Processor,
    /// The ranges held by this node, shared with the consumer.
    held: Arc<Held>,
    orders: mpsc::UnboundedReceiver<Order>,
    feed: Feed,
    leases: BTreeMap<i16, Lease>,
    generation: i32,
    /// A page that could not be handled yet.
    pending: Option<Page>,
    /// Streams with a parked event.
    parked: HashSet<StreamId>,
    /// Whether rows were written and nothing was derived from them yet, perhaps by the previous
    /// owner.
    underived: bool,
    derived_at: Instant,
    written_at: Instant,
    next_retry: Instant,
    next_tick: Option<Instant>,
}

impl Worker {
    pub(super) fn new(
        store: Store,
        processor: Processor,
        held: Arc<Held>,
        orders: mpsc::UnboundedReceiver<Order>,
    ) -> Self {
        let feed = Feed::new(store.clone(), processor.types);
        let now = Instant::now();
        Self {
            store,
            processor,
            held,
            orders,
            feed,
            leases: BTreeMap::new(),
            generation: 0,
            pending: None,
            parked: HashSet::new(),
            underived: false,
            derived_at: now,
            written_at: now,
            next_retry: now,
            next_tick: None,
        }
    }

    /// Runs until it receives [`Order::Stop`].
    pub(super) async fn run(mut self) {
        loop {
            // Events of other types advance the positions while it waits: check again soon.
            let look = self.next_due().min(Instant::now() + CHECKPOINT);
            let work = self.pending.is_some() || (self.underived && !self.leases.is_empty());
            let order = tokio::select! {
                biased;
                order = self.orders.recv() => Some(order.unwrap_or(Order::Stop)),
                () = async {}, if work => None,
                () = self.feed.wait(), if !self.leases.is_empty() => None,
                () = sleep_until(look), if !self.leases.is_empty() => {
                    if self.next_due() > Instant::now() {
                        continue;
                    }
                    None
                }
            };
            match order {
                Some(Order::Stop) => return self.stop().await,
                Some(order) => self.handle_order(order).await,
                None => self.work().await,
            }
        }
    }

    async fn stop(mut self) {
        if let Err(error) = self.write_checkpoint().await {
            tracing::debug!(%error, processor = self.processor.name, "cannot write the checkpoint");
        }
    }

    fn next_due(&self) -> Instant {
        let far = Instant::now() + RETRY_PARKED;
        let mut due = if self.is_ahead() { self.written_at + CHECKPOINT } else { far };
        if !self.parked.is_empty() {
            due = due.min(self.next_retry);
        }
        self.next_tick.map_or(due, |tick| due.min(tick))
    }

    /// Whether more was handled than the checkpoint says.
    fn is_ahead(&self) -> bool {
        self.leases.values().any(|lease| {
            let mut shards = self.processor.shards(lease.range).into_iter();
            shards.any(|s| self.feed.positions().get(s) != lease.positions.get(s))
        })
    }

    async fn handle_order(&mut self, order: Order) {
        match order {
            Order::Take(lease) => {
                if let Err(error) = self.take(*lease).await {
                    self.failed(&error);
                }
            }
            Order::Give { generation, .. }
                if generation == self.generation && self.pending.is_some() =>
            {
                // The next owner of the range handles the pending page again.
                self.drop_all();
            }
            Order::Give { generation, range } if generation == self.generation => {
                // Write the checkpoint first: the next owner need not repeat this work.
                let written = self.write_checkpoint().await;
                if let Some(lease) = self.leases.get(&range).cloned() {
                    self.drop_range(range);
                    let pool = self.store.background();
                    if let Err(error) =
                        release(pool, self.processor.name, &lease).await.and(written)
                    {
                        tracing::debug!(%error, "cannot release a range, its lease will expire");
                    }
                }
            }
            Order::Give { generation, range } => {
                self.held.remove(&(self.processor.name, generation, range));
            }
            Order::Wake => {
                self.underived |= self.processor.rows().is_some();
                self.next_retry = Instant::now();
            }
            Order::Stop => {}
        }
    }

    async fn take(&mut self, lease: Lease) -> Result<(), ProcessorError> {
        let name = self.processor.name;
        if lease.generation != self.generation {
            self.drop_all();
            self.generation = lease.generation;
        }
        let checked = async {
            check(self.store.background(), &self.processor, &lease).await?;
            parked::list(self.store.background(), name, lease.generation).await
        };
        match checked.await {
            Ok(known) => self.parked = parked::streams(&known),
            Err(error) => {
                self.held.remove(&(name, lease.generation, lease.range));
                return Err(error);
            }
        }
        self.feed.add(&self.processor.shards(lease.range), &lease.positions);
        self.leases.insert(lease.range, lease);
        self.underived |= self.processor.rows().is_some();
        let now = Instant::now();
        self.next_retry = now;
        // Only row handlers have ticks: a tick that never happens would always be due.
        self.next_tick = self.processor.rows().is_some().then_some(now);
        Ok(())
    }

    fn drop_range(&mut self, range: i16) {
        let shards = self.processor.shards(range);
        self.feed.remove(&shards);
        self.leases.remove(&range);
        self.held.remove(&(self.processor.name, self.generation, range));
    }

    fn drop_all(&mut self) {
        for range in self.leases.keys().copied().collect::<Vec<_>>() {
            self.drop_range(range);
        }
        self.pending = None;
    }

    /// One iteration: new events, parked events, ticks and the checkpoint.
    async fn work(&mut self) {
        // Without recent heartbeats, this node may have lost its ranges.
        if !self.held.is_alive() {
            return self.drop_all();
        }
        if let Err(error) = self.round().await {
            self.failed(&error);
            if matches!(error, ProcessorError::Fenced) {
                // Another node owns some of the ranges: find out which are still ours.
                self.drop_all();
            } else {
                sleep(TRY_AGAIN).await;
            }
        }
    }

    async fn round(&mut self) -> Result<(), ProcessorError> {
        let page = if let Some(page) = self.pending.take() {
            page
        } else {
            if !self.feed.is_behind() && !self.underived {
                sleep(self.processor.collect).await;
            }
            self.feed.take().await?
        };
        let page = &page;
        let done = match self.processor.handler.clone() {
            Handler::Rows(rows) => self.write(&*rows, page).await,
            Handler::Commands(commands) => self.act(&*commands, page).await,
        };
        if let Err(error) = done {
            self.pending = Some(page.clone());
            return Err(error);
        }
        if !self.parked.is_empty() && Instant::now() >= self.next_retry {
            self.next_retry = Instant::now() + RETRY_PARKED;
            self.retry_parked().await?;
        }
        if let Some(rows) = self.processor.rows().cloned() {
            let shards: Vec<Shard> =
                self.leases.keys().flat_map(|range| self.processor.shards(*range)).collect();
            self.next_tick = rows.tick(self.generation, &shards).await?;
        }
        if self.written_at.elapsed() >= CHECKPOINT {
            self.write_checkpoint().await?;
        }
        Ok(())
    }

    /// Writes rows and the checkpoint in one transaction; does nothing if there is nothing new.
    async fn write(&mut self, rows: &dyn RowHandler, page: &Page) -> Result<(), ProcessorError> {
        let derives = self.underived || !page.items.is_empty();
        let derives = derives && (!page.more || self.derived_at.elapsed() >= DERIVE);
        if page.items.is_empty() && !derives {
            return Ok(());
        }
        let mut connection = self.store.background().acquire().await?;
        let mut transaction = connection.begin().await?;
        // First, so that a node that has lost the range writes nothing.
        self.advance(&mut transaction, page).await?;
        let generation = self.generation;
        // Newly parked events count only once the transaction is committed.
        let mut parked = self.parked.clone();
        let mut writing =
            Writing { name: self.processor.name, generation, building: false, parked: &mut parked };
        writing.page(&mut transaction, rows, &page.items).await?;
        if derives {
            let target = Target { connection: &mut transaction, generation, building: false };
            rows.derive(target).await?;
        }
        transaction.commit().await?;
        self.parked = parked;
        self.advanced(page);
        self.underived = !derives && (self.underived || !page.items.is_empty());
        if derives {
            self.derived_at = Instant::now();
        }
        Ok(())
    }

    /// Handles events by commands and parks those that fail. The checkpoint is written later.
    async fn act(
        &mut self,
        commands: &dyn CommandHandler,
        page: &Page,
    ) -> Result<(), ProcessorError> {
        let events: Vec<Arc<Recorded>> = events_of(&page.items);
        let mut failed = unreadable(&page.items);
        if !events.is_empty() {
            for (index, error) in act(commands, &events).await {
                if error.is_passing() {
                    return Err(error.into());
                }
                if let Some(event) = events.get(index) {
                    failed.push(((event.stream, event.version), error.to_string()));
                }
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        let mut connection = self.store.background().acquire().await?;
        let mut transaction = connection.begin().await?;
        self.advance(&mut transaction, page).await?;
        for (event, reason) in failed {
            parked::park(&mut transaction, self.processor.name, self.generation, event, &reason)
                .await?;
            self.parked.insert(event.0);
        }
        transaction.commit().await?;
        self.advanced(page);
        self.next_retry = Instant::now() + RETRY_PARKED;
        Ok(())
    }

    async fn advance(
        &self,
        connection: &mut PgConnection,
        page: &Page,
    ) -> Result<(), ProcessorError> {
        let ranges = self.processor.ranges;
        let moves: Vec<_> = self
            .leases
            .values()
            .map(|lease| {
                let old = array(&lease.positions, ranges, lease.range);
                (lease, old, array(&page.to, ranges, lease.range))
            })
            .collect();
        advance(connection, &self.processor, &moves).await
    }

    fn advanced(&mut self, page: &Page) {
        for lease in self.leases.values_mut() {
            lease.positions = page.to.clone();
        }
        self.written_at = Instant::now();
    }

    /// Writes the checkpoint if it is behind what was handled.
    async fn write_checkpoint(&mut self) -> Result<(), ProcessorError> {
        self.written_at = Instant::now();
        if self.leases.is_empty() || self.pending.is_some() || !self.is_ahead() {
            return Ok(());
        }
        let page = self.feed.given();
        if page.more {
            return Ok(());
        }
        let mut connection = self.store.background().acquire().await?;
        self.advance(&mut connection, &page).await?;
        self.advanced(&page);
        Ok(())
    }

    /// Retries parked events one by one, each stream in order.
    async fn retry_parked(&mut self) -> Result<(), ProcessorError> {
        let name = self.processor.name;
        let known = parked::list(self.store.background(), name, self.generation).await?;
        let ours: HashSet<Shard> =
            self.leases.keys().flat_map(|range| self.processor.shards(*range)).collect();
        let mut stuck: HashSet<StreamId> = HashSet::new();
        for (stream, version) in known {
            if !ours.contains(&Shard::of(stream)) {
                continue;
            }
            let in_order = self.processor.rows().is_some();
            if in_order && stuck.contains(&stream) {
                continue;
            }
            if !self.retry_one(stream, version).await? {
                stuck.insert(stream);
            }
        }
        self.parked = stuck;
        Ok(())
    }

    /// Retries a parked event; returns whether it was handled.
    async fn retry_one(&mut self, stream: StreamId, version: i64) -> Result<bool, ProcessorError> {
        let (name, generation) = (self.processor.name, self.generation);
        let envelope = self.store.envelope(stream, version).await?;
        let decoded = match envelope {
            Some(envelope) => envelope.decode().map_err(|error| error.to_string()),
            None => Err("the event is not in the log".to_owned()),
        };
        let mut connection = self.store.background().acquire().await?;
        let mut transaction = connection.begin().await?;
        let here = Page { items: Vec::new(), to: self.written(), more: false };
        self.advance(&mut transaction, &here).await?;
        let handled = match decoded {
            Err(reason) => Err(HandlerError::Event(reason)),
            Ok(event) => {
                let events = [Arc::new(event)];
                match self.processor.handler.clone() {
                    Handler::Rows(rows) => {
                        let target = (generation, false);
                        attempt(&mut transaction, &*rows, target, &events).await
                    }
                    Handler::Commands(commands) => {
                        let failed = act(&*commands, &events).await;
                        failed.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
                    }
                }
            }
        };
        let done = match handled {
            Ok(()) => {
                parked::free(&mut transaction, name, generation, (stream, version)).await?;
                true
            }
            Err(error) if error.is_passing() => return Err(error.into()),
            Err(error) => {
                let reason = error.to_string();
                parked::park(&mut transaction, name, generation, (stream, version), &reason)
                    .await?;
                false
            }
        };
        transaction.commit().await?;
        self.underived |= done && self.processor.rows().is_some();
        Ok(done)
    }

    /// The positions of the checkpoint.
    fn written(&self) -> crate::Positions {
        let mut positions = self.feed.positions().clone();
        for lease in self.leases.values() {
            for shard in self.processor.shards(lease.range) {
                positions.set(shard, lease.positions.get(shard));
            }
        }
        positions
    }

    fn failed(&self, error: &ProcessorError) {
        let processor = self.processor.name;
        let passes = matches!(
            error,
            ProcessorError::Fenced
                | ProcessorError::Store(StoreError::Unavailable(_))
                | ProcessorError::Handler(HandlerError::Store(StoreError::Unavailable(_)))
        );
        if passes || self.store.pool().is_closed() {
            tracing::debug!(%error, processor, "a processor waits for a transient error to pass");
        } else {
            tracing::error!(%error, processor, "a processor failed");
            metrics::counter!("croupier_processor_failures_total", "processor" => processor)
                .increment(1);
        }
    }
}
