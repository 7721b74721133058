//! Farkle, and the moves that other games share with it.

use std::sync::Arc;

use async_graphql::{InputObject, SimpleObject};
use domain::{
    Play,
    farkle::{self, FarkleRules},
};

use crate::api::{
    enums::{DieTier, TurnEndReason},
    moves::slots,
    ruleset::ruleset_type,
    scalars::{DieCode, Long, int},
    seat_state::Facts,
};

/// Rolls the dice in hand. In DiceRogue and NeonPolis: all dice except those kept.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct RollInput {
    /// The slots of the dice to keep, in games that keep dice between rolls.
    keep_slots: Option<Vec<i32>>,
}

/// Scores dice of the last roll. Every one of them must score.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct SaveInput {
    /// The slots of the dice.
    slots: Vec<i32>,
    /// Whether to roll the remaining dice in the same command; after hot dice, all dice.
    #[graphql(default)]
    and_roll: bool,
}

/// Adds the points of the turn to the score and ends the turn.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct BankInput {
    /// The slots of the dice to save first.
    save_slots: Option<Vec<i32>>,
}

impl From<RollInput> for Play {
    fn from(input: RollInput) -> Self {
        let keep = input.keep_slots.as_deref().map(slots).filter(|keep| !keep.is_empty());
        keep.map_or(Self::Roll, |keep| Self::Reroll { keep })
    }
}

impl From<SaveInput> for Play {
    fn from(input: SaveInput) -> Self {
        let slots = slots(&input.slots);
        if input.and_roll { Self::SaveAndRoll { slots } } else { Self::Save { slots } }
    }
}

impl From<BankInput> for Play {
    fn from(input: BankInput) -> Self {
        Self::Bank { slots: input.save_slots.as_deref().map(slots) }
    }
}

/// A seat of Farkle.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct FarkleSeat {
    /// The points of the saves of this hand, before the multiplier.
    turn_score: Long,
    /// The factor applied to the turn score.
    multiplier: Long,
    /// The points of the completed hands of this round, after their multipliers.
    round_score: Long,
    /// The points of the round if banked now: `roundScore + turnScore × multiplier`.
    unbanked_points: Long,
    /// The number of saves of this round that include a hot die.
    hot_counter: i32,
    /// The bonus points of the next bank.
    dare_bonus: Long,
    /// Consecutive farkles since the last bank.
    farkles_in_a_row: i32,
    /// The number of dice saved in this round.
    dice_saved: i32,
    /// The number of rolls of this round.
    rolls_this_round: i32,
    /// The number of hot dice in this game.
    hot_dice: i32,
    /// The points of the best round of this game.
    best_round: Long,
    /// The number of rounds played.
    rounds_played: i32,
    /// The points lost by farkles, time-outs and leaving.
    points_forfeited: Long,
    /// The last round. Null before the first one ended.
    last_round: Option<FarkleRound>,
}

/// A round of Farkle.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct FarkleRound {
    /// The points of the round.
    points: Long,
    /// How the round ended.
    end: TurnEndReason,
    /// The number of hot dice in the round.
    hot_dice: i32,
}

impl FarkleSeat {
    pub(in crate::api) fn of(facts: &Facts<'_>) -> Self {
        let ended = facts.text("last_round_end");
        let end = domain::TurnEnd::ALL.into_iter().find(|end| end.name() == ended);
        Self {
            turn_score: facts.long("turn_score"),
            multiplier: facts.long("double"),
            round_score: facts.long("round_score"),
            unbanked_points: facts.long("unbanked"),
            hot_counter: facts.int("hot"),
            dare_bonus: facts.long("dare"),
            farkles_in_a_row: facts.int("farkles_in_a_row"),
            dice_saved: facts.int("dice_saved"),
            rolls_this_round: facts.int("rolls_this_round"),
            hot_dice: facts.int("hot_dice"),
            best_round: facts.long("best_round"),
            rounds_played: facts.int("rounds_played"),
            points_forfeited: facts.long("forfeited"),
            last_round: end.map(|end| FarkleRound {
                points: facts.long("last_round_points"),
                end: end.into(),
                hot_dice: facts.int("last_round_hot_dice"),
            }),
        }
    }
}

