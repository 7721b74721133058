//! The codes of refusals: those of the rules, and those of the service around them.

use domain::RejectionCode;

/// Why something was refused, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalCode {
    /// The rules refuse it.
    Rules(RejectionCode),
    /// The service refuses it.
    Service(ServiceCode),
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// What the service refuses, whatever the rules of the game say.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ServiceCode {
            $($(#[$doc])* $name,)*
        }

        impl ServiceCode {
            /// As the API writes it.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

codes! {
    /// Moves to imagine cannot be read.
    BadMoves = "BAD_MOVES",
    BadPassword = "BAD_PASSWORD",
    /// A number of players that no table can have.
    BadPlayers = "BAD_PLAYERS",
    BadRefreshToken = "BAD_REFRESH_TOKEN",
    BadText = "BAD_TEXT",
    Banned = "BANNED",
    /// The id of a command was used for another one.
    CommandIdReused = "COMMAND_ID_REUSED",
    GameNotOver = "GAME_NOT_OVER",
    /// Nothing can be imagined from here on.
    NoFork = "NO_FORK",
    NoSuchInvite = "NO_SUCH_INVITE",
    NoSuchPlayer = "NO_SUCH_PLAYER",
    NoSuchVersion = "NO_SUCH_VERSION",
    NotAGuest = "NOT_A_GUEST",
    NotSeated = "NOT_SEATED",
    SeasonExists = "SEASON_EXISTS",
    /// The game is not at the version the command was meant for.
    StaleVersion = "STALE_VERSION",
    Suspended = "SUSPENDED",
    TooLarge = "TOO_LARGE",
    UnknownSeason = "UNKNOWN_SEASON",
    /// A version that the game has not reached.
    VersionAhead = "VERSION_AHEAD",
    WrongCredentials = "WRONG_CREDENTIALS",
}

impl RefusalCode {
    /// As the API writes it: `NOT_YOUR_TURN`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Rules(code) => code.as_str(),
            Self::Service(code) => code.as_str(),
        }
    }
}

impl From<RejectionCode> for RefusalCode {
    fn from(code: RejectionCode) -> Self {
        Self::Rules(code)
    }
}

impl From<ServiceCode> for RefusalCode {
    fn from(code: ServiceCode) -> Self {
        Self::Service(code)
    }
}
