//! How turns end: banked, farkled, or otherwise.

use serde::{Deserialize, Serialize};

use super::defaults::{is_once, is_zero, once};
use crate::{Points, SeatNo, Turn};

/// The points of a round were added to the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Banked {
    /// The seat.
    pub seat: SeatNo,
    /// The round of the table.
    pub round: u32,
    /// Points of the completed hands of the round.
    pub round_score: Points,
    /// Points of the last hand.
    pub turn_score: Points,
    /// The factor applied to the last hand.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The bonus for earlier farkles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus: Points,
    /// The points banked: the round score, the last hand times its multiplier, and the bonus.
    pub points: Points,
    /// The new game score.
    pub game_score: Points,
    /// Whether the new score reaches the target of the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

impl Banked {
    /// Banks a turn that has a single hand and no modifiers.
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
    /// The seat.
    pub seat: SeatNo,
    /// What caused it.
    pub by: FarkledBy,
    /// The points lost: those of the round less those kept. Rules with `forfeits_multiplied`
    /// include the multiplier of the last hand.
    pub forfeited: Points,
    /// The points of the round that were kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: Points,
    /// The points awarded by special dice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub awarded: Points,
    /// Consecutive farkles, including this one.
    pub in_a_row: u32,
}

/// What caused a farkle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FarkledBy {
    /// A roll without any scoring die.
    Roll,
    /// The player gave up the roll.
    Choice,
}

/// A turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// The seat.
    pub seat: SeatNo,
    /// The round of the table.
    pub round: u32,
    /// How it ended.
    pub how: TurnEnd,
    /// The points it added to the score.
    pub points: Points,
    /// The points it lost.
    pub forfeited: Points,
    /// The bonus for earlier farkles that was lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus_lost: Points,
    /// Whether the score reached the target of the game in this turn without a bank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The points were banked.
    Banked,
    /// A roll without any scoring die.
    Farkled,
    /// The player gave up the roll.
    Forfeited,
    /// Time ran out.
    TimedOut,
    /// The player left.
    Left,
    /// It ended normally, in games without a bank.
    Finished,
}

impl TurnEnd {
    /// All variants.
    pub const ALL: [Self; 6] =
        [Self::Banked, Self::Farkled, Self::Forfeited, Self::TimedOut, Self::Left, Self::Finished];

    /// Its name, as stored in events.
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
