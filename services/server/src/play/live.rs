//! Live updates: events are published to subscribers as they are recorded.
//!
//! One task per node follows the log and publishes to the subscribers of a game, of the lobby and
//! of a player's turns. A slow subscriber of a game reads the events it missed from the log, so it
//! never delays others.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use domain::Event;
use futures_util::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use store::{Loaded, ReadError, Recorded, Store};
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use super::{AppError, GameService};

/// How many events a subscriber may lag before it reads the log.
const BACKLOG: usize = 32;
/// How many updates of the lobby are queued per subscriber; it misses older ones.
const LOBBY_BACKLOG: usize = 256;

/// The subscribers of this node.
#[derive(Debug)]
pub(crate) struct Live {
    games: Channels<Arc<Recorded>>,
    turns: Channels<Uuid>,
    lobby: broadcast::Sender<(Uuid, Arc<Loaded>)>,
    /// How many events of the log are published; the difference to its length is our lag.
    published: AtomicI64,
    /// Set once, when the node stops.
    stopping: watch::Sender<bool>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            games: Channels::default(),
            turns: Channels::default(),
            lobby: broadcast::channel(LOBBY_BACKLOG).0,
            published: AtomicI64::new(-1),
            stopping: watch::channel(false).0,
        }
    }
}

impl Live {
    /// Whether the game has subscribers on this node.
    pub(crate) fn is_followed(&self, game: Uuid) -> bool {
        self.games.has(game)
    }

    /// How many events of the log are published; `None` before the log was first read.
    pub(crate) fn published(&self) -> Option<i64> {
        Some(self.published.load(Ordering::Relaxed)).filter(|&count| count >= 0)
    }

    /// How many games and players have subscribers.
    pub(crate) fn channels(&self) -> usize {
        self.games.len() + self.turns.len()
    }

    /// Ends all subscriptions, because the node stops.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until the node stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // Cannot fail: we own the sender.
        stopping.wait_for(|&stopping| stopping).await.ok();
    }

    /// Publishes to the subscribers of the game; returns whether the lobby changes.
    fn publish(&self, event: &Arc<Recorded>) -> bool {
        self.games.send(event.stream, || Arc::clone(event));
        let is_lobby_news = matches!(
            event.event,
            Event::Created { .. }
                | Event::SeatTaken { .. }
                | Event::SeatLeft { .. }
                | Event::Started { .. }
                | Event::Ended(_)
        );
        is_lobby_news
    }

    /// Removes channels without subscribers.
    pub(crate) fn prune(&self) {
        self.games.prune();
        self.turns.prune();
    }
}

