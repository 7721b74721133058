//! The codes of user errors: those of the rules, and those of the service.

use domain::RejectionCode;

/// The code of a user error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserErrorCode {
    Rules(RejectionCode),
    Service(ServiceCode),
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Codes of the service, independent of the rules of a game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ServiceCode {
            $($(#[$doc])* $name,)*
        }

        impl ServiceCode {
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in the API.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

codes! {
    /// The moves of a what-if cannot be parsed.
    BadMoves = "BAD_MOVES",
    BadPassword = "BAD_PASSWORD",
    /// The number of players is out of range.
    BadPlayers = "BAD_PLAYERS",
    BadRefreshToken = "BAD_REFRESH_TOKEN",
    BadText = "BAD_TEXT",
    Banned = "BANNED",
    /// The command id was used for another command.
    CommandIdReused = "COMMAND_ID_REUSED",
    GameNotOver = "GAME_NOT_OVER",
    /// A what-if cannot start at this version.
    NoFork = "NO_FORK",
    NoSuchInvite = "NO_SUCH_INVITE",
    NoSuchPlayer = "NO_SUCH_PLAYER",
    NoSuchVersion = "NO_SUCH_VERSION",
    NotAGuest = "NOT_A_GUEST",
    NotSeated = "NOT_SEATED",
    SeasonExists = "SEASON_EXISTS",
    /// The game is not at the expected version.
    StaleVersion = "STALE_VERSION",
    Suspended = "SUSPENDED",
    TooLarge = "TOO_LARGE",
    UnknownSeason = "UNKNOWN_SEASON",
    /// The game has not reached this version yet.
    VersionAhead = "VERSION_AHEAD",
    WrongCredentials = "WRONG_CREDENTIALS",
}

impl UserErrorCode {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let rules = RejectionCode::ALL.iter().copied().map(Self::Rules);
        rules.chain(ServiceCode::ALL.iter().copied().map(Self::Service))
    }

    /// The name in the API: `NOT_YOUR_TURN`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Rules(code) => code.as_str(),
            Self::Service(code) => code.as_str(),
        }
    }
}

impl From<RejectionCode> for UserErrorCode {
    fn from(code: RejectionCode) -> Self {
        Self::Rules(code)
    }
}

impl From<ServiceCode> for UserErrorCode {
    fn from(code: ServiceCode) -> Self {
        Self::Service(code)
    }
}
