//! The audit log: the actions of staff.

use async_graphql::{Context, ID, SimpleObject};
use uuid::Uuid;

use super::{
    app,
    connection::{AuditConnection, PageArguments},
    enums::AuditAction,
    ids::Named,
    player::Player,
    scalars::{DateTime, Long},
};
use crate::disputes::audit;

/// An action of staff, including reading personal data.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct AuditEntry {
    /// The number, from 1.
    number: Long,
    /// When it was recorded.
    at: DateTime,
    /// The member of staff.
    by: Player,
    /// The action. Null if it was recorded by a newer server version that this one does not know.
    action: Option<AuditAction>,
    /// The id of the game, account or dispute concerned; the nil UUID if there is none.
    subject: Uuid,
    /// The dispute that required it. Null if there is none.
    dispute: Option<ID>,
}

/// A page of the audit log, oldest first.
pub(super) async fn audit_log(
    ctx: &Context<'_>,
    filter: audit::Filter,
    arguments: PageArguments,
) -> async_graphql::Result<AuditConnection> {
    let request = arguments.request(ctx)?;
    let cursor = request.position(|cursor| cursor.parse::<i64>().ok())?;
    let store = &app(ctx).games.store;
    let entries = audit::page(store, filter, cursor, request.backward, request.limit()).await?;
    let (entries, more) = request.trim(entries);
    let total = if request.counts { audit::count(store, filter).await? } else { 0 };
    let items = entries.into_iter().map(|entry| {
        let view = AuditEntry {
            number: Long(entry.number),
            at: DateTime(entry.at),
            by: Player::new(entry.by),
            action: AuditAction::named(entry.action.as_str()),
            subject: entry.subject,
            dispute: entry.dispute.map(|dispute| Named::Dispute(dispute).id()),
        };
        (entry.number.to_string(), view)
    });
    Ok(AuditConnection::page(&request, items.collect(), more, total))
}