impl GameService {
    /// Follows the log and publishes its events until the store is closed.
    pub(crate) async fn publish(self: Arc<Self>) {
        let heads = loop {
            match self.store.heads().await {
                Ok(heads) => break heads,
                Err(_) if self.store.pool().is_closed() => return,
                Err(error) => {
                    tracing::warn!(%error, "reading the log failed; it will be retried");
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
            }
        };
        let live = &self.live;
        live.published.store(heads.total(), Ordering::Relaxed);
        let mut tail = self.store.tail(heads);
        loop {
            match tail.next().await {
                Ok(event) => {
                    live.published.fetch_add(1, Ordering::Relaxed);
                    // Updates the cache for games that are played on another node.
                    self.store.learn(&event);
                    if live.publish(&event) && live.lobby.receiver_count() > 0 {
                        let (games, event) = (Arc::clone(&self), Arc::clone(&event));
                        tokio::spawn(async move { games.publish_to_lobby(&event).await });
                    }
                    if matches!(event.event, Event::TurnStarted { .. }) && live.turns.len() > 0 {
                        let games = Arc::clone(&self);
                        tokio::spawn(async move { games.publish_turn(&event).await });
                    }
                }
                Err(_) if self.store.pool().is_closed() => return,
                // Only the shard of the event stops.
                Err(error) => tracing::error!(%error, "following a shard of the log failed"),
            }
        }
    }

    /// Loads a public table once for all subscribers of the lobby.
    async fn publish_to_lobby(&self, event: &Recorded) {
        let public = self.access.admits(event.stream, None).await;
        let Ok(state) = self.store.games.at_least(event.stream, event.version).await else {
            return;
        };
        if public.unwrap_or(false) {
            // Fails if there are no subscribers any more.
            self.live.lobby.send((event.stream, state)).ok();
        }
    }

    async fn publish_turn(&self, event: &Recorded) {
        let Event::TurnStarted { seat, .. } = &event.event else { return };
        let Ok(state) = self.store.games.at_least(event.stream, event.version).await else {
            return;
        };
        let seats = state.aggregate.as_ref().map(|game| &game.table.seats);
        if let Some(seat) = seats.and_then(|seats| seats.get(usize::from(*seat))) {
            self.live.turns.send(seat.player.0, || event.stream);
        }
    }

    /// The events of a game after a version, and then as they happen: each once, without gaps.
    pub(crate) fn follow(
        self: &Arc<Self>,
        game: Uuid,
        after: i64,
        until: Option<i64>,
    ) -> impl Stream<Item = Result<Arc<Recorded>, AppError>> + Send + use<> {
        // Subscribe before reading, so that no event in between is missed.
        let live = self.live.games.subscribe(game);
        let read = Some(read_log(&self.store, game, after));
        let state = Follower { store: self.store.clone(), game, last: after, live, read };
        // The stream of a running game ends when its seed is revealed.
        let last = move |event: &Recorded| match until {
            Some(version) => event.version >= version,
            None => matches!(event.event, Event::SeedRevealed { .. }),
        };
        stream::unfold(Some(state), move |state| async move {
            let mut state = state?;
            match state.next().await? {
                Ok(event) if last(&event) => Some((Ok(event), None)),
                Ok(event) => Some((Ok(event), Some(state))),
                // An error ends the stream.
                Err(error) => Some((Err(error.into()), None)),
            }
        })
    }

    /// Public tables as they are created, filled, started or ended.
    pub(crate) fn lobby_news(&self) -> impl Stream<Item = (Uuid, Arc<Loaded>)> + Send + use<> {
        news(self.live.lobby.subscribe())
    }

    /// Games in which it becomes this player's turn.
    pub(crate) fn turns_of(&self, player: Uuid) -> impl Stream<Item = Uuid> + Send + use<> {
        news(self.live.turns.subscribe(player))
    }
}

struct Follower {
    store: Store,
    game: Uuid,
    last: i64,
    live: broadcast::Receiver<Arc<Recorded>>,
    /// The rest of the log, until it is read to its end.
    read: Option<BoxStream<'static, Result<Recorded, ReadError>>>,
}

impl Follower {
    async fn next(&mut self) -> Option<Result<Arc<Recorded>, ReadError>> {
        loop {
            let event = match &mut self.read {
                Some(read) => match read.next().await {
                    Some(Ok(event)) => Arc::new(event),
                    Some(Err(error)) => return Some(Err(error)),
                    None => {
                        self.read = None;
                        continue;
                    }
                },
                None => match self.live.recv().await {
                    Ok(event) => event,
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        self.read = Some(read_log(&self.store, self.game, self.last));
                        continue;
                    }
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            };
            if event.version == self.last + 1 {
                self.last = event.version;
                return Some(Ok(event));
            }
            if event.version > self.last {
                self.read = Some(read_log(&self.store, self.game, self.last));
            }
        }
    }
}

fn read_log(
    store: &Store,
    game: Uuid,
    after: i64,
) -> BoxStream<'static, Result<Recorded, ReadError>> {
    store.stream(game, after).boxed()
}

/// The messages of a channel; a slow subscriber misses some.
fn news<T: Clone + Send + 'static>(live: broadcast::Receiver<T>) -> impl Stream<Item = T> + Send {
    stream::unfold(live, |mut live| async move {
        loop {
            match live.recv().await {
                Ok(message) => return Some((message, live)),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    })
}

/// Channels by game or player, each created by its first subscriber.
#[derive(Debug)]
struct Channels<T>(Mutex<HashMap<Uuid, broadcast::Sender<T>>>);

impl<T> Default for Channels<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Channels<T> {
    fn subscribe(&self, to: Uuid) -> broadcast::Receiver<T> {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        channels.entry(to).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    fn send(&self, to: Uuid, message: impl FnOnce() -> T) {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(channel) = channels.entry(to)
            && (channel.get().receiver_count() == 0 || channel.get().send(message()).is_err())
        {
            channel.remove();
        }
    }

    fn prune(&self) {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        channels.retain(|_, channel| channel.receiver_count() > 0);
    }

    fn has(&self, key: Uuid) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key)
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
