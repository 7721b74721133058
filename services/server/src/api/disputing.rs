//! What is done about disputes: opening them, seeing to them, and their remedies.

use async_graphql::{Context, ID, Object, SimpleObject};
use uuid::Uuid;

use super::{
    allowed, app,
    dispute::{DisputeResolution, DisputeView, STAFF, acting, dispute_id, find},
    errors::{Problem, bad_input},
    ids::{game_id, player_id},
    player,
    remedy::RemedyInput,
    viewer,
};
use crate::{
    accounts::Viewer,
    disputes::{Found, no_dispute},
    play::{Once, PlayError},
};

/// What came of a wish about a dispute.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DisputePayload {
    /// The dispute as it is now; nothing if it was refused.
    dispute: Option<DisputeView>,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

impl DisputePayload {
    fn of(viewer: &Viewer, done: Result<Found, PlayError>) -> async_graphql::Result<Self> {
        match done {
            Ok(found) => {
                Ok(Self { dispute: Some(DisputeView::new(found, viewer)), errors: Vec::new() })
            }
            Err(PlayError::Refused(refusal)) => {
                Ok(Self { dispute: None, errors: vec![refusal.into()] })
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn once(command_id: Option<Uuid>) -> Once {
    Once { id: command_id, expected: None }
}

/// The number of a remedy as clients write it; one that cannot be is one that does not exist.
fn remedy_number(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// What is done about disputes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DisputeMutation;

/// What is done about disputes.
#[Object]
impl DisputeMutation {
    /// Says that something was wrong with an event of a game that you play or played. An event is disputed once.
    async fn open_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The version of the event.")] version: i32,
        #[graphql(desc = "What was wrong, in 1 to 2,000 characters.")] text: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = player(ctx)?;
        let game = self::game_id(&game_id)?;
        app(ctx).database.check()?;
        let (disputes, tables) = (&app(ctx).disputes, &app(ctx).tables);
        let (version, once) = (version.into(), once(command_id));
        let done = disputes.open(tables, &viewer, game, version, &text, once).await;
        DisputePayload::of(&viewer, done)
    }

    /// Writes something about a dispute: its player and staff to each other, or staff among themselves.
    async fn comment_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The text, 1 to 2,000 characters.")] text: String,
        #[graphql(desc = "For staff only.", default)] internal: bool,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = viewer(ctx)?;
        let id = self::dispute_id(&dispute_id)?;
        let staff = STAFF.contains(&viewer.role);
        if find(ctx, id).await?.is_none() {
            return DisputePayload::of(&viewer, Err(no_dispute()));
        }
        if internal && !staff {
            return Err(super::errors::forbidden(viewer.role, STAFF));
        }
        if staff {
            acting(ctx, "comment_dispute", id).await?;
        }
        let disputes = &app(ctx).disputes;
        let done = disputes.comment(&viewer, id, internal, &text, once(command_id)).await;
        DisputePayload::of(&viewer, done)
    }

    /// Gives a dispute to somebody who sees to it: to you, or to the one you name. For support and admins.
    async fn assign_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "To whom; to you if you do not say.")] to: Option<ID>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "assign_dispute", id).await?;
        let to = to.as_ref().map_or(Ok(staff.account), player_id)?;
        let account = app(ctx).accounts.find(to).await.map_err(super::errors::account_error)?;
        if !account.is_some_and(|account| STAFF.contains(&account.role)) {
            return Err(bad_input("disputes are seen to by support and admins"));
        }
        let done = app(ctx).disputes.assign(&staff, id, to, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Proposes a remedy. It is carried out in a moment; if it moves much money, a second person must approve it first. `status`
    /// says how far it is, `previewRemedy` what it would do. For support and admins.
    async fn propose_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "What.")] remedy: RemedyInput,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        allowed(ctx, STAFF)?;
        let remedy = remedy.remedy()?;
        let staff = acting(ctx, "propose_remedy", id).await?;
        let app = app(ctx);
        let done = app.disputes.propose(&app.tables, &staff, id, remedy, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Approves a remedy that a colleague proposed; it is carried out in a moment. For support and admins.
    async fn approve_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "approve_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.approve(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Carries out again a remedy that failed, in a moment: something may have changed since. For support and admins.
    async fn retry_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Idempotency key: a retry returns the first result.")] command_id: Option<
            Uuid,
        >,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "retry_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.retry(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Does not agree with a remedy: it is not done. For support and admins.
    async fn decline_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "decline_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.decline(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Ends a dispute, with a reason. For support and admins.
    async fn resolve_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "How.")] reason: DisputeResolution,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "resolve_dispute", id).await?;
        let done = app(ctx).disputes.resolve(&staff, id, reason.into(), once(command_id)).await;
        DisputePayload::of(&staff, done)
    }
}
