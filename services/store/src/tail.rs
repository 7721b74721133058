//! Following the log: everything after a vector of positions, then new events as they come.
//!
//! One task per node, the tailer, learns of new events once and sends them to all followers. Events
//! that this node appends come from the committer, with their positions, and are never read back;
//! only events of other nodes are read. Followers check positions: within a shard they increase by
//! one, so a gap (the follower was too slow, or started late) is detected at once, and the missing
//! events are read from the log. Nothing is lost, duplicated or reordered.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{PgConnection, PgPool};
use tokio::{
    sync::{Notify, broadcast, mpsc},
    time::{Instant, sleep, sleep_until},
};

use crate::{
    Positions, ReadError, Recorded, SHARDS, Shard, Store, StoreError,
    read::{decode, heads, log_pages, news},
};

/// Maximum number of events that are sent at once.
const PAGE: i64 = 1000;
/// Number of batches a follower may lag before it has to read the log itself.
const BACKLOG: usize = 1024;
/// Poll intervals for other nodes' appends: while there are some, and while the log is idle.
const POLL: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(50)];
/// Poll interval while no other node is known.
const POLL_ALONE: Duration = Duration::from_millis(500);
/// How long events of this node wait for missing earlier ones.
const GAP: Duration = Duration::from_millis(2);
/// Number of polls without news after which the log counts as idle.
const IDLE: u32 = 100;
/// How long to wait if the database does not respond.
const RETRY: Duration = Duration::from_millis(200);

/// A message to followers.
#[derive(Debug)]
pub(crate) enum News {
    /// New events, in order within each shard.
    Events(Vec<Arc<Recorded>>),
    /// Read these shards from the log. Sent at the start, and where an event cannot be decoded:
    /// followers then get the error themselves.
    Read(Vec<Shard>),
}

/// Called with each new event before followers get it.
type Observer = Arc<dyn Fn(&Recorded) + Send + Sync>;

/// The node's single source of new events. It polls while there are followers, and sleeps
/// otherwise.
pub(crate) struct Tailer {
    pub(crate) news: broadcast::Sender<Arc<News>>,
    observers: Mutex<Vec<Observer>>,
    followed: Notify,
    /// Whether no other node is known.
    alone: AtomicBool,
}

impl std::fmt::Debug for Tailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tailer").field("alone", &self.alone).finish_non_exhaustive()
    }
}

impl Tailer {
    /// Starts the tailer; `appended` receives the events that this node appends.
    pub(crate) fn start(
        pool: PgPool,
        appended: mpsc::UnboundedReceiver<Vec<Arc<Recorded>>>,
    ) -> Arc<Self> {
        let (news, _) = broadcast::channel(BACKLOG);
        let (observers, followed, alone) = (Mutex::default(), Notify::new(), false.into());
        let tailer = Arc::new(Self { news, observers, followed, alone });
        tokio::spawn(run(Arc::downgrade(&tailer), pool, appended));
        tailer
    }

    /// Sets whether this is the only node: other nodes' appends must be polled for.
    pub(crate) fn set_alone(&self, alone: bool) {
        self.alone.store(alone, Ordering::Relaxed);
    }

    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<News>> {
        let news = self.news.subscribe();
        self.followed.notify_one();
        news
    }

    fn is_followed(&self) -> bool {
        self.news.receiver_count() > 0
    }

    fn publish(&self, news: News) {
        if let News::Events(events) = &news {
            let observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for observe in &observers {
                for event in events {
                    observe(event);
                }
            }
        }
        // All followers may have left in the meantime.
        self.news.send(Arc::new(news)).ok();
    }
}

impl Store {
    /// Calls `observer` with each new event of any node, before followers get it. Events are in
    /// order within each stream, but some may be missing, so use it only for state that can be read
    /// again.
    pub fn observe(&self, observer: impl Fn(&Recorded) + Send + Sync + 'static) {
        let mut observers = self.tailer.observers.lock().unwrap_or_else(PoisonError::into_inner);
        observers.push(Arc::new(observer));
    }

    /// Follows everything after these positions. If the database is unavailable, it waits.
    pub fn tail(&self, after: Positions) -> Tail {
        Tail {
            store: self.clone(),
            news: self.tailer.follow(),
            positions: after,
            ready: VecDeque::new(),
            missing: Shard::all().collect(),
            parked: Vec::new(),
        }
    }
}

