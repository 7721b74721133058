//! The events of a game, one type each, and the interface they share.

mod actions;
mod base;
mod dice;
mod end;
mod kind;
mod macros;
mod seats;
mod turns;

use async_graphql::{ID, Interface, Json};
use domain::Event;
use serde_json::Value;
use uuid::Uuid;

pub(super) use actions::{Action, LastActions};
pub(super) use base::{EventBase, follow, needs_states, with_names};
pub(super) use dice::{DieAtView, DrawView, draw};
pub(super) use dice::{
    EffectAppliedEvent, ItemDrawnEvent, MoneyAwardedEvent, RolledEvent, SavedEvent,
};
pub(super) use end::{GameEndedEvent, GameRuledEvent, GameVoidedEvent, SeedRevealedEvent};
pub(super) use kind::GameEventType;
pub(super) use seats::{
    CharacterChosenEvent, GameCreatedEvent, GameStartedEvent, LoadoutChosenEvent, SeatLeftEvent,
    SeatTakenEvent, SeedChosenEvent,
};
pub(super) use turns::{
    BankedEvent, DecisionMadeEvent, DecisionRequestedEvent, FarkledEvent, TurnEndedEvent,
    TurnStartedEvent, TurnTimedOutEvent,
};

use super::{game::GameView, player::Player, scalars::DateTime};

/// An event of a game.
#[derive(Clone, Debug, Interface)]
#[graphql(
    field(name = "id", ty = "ID", desc = "The global id."),
    field(
        name = "version",
        ty = "i32",
        desc = "Position in the game, from 1, without gaps. Pass it as `afterVersion` to resume."
    ),
    field(name = "type", method = "kind", ty = "GameEventType", desc = "The type of the event."),
    field(name = "recorded_at", ty = "DateTime", desc = "When it was recorded."),
    field(
        name = "actor",
        ty = "Option<Player>",
        desc = "Who caused the event. Null for the system; staff is visible\nto staff only."
    ),
    field(name = "command_id", ty = "Uuid", desc = "The id of the command that caused the event."),
    field(
        name = "summary",
        ty = "Option<String>",
        desc = "One-line English narration. Null if there is nothing to tell."
    ),
    field(
        name = "score_breakdown",
        ty = "Vec<String>",
        desc = "How the points were calculated, one step per line: `300 × 2 = 600`."
    ),
    field(
        name = "game_after",
        ty = "GameView",
        desc = "The game right after this event (not the current state): what an animation needs."
    ),
    field(
        name = "payload",
        ty = "Json<Value>",
        desc = "The payload exactly as logged and hashed, in `snake_case`. For auditors; clients use the typed fields."
    )
)]
pub(super) enum GameEvent {
    Created(GameCreatedEvent),
    SeatTaken(SeatTakenEvent),
    SeedChosen(SeedChosenEvent),
    LoadoutChosen(LoadoutChosenEvent),
    CharacterChosen(CharacterChosenEvent),
    SeatLeft(SeatLeftEvent),
    Started(GameStartedEvent),
    TurnStarted(TurnStartedEvent),
    Rolled(RolledEvent),
    Saved(SavedEvent),
    Banked(BankedEvent),
    Farkled(FarkledEvent),
    EffectApplied(EffectAppliedEvent),
    MoneyAwarded(MoneyAwardedEvent),
    Drawn(ItemDrawnEvent),
    Asked(DecisionRequestedEvent),
    Answered(DecisionMadeEvent),
    TimedOut(TurnTimedOutEvent),
    TurnEnded(TurnEndedEvent),
    Ended(GameEndedEvent),
    SeedRevealed(SeedRevealedEvent),
    Voided(GameVoidedEvent),
    Ruled(GameRuledEvent),
}

impl GameEvent {
    /// The typed event, or `None` if it is not an event of a game.
    pub(super) fn of(base: EventBase) -> Option<Self> {
        Some(match base.event().clone() {
            Event::Created { ruleset, ruleset_hash, commitment, .. } => {
                Self::Created(GameCreatedEvent { base, ruleset, ruleset_hash, commitment })
            }
            Event::SeatTaken { seat, player, .. } => {
                Self::SeatTaken(SeatTakenEvent { base, seat, player })
            }
            Event::SeedChosen { seat, seed } => {
                Self::SeedChosen(SeedChosenEvent { base, seat, seed })
            }
            Event::LoadoutChosen { seat, dice } => {
                Self::LoadoutChosen(LoadoutChosenEvent { base, seat, dice })
            }
            Event::CharacterChosen { seat, character } => {
                Self::CharacterChosen(CharacterChosenEvent { base, seat, character })
            }
            Event::SeatLeft { seat, why } => Self::SeatLeft(SeatLeftEvent { base, seat, why }),
            Event::Started { seeds } => Self::Started(GameStartedEvent { base, seeds }),
            Event::TurnStarted { seat, round, deadline } => {
                Self::TurnStarted(TurnStartedEvent { base, seat, round, deadline })
            }
            Event::Rolled(rolled) => Self::Rolled(RolledEvent { base, rolled }),
            Event::Saved(saved) => Self::Saved(SavedEvent { base, saved }),
            Event::Banked(banked) => Self::Banked(BankedEvent { base, banked }),
            Event::Farkled(farkled) => Self::Farkled(FarkledEvent { base, farkled }),
            Event::EffectApplied(effect) => {
                Self::EffectApplied(EffectAppliedEvent { base, effect })
            }
            Event::MoneyAwarded { seat, amount, why } => {
                Self::MoneyAwarded(MoneyAwardedEvent { base, seat, amount, why })
            }
            Event::Drawn(drawn) => Self::Drawn(ItemDrawnEvent { base, drawn }),
            Event::Asked { seat, deadline } => {
                Self::Asked(DecisionRequestedEvent { base, seat, deadline })
            }
            Event::Answered { seat, stays, deadline } => {
                Self::Answered(DecisionMadeEvent { base, seat, stays, deadline })
            }
            Event::TimedOut { seat, in_a_row } => {
                Self::TimedOut(TurnTimedOutEvent { base, seat, in_a_row })
            }
            Event::TurnEnded(ended) => Self::TurnEnded(TurnEndedEvent { base, ended }),
            Event::Ended(outcome) => Self::Ended(GameEndedEvent { base, outcome }),
            Event::SeedRevealed { secret } => {
                Self::SeedRevealed(SeedRevealedEvent { base, secret })
            }
            Event::Voided { why, dispute } => Self::Voided(GameVoidedEvent { base, why, dispute }),
            Event::Ruled { winners, dispute } => {
                Self::Ruled(GameRuledEvent { base, winners, dispute })
            }
            Event::Account(_) | Event::Catalogue(_) | Event::Dispute(_) | Event::Staff(_) => {
                return None;
            }
        })
    }
}
