//! Handles a batch as a whole if possible, otherwise event by event, so that one failing event does
//! not block the others.

use std::{collections::HashSet, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use sqlx::{Connection, PgConnection};

use super::{CommandHandler, HandlerError, ProcessorError, RowHandler, Target, feed::Item, parked};
use crate::{Recorded, StreamId};

/// An event that cannot be handled, by stream and version, and the reason.
pub(super) type Reasoned = ((StreamId, i64), String);

pub(super) fn events_of(items: &[Item]) -> Vec<Arc<Recorded>> {
    let event = |item: &Item| match item {
        Item::Event(event) => Some(Arc::clone(event)),
        Item::Unreadable { .. } => None,
    };
    items.iter().filter_map(event).collect()
}

pub(super) fn unreadable(items: &[Item]) -> Vec<Reasoned> {
    let unreadable = |item: &Item| match item {
        Item::Event(_) => None,
        Item::Unreadable { stream, version, reason, .. } => {
            Some(((*stream, *version), reason.clone()))
        }
    };
    items.iter().filter_map(unreadable).collect()
}

/// Writes pages of events to a generation. Events that cannot be written are parked, and so are
/// later ones of their streams.
pub(super) struct Writing<'a> {
    pub(super) name: &'static str,
    pub(super) generation: i32,
    pub(super) building: bool,
    pub(super) parked: &'a mut HashSet<StreamId>,
}

/// Why an event is parked behind another one.
const EARLIER: &str = "an earlier event of this stream is parked";

impl Writing<'_> {
    /// Writes the events as a batch. If that fails, each event is written separately.
    pub(super) async fn page(
        &mut self,
        transaction: &mut PgConnection,
        rows: &dyn RowHandler,
        items: &[Item],
    ) -> Result<(), ProcessorError> {
        let target = (self.generation, self.building);
        let (events, waiting) = self.in_order(items);
        if !events.is_empty() {
            self.events(transaction, rows, target, events).await?;
        }
        for (event, reason) in waiting {
            self.park(transaction, event, &reason).await?;
        }
        Ok(())
    }

    async fn events(
        &mut self,
        transaction: &mut PgConnection,
        rows: &dyn RowHandler,
        target: (i32, bool),
        events: Vec<Arc<Recorded>>,
    ) -> Result<(), ProcessorError> {
        match attempt(transaction, rows, target, &events).await {
            Ok(()) => return Ok(()),
            Err(error) if error.is_passing() => return Err(error.into()),
            Err(error) => tracing::warn!(%error, processor = self.name, "splitting a failed batch"),
        }
        for event in events {
            let place = (event.stream, event.version);
            if self.parked.contains(&event.stream) {
                self.park(transaction, place, EARLIER).await?;
                continue;
            }
            match attempt(transaction, rows, target, std::slice::from_ref(&event)).await {
                Ok(()) => {}
                Err(error) if error.is_passing() => return Err(error.into()),
                Err(error) => self.park(transaction, place, &error.to_string()).await?,
            }
        }
        Ok(())
    }

    /// Splits into events to try and events to park: undecodable ones, and those after a parked one
    /// of their stream.
    fn in_order(&self, items: &[Item]) -> (Vec<Arc<Recorded>>, Vec<Reasoned>) {
        let mut stuck = self.parked.clone();
        let (mut events, mut waiting) = (Vec::with_capacity(items.len()), Vec::new());
        for item in items {
            match item {
                Item::Event(event) if stuck.contains(&event.stream) => {
                    waiting.push(((event.stream, event.version), EARLIER.to_owned()));
                }
                Item::Event(event) => events.push(Arc::clone(event)),
                Item::Unreadable { stream, version, reason, .. } => {
                    stuck.insert(*stream);
                    waiting.push(((*stream, *version), reason.clone()));
                }
            }
        }
        (events, waiting)
    }

    async fn park(
        &mut self,
        transaction: &mut PgConnection,
        event: (StreamId, i64),
        reason: &str,
    ) -> Result<(), ProcessorError> {
        self.parked.insert(event.0);
        parked::park(transaction, self.name, self.generation, event, reason).await
    }
}

/// Writes the events in a savepoint, which is rolled back on failure. A panic of the handler counts
/// as a failure.
pub(super) async fn attempt(
    transaction: &mut PgConnection,
    rows: &dyn RowHandler,
    (generation, building): (i32, bool),
    events: &[Arc<Recorded>],
) -> Result<(), HandlerError> {
    let mut savepoint = transaction.begin().await?;
    let target = Target { connection: &mut savepoint, generation, building };
    let written = AssertUnwindSafe(rows.write(target, events)).catch_unwind().await;
    match written.unwrap_or_else(|_| Err(panicked())) {
        Ok(()) => Ok(savepoint.commit().await?),
        Err(error) => {
            savepoint.rollback().await?;
            Err(error)
        }
    }
}

/// Handles events; returns those that failed. If the handler panics, each event is tried
/// separately.
pub(super) async fn act(
    commands: &dyn CommandHandler,
    events: &[Arc<Recorded>],
) -> Vec<(usize, HandlerError)> {
    let handled = AssertUnwindSafe(commands.handle(events)).catch_unwind().await;
    match handled {
        Ok(failed) => failed,
        Err(_) if events.len() == 1 => vec![(0, panicked())],
        Err(_) => {
            let mut failed = Vec::new();
            for (index, event) in events.iter().enumerate() {
                let one = std::slice::from_ref(event);
                let handled = AssertUnwindSafe(commands.handle(one)).catch_unwind().await;
                let one = handled.unwrap_or_else(|_| vec![(0, panicked())]);
                failed.extend(one.into_iter().map(|(_, error)| (index, error)));
            }
            failed
        }
    }
}

fn panicked() -> HandlerError {
    HandlerError::Event("the handler panicked; see the node's log".to_owned())
}
