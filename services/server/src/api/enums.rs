//! Closed sets of the domain as GraphQL enums.

use std::borrow::Cow;

use async_graphql::Enum;

use super::listed_enum::{Listed, listed_output};
use crate::disputes::audit;

/// What decided a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::DecidedBy")]
pub(super) enum OutcomeReason {
    /// The highest score.
    Score,
    /// A player reached the goal exactly.
    Goal,
    /// A tie, decided by the best single round.
    BestRound,
    /// A tie that could not be broken: the win is shared.
    SharedWin,
    /// All other players are eliminated.
    LastAlive,
    /// All players were eliminated at once: nobody wins.
    Draw,
    /// The goal was missed.
    Missed,
    /// All other players left.
    LastSeat,
    /// All players left.
    Deserted,
    /// Nobody made a move for too long.
    Abandoned,
    /// The game was voided while it was being played.
    Voided,
    /// Staff decided the winner.
    Ruled,
}

/// Why a seat was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::LeftBecause")]
pub(super) enum SeatLeftReason {
    /// The player left.
    Quit,
    /// Too many time-outs in a row.
    TimedOut,
}

/// The cause of a farkle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::FarkledBy")]
pub(super) enum FarkleCause {
    /// A roll without any scoring die.
    Roll,
    /// The player's choice.
    Choice,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::TurnEnd")]
pub(super) enum TurnEndReason {
    /// The points were banked.
    Banked,
    /// No die of a roll scored.
    Farkled,
    /// The player gave up the roll.
    Forfeited,
    /// The turn timed out.
    TimedOut,
    /// The player left.
    Left,
    /// The turn ended regularly.
    Finished,
}

/// Why money was awarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum AwardReason {
    /// Playing a game to its end.
    Finishing,
    /// Winning it.
    Winning,
    /// A special die.
    Die,
}

impl From<domain::AwardedFor> for AwardReason {
    fn from(why: domain::AwardedFor) -> Self {
        match why {
            domain::AwardedFor::Finishing => Self::Finishing,
            domain::AwardedFor::Winning => Self::Winning,
            domain::AwardedFor::Die(_) => Self::Die,
        }
    }
}

/// The purpose of a random draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::Purpose")]
pub(super) enum DrawPurpose {
    /// Faces of dice.
    Dice,
    /// Colours of dice.
    Colours,
    /// Cards for the market.
    Market,
    /// Items given at random.
    Grants,
}

/// The kind of a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::CombinationName")]
pub(super) enum CombinationKind {
    /// One die that scores alone.
    Single,
    /// Three dice of one face.
    ThreeOfAKind,
    /// Four dice of one face.
    FourOfAKind,
    /// Five dice of one face.
    FiveOfAKind,
    /// Six dice of one face.
    SixOfAKind,
    /// One die of each face, 1 to 6.
    Straight,
    /// Three pairs, or four of a kind and a pair.
    ThreePairs,
    /// Two different triplets.
    TwoTriplets,
    /// The sum of two dice.
    Sum,
    /// Two equal dice.
    Double,
    /// Three or more dice of one number (NeonPolis).
    Set,
    /// All ones.
    Ones,
    /// All twos.
    Twos,
    /// All threes.
    Threes,
    /// All fours.
    Fours,
    /// All fives.
    Fives,
    /// All sixes.
    Sixes,
    /// Three dice of one face and two of another.
    FullHouse,
    /// Four consecutive faces.
    SmallStraight,
    /// Five consecutive faces.
    LargeStraight,
    /// Five dice of one face, as a category.
    Yahtzee,
    /// Any dice.
    Chance,
}

/// The category of a special die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::special_dice::Category")]
pub(super) enum DieCategory {
    /// A farkle earns something.
    FarkleLovers,
    /// A farkle loses less.
    FarkleProtection,
    /// The die has other faces.
    FaceChangers,
    /// More points or money.
    ScoreBoosters,
}

