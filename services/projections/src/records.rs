//! Finished games, read once whatever the number of read models.

use std::{collections::HashMap, sync::Arc};

use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, UnitWeighter,
    sync::{Cache, DefaultLifecycle},
};
use store::{Envelope, Recorded, Store, StoreError};
use uuid::Uuid;

use crate::{GameRecord, NoRecord, ProjectionError};

/// How many records are kept for the other read models: the pages of all ranges that are worked on at once.
const KEPT: u64 = 40_000;
/// What was read last is wanted next. The cache would rather keep what was wanted often, and drop what is new.
const FOR_OFTEN: f64 = 0.05;
/// How many games are read in one round trip.
const AT_ONCE: usize = 100;

/// What is known of a game that is over.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Record(Arc<GameRecord>),
    /// It does not count.
    Nothing,
    /// It cannot be read.
    Poison(String),
}

impl Known {
    /// The record of a game that was readable once.
    pub(crate) fn readable(self, game: Uuid) -> Result<Arc<GameRecord>, ProjectionError> {
        let why = match self {
            Self::Record(record) => return Ok(record),
            Self::Nothing => "it does not count any more".to_owned(),
            Self::Poison(why) => why,
        };
        Err(ProjectionError::Unreadable { game, why })
    }
}

/// The records of finished games. A game that is over changes no more, except that it may be made void: that is no part of
/// its record.
#[derive(Debug)]
pub(crate) struct Records {
    store: Store,
    kept: Cache<Uuid, Arc<GameRecord>>,
}

impl Records {
    pub(crate) fn new(store: Store) -> Self {
        let items = usize::try_from(KEPT).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .estimated_items_capacity(items)
            .weight_capacity(KEPT)
            .hot_allocation(FOR_OFTEN)
            .build();
        let kept = match options {
            Ok(options) => Cache::with_options(
                options,
                UnitWeighter,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            Err(_) => Cache::new(items),
        };
        Self { store, kept }
    }

    /// What is known of these games, in the same order.
    pub(crate) async fn of(&self, games: &[Uuid]) -> Result<Vec<Known>, StoreError> {
        let mut found: HashMap<Uuid, Known> = HashMap::with_capacity(games.len());
        let mut unread = Vec::new();
        for &game in games {
            match self.kept.get(&game) {
                Some(record) => {
                    found.insert(game, Known::Record(record));
                }
                None => unread.push(game),
            }
        }
        for games in unread.chunks(AT_ONCE) {
            let mut logs: HashMap<Uuid, Vec<Envelope>> = HashMap::with_capacity(games.len());
            for envelope in self.store.envelopes(games).await? {
                logs.entry(envelope.stream).or_default().push(envelope);
            }
            for (game, log) in logs {
                // A fold that gives up on one game must not take the others with it.
                let known = std::panic::catch_unwind(|| read(&log));
                let known =
                    known.unwrap_or_else(|_| Known::Poison("its fold broke off".to_owned()));
                if let Known::Record(record) = &known {
                    self.kept.insert(game, Arc::clone(record));
                }
                found.insert(game, known);
            }
        }
        Ok(games.iter().map(|game| found.get(game).cloned().unwrap_or(Known::Nothing)).collect())
    }
}

fn read(log: &[Envelope]) -> Known {
    let events: Result<Vec<Recorded>, _> = log.iter().map(Envelope::decode).collect();
    let events = match events {
        Ok(events) => events,
        Err(error) => return Known::Poison(error.to_string()),
    };
    match GameRecord::of(&events) {
        Ok(record) => Known::Record(Arc::new(record)),
        Err(NoRecord::DoesNotCount) => Known::Nothing,
        Err(NoRecord::Broken(why)) => Known::Poison(why.to_owned()),
    }
}
