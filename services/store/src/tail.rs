//! Following the log: everything behind a vector of positions, then everything that comes.
//!
//! One task a node reads new events once and hands them to all followers. A follower checks the
//! positions it gets: inside a shard they go up by one, so a gap (it was too slow, or began late) shows
//! at once, and it reads the missing ones from the log. Nothing is lost, doubled or out of order.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use sqlx::{PgConnection, PgPool};
use tokio::sync::{Notify, broadcast};

use crate::{
    Positions, ReadError, Recorded, SHARDS, Shard, Store, StoreError,
    read::{decode, heads, log_pages, news},
};

/// How many events are handed on at once, at most.
const PAGE: i64 = 1000;
/// How many batches a follower may be behind before it has to read for itself.
const BACKLOG: usize = 256;
/// How often other nodes' appends are looked for: fast while something happens, slowly when idle.
const POLL: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(50)];
/// How long to wait for more before what is new is read: many appends are then read at once.
const BREATH: Duration = Duration::from_millis(5);
/// How long to wait when the database does not answer.
const RETRY: Duration = Duration::from_millis(200);

/// What followers are told.
#[derive(Debug)]
enum News {
    /// New events, in order within each shard.
    Events(Vec<Arc<Recorded>>),
    /// Whatever there is in these shards: read it yourself. Said at the beginning, and where an event
    /// cannot be read: whoever follows meets it then.
    Read(Vec<Shard>),
}

/// The node's one reader of new events. It runs while somebody follows, and sleeps otherwise.
#[derive(Debug)]
pub(crate) struct Tailer {
    news: broadcast::Sender<Arc<News>>,
    followed: Notify,
}

impl Tailer {
    pub(crate) fn start(pool: PgPool, appended: Arc<Notify>) -> Arc<Self> {
        let (news, _) = broadcast::channel(BACKLOG);
        let tailer = Arc::new(Self { news, followed: Notify::new() });
        tokio::spawn(run(Arc::downgrade(&tailer), pool, appended));
        tailer
    }
}

async fn run(tailer: std::sync::Weak<Tailer>, pool: PgPool, appended: Arc<Notify>) {
    let mut done: Option<Positions> = None;
    let mut line: Option<PgConnection> = None;
    let mut idle = 0;
    loop {
        let woken = appended.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        let Some(tailer) = tailer.upgrade().filter(|_| !pool.is_closed()) else { return };
        if tailer.news.receiver_count() == 0 {
            // Nobody follows: forget where we were, and begin at the end when somebody does.
            done = None;
            let followed = tailer.followed.notified();
            tokio::pin!(followed);
            followed.as_mut().enable();
            if tailer.news.receiver_count() == 0 {
                tokio::select! { () = followed => {}, () = tokio::time::sleep(Duration::from_secs(1)) => {} }
            }
            continue;
        }
        match advance(&tailer, &pool, &mut line, &mut done).await {
            Ok(true) => {
                idle = 0;
                drop(tailer);
                tokio::time::sleep(BREATH).await;
            }
            Ok(false) => {
                idle = (idle + 1).min(100);
                let pause = if idle < 100 { POLL[0] } else { POLL[1] };
                drop(tailer);
                tokio::select! { () = woken => {}, () = tokio::time::sleep(pause) => {} }
            }
            Err(error) => {
                tracing::warn!(%error, "the log cannot be followed at the moment");
                line = None;
                drop(tailer);
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// Hands on what is new; whether there was anything.
async fn advance(
    tailer: &Tailer,
    pool: &PgPool,
    line: &mut Option<PgConnection>,
    done: &mut Option<Positions>,
) -> Result<bool, StoreError> {
    // Everybody may have left in the meantime: then nobody hears it.
    let tell = |news| tailer.news.send(Arc::new(news)).is_ok();
    let Some(done) = done else {
        // What was appended while followers read and we did not yet look, they read again.
        *done = Some(heads(pool).await?);
        tell(News::Read(Shard::all().collect()));
        return Ok(false);
    };
    let connection = match line {
        Some(connection) => connection,
        None => line.insert(pool.acquire().await?.detach()),
    };
    let (mut events, mut unread) = (Vec::new(), Vec::new());
    for envelope in news(connection, done, PAGE).await? {
        done.set(envelope.shard, envelope.position);
        match decode(&envelope) {
            Ok(_) if unread.contains(&envelope.shard) => {}
            Ok(recorded) => events.push(Arc::new(recorded)),
            Err(_) if unread.contains(&envelope.shard) => {}
            Err(error) => {
                tracing::error!(%error, "an event of the log cannot be read");
                unread.push(envelope.shard);
            }
        }
    }
    let found = !events.is_empty() || !unread.is_empty();
    if !events.is_empty() {
        tell(News::Events(events));
    }
    if !unread.is_empty() {
        tell(News::Read(unread));
    }
    // A head without its events is for the proof to find, not for us to ask about in a loop.
    Ok(found)
}

/// A follower of the log.
#[derive(Debug)]
pub struct Tail {
    store: Store,
    news: broadcast::Receiver<Arc<News>>,
    positions: Positions,
    ready: VecDeque<Result<Arc<Recorded>, ReadError>>,
    /// Shards in which events are missing between what was delivered and what comes live.
    missing: Vec<Shard>,
    /// Shards that stand still before an event that cannot be read.
    parked: Vec<Shard>,
}

impl Store {
    /// Follows everything behind these positions, for ever. A database that is away is waited for.
    pub fn tail(&self, after: Positions) -> Tail {
        let news = self.tailer.news.subscribe();
        self.tailer.followed.notify_one();
        Tail {
            store: self.clone(),
            news,
            positions: after,
            ready: VecDeque::new(),
            missing: Shard::all().collect(),
            parked: Vec::new(),
        }
    }
}

impl Tail {
    /// How far everything is delivered.
    pub fn positions(&self) -> &Positions {
        &self.positions
    }

    /// The shards that stand still before an event that cannot be read.
    pub fn parked(&self) -> &[Shard] {
        &self.parked
    }

    /// The next event, in order within its stream and its shard. An event that this croupier cannot
    /// read is an error, once; it is not passed over: its shard stands still, the others go on.
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
                Ok(news) => self.hear(&news),
                // Too slow, or the reader is gone: the log has it all.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.missing = Shard::all().collect();
                }
                Err(broadcast::error::RecvError::Closed) => {
                    tokio::time::sleep(RETRY).await;
                    self.missing = Shard::all().collect();
                }
            }
        }
    }

    /// Takes the events that come next; where some are missing before them, they will be read.
    fn hear(&mut self, news: &News) {
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

    /// Reads a page of each shard in which something may be missing. A shard with less than a page is
    /// complete: what comes behind it is news.
    async fn catch_up(&mut self) {
        let pages = log_pages(&self.store.pool, &self.missing, &self.positions, PAGE).await;
        let envelopes = match pages {
            Ok(envelopes) => envelopes,
            Err(error) if self.store.pool.is_closed() => {
                return self.ready.push_back(Err(error.into()));
            }
            Err(error) => {
                tracing::warn!(%error, "the log cannot be read at the moment");
                tokio::time::sleep(RETRY).await;
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
