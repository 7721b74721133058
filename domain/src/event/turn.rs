//! How turns end: banked, farkled, or otherwise.

use serde::{Deserialize, Serialize};

use super::defaults::{is_once, is_zero, once};
use crate::{Points, SeatNo, Turn};

/// A round's points were put on the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Banked {
    /// Who banked.
    pub seat: SeatNo,
    /// In which round of the table.
    pub round: u32,
    /// Points of the completed hands of the round.
    pub round_score: Points,
    /// Points of the last hand.
    pub turn_score: Points,
    /// How many times the last hand counts.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The bonus of earlier farkles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus: Points,
    /// What was banked: the round score, the last hand times its multiplier, and the bonus.
    pub points: Points,
    /// The game score with it.
    pub game_score: Points,
    /// Whether this score reaches the target of the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

impl Banked {
    /// A turn of one hand was banked as it is.
    pub(crate) const fn plain(
        turn: Turn,
        points: Points,
        game_score: Points,
        reaches_target: bool,
    ) -> Self {
        Self {
            seat: turn.seat,
            round: turn.round,
            round_score: 0,
            turn_score: points,
            multiplier: 1,
            bonus: 0,
            points,
            game_score,
            reaches_target,
        }
    }
}

/// A round ended without points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farkled {
    /// Who farkled.
    pub seat: SeatNo,
    /// Whether the player gave the roll up.
    pub by: FarkledBy,
    /// The points lost: what the round had made, before any multiplier of its last hand, less what was kept.
    pub forfeited: Points,
    /// The points of the round that were scored all the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: Points,
    /// The points that special dice scored beyond it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub awarded: Points,
    /// Farkles in a row, with this one.
    pub in_a_row: u32,
}

/// What made a farkle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FarkledBy {
    /// A roll without any scoring die.
    Roll,
    /// The player's choice.
    Choice,
}

/// A turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// Whose turn.
    pub seat: SeatNo,
    /// In which round of the table.
    pub round: u32,
    /// How it ended.
    pub how: TurnEnd,
    /// The points it brought.
    pub points: Points,
    /// The points it lost.
    pub forfeited: Points,
    /// The bonus of earlier farkles that it lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus_lost: Points,
    /// Whether a score that was not banked reaches the target of the game with this turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The points were banked.
    Banked,
    /// No die of a roll scored.
    Farkled,
    /// The player gave the roll up.
    Forfeited,
    /// Time ran out.
    TimedOut,
    /// The player left.
    Left,
    /// It came to its end.
    Finished,
}

impl TurnEnd {
    /// Its name, as events write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Banked => "banked",
            Self::Farkled => "farkled",
            Self::Forfeited => "forfeited",
            Self::TimedOut => "timed_out",
            Self::Left => "left",
            Self::Finished => "finished",
        }
    }
}
