//! Which error to use when.
//!
//! - A *user error* is data in the payload of a mutation ([`UserErrorView`]): the request was
//!   valid, but the rules or the state of the game did not allow it.
//! - An *invalid request* is a GraphQL error with a code: not signed in, not allowed, malformed.
//! - An *internal error* is opaque: the client gets a request id to report, the log gets the
//!   details.

use std::borrow::Cow;

use async_graphql::{Error, ErrorExtensions, SimpleObject};
use domain::RejectionCode;
use store::StoreError;

use super::{
    command::input_path,
    listed_enum::{Listed, listed_output},
};
use crate::{
    accounts::{AccountError, Role},
    play::{AppError, ServiceCode, UserError, UserErrorCode},
};

/// The codes of invalid requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Unauthenticated,
    Forbidden,
    /// An argument or the request itself is invalid.
    BadInput,
    /// The document is not GraphQL.
    BadSyntax,
    /// The document does not match the schema.
    BadDocument,
    /// No trusted document has this hash.
    UnknownDocument,
    /// The server executes trusted documents only.
    UntrustedDocument,
    TooComplex,
    RateLimited,
    Busy,
    Unavailable,
    Timeout,
    Internal,
}

impl Code {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::BadInput => "BAD_USER_INPUT",
            Self::BadSyntax => "GRAPHQL_PARSE_FAILED",
            Self::BadDocument => "GRAPHQL_VALIDATION_FAILED",
            Self::UnknownDocument => "PERSISTED_QUERY_NOT_FOUND",
            Self::UntrustedDocument => "UNTRUSTED_DOCUMENT",
            Self::TooComplex => "TOO_COMPLEX",
            Self::RateLimited => "RATE_LIMITED",
            Self::Busy => "BUSY",
            Self::Unavailable => "UNAVAILABLE",
            Self::Timeout => "TIMEOUT",
            Self::Internal => "INTERNAL_SERVER_ERROR",
        }
    }
}

/// The id of a request, for error reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestId(pub(crate) uuid::Uuid);

/// Why a command was rejected. Nothing was changed.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "UserError")]
pub(crate) struct UserErrorView {
    /// Machine-readable error code.
    code: ErrorCode,
    /// What is wrong and how to fix it, for people.
    message: String,
    /// The path of the invalid argument in the input: `["input", "move", "save", "slots"]`. Null if
    /// the error is not about an argument.
    field: Option<Vec<String>>,
}

impl UserErrorView {
    /// A user error; `path` maps its argument to its path in the input.
    pub(super) fn new(user_error: UserError, path: impl Fn(&str) -> Vec<String>) -> Self {
        Self {
            code: ErrorCode(user_error.code),
            message: user_error.message,
            field: user_error.argument.map(path),
        }
    }
}

impl From<UserError> for UserErrorView {
    fn from(user_error: UserError) -> Self {
        Self::new(user_error, input_path)
    }
}

/// Machine-readable code of a user error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorCode(UserErrorCode);

impl Listed for ErrorCode {
    const TYPE: &'static str = "ErrorCode";
    const DESCRIPTION: &'static str =
        "Machine-readable code of a user error. Its message has the details.";

    fn all() -> Vec<Self> {
        UserErrorCode::all().map(Self).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.0.as_str().into()
    }

    fn description(self) -> String {
        self.0.meaning().to_owned()
    }
}

listed_output!(ErrorCode);

pub(crate) fn coded(code: Code, message: impl Into<String>) -> Error {
    Error::new(message).extend_with(|_, extensions| extensions.set("code", code.name()))
}

pub(super) fn bad_input(message: impl Into<String>) -> Error {
    coded(Code::BadInput, message)
}

pub(super) fn unauthenticated() -> Error {
    let message = "sign in first: mutation { signInAsGuest { accessToken } }, then send the header \
               authorization: Bearer TOKEN";
    coded(Code::Unauthenticated, message)
}

pub(super) fn forbidden(role: Role, roles: &[Role]) -> Error {
    let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    let message =
        format!("this requires the role {}; yours is {}", roles.join(" or "), role.name());
    coded(Code::Forbidden, message)
}

/// An internal error: the details go to the log only.
pub(crate) fn fault(details: &str) -> Error {
    tracing::error!(details, "a request failed");
    coded(Code::Internal, "internal error; please report the requestId")
}

/// A user error as a GraphQL error, for fields without a payload.
pub(super) fn from_user_error(user_error: &UserError) -> Error {
    let name = user_error.code.as_str();
    bad_input(&user_error.message).extend_with(|_, extensions| extensions.set("refusal", name))
}

const UNAVAILABLE: &str = "the database is unavailable; retry in a moment with the same command.id";

impl From<AppError> for Error {
    fn from(error: AppError) -> Self {
        match &error {
            AppError::User(user_error) => from_user_error(user_error),
            AppError::Busy => coded(Code::Busy, "the server is busy; retry in a moment"),
            AppError::Unavailable(why) => {
                tracing::warn!(why, "the database is unavailable");
                coded(Code::Unavailable, UNAVAILABLE)
            }
            AppError::Fault(details) => fault(details),
        }
    }
}

/// Turns an account error into a user error of the payload, or into a GraphQL error.
pub(super) fn account_user_error(error: AccountError) -> Result<UserErrorView, Error> {
    let reject = |code: UserErrorCode, argument: Option<&'static str>| {
        let user_error = UserError { argument, ..UserError::new(code, error.to_string()) };
        Ok(user_error.into())
    };
    match &error {
        AccountError::BadName(rejection) => Ok(UserError::from(rejection.clone()).into()),
        AccountError::NameTaken(_) => reject(RejectionCode::NameTaken.into(), Some("name")),
        AccountError::ReservedName(_) => reject(ServiceCode::ReservedName.into(), Some("name")),
        AccountError::TooManyAttempts(_) => reject(ServiceCode::TooManyAttempts.into(), None),
        AccountError::BadPassword => reject(ServiceCode::BadPassword.into(), Some("password")),
        AccountError::WrongCredentials => reject(ServiceCode::WrongCredentials.into(), None),
        AccountError::NotAGuest => reject(ServiceCode::NotAGuest.into(), None),
        AccountError::BadRefreshToken => {
            reject(ServiceCode::BadRefreshToken.into(), Some("refreshToken"))
        }
        AccountError::Busy => Err(AppError::Busy.into()),
        AccountError::Store(store) => Err(AppError::from(store.clone()).into()),
    }
}

/// An account error as a GraphQL error, for fields without a payload.
pub(super) fn account_error(error: AccountError) -> Error {
    match error {
        AccountError::Store(store) => AppError::from(store).into(),
        AccountError::Busy => AppError::Busy.into(),
        AccountError::BadName(_)
        | AccountError::NameTaken(_)
        | AccountError::ReservedName(_)
        | AccountError::TooManyAttempts(_)
        | AccountError::BadPassword
        | AccountError::WrongCredentials
        | AccountError::NotAGuest
        | AccountError::BadRefreshToken => bad_input(error.to_string()),
    }
}

pub(super) fn store_error(error: StoreError) -> Error {
    AppError::from(error).into()
}
