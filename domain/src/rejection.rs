//! Why a command is rejected.
//!
//! A rejection is data: a code for programs, fields for details, a message that tells the player
//! what is wrong and what would be right. A rejected command changes nothing.

mod code;

pub use code::RejectionCode;

use crate::{BadText, Dollars, Moment, Name, Points, SeatNo, Slots, Slug, special_dice::Code};

/// A rejected command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it means, its fields are named")]
pub enum Rejection {
    // The table
    #[error("there is no such game")]
    NoSuchGame,
    #[error("this game exists already")]
    AlreadyCreated,
    #[error("there is no game '{game}'; there are: {known}")]
    UnknownGame { game: String, known: String },
    #[error("there is no preset '{preset}' of {game}; there are: {known}")]
    UnknownPreset { game: String, preset: String, known: String },
    #[error("there is no version {version} of the preset '{preset}'; there are: {known}")]
    UnknownVersion { preset: String, version: u32, known: String },
    #[error("there is no rule '{parameter}'; there are: {known}")]
    UnknownRule { parameter: String, known: String },
    #[error("rule {parameter} cannot be {value}: {allowed}")]
    BadRule { parameter: String, value: String, allowed: String },
    #[error("this name cannot be used: {why}")]
    BadName { why: BadText },
    #[error("this seed cannot be used: {why}")]
    BadSeed { why: BadText },
    #[error("another player at this table is called {name}; choose another name")]
    NameTaken { name: Name },
    #[error("you sit at this table already, on seat {seat}")]
    AlreadySeated { seat: SeatNo },
    #[error("all {seats} seats are taken")]
    TableFull { seats: u8 },
    #[error("{seated} seats are taken, the game needs {needed} to start")]
    NotEnoughSeats { seated: u8, needed: u8 },
    #[error("the game has started already")]
    AlreadyStarted,
    #[error("the game has not started yet")]
    NotStarted,
    #[error("the game is over")]
    GameOver,
    #[error("the game is void already")]
    AlreadyVoid,
    #[error("there is no seat {seat}; the table has {seats}, counted from 0")]
    NoSuchSeat { seat: SeatNo, seats: u8 },
    #[error("seat {seat} has left the game")]
    SeatGone { seat: SeatNo },

