//! Dates from the log: of games, and of dice added, changed and bought.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{
    Context,
    dataloader::{DataLoader, Loader},
};
use domain::{
    AccountEvent, Event,
    special_dice::{CatalogueEvent, Code},
};
use uuid::Uuid;

use super::scalars::DateTime;
use crate::{app::App, play::AppError};

/// The events of the catalogue and of accounts that are about a kind of die.
const ABOUT_DICE: [&str; 3] = ["DieAdded", "DieChanged", "DieBought"];

/// The maximum number of these events to read, newest first.
const MAX_EVENTS: i64 = 1_000;

/// When a game was created, started and ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GameTimes {
    pub(super) created: Option<DateTime>,
    pub(super) started: Option<DateTime>,
    pub(super) ended: Option<DateTime>,
}

/// Loads the times of many games in one round trip.
#[derive(Debug)]
pub(super) struct GameDates(pub(super) Arc<App>);

impl Loader<Uuid> for GameDates {
    type Value = GameTimes;
    type Error = AppError;

    async fn load(&self, games: &[Uuid]) -> Result<HashMap<Uuid, GameTimes>, AppError> {
        self.0.database.check()?;
        let types = ["Created", "Started", "Ended"];
        let mut all: HashMap<Uuid, GameTimes> = HashMap::with_capacity(games.len());
        for ((game, kind), at) in self.0.games.store.first_times(games, &types).await? {
            let times = all.entry(game).or_default();
            let time = match kind.as_str() {
                "Created" => &mut times.created,
                "Started" => &mut times.started,
                _ => &mut times.ended,
            };
            *time = Some(DateTime(at));
        }
        Ok(all)
    }
}

/// The dates of a kind of die in a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dates {
    /// When it was added or first bought; `None` for the initial dice.
    pub(super) first: Option<DateTime>,
    /// When it was last added, changed or bought.
    pub(super) last: DateTime,
}

/// Loads the dates of all dice of a stream at once.
#[derive(Debug)]
pub(super) struct DiceDates(pub(super) Arc<App>);

impl Loader<Uuid> for DiceDates {
    type Value = HashMap<Code, Dates>;
    type Error = AppError;

    async fn load(&self, streams: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, AppError> {
        self.0.database.check()?;
        let mut all = HashMap::with_capacity(streams.len());
        for &stream in streams {
            let store = &self.0.games.store;
            let mut found: HashMap<Code, Dates> = HashMap::new();
            for recorded in store.backwards(stream, i64::MAX, &ABOUT_DICE, MAX_EVENTS).await? {
                let Some((code, is_new)) = about(&recorded.event) else { continue };
                let at = DateTime(recorded.at);
                let dates = found.entry(code).or_insert(Dates { first: None, last: at });
                if is_new {
                    dates.first = Some(at);
                }
            }
            all.insert(stream, found);
        }
        Ok(all)
    }
}

/// The kind of die that was added, changed or bought; true if it was added or bought.
fn about(event: &Event) -> Option<(Code, bool)> {
    if let Event::Account(AccountEvent::DieBought { code, .. }) = event {
        Some((*code, true))
    } else if let Event::Catalogue(change) = event {
        Some((change.code()?, matches!(change, CatalogueEvent::DieAdded { .. })))
    } else {
        None
    }
}

/// The dates of a kind of die in a stream.
pub(super) async fn dates(
    ctx: &Context<'_>,
    stream: Uuid,
    code: &str,
) -> async_graphql::Result<Option<Dates>> {
    let loader = ctx.data_unchecked::<DataLoader<DiceDates>>();
    let of_dice = loader.load_one(stream).await?.unwrap_or_default();
    Ok(code.parse().ok().and_then(|code: Code| of_dice.get(&code).copied()))
}
