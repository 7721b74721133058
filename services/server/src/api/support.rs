//! Actions of staff on games.

use async_graphql::{Context, Enum, ID, InputObject, Object};
use domain::VoidedFor;

use super::{
    allowed, app,
    command::{CommandInput, input_path, key_only},
    ids::game_id,
    moves::GamePayload,
};
use crate::{accounts::Role, disputes::audit};

/// Why a game is voided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "VoidedFor")]
pub(super) enum VoidReason {
    /// A malfunction of the server.
    Malfunction,
    /// A player cheated.
    Cheating,
    /// Players colluded.
    Collusion,
    /// The game was created or run by mistake.
    Mistake,
}

/// The game to void.
#[derive(Clone, Debug, InputObject)]
struct VoidGameInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
    /// The reason.
    reason: VoidReason,
}

/// Actions of staff on games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SupportMutation;

/// Actions of staff on games.
#[Object]
impl SupportMutation {
    /// Voids a game, running or over. Its awards are debited from the wallets as far as they cover
    /// it, and it does not count in statistics, leaderboards, ratings and balance; its events stay
    /// in the log. A running game ends and its secret is revealed. If its awards exceed what one
    /// person may decide, use a dispute, where a second person approves. For support and admins who
    /// did not play in it.
    async fn void_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game and the reason.")] input: VoidGameInput,
    ) -> async_graphql::Result<GamePayload> {
        let staff = allowed(ctx, &[Role::Support, Role::Admin])?;
        let game = game_id(&input.game_id)?;
        app(ctx).database.check()?;
        audit::record(&app(ctx).games.store, &staff, "void_game", game, None).await?;
        let idempotency = key_only(input.command);
        let outcome = match app(ctx).disputes.check_void_limit(game).await {
            Ok(()) => app(ctx).games.void(&staff, game, input.reason.into(), idempotency).await,
            Err(error) => Err(error),
        };
        GamePayload::of(ctx, idempotency.id, Some(game), outcome, input_path).await
    }
}
