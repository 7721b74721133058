//! The type of a read model, and the list of all read models.

use std::{sync::Arc, time::Duration};

use domain::Event;
use futures_util::{FutureExt, future::BoxFuture};
use store::{
    Recorded, Store,
    processor::{Handler, HandlerError, Processor, RowHandler, Target},
};

use crate::{GameRecord, balance, leaderboards, players, ratings, records::Records};

/// A read model: a fold of finished games.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// The version of its fold. A changed fold needs a new version and a rebuild.
    pub version: i32,
    /// Its tables; each has a column `generation`.
    pub tables: &'static [&'static str],
    /// A query for all rows of a generation as (key, row), used to compare two of them.
    pub rows: &'static str,
    /// Adds games.
    pub(crate) write: Write,
    /// Removes games that became void. A game that was never added changes nothing.
    pub(crate) forget: Forget,
    /// Computes derived rows, if that is not done at once.
    pub(crate) derive: Option<Derive>,
}

/// Adds games to a generation, within a transaction.
pub(crate) type Write =
    for<'a> fn(Target<'a>, &'a [Arc<GameRecord>]) -> BoxFuture<'a, Result<(), HandlerError>>;

/// Removes games from a generation, within a transaction; other games can be read.
pub(crate) type Forget = for<'a> fn(
    Target<'a>,
    &'a [Arc<GameRecord>],
    &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>>;

/// Computes derived rows, within a transaction.
pub(crate) type Derive = for<'a> fn(Target<'a>) -> BoxFuture<'a, Result<(), HandlerError>>;

/// All read models.
pub const MODELS: &[Model] = &[
    players::MODEL,
    leaderboards::MODEL,
    ratings::MODEL,
    balance::MODEL,
    #[cfg(test)]
    crate::tests::games_by_day::MODEL,
];

/// A game ended, and counts; or it became void, and no longer counts.
const TYPES: [&str; 2] = ["Ended", "Voided"];
/// How long finished games are collected into one batch.
const COLLECT: Duration = Duration::from_millis(150);

/// All read models as processors. They share a cache of finished games, which is mostly filled by
/// the node's tailer.
pub fn processors(store: &Store) -> Vec<Processor> {
    let records = Arc::new(Records::new(store.clone()));
    let observed = Arc::downgrade(&records);
    store.observe(move |event| {
        if let Some(records) = observed.upgrade() {
            records.observe(event);
        }
    });
    MODELS.iter().map(|model| processor(*model, &records)).collect()
}

fn processor(model: Model, records: &Arc<Records>) -> Processor {
    let rows = ReadModel { model, records: Arc::clone(records) };
    Processor {
        name: model.name,
        version: model.version,
        types: &TYPES,
        ranges: 1,
        collect: COLLECT,
        handler: Handler::Rows(Arc::new(rows)),
    }
}

struct ReadModel {
    model: Model,
    records: Arc<Records>,
}

impl RowHandler for ReadModel {
    fn tables(&self) -> &'static [&'static str] {
        self.model.tables
    }

    fn content(&self) -> &'static str {
        self.model.rows
    }

    /// Adds finished games and removes void ones.
    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        async move {
            let Target { connection, generation, building } = target;
            let (void, over): (Vec<&Arc<Recorded>>, Vec<&Arc<Recorded>>) =
                events.iter().partition(|event| matches!(event.event, Event::Voided { .. }));
            let over = self.records.of_events(&over).await?;
            if !over.is_empty() {
                let target = Target { connection: &mut *connection, generation, building };
                (self.model.write)(target, &over).await?;
            }
            let void = self.records.of_events(&void).await?;
            if !void.is_empty() {
                let target = Target { connection, generation, building };
                (self.model.forget)(target, &void, &self.records).await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn derive<'a>(&'a self, target: Target<'a>) -> BoxFuture<'a, Result<(), HandlerError>> {
        match self.model.derive {
            Some(derive) => derive(target),
            None => async { Ok(()) }.boxed(),
        }
    }
}
