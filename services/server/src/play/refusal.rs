//! Why a wish was not fulfilled: because it was refused, or because something broke.
//!
//! A *refusal* is data for the player: what was wrong, and what would be right. It goes into the payload of a
//! mutation. Everything else is an error of the request: *busy* and *unavailable* pass, a *fault* is ours.

mod code;

use domain::{Rejection, SeatNo};
use store::{AppendError, ExecuteError, ReadError, StoreError, processor::HandlerError};

pub(crate) use code::{RefusalCode, ServiceCode};

/// A refused wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Its name for programs: `NOT_YOUR_TURN`.
    pub(crate) code: RefusalCode,
    /// What to tell the player.
    pub(crate) message: String,
    /// The argument that was wrong, if it was one.
    pub(crate) argument: Option<&'static str>,
    /// Whose turn it is instead; the log knows only a pseudonym.
    pub(crate) to_move: Option<SeatNo>,
}

/// Why a wish was not fulfilled. It does not print itself: what may be told to whom is decided where it is told.
#[derive(Clone, Debug)]
pub(crate) enum PlayError {
    /// The rules, or the state of the game, do not allow it.
    Refused(Refusal),
    /// Too much is going on.
    Busy,
    /// The database cannot be reached.
    Unavailable(String),
    /// It is our fault.
    Fault(String),
}

impl Refusal {
    pub(crate) fn new(code: impl Into<RefusalCode>, message: impl Into<String>) -> Self {
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

impl From<Refusal> for PlayError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most refusals are about the game, not about an argument"
)]
impl From<Rejection> for Refusal {
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
            Rejection::BadCode { .. } | Rejection::BadDie { .. } | Rejection::BadDieData { .. } => {
                Some("die")
            }
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

impl From<ExecuteError> for PlayError {
    fn from(error: ExecuteError) -> Self {
        let refuse = |code, argument| Refusal::new(code, error.to_string()).at(argument).into();
        match &error {
            ExecuteError::Rejected(Rejection::WrongSecret) => Self::Fault(error.to_string()),
            ExecuteError::Rejected(rejection) => Refusal::from(rejection.clone()).into(),
            ExecuteError::NotYourSeat => Refusal::not_seated().into(),
            ExecuteError::Stale { .. } => refuse(ServiceCode::StaleVersion, "expectedVersion"),
            ExecuteError::Append(AppendError::CommandReused) => {
                refuse(ServiceCode::CommandIdReused, "commandId")
            }
            ExecuteError::Append(AppendError::TooLarge { .. }) => {
                refuse(ServiceCode::TooLarge, "rules")
            }
            ExecuteError::Append(AppendError::Conflict | AppendError::Busy) => Self::Busy,
            ExecuteError::Append(AppendError::WrongCount { .. }) => Self::Fault(error.to_string()),
            ExecuteError::Append(AppendError::Store(store)) => store.clone().into(),
            ExecuteError::Read(read) => read.clone().into(),
        }
    }
}

impl From<ReadError> for PlayError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(store) => store.into(),
            ReadError::NoSuchStream(_) => Refusal::no_such_game().into(),
            ReadError::VersionAhead { .. } => {
                Refusal::new(ServiceCode::VersionAhead, error.to_string()).at("afterVersion").into()
            }
            ReadError::Undecodable { .. } | ReadError::Hole { .. } => {
                Self::Fault(error.to_string())
            }
        }
    }
}

impl From<StoreError> for PlayError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(why) => Self::Unavailable(why),
            StoreError::Fault(why) => Self::Fault(why),
        }
    }
}

impl From<PlayError> for HandlerError {
    /// What passes is tried again; anything else parks the event with its reason.
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Refused(refusal) => Self::Event(refusal.message),
            PlayError::Fault(why) => Self::Event(why),
            PlayError::Busy => Self::Event("the account is busy".to_owned()),
            PlayError::Unavailable(why) => Self::Store(StoreError::Unavailable(why)),
        }
    }
}

impl From<sqlx::Error> for PlayError {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}
