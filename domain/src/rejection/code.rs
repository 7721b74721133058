//! The codes of rejections, by which programs distinguish them.
//!
//! Codes are public: a published code keeps its spelling, whatever happens to its variant.

use std::str::FromStr;

use crate::Rejection;

/// Each code in its two spellings, of the API and of scenarios, and its meaning.
macro_rules! codes {
    ($($name:ident = $code:literal: $meaning:literal,)*) => {
        /// The kind of a rejection.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum RejectionCode {
            $(#[doc = $meaning] $name,)*
        }

        impl RejectionCode {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The spelling of the API: `NOT_YOUR_TURN`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What it means, as a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
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
    NoSuchGame = "NO_SUCH_GAME": "There is no such game, or you may not see it.",
    AlreadyCreated = "ALREADY_CREATED": "A game with this id exists.",
    UnknownGame = "UNKNOWN_GAME": "There is no kind of game with this name.",
    UnknownPreset = "UNKNOWN_PRESET": "The game has no preset with this name.",
    UnknownVersion = "UNKNOWN_VERSION": "The preset has no such version.",
    UnknownRule = "UNKNOWN_RULE": "The game has no parameter with this name.",
    BadRule = "BAD_RULE": "The value of a parameter is out of range or of the wrong type.",
    BadName = "BAD_NAME": "The name is empty, too long, or has characters that are not allowed.",
    BadSeed = "BAD_SEED": "The seed is empty or too long.",
    NameTaken = "NAME_TAKEN": "Another player at the table, or another account, has this name.",
    AlreadySeated = "ALREADY_SEATED": "You have a seat at this table.",
    TableFull = "TABLE_FULL": "All seats are taken.",
    NotEnoughSeats = "NOT_ENOUGH_SEATS": "The game needs more players to start.",
    AlreadyStarted = "ALREADY_STARTED": "The game has started.",
    NotStarted = "NOT_STARTED": "The game has not started yet.",
    GameOver = "GAME_OVER": "The game has ended.",
    AlreadyVoid = "ALREADY_VOID": "The game was voided before.",
    NoSuchSeat = "NO_SUCH_SEAT": "The table has no seat with this number.",
    SeatGone = "SEAT_GONE": "The seat has left the game.",
    // The dice
    BadCode = "BAD_CODE": "The code of a die has the wrong form.",
    UnknownDie = "UNKNOWN_DIE": "The catalogue has no die with this code.",
    RetiredDie = "RETIRED_DIE": "The die is retired and cannot be bought or equipped any more.",
    NoSpecialDice = "NO_SPECIAL_DICE": "The preset does not allow special dice.",
    TooManyDice = "TOO_MANY_DICE": "The loadout has more dice than the set has slots.",
    TooManyCopies = "TOO_MANY_COPIES": "The loadout has more copies of a die than the rules allow.",
    TooManyOfTier = "TOO_MANY_OF_TIER": "The loadout has more dice of a tier than the rules allow.",
    BannedPair = "BANNED_PAIR": "The loadout combines two dice that may not be played together.",
    EndlessLoadout = "ENDLESS_LOADOUT": "With this loadout a round could go on without end.",
    BadDie = "BAD_DIE": "A field of the die is out of range.",
    BadDieData = "BAD_DIE_DATA": "The effect of the die is not valid.",
    DieExists = "DIE_EXISTS": "The catalogue has a die with this code.",
    CatalogueFull = "CATALOGUE_FULL": "The catalogue has no room for another die.",
    // The wallet
    NoWallet = "NO_WALLET": "The account has no wallet yet.",
    WalletExists = "WALLET_EXISTS": "The account has a wallet.",
    BadQuantity = "BAD_QUANTITY": "The quantity is out of range.",
    NotEnoughMoney = "NOT_ENOUGH_MONEY": "The balance of the wallet is too low.",
    NotOwned = "NOT_OWNED": "You do not own as many copies of the die.",
    DieLocked = "DIE_LOCKED": "The die is equipped in a game that has not ended.",
    TooManyOwned = "TOO_MANY_OWNED": "No account can own more copies of the die.",
    WalletFull = "WALLET_FULL": "The balance would exceed its limit.",
    NoSuchLoadout = "NO_SUCH_LOADOUT": "You have no loadout with this name.",
    TooManyLoadouts = "TOO_MANY_LOADOUTS": "You have reached the limit of saved loadouts.",
    TooManyGames = "TOO_MANY_GAMES": "Your dice are locked in too many games.",
    NothingLocked = "NOTHING_LOCKED": "No dice are locked for this game.",
    // The turn
    NotYourTurn = "NOT_YOUR_TURN": "It is another seat's turn.",
    NoTimeLimit = "NO_TIME_LIMIT": "The game has no time limit.",
    TimeNotUp = "TIME_NOT_UP": "The time limit of the turn has not passed yet.",
    NoSuchMove = "NO_SUCH_MOVE": "This kind of game does not have the move.",
    NothingRolled = "NOTHING_ROLLED": "Roll the dice first.",
    AlreadySaved = "ALREADY_SAVED": "Dice of this roll were saved. Roll or bank.",
    SaveFirst = "SAVE_FIRST": "Save at least one scoring die of this roll first.",
    NothingToBank = "NOTHING_TO_BANK": "There are no points to bank.",
    EmptySelection = "EMPTY_SELECTION": "No dice were selected.",
    RepeatedSlot = "REPEATED_SLOT": "A die was selected twice.",
    NoSuchSlot = "NO_SUCH_SLOT": "The set has no die in this slot.",
    NotInRoll = "NOT_IN_ROLL": "The die was not part of the last roll.",
    NotScoring = "NOT_SCORING": "Some of the selected dice do not score.",
    BelowBreakIn = "BELOW_BREAK_IN": "The first bank of a seat needs more points.",
    NoRollsLeft = "NO_ROLLS_LEFT": "No rolls are left in this turn.",
    NothingToRoll = "NOTHING_TO_ROLL": "All dice are kept, so none would be rolled.",
    NotNow = "NOT_NOW": "The move is not possible in this phase of the turn.",
    UnknownCategory = "UNKNOWN_CATEGORY": "The card has no category with this name.",
    CategoryFilled = "CATEGORY_FILLED": "The category was scored before.",
    NotOffered = "NOT_OFFERED": "The shop or market does not offer this item.",
    CannotAfford = "CANNOT_AFFORD": "You do not have enough money or energy.",
    BestOdds = "BEST_ODDS": "The odds of this colour cannot be improved further.",
    SlotsFull = "SLOTS_FULL": "You cannot hold more items.",
    NotHeld = "NOT_HELD": "You do not hold this item.",
    NoUse = "NO_USE": "The item would have no effect now.",
    NoCharacters = "NO_CHARACTERS": "The game has no characters.",
    UnknownCharacter = "UNKNOWN_CHARACTER": "The game has no character with this name.",
    CharacterTaken = "CHARACTER_TAKEN": "Another seat plays this character.",
    NotYourAbility = "NOT_YOUR_ABILITY": "Your character does not have this ability.",
    AbilityUsed = "ABILITY_USED": "The ability was used in this turn.",
    TooFewHearts = "TOO_FEW_HEARTS": "Fewer hearts than requested can be converted.",
    TargetNeeded = "TARGET_NEEDED": "The move or item needs a target seat.",
    BadTarget = "BAD_TARGET": "The seat cannot be the target.",
    AttackFirst = "ATTACK_FIRST": "The attack has to be made before the turn can go on.",
    NoSwords = "NO_SWORDS": "No die shows a sword, so there is no attack.",
    AlreadyAttacked = "ALREADY_ATTACKED": "You have attacked in this turn.",
    NoTarget = "NO_TARGET": "The item takes no target.",
    AnswerFirst = "ANSWER_FIRST": "You were hit and have to stay or yield first.",
    NothingAsked = "NOTHING_ASKED": "You were not asked whether to stay.",
    NothingUnlocked = "NOTHING_UNLOCKED": "No evolution is unlocked.",
    AlreadyHeld = "ALREADY_HELD": "You hold this item.",
    WrongRoll = "WRONG_ROLL": "The scripted values do not fit the roll. Only in scenarios.",
    WrongSecret = "WRONG_SECRET": "The secret of the dice does not match its commitment. Contact the operator.",
    RepeatedWinner = "REPEATED_WINNER": "A seat was named as winner twice.",
    AlreadyDisputed = "ALREADY_DISPUTED": "The event is disputed.",
    NoSuchDispute = "NO_SUCH_DISPUTE": "There is no such dispute, or you may not see it.",
    DisputeClosed = "DISPUTE_CLOSED": "The dispute is resolved.",
    NoSuchRemedy = "NO_SUCH_REMEDY": "The dispute has no remedy with this number.",
    RemedyRepeated = "REMEDY_REPEATED": "The dispute has a remedy that does the same.",
    RemedyDone = "REMEDY_DONE": "The remedy was applied or declined, or does not wait for a decision.",
    RemedyNotFailed = "REMEDY_NOT_FAILED": "Only a failed remedy can be tried again.",
    SecondPersonNeeded = "SECOND_PERSON_NEEDED": "The amount is above the limit, so a second member of staff has to approve.",
    SamePerson = "SAME_PERSON": "The person who proposed a remedy cannot approve it.",
    OwnDispute = "OWN_DISPUTE": "Staff cannot decide on their own dispute.",
    RemediesOpen = "REMEDIES_OPEN": "The dispute has remedies that are not finished.",
    NotSanctioned = "NOT_SANCTIONED": "The account is neither suspended nor banned.",
    AlreadyBanned = "ALREADY_BANNED": "The account is banned.",
    NotStale = "NOT_STALE": "The game was active too recently to be abandoned.",
}

/// There is no rejection of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no rejection has this name")]
pub struct UnknownCode;

impl FromStr for RejectionCode {
    type Err = UnknownCode;

    /// Parses the spelling of scenarios.
    fn from_str(name: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.name() == name).ok_or(UnknownCode)
    }
}
