//! What a read model is, and the list of them.

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
    /// The version of its fold. A changed fold is a new version and is rebuilt.
    pub version: i32,
    /// Its tables; each has a column `generation`.
    pub tables: &'static [&'static str],
    /// Everything of a generation as (key, row), to compare two of them.
    pub rows: &'static str,
    /// Takes games in.
    pub(crate) write: Write,
    /// Takes games out again: they are void. A game that was never taken in changes nothing.
    pub(crate) forget: Forget,
    /// Works out what follows from what was taken in, where that is not done at once.
    pub(crate) derive: Option<Derive>,
}

/// Takes games into a generation, as part of a transaction.
pub(crate) type Write =
    for<'a> fn(Target<'a>, &'a [Arc<GameRecord>]) -> BoxFuture<'a, Result<(), HandlerError>>;

/// Takes games out of a generation, as part of a transaction; other games can be read.
pub(crate) type Forget = for<'a> fn(
    Target<'a>,
    &'a [Arc<GameRecord>],
    &'a Records,
) -> BoxFuture<'a, Result<(), HandlerError>>;

/// Works out what follows from what was taken in, as part of a transaction.
pub(crate) type Derive = for<'a> fn(Target<'a>) -> BoxFuture<'a, Result<(), HandlerError>>;

/// Every read model there is.
pub const MODELS: &[Model] = &[
    players::MODEL,
    leaderboards::MODEL,
    ratings::MODEL,
    balance::MODEL,
    #[cfg(test)]
    crate::tests::games_by_day::MODEL,
];

/// What a read model waits for: a game is over, and counts; or it is void, and counts no more.
const TYPES: [&str; 2] = ["Ended", "Voided"];
/// How long finished games are collected before they are taken in together.
const COLLECT: Duration = Duration::from_millis(150);

/// All read models as processors. They share what is read of finished games; most of it comes from the node's tailer.
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

    /// Takes games in, and those that are void out again.
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
