//! What staff does to games.

use async_graphql::{Context, Enum, ID, Object};
use domain::VoidedFor;
use uuid::Uuid;

use super::{allowed, app, ids::game_id, moves::GamePayload};
use crate::{accounts::Role, disputes::audit, play::Once};

/// Why a game is made void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "VoidedFor")]
pub(super) enum VoidReason {
    /// Something did not work as it should.
    Malfunction,
    /// Somebody cheated.
    Cheating,
    /// Players played into each other's hands.
    Collusion,
    /// The game was opened or run by mistake.
    Mistake,
}

/// What staff does to games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SupportMutation;

/// What staff does to games.
#[Object]
impl SupportMutation {
    /// Makes a game void, whether it is over or not: what it awarded is taken back from the wallets as far as it is there, and
    /// statistics, leaderboards, ratings and balance are as if it had not been played. What happened stays in the log. A game
    /// that is played ends, and its secret is revealed. If it awarded more than one person may decide about, a dispute and a second person are needed. For
    /// support and admins who did not play in it.
    async fn void_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Why.")] reason: VoidReason,
        #[graphql(desc = "Your own id of this command: asked twice, it is done once.")] command_id: Option<
            Uuid,
        >,
    ) -> async_graphql::Result<GamePayload> {
        let staff = allowed(ctx, &[Role::Support, Role::Admin])?;
        let game = self::game_id(&game_id)?;
        app(ctx).database.check()?;
        audit::note(&app(ctx).tables.store, &staff, "void_game", game, None).await?;
        if let Err(refusal) = app(ctx).disputes.check_void_limit(game).await {
            return GamePayload::of(ctx, Some(game), Err(refusal)).await;
        }
        let once = Once { id: command_id, expected: None };
        let done = app(ctx).tables.void(&staff, game, reason.into(), once).await;
        GamePayload::of(ctx, Some(game), done).await
    }
}
