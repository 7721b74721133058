//! Events of turns: starts, decisions and ends.

use domain::{Banked, Farkled, Moment, SeatNo, TurnEnded};

use super::macros::event_type;
use crate::api::{
    enums::{FarkleCause, TurnEndReason},
    scalars::{DateTime, Long, int},
    seat::Seat,
};

event_type! {
    /// The turn of a seat started.
    TurnStartedEvent { seat: SeatNo, round: u32, deadline: Option<Moment>, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The round of the game, from 1.
    async fn round(&self) -> i32 {
        int(self.round)
    }

    /// When the turn times out. Null if there is no time limit.
    async fn deadline(&self) -> Option<DateTime> {
        self.deadline.map(DateTime)
    }
}

event_type! {
    /// The points of a turn were added to the score.
    BankedEvent { banked: Banked, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.banked.seat).await
    }

    /// The round of the game, from 1.
    async fn round(&self) -> i32 {
        int(self.banked.round)
    }

    /// The points of the completed hands of the round.
    async fn round_score(&self) -> Long {
        Long(self.banked.round_score)
    }

    /// The points of the last hand, before the multiplier.
    async fn turn_score(&self) -> Long {
        Long(self.banked.turn_score)
    }

    /// The factor applied to the last hand.
    async fn multiplier(&self) -> Long {
        Long(self.banked.multiplier)
    }

    /// The bonus for earlier farkles.
    async fn bonus(&self) -> Long {
        Long(self.banked.bonus)
    }

    /// The points banked: `roundScore + turnScore × multiplier + bonus`.
    async fn points(&self) -> Long {
        Long(self.banked.points)
    }

    /// The score of the seat after banking.
    async fn game_score(&self) -> Long {
        Long(self.banked.game_score)
    }

    /// Whether this score reaches the target of the game.
    async fn reaches_target(&self) -> bool {
        self.banked.reaches_target
    }
}

event_type! {
    /// A round ended without points.
    FarkledEvent { farkled: Farkled, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.farkled.seat).await
    }

    /// Whether a roll or the player's choice caused it.
    async fn cause(&self) -> FarkleCause {
        self.farkled.by.into()
    }

    /// The points lost, not counting those kept.
    async fn points_forfeited(&self) -> Long {
        Long(self.farkled.forfeited)
    }

    /// The points of the round that were scored anyway, thanks to special dice.
    async fn points_kept(&self) -> Long {
        Long(self.farkled.kept)
    }

    /// The extra points awarded by special dice.
    async fn points_awarded(&self) -> Long {
        Long(self.farkled.awarded)
    }

    /// Consecutive farkles, including this one.
    async fn farkles_in_a_row(&self) -> i32 {
        int(self.farkled.in_a_row)
    }
}

event_type! {
    /// A seat must make a decision before the turn continues.
    DecisionRequestedEvent { seat: SeatNo, deadline: Option<Moment>, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// When the decision times out. Null if there is no time limit.
    async fn deadline(&self) -> Option<DateTime> {
        self.deadline.map(DateTime)
    }
}

event_type! {
    /// A seat made its decision; the turn continues.
    DecisionMadeEvent { seat: SeatNo, stays: bool, deadline: Option<Moment>, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// Whether the player stays inside.
    async fn stays(&self) -> bool {
        self.stays
    }

    /// When the turn times out. Null if there is no time limit.
    async fn deadline(&self) -> Option<DateTime> {
        self.deadline.map(DateTime)
    }
}

event_type! {
    /// A turn timed out.
    TurnTimedOutEvent { seat: SeatNo, in_a_row: u32, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// Consecutive time-outs, including this one.
    async fn time_outs_in_a_row(&self) -> i32 {
        int(self.in_a_row)
    }
}

event_type! {
    /// A turn is over.
    TurnEndedEvent { ended: TurnEnded, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.ended.seat).await
    }

    /// The round of the game, from 1.
    async fn round(&self) -> i32 {
        int(self.ended.round)
    }

    /// How the turn ended.
    async fn reason(&self) -> TurnEndReason {
        self.ended.how.into()
    }

    /// The points scored.
    async fn points(&self) -> Long {
        Long(self.ended.points)
    }

    /// The points lost.
    async fn points_forfeited(&self) -> Long {
        Long(self.ended.forfeited)
    }

    /// The bonus for earlier farkles that was lost.
    async fn bonus_lost(&self) -> Long {
        Long(self.ended.bonus_lost)
    }

    /// Whether the score reaches the target of the game with this turn, without a bank.
    async fn reaches_target(&self) -> bool {
        self.ended.reaches_target
    }
}
