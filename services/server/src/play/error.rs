//! Why a command failed.
//!
//! Use [`UserError`] for everything the player can correct: it becomes data in the payload of a
//! mutation. The others become GraphQL errors: *busy* and *unavailable* are temporary, a *fault* is
//! a bug or broken data.

use domain::Rejection;
use store::{AppendError, ExecuteError, ReadError, StoreError, processor::HandlerError};

use super::user_error::{ServiceCode, UserError};

/// Why a command failed. It has no `Display`: the API decides which details a client may see.
#[derive(Clone, Debug)]
pub(crate) enum AppError {
    /// The rules or the service reject the command.
    User(UserError),
    /// Too many concurrent commands on the same stream.
    Busy,
    /// The database cannot be reached.
    Unavailable(String),
    /// An internal error.
    Fault(String),
}

impl From<UserError> for AppError {
    fn from(error: UserError) -> Self {
        Self::User(error)
    }
}

impl From<ExecuteError> for AppError {
    fn from(error: ExecuteError) -> Self {
        let refuse = |code, argument| UserError::new(code, error.to_string()).at(argument).into();
        match &error {
            ExecuteError::Rejected(Rejection::WrongSecret) => Self::Fault(error.to_string()),
            ExecuteError::Rejected(rejection) => UserError::from(rejection.clone()).into(),
            ExecuteError::NotYourSeat => UserError::not_seated().into(),
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

impl From<ReadError> for AppError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(store) => store.into(),
            ReadError::NoSuchStream(_) => UserError::no_such_game().into(),
            ReadError::VersionAhead { .. } => {
                UserError::new(ServiceCode::VersionAhead, error.to_string())
                    .at("afterVersion")
                    .into()
            }
            ReadError::Undecodable { .. } | ReadError::Hole { .. } => {
                Self::Fault(error.to_string())
            }
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(why) => Self::Unavailable(why),
            StoreError::Fault(why) => Self::Fault(why),
        }
    }
}

impl From<AppError> for HandlerError {
    /// An unavailable database is retried; any other error parks the event with its reason.
    fn from(error: AppError) -> Self {
        match error {
            AppError::User(refusal) => Self::Event(refusal.message),
            AppError::Fault(why) => Self::Event(why),
            AppError::Busy => Self::Event("the account is busy".to_owned()),
            AppError::Unavailable(why) => Self::Store(StoreError::Unavailable(why)),
        }
    }
}

impl From<sqlx::Error> for AppError {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}
