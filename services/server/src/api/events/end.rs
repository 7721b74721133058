//! Events that end a game, and events added by staff.

use domain::{SeatNo, VoidedFor, fair::Secret};
use uuid::Uuid;

use super::macros::event_type;
use crate::api::{
    dispute::{self, DisputeView},
    game::{Outcome, text},
    seat::Seat,
    support::VoidReason,
};

event_type! {
    /// The game is over.
    GameEndedEvent { outcome: domain::Outcome, }

    /// How the game ended.
    async fn outcome(
        &self,
        ctx: &async_graphql::Context<'_>,
    ) -> async_graphql::Result<Outcome> {
        Ok(Outcome::new(&self.outcome, &self.base.after(crate::api::app(ctx)).await?))
    }
}

event_type! {
    /// The secret of the dice was revealed: everybody can verify the rolls.
    SeedRevealedEvent { secret: Secret, }

    /// The secret, in hexadecimal.
    async fn secret(&self) -> String {
        text(&self.secret)
    }
}

event_type! {
    /// The game was voided: its awards are reversed and it does not count in statistics.
    GameVoidedEvent { why: VoidedFor, dispute: Option<Uuid>, }

    /// Why the game was voided.
    async fn reason(&self) -> VoidReason {
        self.why.into()
    }

    /// The dispute that led to it. Null if there is none or you may not see it.
    async fn dispute(
        &self,
        ctx: &async_graphql::Context<'_>,
    ) -> async_graphql::Result<Option<DisputeView>> {
        dispute::visible(ctx, self.dispute).await
    }
}

event_type! {
    /// Staff decided the winners, which ended the game.
    GameRuledEvent { winners: Vec<SeatNo>, dispute: Option<Uuid>, }

    /// The winners; may be empty.
    async fn winners(
        &self,
        ctx: &async_graphql::Context<'_>,
    ) -> async_graphql::Result<Vec<Seat>> {
        let state = self.base.after(crate::api::app(ctx)).await?;
        Ok(self.winners.iter().filter_map(|&seat| Seat::of(&state, seat)).collect())
    }

    /// The dispute that led to it. Null if there is none or you may not see it.
    async fn dispute(
        &self,
        ctx: &async_graphql::Context<'_>,
    ) -> async_graphql::Result<Option<DisputeView>> {
        dispute::visible(ctx, self.dispute).await
    }
}