/// How far the tailer is, and events that it cannot send yet.
struct Progress {
    done: Positions,
    /// Events of this node that wait for missing earlier ones, by shard and first position.
    early: BTreeMap<(Shard, i64), Vec<Arc<Recorded>>>,
    /// When the missing ones are read from the log, if they do not arrive.
    gap: Option<Instant>,
}

impl Progress {
    /// Adds events that this node appended; returns those that can be sent.
    fn take(&mut self, appended: Vec<Arc<Recorded>>) -> Vec<Arc<Recorded>> {
        let mut ready = Vec::with_capacity(appended.len());
        for events in appended.chunk_by(|a, b| a.shard == b.shard && a.position + 1 == b.position) {
            let first = &events[0];
            self.early.insert((first.shard, first.position), events.to_vec());
        }
        self.release(&mut ready);
        ready
    }

    /// Moves events that are next in their shard to `ready`; drops those that were read meanwhile.
    fn release(&mut self, ready: &mut Vec<Arc<Recorded>>) {
        let Self { done, early, .. } = self;
        early.retain(|&(shard, first), events| {
            let due = done.get(shard) + 1;
            if first > due {
                return true;
            }
            let new = events.iter().filter(|event| event.position >= due);
            let before = ready.len();
            ready.extend(new.cloned());
            if ready.len() > before {
                done.set(shard, first + i64::try_from(events.len()).unwrap_or(0) - 1);
            }
            false
        });
        if self.early.is_empty() {
            self.gap = None;
        } else if self.gap.is_none() {
            self.gap = Some(Instant::now() + GAP);
        }
    }
}

async fn run(
    tailer: std::sync::Weak<Tailer>,
    pool: PgPool,
    mut appended: mpsc::UnboundedReceiver<Vec<Arc<Recorded>>>,
) {
    let mut progress: Option<Progress> = None;
    let mut line: Option<PgConnection> = None;
    let (mut idle, mut next_look) = (0, Instant::now());
    loop {
        let Some(strong) = tailer.upgrade().filter(|_| !pool.is_closed()) else { return };
        if !strong.is_followed() {
            // No followers: forget the positions, and start at the end of the log when one comes.
            progress = None;
            let followed = strong.followed.notified();
            tokio::pin!(followed);
            followed.as_mut().enable();
            if !strong.is_followed() {
                tokio::select! {
                    () = followed => {}
                    Some(_) = appended.recv() => {}
                    () = sleep(Duration::from_secs(1)) => {}
                }
            }
            continue;
        }
        let due = progress.as_ref().and_then(|progress| progress.gap);
        let due = due.map_or(next_look, |gap| gap.min(next_look));
        if progress.is_none() || Instant::now() >= due {
            match look(&strong, &pool, &mut line, &mut progress).await {
                Ok(true) => idle = 0,
                Ok(false) => idle = (idle + 1).min(IDLE),
                Err(error) => {
                    tracing::warn!(%error, "cannot follow the log");
                    line = None;
                    drop(strong);
                    sleep(RETRY).await;
                    continue;
                }
            }
            let busy = usize::from(idle >= IDLE);
            let alone = strong.alone.load(Ordering::Relaxed);
            next_look = Instant::now() + if alone { POLL_ALONE } else { POLL[busy] };
            continue;
        }
        drop(strong);
        let mut new = tokio::select! {
            new = appended.recv() => new.unwrap_or_default(),
            () = sleep_until(due) => continue,
            () = pool.close_event() => return,
        };
        while let Ok(more) = appended.try_recv() {
            new.extend(more);
        }
        let (Some(strong), Some(progress)) = (tailer.upgrade(), &mut progress) else { continue };
        let ready = progress.take(new);
        if !ready.is_empty() {
            strong.publish(News::Events(ready));
        }
    }
}

/// Reads new events and sends them; returns whether there were any.
async fn look(
    tailer: &Tailer,
    pool: &PgPool,
    line: &mut Option<PgConnection>,
    progress: &mut Option<Progress>,
) -> Result<bool, StoreError> {
    let Some(progress) = progress else {
        // Followers read what was appended before this point themselves.
        let done = heads(pool).await?;
        *progress = Some(Progress { done, early: BTreeMap::new(), gap: None });
        tailer.publish(News::Read(Shard::all().collect()));
        return Ok(false);
    };
    let connection = match line {
        Some(connection) => connection,
        None => line.insert(pool.acquire().await?.detach()),
    };
    let (mut events, mut unread) = (Vec::new(), Vec::new());
    for envelope in news(connection, &progress.done, PAGE).await? {
        progress.done.set(envelope.shard, envelope.position);
        match decode(&envelope) {
            Ok(_) if unread.contains(&envelope.shard) => {}
            Ok(recorded) => events.push(Arc::new(recorded)),
            Err(_) if unread.contains(&envelope.shard) => {}
            Err(error) => {
                tracing::error!(%error, "cannot decode an event of the log");
                unread.push(envelope.shard);
            }
        }
    }
    let found = !events.is_empty() || !unread.is_empty();
    progress.gap = None;
    progress.release(&mut events);
    if !events.is_empty() {
        tailer.publish(News::Events(events));
    }
    if !unread.is_empty() {
        tailer.publish(News::Read(unread));
    }
    // A head without its events is for the verification to find; polling for it in a loop would not
    // help.
    Ok(found)
}

