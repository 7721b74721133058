//! The one vocabulary of everything that happens, in every game.
//!
//! Events carry results, never formulas: faces, points and sums as they came out. Folding them
//! needs no rule, so a game replays to the same state for ever.

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
    Dollars, EffectApplied, GameId, Moment, Name, PlayerId, Ruleset, SeatNo, Word,
    account::AccountEvent,
    dispute::{DisputeEvent, StaffEvent},
    fair::{Commitment, RulesetHash, Secret, SeedsHash},
    special_dice::{CatalogueEvent, Code},
    text::ClientSeed,
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A table was opened.
    Created {
        /// The game.
        game: GameId,
        /// Its rules, in full.
        ruleset: Arc<Ruleset>,
        /// The hash of the rules, part of everything the dice are made from.
        ruleset_hash: RulesetHash,
        /// The promise of its dice.
        commitment: Commitment,
    },
    /// A player sat down.
    SeatTaken {
        /// Where.
        seat: SeatNo,
        /// Who.
        player: PlayerId,
        /// The name shown.
        name: Name,
    },
    /// A client gave its seed, or another one.
    SeedChosen {
        /// Whose seed.
        seat: SeatNo,
        /// The seed.
        seed: ClientSeed,
    },
    /// A player chose the dice to play with, or other ones.
    LoadoutChosen {
        /// Whose dice.
        seat: SeatNo,
        /// Their kinds, one a slot.
        dice: Vec<Code>,
    },
    /// A player chose whom to play, or somebody else.
    CharacterChosen {
        /// Whose character.
        seat: SeatNo,
        /// The character.
        character: Word,
    },
    /// A seat was given up or lost.
    SeatLeft {
        /// Which.
        seat: SeatNo,
        /// Why.
        why: LeftBecause,
    },
    /// The seeds are sealed, the game began.
    Started {
        /// The hash of the sealed list of seeds.
        seeds: SeedsHash,
    },
    /// A seat has its turn.
    TurnStarted {
        /// Whose turn.
        seat: SeatNo,
        /// The round of the table, from 1.
        round: u32,
        /// When the house may end the turn, if there is a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Moment>,
    },
    /// Dice were rolled.
    Rolled(Rolled),
    /// Dice were scored.
    Saved(Saved),
    /// A round's points were put on the score.
    Banked(Banked),
    /// A round ended without points.
    Farkled(Farkled),
    /// A rule or a die changed something.
    EffectApplied(EffectApplied),
    /// A player earned money.
    MoneyAwarded {
        /// Who.
        seat: SeatNo,
        /// How much.
        amount: Dollars,
        /// What for.
        why: AwardedFor,
    },
    /// Something came up at random that is no die: a card of the market, a gift, a coin.
    Drawn(Drawn),
    /// Somebody must say something before the turn goes on.
    Asked {
        /// Who.
        seat: SeatNo,
        /// When the house may answer in their place, if there is a limit.
        deadline: Option<Moment>,
    },
    /// Who was asked has answered; the turn goes on.
    Answered {
        /// Who.
        seat: SeatNo,
        /// Whether they stay.
        stays: bool,
        /// When the house may end the turn, if there is a limit.
        deadline: Option<Moment>,
    },
    /// The time of a turn ran out.
    TimedOut {
        /// Whose.
        seat: SeatNo,
        /// How often in a row, with this one.
        in_a_row: u32,
    },
    /// A turn is over.
    TurnEnded(TurnEnded),
    /// The game is over.
    Ended(Outcome),
    /// The secret behind the dice, so that anybody can check them.
    SeedRevealed {
        /// The secret of the game's commitment.
        secret: Secret,
    },
    /// The game counts no more: what it awarded is taken back, and no figure knows of it.
    Voided {
        /// Why.
        why: VoidedFor,
        /// Because of which dispute, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// The house decides who wins, and the game ends here.
    Ruled {
        /// Who wins; nobody is possible.
        winners: Vec<SeatNo>,
        /// Because of which dispute, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// Not in a game: something happened to an account.
    Account(AccountEvent),
    /// Not in a game: something happened to the catalogue of special dice.
    Catalogue(CatalogueEvent),
    /// Not in a game: something happened to a dispute.
    Dispute(DisputeEvent),
    /// Not in a game: somebody who works for the house did something.
    Staff(StaffEvent),
}

impl Event {
    /// The names of all types of a game.
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

    /// The type's name, as the log stores it.
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

    /// The seat it is about, if it is about one.
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

    /// Whether it only moves the game along: seats, turns and the end.
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
