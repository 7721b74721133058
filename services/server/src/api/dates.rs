//! When dice were listed, changed and bought: the log knows.

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

use super::scalars::Instant;
use crate::{app::App, play::PlayError};

/// The events of the catalogue and of accounts that are about a kind of die.
const ABOUT_DICE: [&str; 3] = ["DieAdded", "DieChanged", "DieBought"];

/// So many of them are looked at, the newest first.
const MOST: u32 = 1_000;

/// What is known of a kind of die in a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dates {
    /// When it was added, or first bought; nothing if it was always there.
    pub(super) first: Option<Instant>,
    /// When something last happened to it.
    pub(super) last: Instant,
}

/// Loads the dates of all dice of a stream at once.
#[derive(Debug)]
pub(super) struct DiceDates(pub(super) Arc<App>);

impl Loader<Uuid> for DiceDates {
    type Value = HashMap<Code, Dates>;
    type Error = PlayError;

    async fn load(&self, streams: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, PlayError> {
        self.0.database.check()?;
        let mut all = HashMap::with_capacity(streams.len());
        for &stream in streams {
            let store = &self.0.tables.store;
            let mut found: HashMap<Code, Dates> = HashMap::new();
            for recorded in store.backwards(stream, i64::MAX, &ABOUT_DICE, MOST).await? {
                let Some((code, is_new)) = about(&recorded.event) else { continue };
                let at = Instant(recorded.at);
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

/// The kind of die that was listed, changed or bought, and whether it was listed or bought.
fn about(event: &Event) -> Option<(Code, bool)> {
    if let Event::Account(AccountEvent::DieBought { code, .. }) = event {
        Some((*code, true))
    } else if let Event::Catalogue(change) = event {
        Some((change.code()?, matches!(change, CatalogueEvent::DieAdded { .. })))
    } else {
        None
    }
}

/// What is known of a kind of die in a stream.
pub(super) async fn dates(
    ctx: &Context<'_>,
    stream: Uuid,
    code: &str,
) -> async_graphql::Result<Option<Dates>> {
    let loader = ctx.data_unchecked::<DataLoader<DiceDates>>();
    let of_dice = loader.load_one(stream).await?.unwrap_or_default();
    Ok(code.parse().ok().and_then(|code: Code| of_dice.get(&code).copied()))
}
