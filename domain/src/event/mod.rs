//! The events of every game, and of accounts, catalogues, disputes and staff.
//!
//! Events carry results, never formulas: faces, points and sums. Folding them needs no rule, so a
//! game always replays to the same state, whatever happens to its rules.

mod defaults;
mod ended;
mod rolled;
mod saved;
mod turn;

pub use ended::{AwardedFor, DecidedBy, LeftBecause, Outcome, VoidedFor};
pub use rolled::{ColourDraw, ColoursDrawn, Drawn, Rolled};
pub use saved::{Boost, Combination, CombinationName, Saved};
pub use turn::{Banked, Farkled, FarkledBy, TurnEnd, TurnEnded};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Dollars, EffectApplied, GameId, Moment, Name, PlayerId, Ruleset, SeatNo, Slug,
    account::AccountEvent,
    dispute::{DisputeEvent, StaffEvent},
    fair::{Commitment, RulesetHash, Secret, SeedsHash},
    special_dice::{CatalogueEvent, Code},
    text::ClientSeed,
};

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A table was opened.
    Created {
        /// The game.
        game: GameId,
        /// Its rules, in full.
        ruleset: Arc<Ruleset>,
        /// The hash of the rules, an input of the dice.
        ruleset_hash: RulesetHash,
        /// The commitment of the house to its dice.
        commitment: Commitment,
    },
    /// A player sat down.
    SeatTaken {
        /// The seat.
        seat: SeatNo,
        /// The player.
        player: PlayerId,
        /// The name shown at the table.
        name: Name,
    },
    /// A client set or replaced its seed.
    SeedChosen {
        /// The seat.
        seat: SeatNo,
        /// The seed.
        seed: ClientSeed,
    },
    /// A player chose or changed the dice to play with.
    LoadoutChosen {
        /// The seat.
        seat: SeatNo,
        /// Their kinds, one per slot.
        dice: Vec<Code>,
    },
    /// A player chose or changed the character.
    CharacterChosen {
        /// The seat.
        seat: SeatNo,
        /// The character.
        character: Slug,
    },
    /// A player left the seat or lost it.
    SeatLeft {
        /// The seat.
        seat: SeatNo,
        /// The reason.
        why: LeftBecause,
    },
    /// The seeds were sealed and the game started.
    Started {
        /// The hash of the sealed list of seeds.
        seeds: SeedsHash,
    },
    /// The turn of a seat started.
    TurnStarted {
        /// The seat.
        seat: SeatNo,
        /// The round of the table, starting at 1.
        round: u32,
        /// When the house may end the turn, if there is a time limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Moment>,
    },
    /// Dice were rolled.
    Rolled(Rolled),
    /// Dice were scored.
    Saved(Saved),
    /// The points of a round were added to the score.
    Banked(Banked),
    /// A round ended without points.
    Farkled(Farkled),
    /// A rule or a die changed something.
    EffectApplied(EffectApplied),
    /// A player earned money.
    MoneyAwarded {
        /// The seat.
        seat: SeatNo,
        /// The amount.
        amount: Dollars,
        /// The reason.
        why: AwardedFor,
    },
    /// Something other than a die was drawn at random: a card of the market, a gift, a coin.
    Drawn(Drawn),
    /// A seat must answer before the turn continues.
    Asked {
        /// The seat.
        seat: SeatNo,
        /// When the house may answer instead, if there is a time limit.
        deadline: Option<Moment>,
    },
    /// The seat that was asked answered; the turn continues.
    Answered {
        /// The seat.
        seat: SeatNo,
        /// Whether they stay.
        stays: bool,
        /// When the house may end the turn, if there is a time limit.
        deadline: Option<Moment>,
    },
    /// The time of a turn ran out.
    TimedOut {
        /// The seat.
        seat: SeatNo,
        /// The number of consecutive time-outs, including this one.
        in_a_row: u32,
    },
    /// A turn ended.
    TurnEnded(TurnEnded),
    /// The game ended.
    Ended(Outcome),
    /// The secret behind the dice was published, so that anybody can verify them.
    SeedRevealed {
        /// The secret of the game's commitment.
        secret: Secret,
    },
    /// The game was voided: its awards are reversed, and statistics ignore it.
    Voided {
        /// The reason.
        why: VoidedFor,
        /// The dispute that was the reason, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// The house ended the game and decided who wins.
    Ruled {
        /// The winning seats; may be empty.
        winners: Vec<SeatNo>,
        /// The dispute that was the reason, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// Not of a game: an event of an account.
    Account(AccountEvent),
    /// Not of a game: an event of the catalogue of special dice.
    Catalogue(CatalogueEvent),
    /// Not of a game: an event of a dispute.
    Dispute(DisputeEvent),
    /// Not of a game: an action of staff.
    Staff(StaffEvent),
}

impl Event {
    /// The names of all event types of a game.
    pub const NAMES: [&'static str; 23] = [
        "Created",
        "SeatTaken",
        "SeedChosen",
        "LoadoutChosen",
        "CharacterChosen",
        "SeatLeft",
        "Started",
        "TurnStarted",
        "Rolled",
        "Saved",
        "Banked",
        "Farkled",
        "EffectApplied",
        "MoneyAwarded",
        "Drawn",
        "Asked",
        "Answered",
        "TimedOut",
        "TurnEnded",
        "Ended",
        "SeedRevealed",
        "Voided",
        "Ruled",
    ];

    /// The name of the event type, as stored in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "Created",
            Self::SeatTaken { .. } => "SeatTaken",
            Self::SeedChosen { .. } => "SeedChosen",
            Self::LoadoutChosen { .. } => "LoadoutChosen",
            Self::CharacterChosen { .. } => "CharacterChosen",
            Self::SeatLeft { .. } => "SeatLeft",
            Self::Started { .. } => "Started",
            Self::TurnStarted { .. } => "TurnStarted",
            Self::Rolled(_) => "Rolled",
            Self::Saved(_) => "Saved",
            Self::Banked(_) => "Banked",
            Self::Farkled(_) => "Farkled",
            Self::EffectApplied(_) => "EffectApplied",
            Self::MoneyAwarded { .. } => "MoneyAwarded",
            Self::Drawn(_) => "Drawn",
            Self::Asked { .. } => "Asked",
            Self::Answered { .. } => "Answered",
            Self::TimedOut { .. } => "TimedOut",
            Self::TurnEnded(_) => "TurnEnded",
            Self::Ended(_) => "Ended",
            Self::SeedRevealed { .. } => "SeedRevealed",
            Self::Voided { .. } => "Voided",
            Self::Ruled { .. } => "Ruled",
            Self::Account(event) => event.name(),
            Self::Catalogue(event) => event.name(),
            Self::Dispute(event) => event.name(),
            Self::Staff(event) => event.name(),
        }
    }

    /// The seat the event is about, if any.
    pub const fn seat(&self) -> Option<SeatNo> {
        match self {
            Self::SeatTaken { seat, .. }
            | Self::SeedChosen { seat, .. }
            | Self::LoadoutChosen { seat, .. }
            | Self::CharacterChosen { seat, .. }
            | Self::Asked { seat, .. }
            | Self::Answered { seat, .. }
            | Self::SeatLeft { seat, .. }
            | Self::TurnStarted { seat, .. }
            | Self::MoneyAwarded { seat, .. }
            | Self::TimedOut { seat, .. } => Some(*seat),
            Self::Rolled(rolled) => Some(rolled.seat),
            Self::Saved(saved) => Some(saved.seat),
            Self::Banked(banked) => Some(banked.seat),
            Self::Farkled(farkled) => Some(farkled.seat),
            Self::EffectApplied(effect) => Some(effect.seat),
            Self::TurnEnded(ended) => Some(ended.seat),
            Self::Created { .. }
            | Self::Started { .. }
            | Self::Drawn(_)
            | Self::Ended(_)
            | Self::SeedRevealed { .. }
            | Self::Voided { .. }
            | Self::Ruled { .. }
            | Self::Account(_)
            | Self::Catalogue(_)
            | Self::Dispute(_)
            | Self::Staff(_) => None,
        }
    }

    /// Whether it concerns the course of the game (seats, turns, the end) rather than dice and
    /// points.
    pub const fn is_lifecycle(&self) -> bool {
        match self {
            Self::Rolled(_)
            | Self::Saved(_)
            | Self::Banked(_)
            | Self::Farkled(_)
            | Self::EffectApplied(_)
            | Self::MoneyAwarded { .. } => false,
            Self::Created { .. }
            | Self::SeatTaken { .. }
            | Self::SeedChosen { .. }
            | Self::LoadoutChosen { .. }
            | Self::CharacterChosen { .. }
            | Self::SeatLeft { .. }
            | Self::Started { .. }
            | Self::TurnStarted { .. }
            | Self::Drawn(_)
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::TimedOut { .. }
            | Self::TurnEnded(_)
            | Self::Ended(_)
            | Self::SeedRevealed { .. }
            | Self::Voided { .. }
            | Self::Ruled { .. }
            | Self::Account(_)
            | Self::Catalogue(_)
            | Self::Dispute(_)
            | Self::Staff(_) => true,
        }
    }
}
