//! DashDice: Zero Hour, Last Line and True Grit.

use std::sync::Arc;

use async_graphql::SimpleObject;
use domain::dash::{DoubleEffect, Penalty, TrueGritRules, ZeroHourRules};

use crate::api::{
    ruleset::ruleset_type,
    scalars::{Long, int},
    seat_state::Facts,
};

/// A seat of Zero Hour.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct ZeroHourSeat {
    /// The points left to zero if the turn were banked now.
    remaining: Long,
    /// The points of the turn so far.
    turn_score: Long,
    /// The multiplier of later rolls of the turn.
    multiplier: Long,
    /// The points that a bank will cost each opponent.
    pending_penalty: Long,
    /// The number of rolls of this turn.
    rolls_this_turn: i32,
    /// Consecutive farkles since the last bank.
    farkles_in_a_row: i32,
}

impl ZeroHourSeat {
    pub(in crate::api) fn of(facts: &Facts<'_>) -> Self {
        Self {
            remaining: facts.long("remaining"),
            turn_score: facts.long("turn_score"),
            multiplier: facts.long("multiplier"),
            pending_penalty: facts.long("pending_penalty"),
            rolls_this_turn: facts.int("rolls_this_turn"),
            farkles_in_a_row: facts.int("farkles_in_a_row"),
        }
    }
}

/// A seat of Last Line or True Grit.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct ContestSeat {
    /// The points of the seat, including the current turn.
    total: Long,
    /// The points of the turn so far.
    turn_score: Long,
    /// The multiplier of later rolls of the turn.
    multiplier: Long,
    /// The number of rolls of this turn.
    rolls_this_turn: i32,
}

impl ContestSeat {
    pub(in crate::api) fn of(facts: &Facts<'_>) -> Self {
        Self {
            total: facts.long("total"),
            turn_score: facts.long("turn_score"),
            multiplier: facts.long("multiplier"),
            rolls_this_turn: facts.int("rolls_this_turn"),
        }
    }
}

ruleset_type! {
    /// The rules of a game of Zero Hour.
    ZeroHourRuleset(Arc<ZeroHourRules>) {
        /// The score that everyone starts with.
        async fn start(&self) -> Long {
            Long(self.rules.start)
        }

        /// The score after a bank that goes below 0.
        async fn overshoot_to(&self) -> Long {
            Long(self.rules.overshoot_to)
        }

        /// The rules of doubles, from 1s to 6s.
        async fn doubles(&self) -> Vec<DoubleRule> {
            (1..).zip(&self.rules.doubles).map(DoubleRule::new).collect()
        }

        /// Whether the multiplier active when a double is rolled also applies to its bonus.
        async fn multiplies_bonus(&self) -> bool {
            self.rules.multiplies_bonus
        }
    }
}

/// The rule of a double in Zero Hour.
#[derive(Clone, Debug, SimpleObject)]
struct DoubleRule {
    /// The face of both dice.
    face: i32,
    /// The points added to the turn score instead of the sum of the dice.
    bonus: Long,
    /// The multiplier of later rolls of the turn. Null leaves it unchanged.
    multiplier: Option<Long>,
    /// The points that a bank costs each opponent. Null if there is no penalty or it is the turn
    /// score.
    penalty_points: Option<Long>,
    /// Whether a bank costs each opponent the turn score as it is right after the bonus.
    penalty_is_turn_score: bool,
}

impl DoubleRule {
    fn new((face, rule): (i32, &DoubleEffect)) -> Self {
        let penalty_points =
            if let Penalty::Points(points) = rule.penalty { Some(Long(points)) } else { None };
        Self {
            face,
            bonus: Long(rule.bonus),
            multiplier: rule.multiplier.map(Long),
            penalty_points,
            penalty_is_turn_score: rule.penalty == Penalty::TurnScore,
        }
    }
}

ruleset_type! {
    /// The rules of a game of True Grit.
    TrueGritRuleset(Arc<TrueGritRules>) {
        /// The relative probability of a roll with a single 1, compared with `otherWeight`.
        async fn single_one_weight(&self) -> i32 {
            int(self.rules.single_one_weight)
        }

        /// The relative probability of every other roll.
        async fn other_weight(&self) -> i32 {
            int(self.rules.other_weight)
        }
    }
}