ruleset_type! {
    /// The rules of a game of Farkle.
    FarkleRuleset(Arc<FarkleRules>) {
        /// The number of dice.
        async fn dice(&self) -> i32 {
            self.rules.dice.into()
        }

        /// The score that ends the game. Null for a game of rounds.
        async fn target(&self) -> Option<Long> {
            self.rules.target.map(Long)
        }

        /// The number of rounds. Null for a game to a target.
        async fn rounds(&self) -> Option<i32> {
            self.rules.rounds.map(int)
        }

        /// The maximum number of overtime rounds to break a tie. Null for no limit.
        async fn overtime_rounds(&self) -> Option<i32> {
            self.rules.overtime_rounds.map(int)
        }

        /// The minimum points of the first bank of a seat.
        async fn break_in(&self) -> Long {
            Long(self.rules.break_in)
        }

        /// The number of consecutive farkles that costs `penaltyPoints`.
        async fn penalty_farkles(&self) -> i32 {
            int(self.rules.penalty_farkles)
        }

        /// The points lost after `penaltyFarkles` consecutive farkles.
        async fn penalty_points(&self) -> Long {
            Long(self.rules.penalty_points)
        }

        /// Whether a farkle also loses the completed hands of its round.
        async fn farkle_forfeits_round(&self) -> bool {
            self.rules.forfeits_round()
        }

        /// The points of the combinations.
        async fn scoring(&self) -> FarkleScoring {
            self.rules.scoring.scoring().into()
        }

        /// The limits of loadouts. Null in games with ordinary dice.
        async fn loadout_limits(&self) -> Option<LoadoutLimits> {
            self.rules.loadout_limits.as_ref().map(Into::into)
        }
    }
}

/// The points of the combinations in Farkle. Lists are by face, from 1 to 6; 0 does not score.
#[derive(Clone, Debug, SimpleObject)]
struct FarkleScoring {
    /// One die.
    single: Vec<Long>,
    /// Three dice of one face.
    three_of_a_kind: Vec<Long>,
    /// Four dice of one face.
    four_of_a_kind: Vec<Long>,
    /// Five dice of one face.
    five_of_a_kind: Vec<Long>,
    /// Six dice of one face.
    six_of_a_kind: Vec<Long>,
    /// One die of each face.
    straight: Long,
    /// Three pairs.
    three_pairs: Long,
    /// Two triplets.
    two_triplets: Long,
}

impl From<&farkle::scoring::Scoring> for FarkleScoring {
    fn from(scoring: &farkle::scoring::Scoring) -> Self {
        let list = |points: &[i64]| points.iter().copied().map(Long).collect();
        Self {
            single: list(&scoring.single),
            three_of_a_kind: list(&scoring.three_of_a_kind),
            four_of_a_kind: list(&scoring.four_of_a_kind),
            five_of_a_kind: list(&scoring.five_of_a_kind),
            six_of_a_kind: list(&scoring.six_of_a_kind),
            straight: Long(scoring.straight),
            three_pairs: Long(scoring.three_pairs),
            two_triplets: Long(scoring.two_triplets),
        }
    }
}

/// The limits of loadouts.
#[derive(Clone, Debug, SimpleObject)]
struct LoadoutLimits {
    /// The maximum number of dice of any one code. Null for no limit.
    max_of_one: Option<i32>,
    /// The maximum number of dice of certain codes.
    max_copies: Vec<DieLimit>,
    /// The maximum number of dice of certain tiers.
    max_of_tier: Vec<TierLimit>,
    /// The pairs of codes that cannot be combined.
    banned_pairs: Vec<Vec<DieCode>>,
}

/// The maximum number of dice of a code.
#[derive(Clone, Debug, SimpleObject)]
struct DieLimit {
    /// The code.
    code: DieCode,
    /// The maximum number of dice.
    max: i32,
}

/// The maximum number of dice of a tier.
#[derive(Clone, Debug, SimpleObject)]
struct TierLimit {
    /// The tier.
    tier: DieTier,
    /// The maximum number of dice.
    max: i32,
}

impl From<&farkle::LoadoutLimits> for LoadoutLimits {
    fn from(limits: &farkle::LoadoutLimits) -> Self {
        let copies = limits.most_copies.iter();
        let tiers = limits.most_of_tier.iter();
        let pairs = limits.banned_pairs.iter();
        Self {
            max_of_one: limits.most_of_one.map(Into::into),
            max_copies: copies
                .map(|(&code, &max)| DieLimit { code: code.into(), max: max.into() })
                .collect(),
            max_of_tier: tiers
                .map(|(&tier, &max)| TierLimit { tier: tier.into(), max: max.into() })
                .collect(),
            banned_pairs: pairs.map(|&(one, other)| vec![one.into(), other.into()]).collect(),
        }
    }
}
