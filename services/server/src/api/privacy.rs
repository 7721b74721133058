//! What is known about a person: showing it to them, to staff if it must be, and forgetting it.

use async_graphql::{Context, ID, Json, Object, SimpleObject};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    allowed, app,
    dispute::STAFF,
    errors::{account_error, bad_input},
    ids::player_id,
    player, viewer,
};
use crate::{
    accounts::Role,
    clock,
    disputes::audit,
    play::{PlayError, Refusal, ServiceCode},
    wallets::{LEDGER, account_event},
};

/// The most lines of a ledger that are given at once, the newest first.
const MOST_LINES: u32 = 10_000;

/// What came of erasing an account.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct ErasePayload {
    /// Whether it was erased now; not if it was before.
    erased: bool,
    /// What it is called from now on.
    pseudonym: String,
}

/// Everything that is known about somebody: what stands beside the log, and the wallet with its ledger. Of each list at most 10,000
/// rows.
pub(super) async fn data_of(
    ctx: &Context<'_>,
    account: Uuid,
) -> async_graphql::Result<Json<Value>> {
    app(ctx).database.check()?;
    let known = app(ctx).accounts.personal(account).await.map_err(account_error)?;
    let gone = || {
        super::errors::refused(&Refusal::new(ServiceCode::NoSuchPlayer, "there is no such player"))
    };
    let mut known = known.ok_or_else(gone)?;
    let wallet = app(ctx).tables.wallets.of(account).await?;
    known["wallet"] = json!(wallet.now);
    let ledger = app(ctx).tables.store.backwards(account, i64::MAX, &LEDGER, MOST_LINES).await;
    let ledger = ledger.map_err(PlayError::from)?;
    let line = |recorded: store::Recorded| {
        let entry = account_event(&recorded.event)?.entry()?;
        Some(json!({
            "at": clock::written(recorded.at), "reason": entry.reason, "change": entry.change, "balance": entry.balance,
        }))
    };
    known["ledger"] = ledger.into_iter().filter_map(line).collect();
    Ok(Json(known))
}

/// Your own data.
pub(super) async fn own(ctx: &Context<'_>) -> async_graphql::Result<Json<Value>> {
    let viewer = player(ctx)?;
    data_of(ctx, viewer.account).await
}

/// Somebody else's data, for staff: that they looked is written down first.
pub(super) async fn of_player(
    ctx: &Context<'_>,
    id: &ID,
    dispute: Option<&ID>,
) -> async_graphql::Result<Json<Value>> {
    let staff = allowed(ctx, STAFF)?;
    app(ctx).database.check()?;
    let account = player_id(id)?;
    let dispute = dispute.map(super::dispute::dispute_id).transpose()?;
    let store = &app(ctx).tables.store;
    audit::note(store, &staff, "look_at_personal_data", account, dispute).await?;
    data_of(ctx, account).await
}

/// Forgetting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrivacyMutation;

/// Forgetting.
#[Object]
impl PrivacyMutation {
    /// Forgets a person: your own account, or one that you are asked to erase as support or admin. Name, password, sessions,
    /// addresses and everything written in disputes are gone; games stay, under a pseudonym, and can be proven as before. There is no way
    /// back.
    async fn erase_account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whose; yours if you do not say.")] player_id: Option<ID>,
    ) -> async_graphql::Result<ErasePayload> {
        let viewer = viewer(ctx)?;
        app(ctx).database.check()?;
        let account = match &player_id {
            None if viewer.role != Role::Player => return Err(bad_input("say whose account")),
            None => viewer.account,
            Some(id) => self::player_id(id)?,
        };
        if viewer.role != Role::Player || account != viewer.account {
            let staff = allowed(ctx, STAFF)?;
            let store = &app(ctx).tables.store;
            audit::note(store, &staff, "erase_account", account, None).await?;
        }
        let erased = app(ctx).accounts.erase(account).await.map_err(account_error)?;
        Ok(ErasePayload { erased, pseudonym: crate::accounts::pseudonym(account) })
    }
}
