//! Cache of finished games, shared by all read models; mostly filled by the tailer without reading
//! the log.

use std::{collections::HashMap, sync::Arc};

use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, UnitWeighter,
    sync::{Cache, DefaultLifecycle},
};
use store::{Envelope, Recorded, Store, StoreError, processor::HandlerError};
use uuid::Uuid;

use crate::{GameRecord, NoRecord, record::RecordFold};

/// Number of records kept for the other read models.
const KEPT: usize = 40_000;
/// Recently read records are needed next, but the cache favours frequently used ones: limit their
/// share.
const FOR_OFTEN: f64 = 0.05;
/// Number of running games that are folded.
const FOLLOWED: usize = 20_000;
/// Number of games read in one round trip.
const AT_ONCE: usize = 100;

/// The result of a finished game.
#[derive(Clone, Debug)]
enum Known {
    Record(Arc<GameRecord>),
    /// It does not count.
    Nothing,
    /// It cannot be decoded.
    Unreadable(String),
}

/// The records of finished games. A finished game does not change, except that it may become void,
/// which is not part of its record.
#[derive(Debug)]
pub(crate) struct Records {
    store: Store,
    kept: Cache<Uuid, Arc<GameRecord>>,
    /// Running games, folded as far as their events were seen.
    followed: Cache<Uuid, RecordFold>,
    /// One reader at a time: the other read models need the same games.
    reading: tokio::sync::Mutex<()>,
}

impl Records {
    pub(crate) fn new(store: Store) -> Self {
        let reading = tokio::sync::Mutex::default();
        Self { store, kept: recent(KEPT), followed: recent(FOLLOWED), reading }
    }

    /// Folds an event of a running game. A game whose first events were missed is read when it
    /// ends.
    pub(crate) fn observe(&self, event: &Recorded) {
        let fold = if event.version == 1 {
            RecordFold::begin(event)
        } else {
            match self.followed.remove(&event.stream) {
                Some((_, mut fold)) => fold.next(event).then_some(fold),
                None => None,
            }
        };
        let Some(fold) = fold else { return };
        if !fold.is_over() {
            self.followed.insert(event.stream, fold);
        } else if let Ok(record) = fold.record() {
            self.kept.insert(event.stream, Arc::new(record));
        }
    }

    /// The records of the games of these events, without games that do not count.
    pub(crate) async fn of_events(
        &self,
        events: &[&Arc<Recorded>],
    ) -> Result<Vec<Arc<GameRecord>>, HandlerError> {
        let games: Vec<Uuid> = events.iter().map(|event| event.stream).collect();
        self.of(&games).await
    }

    /// The records of these games, in the same order, without games that do not count.
    pub(crate) async fn of(&self, games: &[Uuid]) -> Result<Vec<Arc<GameRecord>>, HandlerError> {
        let mut found = self.in_memory(games);
        if found.len() < games.len() {
            let _turn = self.reading.lock().await;
            found.extend(self.in_memory(games));
            let unread: Vec<Uuid> =
                games.iter().filter(|game| !found.contains_key(game)).copied().collect();
            for games in unread.chunks(AT_ONCE) {
                found.extend(self.read(games).await?);
            }
        }
        let mut records = Vec::with_capacity(games.len());
        for game in games {
            match found.get(game) {
                Some(Known::Record(record)) => records.push(Arc::clone(record)),
                Some(Known::Nothing) | None => {}
                Some(Known::Unreadable(why)) => {
                    return Err(HandlerError::Event(format!("game {game} cannot be read: {why}")));
                }
            }
        }
        Ok(records)
    }

    fn in_memory(&self, games: &[Uuid]) -> HashMap<Uuid, Known> {
        let known = |game: &Uuid| Some((*game, Known::Record(self.kept.get(game)?)));
        games.iter().filter_map(known).collect()
    }

    async fn read(&self, games: &[Uuid]) -> Result<HashMap<Uuid, Known>, StoreError> {
        let mut logs: HashMap<Uuid, Vec<Envelope>> = HashMap::with_capacity(games.len());
        for envelope in self.store.envelopes(games).await? {
            logs.entry(envelope.stream).or_default().push(envelope);
        }
        let mut found = HashMap::with_capacity(logs.len());
        for (game, log) in logs {
            // A panic in the fold of one game must not affect the others.
            let known = std::panic::catch_unwind(|| decode(&log));
            let known = known.unwrap_or_else(|_| Known::Unreadable("its fold panicked".to_owned()));
            if let Known::Record(record) = &known {
                self.kept.insert(game, Arc::clone(record));
            }
            found.insert(game, known);
        }
        Ok(found)
    }
}

/// A cache of `items` entries that favours recent ones.
fn recent<T: Clone>(items: usize) -> Cache<Uuid, T> {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(u64::try_from(items).unwrap_or(u64::MAX))
        .hot_allocation(FOR_OFTEN)
        .build();
    match options {
        Ok(options) => Cache::with_options(
            options,
            UnitWeighter,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        ),
        Err(_) => Cache::new(items),
    }
}

fn decode(log: &[Envelope]) -> Known {
    let events: Result<Vec<Recorded>, _> = log.iter().map(Envelope::decode).collect();
    let events = match events {
        Ok(events) => events,
        Err(error) => return Known::Unreadable(error.to_string()),
    };
    match GameRecord::of(&events) {
        Ok(record) => Known::Record(Arc::new(record)),
        Err(NoRecord::DoesNotCount) => Known::Nothing,
        Err(NoRecord::Broken(why)) => Known::Unreadable(why.to_owned()),
    }
}
