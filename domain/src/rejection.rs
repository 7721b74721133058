//! Why a command is refused.
//!
//! Every refusal is data: its name for programs, its fields for details, its message for the
//! player, who learns what was wrong and what would be right. A refusal changes nothing.

use crate::{BadText, Moment, Name, Points, SeatNo, Slots};

/// A refused command.
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
    #[error("there is no rule '{parameter}'; there are: {known}")]
    UnknownRule { parameter: String, known: String },
    #[error("rule {parameter} cannot be {value}: {allowed}")]
    BadRule { parameter: String, value: String, allowed: String },
    #[error("this name cannot be used: {why}")]
    BadName { why: BadText },
    #[error("this seed cannot be used: {why}")]
    BadSeed { why: BadText },
    #[error("somebody at this table is called {name} already; choose another name")]
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
    #[error("there is no seat {seat}; the table has {seats}, counted from 0")]
    NoSuchSeat { seat: SeatNo, seats: u8 },
    #[error("seat {seat} has left the game")]
    SeatGone { seat: SeatNo },

    // The turn
    #[error("it is the turn of {name} on seat {to_move}")]
    NotYourTurn { to_move: SeatNo, name: Name },
    #[error("there is no time limit in this game")]
    NoTimeLimit,
    #[error("time is not up yet: {} ms are left", deadline.0.saturating_sub(now.0))]
    TimeNotUp { deadline: Moment, now: Moment },
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
    #[error("{dice} dice are rolled, each from 1 to {sides}; {got:?} is no such roll")]
    WrongRoll { got: Vec<u32>, dice: u8, sides: u32 },
    #[error("the game cannot end: the dice do not know the secret that was committed to")]
    WrongSecret,
    #[error(
        "the game was touched {since_hours} hours ago; it can be abandoned after {needed_hours}"
    )]
    NotStale { since_hours: u64, needed_hours: u32 },
}

impl Rejection {
    /// The name of the refusal, for programs: that of the variant.
    pub fn name(&self) -> String {
        let debug = format!("{self:?}");
        debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
    }
}
