//! Which error to use when.
//!
//! - A *refusal* is data in the payload of a mutation ([`Problem`]): the client understood the API, the rules or the state
//!   of the game did not allow it.
//! - A *broken request* is a GraphQL error with a code: not signed in, not allowed, malformed.
//! - *Our fault* is opaque: the client gets an id to quote, the log gets the rest.

use async_graphql::{Error, ErrorExtensions, SimpleObject};
use domain::RejectionCode;
use store::StoreError;

use crate::{
    accounts::{AccountError, Role},
    play::{PlayError, Refusal, RefusalCode, ServiceCode},
};

/// The codes of broken requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Unauthenticated,
    Forbidden,
    /// An argument, or the request itself, makes no sense.
    BadInput,
    /// The document is not GraphQL.
    BadSyntax,
    /// The document does not fit the schema.
    BadDocument,
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
            Self::TooComplex => "TOO_COMPLEX",
            Self::RateLimited => "RATE_LIMITED",
            Self::Busy => "BUSY",
            Self::Unavailable => "UNAVAILABLE",
            Self::Timeout => "TIMEOUT",
            Self::Internal => "INTERNAL_SERVER_ERROR",
        }
    }
}

/// The id of a request, for people who report what went wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestId(pub(crate) uuid::Uuid);

/// Why a wish was refused. Nothing was changed.
#[derive(Clone, Debug, SimpleObject)]
pub(crate) struct Problem {
    /// The name of the refusal, for programs: `NOT_YOUR_TURN`, `NOT_SCORING`, `STALE_VERSION` …
    code: String,
    /// What was wrong and what would be right, for people.
    message: String,
    /// The argument that was wrong, if it was one.
    path: Option<Vec<String>>,
}

impl Problem {
    /// The argument has another name here.
    pub(super) fn about(&mut self, argument: &str, here: &str) {
        for name in self.path.iter_mut().flatten().filter(|name| *name == argument) {
            here.clone_into(name);
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self {
            code: refusal.code.as_str().to_owned(),
            message: refusal.message,
            path: refusal.argument.map(|argument| vec![argument.to_owned()]),
        }
    }
}

pub(crate) fn coded(code: Code, message: impl Into<String>) -> Error {
    Error::new(message).extend_with(|_, extensions| extensions.set("code", code.name()))
}

pub(super) fn bad_input(message: impl Into<String>) -> Error {
    coded(Code::BadInput, message)
}

pub(super) fn unauthenticated() -> Error {
    let how = "sign in first: mutation { signInAsGuest { accessToken } }, then send the header \
               authorization: Bearer TOKEN";
    coded(Code::Unauthenticated, how)
}

pub(super) fn forbidden(role: Role, roles: &[Role]) -> Error {
    let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    let message = format!("this is for {}, and you are a {}", roles.join(" or "), role.name());
    coded(Code::Forbidden, message)
}

/// An error of ours: the details are for the log only.
pub(crate) fn fault(details: &str) -> Error {
    tracing::error!(details, "a request failed");
    coded(Code::Internal, "something went wrong on our side; please report the requestId")
}

/// A refusal as an error, where there is no payload to carry it.
pub(super) fn refused(refusal: &Refusal) -> Error {
    let name = refusal.code.as_str();
    bad_input(&refusal.message).extend_with(|_, extensions| extensions.set("refusal", name))
}

const UNAVAILABLE: &str =
    "the database cannot be reached; try again in a moment, with the same commandId";

impl From<PlayError> for Error {
    fn from(error: PlayError) -> Self {
        match &error {
            PlayError::Refused(refusal) => refused(refusal),
            PlayError::Busy => {
                coded(Code::Busy, "too much is going on at once; try again in a moment")
            }
            PlayError::Unavailable(why) => {
                tracing::warn!(why, "the database is unavailable");
                coded(Code::Unavailable, UNAVAILABLE)
            }
            PlayError::Fault(details) => fault(details),
        }
    }
}

/// What an account error means: a refusal for the payload, or an error of the request.
pub(super) fn account_problem(error: AccountError) -> Result<Problem, Error> {
    let refuse = |code: RefusalCode, argument: Option<&'static str>| {
        let refusal = Refusal { argument, ..Refusal::new(code, error.to_string()) };
        Ok(refusal.into())
    };
    match &error {
        AccountError::BadName(rejection) => Ok(Refusal::from(rejection.clone()).into()),
        AccountError::NameTaken(_) => refuse(RejectionCode::NameTaken.into(), Some("name")),
        AccountError::BadPassword => refuse(ServiceCode::BadPassword.into(), Some("password")),
        AccountError::WrongCredentials => refuse(ServiceCode::WrongCredentials.into(), None),
        AccountError::NotAGuest => refuse(ServiceCode::NotAGuest.into(), None),
        AccountError::BadRefreshToken => {
            refuse(ServiceCode::BadRefreshToken.into(), Some("refreshToken"))
        }
        AccountError::Busy => Err(PlayError::Busy.into()),
        AccountError::Store(store) => Err(PlayError::from(store.clone()).into()),
    }
}

/// An account error where nothing can be refused.
pub(super) fn account_error(error: AccountError) -> Error {
    match error {
        AccountError::Store(store) => PlayError::from(store).into(),
        AccountError::Busy => PlayError::Busy.into(),
        AccountError::BadName(_)
        | AccountError::NameTaken(_)
        | AccountError::BadPassword
        | AccountError::WrongCredentials
        | AccountError::NotAGuest
        | AccountError::BadRefreshToken => bad_input(error.to_string()),
    }
}

pub(super) fn store_error(error: StoreError) -> Error {
    PlayError::from(error).into()
}
