//! Why a wish was not fulfilled: because it was refused, or because something broke.
//!
//! Everything but a refusal is an error of the request: *busy* and *unavailable* pass, a *fault* is ours.

use domain::Rejection;
use store::{AppendError, ExecuteError, ReadError, StoreError, processor::HandlerError};

use super::refusal::{Refusal, ServiceCode};

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

impl From<Refusal> for PlayError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
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
