//! Indexes of disputes and of the audit log, updated asynchronously from the log.

use std::{sync::Arc, time::Duration};

use domain::{DisputeEvent, Event, StaffEvent};
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::PgConnection;
use store::{
    Recorded, StoreError,
    processor::{Handler, HandlerError, Processor, RowHandler, Target},
};

use crate::clock;

/// How long events are collected into a batch.
const COLLECT: Duration = Duration::from_millis(10);

/// The processor that updates the index of disputes.
pub(crate) fn disputes() -> Processor {
    Processor {
        name: "dispute_index",
        version: 1,
        types: &["DisputeOpened", "DisputeAssigned", "DisputeResolved"],
        ranges: 1,
        collect: COLLECT,
        handler: Handler::Rows(Arc::new(DisputeIndex)),
    }
}

/// The processor that updates the index of the audit log.
pub(crate) fn audit() -> Processor {
    Processor {
        name: "audit_index",
        version: 1,
        types: &StaffEvent::NAMES,
        ranges: 1,
        collect: COLLECT,
        handler: Handler::Rows(Arc::new(AuditIndex)),
    }
}

struct DisputeIndex;

impl RowHandler for DisputeIndex {
    fn tables(&self) -> &'static [&'static str] {
        &["dispute_index"]
    }

    fn content(&self) -> &'static str {
        "SELECT dispute::text, concat_ws(' ', game, version, player, opened_at, coalesce(assignee::text, '-'), resolved)
           FROM dispute_index WHERE generation = $1"
    }

    fn write<'a>(
        &'a self,
        Target { connection, generation, .. }: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        async move {
            for recorded in events {
                if let Event::Dispute(event) = &recorded.event {
                    write_dispute(connection, generation, recorded, event).await?;
                }
            }
            Ok(())
        }
        .boxed()
    }
}

async fn write_dispute(
    connection: &mut PgConnection,
    generation: i32,
    recorded: &Recorded,
    event: &DisputeEvent,
) -> Result<(), StoreError> {
    const OPENED: &str = "
INSERT INTO dispute_index (generation, dispute, game, version, player, opened_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING";
    const ASSIGNED: &str =
        "UPDATE dispute_index SET assignee = $3 WHERE generation = $1 AND dispute = $2";
    const RESOLVED: &str =
        "UPDATE dispute_index SET resolved = true WHERE generation = $1 AND dispute = $2";
    let query = match event {
        DisputeEvent::DisputeOpened { game, version, player } => sqlx::query(OPENED)
            .bind(generation)
            .bind(recorded.stream)
            .bind(game.0)
            .bind(i64::try_from(*version).unwrap_or(i64::MAX))
            .bind(player.0)
            .bind(clock::to_sql(recorded.at)),
        DisputeEvent::DisputeAssigned { to } => {
            sqlx::query(ASSIGNED).bind(generation).bind(recorded.stream).bind(to.0)
        }
        DisputeEvent::DisputeResolved { .. } => {
            sqlx::query(RESOLVED).bind(generation).bind(recorded.stream)
        }
        DisputeEvent::DisputeCommented { .. }
        | DisputeEvent::RemedyProposed { .. }
        | DisputeEvent::RemedyApproved { .. }
        | DisputeEvent::RemedyDeclined { .. }
        | DisputeEvent::RemedyApplied { .. }
        | DisputeEvent::RemedyFailed { .. }
        | DisputeEvent::RemedyRetried { .. } => return Ok(()),
    };
    query.execute(connection).await?;
    Ok(())
}

struct AuditIndex;

impl RowHandler for AuditIndex {
    fn tables(&self) -> &'static [&'static str] {
        &["audit_index"]
    }

    fn content(&self) -> &'static str {
        "SELECT number::text, concat_ws(' ', at, staff, action, subject, coalesce(dispute::text, '-'))
           FROM audit_index WHERE generation = $1"
    }

    fn write<'a>(
        &'a self,
        Target { connection, generation, .. }: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        const WRITE: &str = "
INSERT INTO audit_index (generation, number, at, staff, action, subject, dispute)
SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::uuid[])
    ON CONFLICT DO NOTHING";
        async move {
            let actions = events.iter().filter_map(|recorded| {
                let Event::Staff(StaffEvent::StaffActed { action, subject, dispute }) =
                    &recorded.event
                else {
                    return None;
                };
                Some((recorded, action.to_string(), *subject, *dispute))
            });
            let actions: Vec<_> = actions.collect();
            let query = sqlx::query(WRITE)
                .bind(generation)
                .bind(actions.iter().map(|(recorded, ..)| recorded.version).collect::<Vec<_>>())
                .bind(actions.iter().map(|(r, ..)| clock::to_sql(r.at)).collect::<Vec<_>>())
                .bind(actions.iter().map(|(recorded, ..)| recorded.actor).collect::<Vec<_>>())
                .bind(actions.iter().map(|(_, action, ..)| action.as_str()).collect::<Vec<_>>())
                .bind(actions.iter().map(|(_, _, subject, _)| *subject).collect::<Vec<_>>())
                .bind(actions.iter().map(|(.., dispute)| *dispute).collect::<Vec<_>>());
            query.execute(connection).await?;
            Ok(())
        }
        .boxed()
    }
}
