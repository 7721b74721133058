//! Moves of games with more than rolling, saving and banking.

use async_graphql::{Context, Enum, ID, InputObject, Object, OneofObject};
use domain::{Ability, Play, SeatNo};
use serde_json::{Value, json};
use uuid::Uuid;

use super::moves::{GamePayload, ask, slots};
use crate::play::Wish;

/// What a character does. Give exactly one.
#[derive(Clone, Copy, Debug, OneofObject)]
pub(super) enum AbilityInput {
    /// Misty Grapple: copy what one die shows onto another.
    Copy(CopyInput),
    /// Time Bank: put by what this die shows.
    Store(i32),
    /// Time Bank: replace this die by what was put by.
    Place(i32),
    /// Undertow: turn so many hearts that healed nothing into energy.
    Convert(i32),
    /// Convertive Gaze: exchange energy and health.
    Exchange(Exchange),
}

/// One die is copied onto another.
#[derive(Clone, Copy, Debug, InputObject)]
pub(super) struct CopyInput {
    /// The die that is copied, by slot.
    from: i32,
    /// The die that changes, by slot.
    onto: i32,
}

/// Which way energy and health are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum Exchange {
    /// Energy for health.
    Heal,
    /// Health for energy.
    Charge,
}

impl From<AbilityInput> for Ability {
    fn from(input: AbilityInput) -> Self {
        match input {
            AbilityInput::Copy(CopyInput { from, onto }) => {
                Self::Copy { from: small(from), onto: small(onto) }
            }
            AbilityInput::Store(slot) => Self::Store(small(slot)),
            AbilityInput::Place(slot) => Self::Place(small(slot)),
            AbilityInput::Convert(hearts) => Self::Convert(small(hearts)),
            AbilityInput::Exchange(Exchange::Heal) => Self::Exchange(domain::Exchange::Heal),
            AbilityInput::Exchange(Exchange::Charge) => Self::Exchange(domain::Exchange::Charge),
        }
    }
}

impl AbilityInput {
    /// As a client writes it.
    pub(super) fn json(ability: Ability) -> Value {
        match ability {
            Ability::Copy { from, onto } => json!({ "copy": { "from": from, "onto": onto } }),
            Ability::Store(slot) => json!({ "store": slot }),
            Ability::Place(slot) => json!({ "place": slot }),
            Ability::Convert(hearts) => json!({ "convert": hearts }),
            Ability::Exchange(domain::Exchange::Heal) => json!({ "exchange": "HEAL" }),
            Ability::Exchange(domain::Exchange::Charge) => json!({ "exchange": "CHARGE" }),
        }
    }
}

/// A slot as clients write it; one that cannot be is one that does not exist.
fn small(number: i32) -> u8 {
    slots(&[number]).first().copied().unwrap_or(u8::MAX)
}

/// A seat as clients write it; one that cannot be is one that does not exist.
fn seat(number: i32) -> SeatNo {
    small(number)
}

/// The moves of games with categories, characters and cards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Actions;

/// The moves of games with categories, characters and cards.
#[Object]
impl Actions {
    /// Scores the dice in a category of the card and ends the turn (DiceRogue).
    async fn score(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "The category: `ones` … `sixes`, `three_of_a_kind`, `four_of_a_kind`, `full_house`, `small_straight`, `large_straight`, `yahtzee`, `chance`."
        )]
        category: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Score { category });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Lets the dice do what they show: victory points, hearts, energy, swords (NeonPolis).
    async fn resolve(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Resolve);
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Attacks with the swords among your dice, which `resolve` left to you (NeonPolis).
    async fn attack(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "Whom: from inside the seat to hit, where there are several; from outside it is whoever is inside."
        )]
        target: Option<i32>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Attack { target: target.map(seat) });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Uses the ability of your character (NeonPolis).
    async fn use_ability(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "How.")] ability: AbilityInput,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Ability(ability.into()));
        let used = ask(ctx, &game_id, wish, command_id, expected_version).await?;
        Ok(used.about("slots", "ability"))
    }

    /// Says whether you stay inside after a hit, or give way (NeonPolis).
    async fn answer(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Whether you stay.")] stay: bool,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Answer { stay });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Buys one of the `offers` of the game: in the shop of DiceRogue with the money of the run, in the market of NeonPolis with energy.
    async fn buy_item(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "What: the code of an offer.")] code: String,
        #[graphql(
            desc = "The seat it is aimed at, for cards that are aimed at somebody; not needed with one opponent."
        )]
        target: Option<i32>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Buy { code, target: target.map(seat) });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Replaces all open cards of the market (NeonPolis).
    async fn renew_market(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Renew);
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Uses a consumable you hold (DiceRogue).
    async fn use_item(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Its code.")] code: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Use { code });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Takes an evolution that hearts have unlocked (NeonPolis).
    async fn evolve(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Its code.")] code: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::Evolve { code });
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Ends your turn (NeonPolis), or your visit to the shop (DiceRogue).
    async fn end_turn(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::Play(Play::End);
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }
}
