//! How games end, why seats are empty, and what money is awarded for.

use serde::{Deserialize, Serialize};

use crate::{Points, SeatNo, special_dice::DieAt};

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What decided it.
    pub by: DecidedBy,
    /// The winning seats; none if there is no winner.
    pub winners: Vec<SeatNo>,
    /// The final score of each seat, in seat order.
    pub scores: Vec<Points>,
}

/// What decides a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The highest score.
    Score,
    /// Somebody reached exactly what is to be reached.
    Goal,
    /// A tie, decided by the best single round.
    BestRound,
    /// A tie that nothing decides: the win is shared.
    SharedWin,
    /// All others are out of the game.
    LastAlive,
    /// Everybody was out of the game at once, and nothing tells them apart: nobody wins.
    Draw,
    /// What was to be reached was not.
    Missed,
    /// All others left.
    LastSeat,
    /// Everybody left.
    Deserted,
    /// Nobody touched it for too long.
    Abandoned,
    /// It was made void while it was played.
    Voided,
    /// The house decided it.
    Ruled,
}

/// Why a game is made void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidedFor {
    /// Something did not work as it should.
    Malfunction,
    /// Somebody cheated.
    Cheating,
    /// Players played into each other's hands.
    Collusion,
    /// The game was opened or run by mistake.
    Mistake,
}

impl VoidedFor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Malfunction, Self::Cheating, Self::Collusion, Self::Mistake];

    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Malfunction => "something did not work as it should",
            Self::Cheating => "somebody cheated",
            Self::Collusion => "players played into each other's hands",
            Self::Mistake => "it was a mistake",
        }
    }
}

/// What money is awarded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwardedFor {
    /// Playing a game to its end.
    Finishing,
    /// Winning it.
    Winning,
    /// A special die.
    Die(DieAt),
}

/// Why a seat is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftBecause {
    /// The player left.
    Quit,
    /// Too many time-outs in a row.
    TimedOut,
}
