//! The list of processors: everything that follows the log. The store feeds them, distributes them
//! among nodes, monitors and rebuilds them.

pub(crate) mod cli;

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use store::{
    Recorded, Store, StoreError,
    processor::{CommandHandler, Handler, HandlerError, Processor},
};

use crate::{
    app::App,
    disputes::{self, Remedies},
    play::{index, scheduler::Scheduler},
    wallets::payouts::{self, Payouts},
};

/// The processors that a node runs.
pub(crate) fn of_node(app: &Arc<App>) -> Vec<Processor> {
    let games = &app.games;
    let scheduler = Scheduler::new(Arc::clone(games));
    all(
        &games.store,
        Some(scheduler),
        Arc::new(Payouts { games: Arc::clone(games) }),
        Arc::new(Remedies { app: Arc::clone(app) }),
    )
}

/// The same for a process that inspects or rebuilds them but must not send commands.
pub(crate) fn offline(store: &Store) -> Vec<Processor> {
    all(store, None, Arc::new(Offline), Arc::new(Offline))
}

fn all(
    store: &Store,
    scheduler: Option<Scheduler>,
    payouts: Arc<dyn CommandHandler>,
    remedies: Arc<dyn CommandHandler>,
) -> Vec<Processor> {
    let mut all = vec![
        index::processor(store.clone(), scheduler),
        Processor {
            name: payouts::NAME,
            version: 1,
            types: &payouts::TYPES,
            ranges: 8,
            collect: Duration::from_millis(10),
            handler: Handler::Commands(payouts),
        },
        Processor {
            name: "remedies",
            version: 1,
            types: &disputes::REMEDY_TYPES,
            ranges: 1,
            collect: Duration::ZERO,
            handler: Handler::Commands(remedies),
        },
        disputes::index::disputes(),
        disputes::index::audit(),
    ];
    all.extend(projections::processors(store));
    all
}

/// Replaces handlers that send commands.
struct Offline;

impl CommandHandler for Offline {
    fn handle<'a>(&'a self, _: &'a [Arc<Recorded>]) -> BoxFuture<'a, Vec<(usize, HandlerError)>> {
        let error = StoreError::Unavailable("this process sends no commands".to_owned());
        async { vec![(0, error.into())] }.boxed()
    }
}
