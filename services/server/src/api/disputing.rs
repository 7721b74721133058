//! Mutations of disputes: opening, handling, remedies.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::{
    allowed, app,
    command::{CommandInput, key_only},
    dispute::{DisputeResolution, DisputeView, STAFF, acting, dispute_id, find},
    errors::{UserErrorView, bad_input},
    ids::{game_id, player_id},
    player,
    remedy::RemedyInput,
    viewer,
};
use uuid::Uuid;

use crate::{
    accounts::Viewer,
    disputes::{Found, no_dispute},
    play::AppError,
};

/// The result of a command on a dispute.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DisputePayload {
    /// The dispute after the command; on an error, as it is now. Null if there is none.
    dispute: Option<DisputeView>,
    /// Why the command was rejected. If not empty, nothing was changed.
    user_errors: Vec<UserErrorView>,
}

impl DisputePayload {
    async fn of(
        ctx: &Context<'_>,
        viewer: &Viewer,
        known: Option<Uuid>,
        outcome: Result<Found, AppError>,
    ) -> async_graphql::Result<Self> {
        match outcome {
            Ok(found) => {
                Ok(Self { dispute: Some(DisputeView::new(found, viewer)), user_errors: Vec::new() })
            }
            Err(AppError::User(error)) => {
                let dispute = match known {
                    Some(id) => find(ctx, id).await?,
                    None => None,
                };
                Ok(Self { dispute, user_errors: vec![error.into()] })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The number of a remedy as clients send it. A number out of range becomes 0, which does not
/// exist.
fn remedy_number(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// The event to dispute.
#[derive(Clone, Debug, InputObject)]
struct OpenDisputeInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
    /// The version of the event.
    version: i32,
    /// The complaint: 1 to 2,000 characters.
    text: String,
}

/// A comment on a dispute.
#[derive(Clone, Debug, InputObject)]
struct CommentDisputeInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The dispute.
    dispute_id: ID,
    /// The text: 1 to 2,000 characters.
    text: String,
    /// Whether the comment is visible to staff only.
    #[graphql(default)]
    internal: bool,
}

/// The assignment of a dispute.
#[derive(Clone, Debug, InputObject)]
struct AssignDisputeInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The dispute.
    dispute_id: ID,
    /// The member of staff. Defaults to you.
    to: Option<ID>,
}

/// The remedy to propose.
#[derive(Clone, Debug, InputObject)]
struct ProposeRemedyInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The dispute.
    dispute_id: ID,
    /// The remedy.
    remedy: RemedyInput,
}

/// A proposed remedy.
#[derive(Clone, Debug, InputObject)]
struct DecideRemedyInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The dispute.
    dispute_id: ID,
    /// The number of the remedy.
    number: i32,
}

/// The resolution of a dispute.
#[derive(Clone, Debug, InputObject)]
struct ResolveDisputeInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The dispute.
    dispute_id: ID,
    /// How the dispute is resolved.
    reason: DisputeResolution,
}

/// Mutations of disputes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DisputeMutation;

/// Mutations of disputes.
#[Object]
impl DisputeMutation {
    /// Disputes an event of a game that you play or played. Each event can be disputed once.
    async fn open_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The event and the complaint.")] input: OpenDisputeInput,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = player(ctx)?;
        let game = game_id(&input.game_id)?;
        app(ctx).database.check()?;
        let (disputes, games) = (&app(ctx).disputes, &app(ctx).games);
        let (version, idempotency) = (input.version.into(), key_only(input.command));
        let outcome = disputes.open(games, &viewer, game, version, &input.text, idempotency).await;
        DisputePayload::of(ctx, &viewer, None, outcome).await
    }

    /// Comments on a dispute. Visible to the player who opened it and to staff, or to staff only if
    /// `internal`.
    async fn comment_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The comment.")] input: CommentDisputeInput,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = viewer(ctx)?;
        let id = dispute_id(&input.dispute_id)?;
        let staff = STAFF.contains(&viewer.role);
        if find(ctx, id).await?.is_none() {
            return DisputePayload::of(ctx, &viewer, None, Err(no_dispute())).await;
        }
        if input.internal && !staff {
            return Err(super::errors::forbidden(viewer.role, STAFF));
        }
        if staff {
            acting(ctx, "comment_dispute", id).await?;
        }
        let disputes = &app(ctx).disputes;
        let outcome = disputes
            .comment(&viewer, id, input.internal, &input.text, key_only(input.command))
            .await;
        DisputePayload::of(ctx, &viewer, Some(id), outcome).await
    }

    /// Assigns a dispute to you or to another member of staff. For support and admins.
    async fn assign_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute and its assignee.")] input: AssignDisputeInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        let staff = acting(ctx, "assign_dispute", id).await?;
        let to = input.to.as_ref().map_or(Ok(staff.account), player_id)?;
        let account = app(ctx).accounts.find(to).await.map_err(super::errors::account_error)?;
        if !account.is_some_and(|account| STAFF.contains(&account.role)) {
            return Err(bad_input("disputes can be assigned to support and admins only"));
        }
        let outcome = app(ctx).disputes.assign(&staff, id, to, key_only(input.command)).await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }

    /// Proposes a remedy. It is applied asynchronously; above a limit of money, a second person
    /// must approve it first. See `status` for its progress and `previewRemedy` for its effects.
    /// For support and admins.
    async fn propose_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The remedy.")] input: ProposeRemedyInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        allowed(ctx, STAFF)?;
        let remedy = input.remedy.remedy()?;
        let staff = acting(ctx, "propose_remedy", id).await?;
        let app = app(ctx);
        let outcome =
            app.disputes.propose(&app.games, &staff, id, remedy, key_only(input.command)).await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }

    /// Approves a remedy proposed by another member of staff. It is applied asynchronously. For
    /// support and admins.
    async fn approve_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The remedy.")] input: DecideRemedyInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        let staff = acting(ctx, "approve_remedy", id).await?;
        let number = remedy_number(input.number);
        let outcome = app(ctx).disputes.approve(&staff, id, number, key_only(input.command)).await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }

    /// Retries a failed remedy asynchronously. For support and admins.
    async fn retry_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The remedy.")] input: DecideRemedyInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        let staff = acting(ctx, "retry_remedy", id).await?;
        let number = remedy_number(input.number);
        let outcome = app(ctx).disputes.retry(&staff, id, number, key_only(input.command)).await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }

    /// Declines a remedy: it is not applied. For support and admins.
    async fn decline_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The remedy.")] input: DecideRemedyInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        let staff = acting(ctx, "decline_remedy", id).await?;
        let number = remedy_number(input.number);
        let outcome = app(ctx).disputes.decline(&staff, id, number, key_only(input.command)).await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }

    /// Resolves a dispute. For support and admins.
    async fn resolve_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute and its resolution.")] input: ResolveDisputeInput,
    ) -> async_graphql::Result<DisputePayload> {
        let id = dispute_id(&input.dispute_id)?;
        let staff = acting(ctx, "resolve_dispute", id).await?;
        let outcome = app(ctx)
            .disputes
            .resolve(&staff, id, input.reason.into(), key_only(input.command))
            .await;
        DisputePayload::of(ctx, &staff, Some(id), outcome).await
    }
}