/// The tier of a special die: how strong it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::special_dice::Tier")]
pub(super) enum DieTier {
    /// A small advantage.
    Simple,
    /// A medium advantage.
    Better,
    /// A large advantage.
    Amazing,
}

/// The role of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum, serde::Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[graphql(name = "Role", remote = "crate::accounts::Role")]
pub(super) enum AccountRole {
    /// Plays games.
    Player,
    /// Reads statistics.
    Analyst,
    /// Helps players: sees every game, ends sessions, handles disputes.
    Support,
    /// Has the permissions of support and analysts, and manages the catalogue, seasons and audit
    /// log.
    Admin,
}

/// The reason for a change of the balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum LedgerReason {
    /// The wallet was opened.
    Opening,
    /// Dice were bought.
    Purchase,
    /// Dice were sold.
    Sale,
    /// A game was played to its end.
    Finishing,
    /// A game was won.
    Winning,
    /// A special die earned it.
    Die,
    /// The game that awarded it was voided.
    Reversal,
    /// A remedy of a dispute.
    Adjustment,
}

impl LedgerReason {
    /// The value with this name in the log.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "opening" => Self::Opening,
            "purchase" => Self::Purchase,
            "sale" => Self::Sale,
            "finishing" => Self::Finishing,
            "winning" => Self::Winning,
            "die" => Self::Die,
            "reversal" => Self::Reversal,
            "adjustment" => Self::Adjustment,
            _ => return None,
        })
    }
}

/// A kind of remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum RemedyKind {
    /// The game is voided.
    VoidGame,
    /// The game ends with winners named by staff.
    FinishGame,
    /// Money is credited or debited.
    AdjustBalance,
    /// A player is warned.
    Warn,
    /// A player is suspended for some time.
    Suspend,
    /// A player is banned.
    Ban,
    /// A suspension or ban is lifted.
    Lift,
}

impl From<&domain::Remedy> for RemedyKind {
    fn from(remedy: &domain::Remedy) -> Self {
        use domain::Remedy;
        match remedy {
            Remedy::VoidGame { .. } => Self::VoidGame,
            Remedy::FinishGame { .. } => Self::FinishGame,
            Remedy::AdjustBalance { .. } => Self::AdjustBalance,
            Remedy::Warn { .. } => Self::Warn,
            Remedy::Suspend { .. } => Self::Suspend,
            Remedy::Ban { .. } => Self::Ban,
            Remedy::Lift { .. } => Self::Lift,
        }
    }
}

/// What a remedy changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum RemedySubject {
    /// The game.
    Game,
    /// A wallet.
    Balance,
    /// An account.
    Account,
}

/// What the turn is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnPhase(pub(super) &'static str);

impl Listed for TurnPhase {
    const TYPE: &'static str = "TurnPhase";
    const DESCRIPTION: &'static str = "What the turn is waiting for.";

    fn all() -> Vec<Self> {
        domain::PHASES.iter().map(|(name, _)| Self(name)).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.0.to_ascii_uppercase().into()
    }

    fn description(self) -> String {
        let known = domain::PHASES.iter().find(|(name, _)| *name == self.0);
        known.map_or_else(String::new, |(_, meaning)| (*meaning).to_owned())
    }
}

listed_output!(TurnPhase);

/// An action of staff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AuditAction(&'static str);

impl AuditAction {
    /// The value with this name in the log.
    pub(super) fn named(name: &str) -> Option<Self> {
        audit::ACTIONS.iter().find(|(known, _)| *known == name).map(|(known, _)| Self(known))
    }
}

impl Listed for AuditAction {
    const TYPE: &'static str = "AuditAction";
    const DESCRIPTION: &'static str = "An action of staff.";

    fn all() -> Vec<Self> {
        audit::ACTIONS.iter().map(|(name, _)| Self(name)).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.0.to_ascii_uppercase().into()
    }

    fn description(self) -> String {
        let known = audit::ACTIONS.iter().find(|(name, _)| *name == self.0);
        known.map_or_else(String::new, |(_, meaning)| (*meaning).to_owned())
    }
}

listed_output!(AuditAction);
