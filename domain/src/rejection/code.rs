//! The codes of rejections, by which programs distinguish them.
//!
//! Codes are public: a published code keeps its spelling, whatever happens to its variant.

use std::str::FromStr;

use crate::Rejection;

/// Each code in its two spellings: of the API and of scenarios.
macro_rules! codes {
    ($($name:ident = $code:literal,)*) => {
        /// The kind of a rejection.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each is the variant of `Rejection` with its name")]
        pub enum RejectionCode {
            $($name,)*
        }

        impl RejectionCode {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The spelling of the API: `NOT_YOUR_TURN`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The spelling of scenarios: `NotYourTurn`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }

        impl Rejection {
            /// Its code.
            pub const fn code(&self) -> RejectionCode {
                match self { $(Self::$name { .. } => RejectionCode::$name,)* }
            }
        }
    };
}

codes! {
    // The table
    NoSuchGame = "NO_SUCH_GAME",
    AlreadyCreated = "ALREADY_CREATED",
    UnknownGame = "UNKNOWN_GAME",
    UnknownPreset = "UNKNOWN_PRESET",
    UnknownVersion = "UNKNOWN_VERSION",
    UnknownRule = "UNKNOWN_RULE",
    BadRule = "BAD_RULE",
    BadName = "BAD_NAME",
    BadSeed = "BAD_SEED",
    NameTaken = "NAME_TAKEN",
    AlreadySeated = "ALREADY_SEATED",
    TableFull = "TABLE_FULL",
    NotEnoughSeats = "NOT_ENOUGH_SEATS",
    AlreadyStarted = "ALREADY_STARTED",
    NotStarted = "NOT_STARTED",
    GameOver = "GAME_OVER",
    AlreadyVoid = "ALREADY_VOID",
    NoSuchSeat = "NO_SUCH_SEAT",
    SeatGone = "SEAT_GONE",
    // The dice
    BadCode = "BAD_CODE",
    UnknownDie = "UNKNOWN_DIE",
    RetiredDie = "RETIRED_DIE",
    NoSpecialDice = "NO_SPECIAL_DICE",
    TooManyDice = "TOO_MANY_DICE",
    TooManyCopies = "TOO_MANY_COPIES",
    TooManyOfTier = "TOO_MANY_OF_TIER",
    BannedPair = "BANNED_PAIR",
    EndlessLoadout = "ENDLESS_LOADOUT",
    BadDie = "BAD_DIE",
    BadDieData = "BAD_DIE_DATA",
    DieExists = "DIE_EXISTS",
    CatalogueFull = "CATALOGUE_FULL",
    // The wallet
    NoWallet = "NO_WALLET",
    WalletExists = "WALLET_EXISTS",
    BadQuantity = "BAD_QUANTITY",
    NotEnoughMoney = "NOT_ENOUGH_MONEY",
    NotOwned = "NOT_OWNED",
    DieLocked = "DIE_LOCKED",
    TooManyOwned = "TOO_MANY_OWNED",
    WalletFull = "WALLET_FULL",
    NoSuchLoadout = "NO_SUCH_LOADOUT",
    TooManyLoadouts = "TOO_MANY_LOADOUTS",
    TooManyGames = "TOO_MANY_GAMES",
    NothingLocked = "NOTHING_LOCKED",
    // The turn
    NotYourTurn = "NOT_YOUR_TURN",
    NoTimeLimit = "NO_TIME_LIMIT",
    TimeNotUp = "TIME_NOT_UP",
    NoSuchMove = "NO_SUCH_MOVE",
    NothingRolled = "NOTHING_ROLLED",
    AlreadySaved = "ALREADY_SAVED",
    SaveFirst = "SAVE_FIRST",
    NothingToBank = "NOTHING_TO_BANK",
    EmptySelection = "EMPTY_SELECTION",
    RepeatedSlot = "REPEATED_SLOT",
    NoSuchSlot = "NO_SUCH_SLOT",
    NotInRoll = "NOT_IN_ROLL",
    NotScoring = "NOT_SCORING",
    BelowBreakIn = "BELOW_BREAK_IN",
    NoRollsLeft = "NO_ROLLS_LEFT",
    NothingToRoll = "NOTHING_TO_ROLL",
    NotNow = "NOT_NOW",
    UnknownCategory = "UNKNOWN_CATEGORY",
    CategoryFilled = "CATEGORY_FILLED",
    NotOffered = "NOT_OFFERED",
    CannotAfford = "CANNOT_AFFORD",
    BestOdds = "BEST_ODDS",
    SlotsFull = "SLOTS_FULL",
    NotHeld = "NOT_HELD",
    NoUse = "NO_USE",
    NoCharacters = "NO_CHARACTERS",
    UnknownCharacter = "UNKNOWN_CHARACTER",
    CharacterTaken = "CHARACTER_TAKEN",
    NotYourAbility = "NOT_YOUR_ABILITY",
    AbilityUsed = "ABILITY_USED",
    TooFewHearts = "TOO_FEW_HEARTS",
    TargetNeeded = "TARGET_NEEDED",
    BadTarget = "BAD_TARGET",
    AttackFirst = "ATTACK_FIRST",
    NoSwords = "NO_SWORDS",
    AlreadyAttacked = "ALREADY_ATTACKED",
    NoTarget = "NO_TARGET",
    AnswerFirst = "ANSWER_FIRST",
    NothingAsked = "NOTHING_ASKED",
    NothingUnlocked = "NOTHING_UNLOCKED",
    AlreadyHeld = "ALREADY_HELD",
    WrongRoll = "WRONG_ROLL",
    WrongSecret = "WRONG_SECRET",
    RepeatedWinner = "REPEATED_WINNER",
    AlreadyDisputed = "ALREADY_DISPUTED",
    NoSuchDispute = "NO_SUCH_DISPUTE",
    DisputeClosed = "DISPUTE_CLOSED",
    NoSuchRemedy = "NO_SUCH_REMEDY",
    RemedyRepeated = "REMEDY_REPEATED",
    RemedyDone = "REMEDY_DONE",
    RemedyNotFailed = "REMEDY_NOT_FAILED",
    SecondPersonNeeded = "SECOND_PERSON_NEEDED",
    SamePerson = "SAME_PERSON",
    OwnDispute = "OWN_DISPUTE",
    RemediesOpen = "REMEDIES_OPEN",
    NotSanctioned = "NOT_SANCTIONED",
    AlreadyBanned = "ALREADY_BANNED",
    NotStale = "NOT_STALE",
}

/// There is no rejection of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no refusal is called that")]
pub struct UnknownCode;

impl FromStr for RejectionCode {
    type Err = UnknownCode;

    /// Parses the spelling of scenarios.
    fn from_str(name: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.name() == name).ok_or(UnknownCode)
    }
}
