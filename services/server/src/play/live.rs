//! What happens, handed on while it happens.
//!
//! One task a node follows the log and tells whoever listens: to a game, to the lobby, to a player's turns. A
//! listener who falls behind reads the log for what it missed; nobody waits for anybody.

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

use super::{PlayError, Tables};

/// How many events a listener may be behind before it reads the log.
const BACKLOG: usize = 32;
/// How much news of the lobby waits for a listener.
const LOBBY_BACKLOG: usize = 256;

/// Everybody who listens on this node.
#[derive(Debug)]
pub(crate) struct Live {
    games: Listeners<Arc<Recorded>>,
    turns: Listeners<Uuid>,
    lobby: broadcast::Sender<(Uuid, Arc<Loaded>)>,
    /// How many events of the log are handed on; behind the log by as much as we lag.
    handed_on: AtomicI64,
    /// Set once, when the node stops.
    stopping: watch::Sender<bool>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            games: Listeners::default(),
            turns: Listeners::default(),
            lobby: broadcast::channel(LOBBY_BACKLOG).0,
            handed_on: AtomicI64::new(-1),
            stopping: watch::channel(false).0,
        }
    }
}

impl Live {
    /// How many events of the log are handed on; `None` before the first look.
    pub(crate) fn handed_on(&self) -> Option<i64> {
        Some(self.handed_on.load(Ordering::Relaxed)).filter(|&count| count >= 0)
    }

    /// How many games and players are listened to.
    pub(crate) fn listened_to(&self) -> usize {
        self.games.len() + self.turns.len()
    }

    /// Tells all listeners that the node stops.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until the node stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as we do.
        stopping.wait_for(|&stopping| stopping).await.ok();
    }

    /// Tells who listens to the game; whether it is news for the lobby.
    fn hand_on(&self, event: &Arc<Recorded>) -> bool {
        self.games.tell(event.stream, || Arc::clone(event));
        let about_the_table = matches!(
            event.event,
            Event::Created { .. }
                | Event::SeatTaken { .. }
                | Event::SeatLeft { .. }
                | Event::Started { .. }
                | Event::Ended(_)
        );
        about_the_table
    }

    /// Channels that nobody listens to any more are given up.
    pub(crate) fn forget_the_gone(&self) {
        self.games.forget_the_gone();
        self.turns.forget_the_gone();
    }
}

