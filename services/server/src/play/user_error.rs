//! Errors that are data for the player: what was wrong, and what would be valid. They are part of
//! the payload of a mutation.

mod code;

use domain::{Rejection, SeatNo};
use store::AppendError;

pub(crate) use code::{ServiceCode, UserErrorCode};

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserError {
    /// For programs: `NOT_YOUR_TURN`.
    pub(crate) code: UserErrorCode,
    /// For the player.
    pub(crate) message: String,
    /// The argument that was invalid, if any.
    pub(crate) argument: Option<&'static str>,
    /// The seat whose turn it is; the API adds the player's name, which the domain does not know.
    pub(crate) to_move: Option<SeatNo>,
}

impl UserError {
    pub(crate) fn new(code: impl Into<UserErrorCode>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), argument: None, to_move: None }
    }

    pub(crate) fn at(self, argument: &'static str) -> Self {
        Self { argument: Some(argument), ..self }
    }

    pub(crate) fn no_such_game() -> Self {
        Self::from(Rejection::NoSuchGame)
    }

    pub(crate) fn command_reused() -> Self {
        Self::new(ServiceCode::CommandIdReused, AppendError::CommandReused.to_string())
            .at("commandId")
    }

    pub(crate) fn not_seated() -> Self {
        Self::new(ServiceCode::NotSeated, "you do not sit at this table")
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most rejections are not about an argument")]
impl From<Rejection> for UserError {
    fn from(rejection: Rejection) -> Self {
        let argument = match &rejection {
            Rejection::UnknownGame { .. } => Some("game"),
            Rejection::UnknownPreset { .. } => Some("preset"),
            Rejection::UnknownRule { .. } | Rejection::BadRule { .. } => Some("rules"),
            Rejection::BadSeed { .. } => Some("seed"),
            Rejection::BadName { .. } => Some("name"),
            Rejection::EmptySelection
            | Rejection::RepeatedSlot { .. }
            | Rejection::NoSuchSlot { .. }
            | Rejection::NotInRoll { .. }
            | Rejection::NotScoring { .. } => Some("slots"),
            Rejection::NothingToRoll => Some("keep"),
            Rejection::UnknownCategory { .. } | Rejection::CategoryFilled { .. } => {
                Some("category")
            }
            Rejection::NotOffered { .. }
            | Rejection::NotHeld { .. }
            | Rejection::NoUse { .. }
            | Rejection::AlreadyHeld { .. }
            | Rejection::BestOdds { .. } => Some("code"),
            Rejection::UnknownCharacter { .. } | Rejection::CharacterTaken { .. } => {
                Some("character")
            }
            Rejection::NotYourAbility { .. } | Rejection::TooFewHearts { .. } => Some("ability"),
            Rejection::TargetNeeded { .. }
            | Rejection::BadTarget { .. }
            | Rejection::NoTarget { .. } => Some("target"),
            Rejection::NoSuchGame => Some("gameId"),
            Rejection::TooManyDice { .. }
            | Rejection::TooManyCopies { .. }
            | Rejection::TooManyOfTier { .. }
            | Rejection::BannedPair { .. }
            | Rejection::EndlessLoadout => Some("dice"),
            Rejection::UnknownDie { .. } | Rejection::RetiredDie { .. } => Some("code"),
            Rejection::BadDie { field, .. } => Some(*field),
            Rejection::BadCode { .. } | Rejection::DieExists { .. } => Some("code"),
            Rejection::BadDieData { .. } => Some("effect"),
            Rejection::BadQuantity { .. } => Some("quantity"),
            Rejection::NoSuchLoadout { .. } => Some("loadout"),
            _ => None,
        };
        let to_move = match rejection {
            Rejection::NotYourTurn { to_move, .. } => Some(to_move),
            _ => None,
        };
        Self { argument, to_move, ..Self::new(rejection.code(), rejection.to_string()) }
    }
}
