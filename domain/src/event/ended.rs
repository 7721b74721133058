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
    /// A seat reached the goal exactly.
    Goal,
    /// A tie, decided by the best single round.
    BestRound,
    /// An unbroken tie: the win is shared.
    SharedWin,
    /// All other seats were eliminated.
    LastAlive,
    /// All remaining seats were eliminated at once and tied: nobody wins.
    Draw,
    /// The goal was not reached.
    Missed,
    /// All others left.
    LastSeat,
    /// Everybody left.
    Deserted,
    /// The game had no activity for its expiry time.
    Abandoned,
    /// It was voided while it was running.
    Voided,
    /// The house decided it.
    Ruled,
}

/// Why a game is voided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidedFor {
    /// A malfunction.
    Malfunction,
    /// A player cheated.
    Cheating,
    /// Players colluded.
    Collusion,
    /// The game was opened or run by mistake.
    Mistake,
}

impl VoidedFor {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Malfunction, Self::Cheating, Self::Collusion, Self::Mistake];

    /// The text shown to people.
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
    /// Playing a game to the end.
    Finishing,
    /// Winning the game.
    Winning,
    /// The effect of a special die.
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
