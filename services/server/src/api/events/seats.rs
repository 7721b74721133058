//! Events before the start and of seats: creation, seats taken and left, the start.

use std::sync::Arc;

use domain::{
    LeftBecause, PlayerId, Ruleset, SeatNo, Slug,
    fair::{Commitment, RulesetHash, SeedsHash},
    special_dice::Code,
};

use super::macros::event_type;
use crate::api::{
    enums::SeatLeftReason, game::text, player::Player, rules::CatalogItem, ruleset::RulesetView,
    scalars::DieCode, seat::Seat,
};

event_type! {
    /// The game was created.
    GameCreatedEvent {
        ruleset: Arc<Ruleset>,
        ruleset_hash: RulesetHash,
        commitment: Commitment,
    }

    /// The rules, in full.
    async fn ruleset(&self) -> RulesetView {
        RulesetView::new(Arc::clone(&self.ruleset))
    }

    /// The hash of the rules, an input of every roll.
    async fn ruleset_hash(&self) -> String {
        text(&self.ruleset_hash)
    }

    /// The commitment to the secret of the dice: a SHA-256 hash in hexadecimal.
    async fn commitment(&self) -> String {
        text(&self.commitment)
    }
}

event_type! {
    /// A player took a seat.
    SeatTakenEvent { seat: SeatNo, player: PlayerId, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The player.
    async fn player(&self) -> Player {
        Player::new(self.player.0)
    }
}

event_type! {
    /// A player chose or replaced a seed.
    SeedChosenEvent { seat: SeatNo, seed: domain::ClientSeed, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The seed.
    async fn seed(&self) -> String {
        text(&self.seed)
    }
}

event_type! {
    /// A player chose the dice to play with.
    LoadoutChosenEvent { seat: SeatNo, dice: Vec<Code>, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The codes of the dice, by slot.
    async fn dice(&self) -> Vec<DieCode> {
        self.dice.iter().copied().map(DieCode::from).collect()
    }
}

event_type! {
    /// A player chose a character.
    CharacterChosenEvent { seat: SeatNo, character: Slug, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The character.
    async fn character(
        &self,
        ctx: &async_graphql::Context<'_>,
    ) -> async_graphql::Result<CatalogItem> {
        self.base.item(ctx, self.character).await
    }
}

event_type! {
    /// A player left a seat or lost it.
    SeatLeftEvent { seat: SeatNo, why: LeftBecause, }

    /// The seat.
    async fn seat(&self, ctx: &async_graphql::Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// Why the seat was left.
    async fn reason(&self) -> SeatLeftReason {
        self.why.into()
    }
}

event_type! {
    /// The seeds were sealed and the game started.
    GameStartedEvent { seeds: SeedsHash, }

    /// The hash of the list of seeds.
    async fn seeds_hash(&self) -> String {
        text(&self.seeds)
    }
}