/// A follower of the log.
#[derive(Debug)]
pub struct Tail {
    store: Store,
    news: broadcast::Receiver<Arc<News>>,
    positions: Positions,
    ready: VecDeque<Result<Arc<Recorded>, ReadError>>,
    /// Shards with events missing between the delivered ones and the live ones.
    missing: Vec<Shard>,
    /// Shards stopped at an event that cannot be decoded.
    parked: Vec<Shard>,
}

impl Tail {
    /// The positions up to which everything was delivered.
    pub fn positions(&self) -> &Positions {
        &self.positions
    }

    /// Shards stopped at an event that cannot be decoded.
    pub fn parked(&self) -> &[Shard] {
        &self.parked
    }

    /// The next event, in order within its stream and its shard. An event that cannot be decoded is
    /// reported once and never skipped: its shard stops, the others continue.
    pub async fn next(&mut self) -> Result<Arc<Recorded>, ReadError> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                if let Ok(event) = &next {
                    self.positions.set(event.shard, event.position);
                }
                return next;
            }
            if !self.missing.is_empty() {
                self.catch_up().await;
                continue;
            }
            if self.store.pool.is_closed() {
                return Err(StoreError::Unavailable("the store is closed".to_owned()).into());
            }
            let news = tokio::select! {
                news = self.news.recv() => news,
                () = self.store.pool.close_event() => continue,
            };
            match news {
                Ok(news) => self.receive(&news),
                // Too slow, or the tailer is gone: read from the log.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.missing = Shard::all().collect();
                }
                Err(broadcast::error::RecvError::Closed) => {
                    sleep(RETRY).await;
                    self.missing = Shard::all().collect();
                }
            }
        }
    }

    /// Takes the next events; if earlier ones are missing, marks the shard to be read.
    fn receive(&mut self, news: &News) {
        let events = match news {
            News::Read(shards) => {
                let new = shards.iter().filter(|shard| !self.missing.contains(shard));
                return self.missing.extend(new.copied().collect::<Vec<_>>());
            }
            News::Events(events) => events,
        };
        let mut delivered = self.positions.clone();
        for event in events {
            let due = delivered.get(event.shard) + 1;
            if self.parked.contains(&event.shard) {
                continue;
            }
            if event.position == due {
                delivered.set(event.shard, due);
                self.ready.push_back(Ok(Arc::clone(event)));
            } else if event.position > due && !self.missing.contains(&event.shard) {
                self.missing.push(event.shard);
            }
        }
    }

    /// Reads a page of each shard with missing events. A shard that returns less than a page is
    /// complete: later events arrive live.
    async fn catch_up(&mut self) {
        let pages = log_pages(&self.store.pool, &self.missing, &self.positions, PAGE).await;
        let envelopes = match pages {
            Ok(envelopes) => envelopes,
            Err(error) if self.store.pool.is_closed() => {
                return self.ready.push_back(Err(error.into()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot read the log");
                sleep(RETRY).await;
                return;
            }
        };
        let mut read = [0; SHARDS];
        let mut delivered = self.positions.clone();
        for envelope in envelopes {
            let shard = envelope.shard;
            read[shard.index()] += 1;
            if self.parked.contains(&shard) {
                continue;
            }
            let due = delivered.get(shard) + 1;
            let next = if envelope.position == due {
                decode(&envelope)
            } else {
                Err(ReadError::Hole { shard, position: due })
            };
            delivered.set(shard, due);
            if next.is_err() {
                self.parked.push(shard);
            }
            self.ready.push_back(next.map(Arc::new));
        }
        let parked = &self.parked;
        self.missing.retain(|shard| read[shard.index()] == PAGE && !parked.contains(shard));
    }
}
