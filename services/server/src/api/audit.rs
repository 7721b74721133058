//! The audit log: what staff did, or looked at.

use async_graphql::{Context, ID, SimpleObject};
use uuid::Uuid;

use super::{
    app,
    connection::{AuditConnection, page_size},
    errors::bad_input,
    ids::Named,
    player::Player,
    scalars::{Instant, Long},
};
use crate::disputes::audit;

/// Something that staff did, or looked at.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct AuditEntry {
    /// Its number, from 1.
    number: Long,
    /// When.
    at: Instant,
    /// Who.
    by: Player,
    /// What: `void_game`, `look_at_personal_data` …
    action: String,
    /// To what: the id of a game, an account, a dispute.
    subject: Uuid,
    /// Because of which dispute.
    dispute: Option<ID>,
}

/// A page of the audit log.
pub(super) async fn audit_log(
    ctx: &Context<'_>,
    filter: audit::Filter,
    first: Option<i32>,
    after: Option<String>,
) -> async_graphql::Result<AuditConnection> {
    let size = page_size(first)?;
    let from = after.as_deref().map_or(Ok(0), str::parse::<i64>);
    let from = from.ok().filter(|from| *from >= 0);
    let from = from.ok_or_else(|| bad_input("after is a cursor of this list"))?;
    let most = i64::try_from(size + 1).unwrap_or(i64::MAX);
    let entries = audit::page(&app(ctx).tables.store, filter, from, most).await?;
    let more = entries.len() > size;
    let items = entries.into_iter().map(|entry| {
        let view = AuditEntry {
            number: Long(entry.number),
            at: Instant(entry.at),
            by: Player::new(entry.by),
            action: entry.action.to_string(),
            subject: entry.subject,
            dispute: entry.dispute.map(|dispute| Named::Dispute(dispute).id()),
        };
        (entry.number.to_string(), view)
    });
    Ok(AuditConnection::page(items.collect(), more, size, after.is_some()))
}