    // The dice
    #[error("'{code}' is not a code of a die: use 1 to 16 capital letters, digits, $ and _")]
    BadCode { code: String },
    #[error("there is no die '{code}'; there are: {known}")]
    UnknownDie { code: String, known: String },
    #[error("the die {code} is retired; choose another one")]
    RetiredDie { code: Code },
    #[error("this game is played with ordinary dice; choose a challenge preset for special ones")]
    NoSpecialDice,
    #[error("{dice} dice are too many; the set has {slots} slots")]
    TooManyDice { dice: usize, slots: u8 },
    #[error("{copies} × {code} are too many; at most {most} may be played here")]
    TooManyCopies { code: Code, copies: u8, most: u8 },
    #[error("{dice} dice of tier {tier} are too many; at most {most} may be played here")]
    TooManyOfTier { tier: &'static str, dice: u8, most: u8 },
    #[error("{one} and {other} may not be played together here")]
    BannedPair { one: Code, other: Code },
    #[error(
        "with these dice a round could go on without end; replace one of them by an ordinary die"
    )]
    EndlessLoadout,
    #[error("the die {code} cannot have this {field}: {allowed}")]
    BadDie { code: Code, field: &'static str, allowed: String },
    #[error("this is not a valid die: {why}")]
    BadDieData { why: String },
    #[error("there is a die {code} already; change it, or choose another code")]
    DieExists { code: Code },
    #[error(
        "the catalogue is full: it has room for {most} dice in {kib} KiB; shorten descriptions"
    )]
    CatalogueFull { most: usize, kib: usize },

    // The wallet
    #[error("this account has no wallet yet")]
    NoWallet,
    #[error("this account has a wallet already")]
    WalletExists,
    #[error("{quantity} dice cannot be bought or sold at once; choose from 1 to {most}")]
    BadQuantity { quantity: i64, most: u32 },
    #[error("that costs ${cost}, and there are ${balance} in your wallet")]
    NotEnoughMoney { cost: u64, balance: Dollars },
    #[error("{wanted} × {code} are needed, and you own {owned}")]
    NotOwned { code: Code, owned: u32, wanted: u32 },
    #[error("of your {owned} × {code}, {locked} are equipped in games that are not over yet")]
    DieLocked { code: Code, owned: u32, locked: u32 },
    #[error("nobody can own more than {most} × {code}")]
    TooManyOwned { code: Code, most: u32 },
    #[error("the balance would exceed the limit of a wallet")]
    WalletFull,
    #[error("there is no loadout called '{name}'")]
    NoSuchLoadout { name: String },
    #[error("you keep {most} loadouts already; delete one first")]
    TooManyLoadouts { most: usize },
    #[error("you have dice in {most} games already; finish one of them first")]
    TooManyGames { most: usize },
    #[error("no dice are locked for this game")]
    NothingLocked,

    // The turn
    #[error("it is the turn of {name} on seat {to_move}")]
    NotYourTurn { to_move: SeatNo, name: Name },
    #[error("there is no time limit in this game")]
    NoTimeLimit,
    #[error("time is not up yet: {} ms are left", deadline.0.saturating_sub(now.0))]
    TimeNotUp { deadline: Moment, now: Moment },
    #[error("this game has no such move; its moves are: {moves}")]
    NoSuchMove { moves: &'static str },
    #[error("no dice are on the table; roll first")]
    NothingRolled,
    #[error("dice of this roll are saved already; roll the rest or bank")]
    AlreadySaved,
    #[error("save at least one scoring die of this roll first")]
    SaveFirst,
    #[error("there are no points to bank; roll and save first")]
    NothingToBank,
    #[error("name at least one die")]
    EmptySelection,
    #[error("die {slot} is named twice")]
    RepeatedSlot { slot: u8 },
    #[error("there is no die {slot}; the set has {dice} dice, counted from 0")]
    NoSuchSlot { slot: u8, dice: u8 },
    #[error("die {slot} was not rolled just now; choose among {rolled:?}")]
    NotInRoll { slot: u8, rolled: Slots },
    #[error("dice {idle:?} do not score; leave them out")]
    NotScoring { idle: Slots },
    #[error("while your score is 0 a bank needs {needed} points, this round has {points}; roll on")]
    BelowBreakIn { points: Points, needed: Points },
    #[error("no rolls are left in this turn")]
    NoRollsLeft,
    #[error("all dice are kept; leave out those to roll")]
    NothingToRoll,
    #[error("not now: {why}")]
    NotNow { why: &'static str },
    #[error("there is no category '{category}'; open are: {open}")]
    UnknownCategory { category: String, open: String },
    #[error("{category} is scored already; open are: {open}")]
    CategoryFilled { category: Slug, open: String },
    #[error("'{code}' is not offered; there are: {known}")]
    NotOffered { code: String, known: String },
    #[error("that costs {price} {unit}, and you have {have}")]
    CannotAfford { price: i64, have: i64, unit: &'static str },
    #[error("{colour} comes up 1 time in {odds} already: no better odds are sold")]
    BestOdds { colour: Slug, odds: u32 },
    #[error("you hold {most} items already; use one first")]
    SlotsFull { most: u8 },
    #[error("you do not hold '{code}'; you hold: {held}")]
    NotHeld { code: String, held: String },
    #[error("{code} would do nothing now: {why}")]
    NoUse { code: Slug, why: &'static str },
    #[error("this game has no characters")]
    NoCharacters,
    #[error("there is no character '{character}'; free are: {free}")]
    UnknownCharacter { character: String, free: String },
    #[error("{character} is played by seat {seat} already; free are: {free}")]
    CharacterTaken { character: Slug, seat: SeatNo, free: String },
    #[error("your character cannot do that; it can: {can}")]
    NotYourAbility { can: String },
    #[error("your character has done that already this turn")]
    AbilityUsed,
    #[error("{wanted} hearts cannot be converted; {spare} healed nothing")]
    TooFewHearts { wanted: u8, spare: u8 },
    #[error("choose a target; possible seats: {seats}")]
    TargetNeeded { seats: String },
    #[error("seat {seat} cannot be the target; possible seats: {seats}")]
    BadTarget { seat: SeatNo, seats: String },
    #[error("{code} takes no target; leave the target out")]
    NoTarget { code: Slug },
    #[error("you have swords: attack first")]
    AttackFirst,
    #[error("no die shows a sword; end your turn")]
    NoSwords,
    #[error("you have attacked in this turn already")]
    AlreadyAttacked,
    #[error("you were hit: stay or yield first")]
    AnswerFirst,
    #[error("you were not asked whether to stay")]
    NothingAsked,
    #[error("no evolution is unlocked; enough hearts in one roll unlock one")]
    NothingUnlocked,
    #[error("you have {code} already")]
    AlreadyHeld { code: Slug },
    #[error("{dice} dice are rolled, each from 1 to {sides}; {got:?} is not such a roll")]
    WrongRoll { got: Vec<u32>, dice: u8, sides: u32 },
    #[error("the game cannot end: the dice do not know the secret that was committed to")]
    WrongSecret,
    #[error("seat {seat} is named twice")]
    RepeatedWinner { seat: SeatNo },
    #[error("this event is disputed already")]
    AlreadyDisputed,
    #[error("there is no such dispute")]
    NoSuchDispute,
    #[error("this dispute is resolved; open another one if something else was wrong")]
    DisputeClosed,
    #[error("there is no remedy {number}")]
    NoSuchRemedy { number: u32 },
    #[error("remedy {number} does the same already")]
    RemedyRepeated { number: u32 },
    #[error("remedy {number} was applied or declined, or does not wait for a decision")]
    RemedyDone { number: u32 },
    #[error("remedy {number} did not fail; only failed remedies can be tried again")]
    RemedyNotFailed { number: u32 },
    #[error(
        "remedy {number} exceeds the limit of one person; a second member of staff must approve it"
    )]
    SecondPersonNeeded { number: u32 },
    #[error("a person other than the proposer must approve it")]
    SamePerson,
    #[error("staff cannot decide on their own dispute")]
    OwnDispute,
    #[error("{open} remedies are not done yet; wait for them or decline them first")]
    RemediesOpen { open: usize },
    #[error("this account may play already")]
    NotSanctioned,
    #[error("this account is banned already")]
    AlreadyBanned,
    #[error(
        "the last command was {since_hours} hours ago; the game can be abandoned after {needed_hours}"
    )]
    NotStale { since_hours: u64, needed_hours: u32 },
}
