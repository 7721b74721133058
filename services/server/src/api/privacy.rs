//! Personal data: exporting and erasing it.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::{
    allowed, app,
    dispute::STAFF,
    errors::{account_error, bad_input},
    ids::player_id,
    personal_data::PersonalData,
    player, viewer,
};
use crate::{accounts::Role, disputes::audit};

/// The result of erasing an account.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct ErasePayload {
    /// Whether the account was erased now. False if it had been erased before.
    erased: bool,
    /// The name shown from now on.
    pseudonym: String,
}

/// The viewer's own data.
pub(super) async fn own(ctx: &Context<'_>) -> async_graphql::Result<PersonalData> {
    let viewer = player(ctx)?;
    PersonalData::find(ctx, viewer.account).await
}

/// Another player's data, for staff. The access is recorded in the audit log first.
pub(super) async fn of_player(
    ctx: &Context<'_>,
    id: &ID,
    dispute: Option<&ID>,
) -> async_graphql::Result<PersonalData> {
    let staff = allowed(ctx, STAFF)?;
    app(ctx).database.check()?;
    let account = player_id(id)?;
    let dispute = dispute.map(super::dispute::dispute_id).transpose()?;
    let store = &app(ctx).games.store;
    audit::record(store, &staff, "look_at_personal_data", account, dispute).await?;
    PersonalData::find(ctx, account).await
}

/// The account to erase.
#[derive(Clone, Debug, InputObject)]
struct EraseAccountInput {
    /// The player. Defaults to you; required for staff.
    player_id: Option<ID>,
}

/// Erasing personal data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrivacyMutation;

/// Erasing personal data.
#[Object]
impl PrivacyMutation {
    /// Erases an account: your own, or any as support or admin. Name, password, sessions, addresses
    /// and texts in disputes are deleted; games stay under a pseudonym and can still be verified.
    /// This cannot be undone.
    async fn erase_account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account. Defaults to yours.")] input: Option<EraseAccountInput>,
    ) -> async_graphql::Result<ErasePayload> {
        let viewer = viewer(ctx)?;
        app(ctx).database.check()?;
        let account = match input.and_then(|input| input.player_id).as_ref() {
            None if viewer.role != Role::Player => {
                return Err(bad_input("playerId is required for staff"));
            }
            None => viewer.account,
            Some(id) => player_id(id)?,
        };
        if viewer.role != Role::Player || account != viewer.account {
            let staff = allowed(ctx, STAFF)?;
            let store = &app(ctx).games.store;
            audit::record(store, &staff, "erase_account", account, None).await?;
        }
        let erased = app(ctx).accounts.erase(account).await.map_err(account_error)?;
        Ok(ErasePayload { erased, pseudonym: crate::accounts::pseudonym(account) })
    }
}
