//! The input of a processor: events of its types, in shard order, from memory while it is up to
//! date.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{sync::broadcast, time::sleep};

use crate::{Envelope, Positions, Recorded, Shard, Store, StoreError, StreamId, tail::News};

/// Interval of checks while no relevant events arrive: a processor need not wake up for every
/// batch.
const LISTEN: Duration = Duration::from_millis(20);
/// Number of events read from the log at once, over all shards.
const PAGE: usize = 2000;

/// An item for a processor.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Event(Arc<Recorded>),
    /// An event of a type it handles that cannot be decoded.
    Unreadable {
        shard: Shard,
        stream: StreamId,
        version: i64,
        kind: String,
        reason: String,
    },
}

impl Item {
    pub(super) fn of(envelope: Envelope) -> Self {
        match envelope.decode() {
            Ok(event) => Self::Event(Arc::new(event)),
            Err(error) => Self::Unreadable {
                shard: envelope.shard,
                stream: envelope.stream,
                version: envelope.version,
                kind: envelope.kind,
                reason: error.to_string(),
            },
        }
    }

    pub(super) fn is_of(&self, types: &[&str]) -> bool {
        match self {
            Self::Event(event) => types.contains(&event.event.name()),
            Self::Unreadable { kind, .. } => types.contains(&kind.as_str()),
        }
    }

    pub(super) fn shard(&self) -> Shard {
        match self {
            Self::Event(event) => event.shard,
            Self::Unreadable { shard, .. } => *shard,
        }
    }
}

/// Events, and the positions up to which there are no others.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Item>,
    pub(super) to: Positions,
    /// Whether more can be taken immediately.
    pub(super) more: bool,
}

/// The events of some shards. Shards that are up to date get events from the tailer; others read
/// the log.
#[derive(Debug)]
pub(super) struct Feed {
    store: Store,
    types: &'static [&'static str],
    news: broadcast::Receiver<Arc<News>>,
    /// How far everything was delivered, for the shards of this feed.
    positions: Positions,
    /// The shards of this feed, and whether each is up to date.
    shards: BTreeMap<Shard, bool>,
    /// Received from the tailer and not yet delivered.
    ready: Vec<Item>,
}

impl Feed {
    pub(super) fn new(store: Store, types: &'static [&'static str]) -> Self {
        let news = store.tailer.follow();
        let (positions, shards) = (Positions::default(), BTreeMap::new());
        Self { store, types, news, positions, shards, ready: Vec::new() }
    }

    pub(super) fn positions(&self) -> &Positions {
        &self.positions
    }

    /// Adds shards, starting after these positions.
    pub(super) fn add(&mut self, shards: &[Shard], after: &Positions) {
        for &shard in shards {
            self.positions.set(shard, after.get(shard));
            self.shards.insert(shard, false);
        }
    }

    /// Removes shards and drops their undelivered events.
    pub(super) fn remove(&mut self, shards: &[Shard]) {
        for shard in shards {
            self.shards.remove(shard);
        }
        self.ready.retain(|item| self.shards.contains_key(&item.shard()));
    }

    pub(super) fn is_behind(&self) -> bool {
        self.shards.values().any(|up_to_date| !up_to_date)
    }

    /// Waits until there may be events. Cancel-safe.
    pub(super) async fn wait(&mut self) {
        self.drain();
        while self.ready.is_empty() && !self.is_behind() {
            match self.news.recv().await {
                Ok(news) => self.receive(&news),
                Err(broadcast::error::RecvError::Lagged(_)) => self.fall_behind(),
                // The tailer is gone: the store is closing.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
            self.drain();
            if self.ready.is_empty() && !self.is_behind() {
                sleep(LISTEN).await;
                self.drain();
            }
        }
    }

    /// Takes the available events.
    pub(super) async fn take(&mut self) -> Result<Page, StoreError> {
        self.drain();
        if self.ready.is_empty() && self.is_behind() {
            self.read().await?;
        }
        let items = std::mem::take(&mut self.ready);
        Ok(Page { items, to: self.positions.clone(), more: self.is_behind() })
    }

    /// An empty page with the delivered positions; `more` if undelivered events are waiting.
    pub(super) fn given(&self) -> Page {
        let more = !self.ready.is_empty();
        Page { items: Vec::new(), to: self.positions.clone(), more }
    }

    fn drain(&mut self) {
        loop {
            match self.news.try_recv() {
                Ok(news) => self.receive(&news),
                Err(broadcast::error::TryRecvError::Lagged(_)) => self.fall_behind(),
                Err(_) => return,
            }
        }
    }

    fn fall_behind(&mut self) {
        self.shards.values_mut().for_each(|up_to_date| *up_to_date = false);
    }

    fn receive(&mut self, news: &News) {
        let events = match news {
            News::Read(shards) => {
                for shard in shards {
                    if let Some(up_to_date) = self.shards.get_mut(shard) {
                        *up_to_date = false;
                    }
                }
                return;
            }
            News::Events(events) => events,
        };
        for event in events {
            let Some(up_to_date) = self.shards.get_mut(&event.shard) else { continue };
            let due = self.positions.get(event.shard) + 1;
            // A shard that is behind reads this event from the log.
            if !*up_to_date || event.position < due {
                continue;
            }
            if event.position > due {
                *up_to_date = false;
                continue;
            }
            self.positions.set(event.shard, due);
            if self.types.contains(&event.event.name()) {
                self.ready.push(Item::Event(Arc::clone(event)));
            }
        }
    }

    /// Reads the shards that are behind. A shard whose end was reached is up to date: later events
    /// arrive live.
    async fn read(&mut self) -> Result<(), StoreError> {
        let behind: Vec<Shard> =
            self.shards.iter().filter(|(_, up_to_date)| !**up_to_date).map(|(s, _)| *s).collect();
        let most = u32::try_from((PAGE / behind.len().max(1)).max(1)).unwrap_or(1);
        let found = self.store.of_types_in(&behind, self.types, &self.positions, most).await?;
        for shard in behind {
            self.positions.set(shard, found.looked_at.get(shard));
            self.shards.insert(shard, !found.unfinished.contains(&shard));
        }
        self.ready.extend(found.events.into_iter().map(Item::of));
        Ok(())
    }
}
