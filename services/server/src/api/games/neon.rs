//! NeonPolis.

use std::sync::Arc;

use async_graphql::{Enum, InputObject, OneofObject, SimpleObject};
use domain::{Ability, Play, neon::NeonRules};

use crate::api::{
    moves::small,
    rules::CatalogItem,
    ruleset::ruleset_type,
    scalars::{ItemCode, int},
    seat_state::Facts,
};

/// Attacks with the swords among the dice.
#[derive(Clone, Copy, Debug, InputObject)]
pub(in crate::api) struct AttackInput {
    /// The seat to attack. Required inside if there are several opponents; from outside, the target
    /// is the seat inside.
    target_seat: Option<i32>,
}

/// Whether to stay inside after a hit.
#[derive(Clone, Copy, Debug, InputObject)]
pub(in crate::api) struct DecideStayInput {
    /// True to stay, false to yield.
    stay: bool,
}

/// Buys an offer: in NeonPolis from the market with energy, in DiceRogue from the shop with the
/// money of the run.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct BuyItemInput {
    /// The code of the offer.
    code: ItemCode,
    /// The target of the card, if it needs one. Not needed with one opponent.
    target_seat: Option<i32>,
}

/// Takes an unlocked evolution.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct TakeEvolutionInput {
    /// The code of the evolution.
    code: ItemCode,
}

/// The ability of a character. Set exactly one field.
#[derive(Clone, Copy, Debug, OneofObject)]
pub(in crate::api) enum AbilityInput {
    /// Misty Grapple: copies the face of one die onto another.
    CopyDie(CopyDieInput),
    /// Time Bank: stores the face of the die in this slot.
    StoreDie(i32),
    /// Time Bank: replaces the face of the die in this slot with the stored one.
    PlaceStored(i32),
    /// Undertow: converts this many unused hearts into energy.
    ConvertHearts(i32),
    /// Convertive Gaze: exchanges energy and health.
    Exchange(ExchangeDirection),
}

/// Copies one die onto another.
#[derive(Clone, Copy, Debug, InputObject)]
pub(in crate::api) struct CopyDieInput {
    /// The slot of the die to copy.
    from_slot: i32,
    /// The slot of the die to change.
    to_slot: i32,
}

/// The direction in which energy and health are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::Exchange")]
pub(in crate::api) enum ExchangeDirection {
    /// Energy for health.
    Heal,
    /// Health for energy.
    Charge,
}

impl From<AttackInput> for Play {
    fn from(input: AttackInput) -> Self {
        Self::Attack { target: input.target_seat.map(small) }
    }
}

impl From<DecideStayInput> for Play {
    fn from(input: DecideStayInput) -> Self {
        Self::Answer { stay: input.stay }
    }
}

impl From<BuyItemInput> for Play {
    fn from(input: BuyItemInput) -> Self {
        Self::Buy { code: input.code.0, target: input.target_seat.map(small) }
    }
}

impl From<TakeEvolutionInput> for Play {
    fn from(input: TakeEvolutionInput) -> Self {
        Self::Evolve { code: input.code.0 }
    }
}

impl From<AbilityInput> for Play {
    fn from(input: AbilityInput) -> Self {
        Self::Ability(match input {
            AbilityInput::CopyDie(CopyDieInput { from_slot, to_slot }) => {
                Ability::Copy { from: small(from_slot), onto: small(to_slot) }
            }
            AbilityInput::StoreDie(slot) => Ability::Store(small(slot)),
            AbilityInput::PlaceStored(slot) => Ability::Place(small(slot)),
            AbilityInput::ConvertHearts(hearts) => Ability::Convert(small(hearts)),
            AbilityInput::Exchange(direction) => Ability::Exchange(direction.into()),
        })
    }
}

/// A seat of NeonPolis.
#[derive(Clone, Debug, SimpleObject)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field that clients show")]
pub(in crate::api) struct NeonPolisSeat {
    /// Victory points.
    victory_points: i32,
    /// Health.
    health: i32,
    /// The maximum health.
    max_health: i32,
    /// Energy.
    energy: i32,
    /// Whether the seat is inside the centre.
    inside: bool,
    /// Whether the seat is alive.
    alive: bool,
    /// The character. Null if none is chosen yet.
    character: Option<CatalogItem>,
    /// The cards held.
    cards: Vec<CatalogItem>,
    /// The evolutions taken.
    evolutions: Vec<CatalogItem>,
    /// Whether an evolution can be taken now.
    evolution_unlocked: bool,
    /// The number of dice.
    dice: i32,
    /// The number of rolls left in this turn.
    rolls_left: i32,
    /// Whether the dice of this turn are resolved.
    resolved: bool,
    /// The unused hearts of this turn.
    spare_hearts: i32,
    /// The face stored by Time Bank. Null if there is none.
    stored_face: Option<i32>,
    /// Whether the armour is ready.
    armed: bool,
    /// Whether the seat is shielded.
    shielded: bool,
    /// The extra damage of the next hit against the seat.
    marked: i32,
}

impl NeonPolisSeat {
    pub(in crate::api) fn of(facts: &Facts<'_>) -> Self {
        let stored = facts.int("stored");
        Self {
            victory_points: facts.int("vp"),
            health: facts.int("hp"),
            max_health: facts.int("max_hp"),
            energy: facts.int("energy"),
            inside: facts.flag("inside"),
            alive: facts.flag("alive"),
            character: facts.item("character"),
            cards: facts.items("cards"),
            evolutions: facts.items("evolutions"),
            evolution_unlocked: facts.flag("evolution_unlocked"),
            dice: facts.int("dice"),
            rolls_left: facts.int("rolls_left"),
            resolved: facts.flag("resolved"),
            spare_hearts: facts.int("spare_hearts"),
            stored_face: (stored > 0).then_some(stored),
            armed: facts.flag("armed"),
            shielded: facts.flag("shielded"),
            marked: facts.int("marked"),
        }
    }
}

ruleset_type! {
    /// The rules of a game of NeonPolis. `items` lists the characters, cards and evolutions.
    NeonPolisRuleset(Arc<NeonRules>) {
        /// The number of dice, without cards.
        async fn dice(&self) -> i32 {
            self.rules.dice.into()
        }

        /// The number of rerolls per turn, without cards.
        async fn rerolls(&self) -> i32 {
            self.rules.rerolls.into()
        }

        /// The victory points that win the game.
        async fn goal(&self) -> i32 {
            int(self.rules.goal)
        }

        /// The health that everyone starts with, which is also the maximum.
        async fn health(&self) -> i32 {
            int(self.rules.hp)
        }

        /// The energy that everyone starts with.
        async fn energy(&self) -> i32 {
            int(self.rules.energy)
        }

        /// The victory points for entering the centre.
        async fn enter_victory_points(&self) -> i32 {
            int(self.rules.enter_vp)
        }

        /// The victory points for starting a turn inside.
        async fn hold_victory_points(&self) -> i32 {
            int(self.rules.hold_vp)
        }

        /// The number of open cards in the market.
        async fn open_cards(&self) -> i32 {
            self.rules.open_cards.into()
        }

        /// The price of replacing the open cards, in energy.
        async fn renew_price(&self) -> i32 {
            int(self.rules.renew_price)
        }

        /// The number of hearts that unlocks an evolution.
        async fn evolution_hearts(&self) -> i32 {
            self.rules.evolution_hearts.into()
        }

        /// Whether combat is a separate phase, in which a seat inside attacks one opponent.
        async fn combat_phase(&self) -> bool {
            self.rules.inside_hits.is_some()
        }
    }
}