impl Tables {
    /// Follows the log and hands everything on, until the store is closed.
    pub(crate) async fn hand_on(self: Arc<Self>) {
        let heads = loop {
            match self.store.heads().await {
                Ok(heads) => break heads,
                Err(_) if self.store.pool().is_closed() => return,
                Err(error) => {
                    tracing::warn!(%error, "the log cannot be read yet");
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
            }
        };
        let live = &self.live;
        live.handed_on.store(heads.total(), Ordering::Relaxed);
        let mut tail = self.store.tail(heads);
        loop {
            match tail.next().await {
                Ok(event) => {
                    live.handed_on.fetch_add(1, Ordering::Relaxed);
                    // Who listens on this node to what is played on another finds it in memory.
                    self.store.learn(&event);
                    if live.hand_on(&event) && live.lobby.receiver_count() > 0 {
                        let (tables, event) = (Arc::clone(&self), Arc::clone(&event));
                        tokio::spawn(async move { tables.tell_the_lobby(&event).await });
                    }
                    if matches!(event.event, Event::TurnStarted { .. }) && live.turns.len() > 0 {
                        let tables = Arc::clone(&self);
                        tokio::spawn(async move { tables.tell_whose_turn(&event).await });
                    }
                }
                Err(_) if self.store.pool().is_closed() => return,
                // Its shard stands still; the others go on.
                Err(error) => tracing::error!(%error, "the log cannot be followed here"),
            }
        }
    }

    /// A public table has news: it is read once, for all who listen.
    async fn tell_the_lobby(&self, event: &Recorded) {
        let public = self.access.admits(event.stream, None).await;
        let Ok(state) = self.store.games.at_least(event.stream, event.version).await else {
            return;
        };
        if public.unwrap_or(false) {
            // They may have gone.
            self.live.lobby.send((event.stream, state)).ok();
        }
    }

    async fn tell_whose_turn(&self, event: &Recorded) {
        let Event::TurnStarted { seat, .. } = &event.event else { return };
        let Ok(state) = self.store.games.at_least(event.stream, event.version).await else {
            return;
        };
        let seats = state.now.as_ref().map(|game| &game.table.seats);
        if let Some(seat) = seats.and_then(|seats| seats.get(usize::from(*seat))) {
            self.live.turns.tell(seat.player.0, || event.stream);
        }
    }

    /// The events of a game behind a version, and then as they happen: each one once, without holes.
    pub(crate) fn follow(
        self: &Arc<Self>,
        game: Uuid,
        after: i64,
        until: Option<i64>,
    ) -> impl Stream<Item = Result<Arc<Recorded>, PlayError>> + Send + use<> {
        // Listening begins before reading: what happens in between is heard.
        let live = self.live.games.listen(game);
        let read = Some(reading(&self.store, game, after));
        let state = Following { store: self.store.clone(), game, last: after, live, read };
        // A game that is played ends with its secret; one that was over, where it ended.
        let last = move |event: &Recorded| match until {
            Some(version) => event.version >= version,
            None => matches!(event.event, Event::SeedRevealed { .. }),
        };
        stream::unfold(Some(state), move |state| async move {
            let mut state = state?;
            match state.next().await? {
                Ok(event) if last(&event) => Some((Ok(event), None)),
                Ok(event) => Some((Ok(event), Some(state))),
                // What cannot be read is told once.
                Err(error) => Some((Err(error.into()), None)),
            }
        })
    }

    /// Tables that were opened, filled, begun or closed, as it happens.
    pub(crate) fn lobby_news(&self) -> impl Stream<Item = (Uuid, Arc<Loaded>)> + Send + use<> {
        heard(self.live.lobby.subscribe())
    }

    /// Games in which it becomes this player's turn, as it happens.
    pub(crate) fn turns_of(&self, player: Uuid) -> impl Stream<Item = Uuid> + Send + use<> {
        heard(self.live.turns.listen(player))
    }
}

struct Following {
    store: Store,
    game: Uuid,
    last: i64,
    live: broadcast::Receiver<Arc<Recorded>>,
    /// Reading the log, until it is at its end.
    read: Option<BoxStream<'static, Result<Recorded, ReadError>>>,
}

impl Following {
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
                        self.read = Some(reading(&self.store, self.game, self.last));
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
                self.read = Some(reading(&self.store, self.game, self.last));
            }
        }
    }
}

fn reading(
    store: &Store,
    game: Uuid,
    after: i64,
) -> BoxStream<'static, Result<Recorded, ReadError>> {
    store.stream(game, after).boxed()
}

/// What is heard; news that a slow listener missed is missed.
fn heard<T: Clone + Send + 'static>(live: broadcast::Receiver<T>) -> impl Stream<Item = T> + Send {
    stream::unfold(live, |mut live| async move {
        loop {
            match live.recv().await {
                Ok(news) => return Some((news, live)),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    })
}

/// Who listens to what. A channel exists while somebody listens.
#[derive(Debug)]
struct Listeners<T>(Mutex<HashMap<Uuid, broadcast::Sender<T>>>);

impl<T> Default for Listeners<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Listeners<T> {
    fn listen(&self, to: Uuid) -> broadcast::Receiver<T> {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        channels.entry(to).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    fn tell(&self, to: Uuid, news: impl FnOnce() -> T) {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(channel) = channels.entry(to)
            && (channel.get().receiver_count() == 0 || channel.get().send(news()).is_err())
        {
            channel.remove();
        }
    }

    fn forget_the_gone(&self) {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        channels.retain(|_, channel| channel.receiver_count() > 0);
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
