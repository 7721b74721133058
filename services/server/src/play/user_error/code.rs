//! The codes of user errors: those of the rules, and those of the service.

use domain::RejectionCode;

/// The code of a user error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserErrorCode {
    Rules(RejectionCode),
    Service(ServiceCode),
}

macro_rules! codes {
    ($($name:ident = $code:literal: $meaning:literal,)*) => {
        /// Codes of the service, independent of the rules of a game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ServiceCode {
            $(#[doc = $meaning] $name,)*
        }

        impl ServiceCode {
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in the API.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    BadMoves = "BAD_MOVES": "A written move, or the moves of a what-if, cannot be parsed.",
    BadPassword = "BAD_PASSWORD": "The password is too short or too long.",
    BadPlayers = "BAD_PLAYERS": "The number of players is out of range.",
    BadRefreshToken = "BAD_REFRESH_TOKEN": "The refresh token is unknown, expired or was used before. Sign in again.",
    BadText = "BAD_TEXT": "The text is empty, too long, or has characters that are not allowed.",
    Banned = "BANNED": "The account is banned.",
    CommandIdReused = "COMMAND_ID_REUSED": "The command id was used for another command.",
    GameNotOver = "GAME_NOT_OVER": "This is possible only after the end of the game.",
    NoFork = "NO_FORK": "A what-if cannot start at this version.",
    NoSuchInvite = "NO_SUCH_INVITE": "The invite code does not belong to an open game.",
    NoSuchPlayer = "NO_SUCH_PLAYER": "There is no such player.",
    NoSuchVersion = "NO_SUCH_VERSION": "The game has no such version.",
    NotAGuest = "NOT_A_GUEST": "The account is registered.",
    NotSeated = "NOT_SEATED": "You do not have a seat at this table.",
    ReservedName = "RESERVED_NAME": "The name belongs to the operator or to a member of staff.",
    SeasonExists = "SEASON_EXISTS": "There is a season with this name.",
    StaleVersion = "STALE_VERSION": "The game is not at the expected version.",
    Suspended = "SUSPENDED": "The account is suspended.",
    TooLarge = "TOO_LARGE": "The command would append an event that is too large.",
    TooManyAttempts = "TOO_MANY_ATTEMPTS": "Too many attempts to sign in to this account. Try again later.",
    UnknownSeason = "UNKNOWN_SEASON": "There is no season with this name.",
    VersionAhead = "VERSION_AHEAD": "The game has not reached this version yet.",
    WrongCredentials = "WRONG_CREDENTIALS": "The sign-in name or the password is wrong.",
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

    /// What it means, as a sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Rules(code) => code.meaning(),
            Self::Service(code) => code.meaning(),
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
