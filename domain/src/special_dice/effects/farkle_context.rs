//! A farkle and the effects of special dice on it.

use super::save::Money;
use crate::{
    Change, Measure, Points,
    special_dice::{DARE_BONUS, DieAt},
};

/// An effect that reduces the loss of a farkle. Each applies at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mitigation {
    /// Points were scored because the farkle came early.
    Consoled,
    /// The round score was banked.
    RoundBanked,
    /// A part of the turn score was kept.
    TurnKept,
    /// The bonus of the next bank was raised.
    BonusRaised,
}

/// A farkle while special dice are applied to it.
#[derive(Clone, Debug)]
pub(crate) struct FarkleContext {
    /// Dice saved this round.
    pub(super) dice_saved: u32,
    /// Points of the completed hands.
    pub(super) round_score: Points,
    /// Points of the current hand, before any multiplier.
    pub(super) turn_score: Points,
    /// The effects applied so far: of several dice with the same effect, only the first one counts.
    applied: Vec<Mitigation>,
    /// Whether a die of the player banks the round: then awards are added to the round.
    banks_round: bool,
    /// Points awarded to the round.
    awarded_to_round: Points,
    game_score: Points,
    bonus: Points,
    /// The points of the round that were kept.
    pub(crate) kept: Points,
    /// The points scored beyond those.
    pub(crate) awarded: Points,
    /// The changes by each die.
    pub(crate) changes: Vec<(DieAt, Change)>,
    /// The money earned by each die.
    pub(crate) money: Money,
}

impl FarkleContext {
    pub(crate) fn new(
        dice_saved: u32,
        (round_score, turn_score): (Points, Points),
        game_score: Points,
        bonus: Points,
        banks_round: bool,
    ) -> Self {
        Self {
            dice_saved,
            round_score,
            turn_score,
            applied: Vec::new(),
            banks_round,
            awarded_to_round: 0,
            game_score,
            bonus,
            kept: 0,
            awarded: 0,
            changes: Vec::new(),
            money: Money::default(),
        }
    }

    /// Whether this effect was applied.
    pub(crate) fn had(&self, mitigation: Mitigation) -> bool {
        self.applied.contains(&mitigation)
    }

    /// Marks the effect as applied; returns whether this is the first time.
    pub(super) fn first(&mut self, mitigation: Mitigation) -> bool {
        let first = !self.had(mitigation);
        if first {
            self.applied.push(mitigation);
        }
        first
    }

    /// Keeps points of the round.
    pub(super) fn keep(&mut self, die: DieAt, points: Points) {
        self.kept = self.kept.saturating_add(points);
        self.score(die, points);
    }

    /// Adds points: to the round if it is banked, otherwise to the score.
    pub(super) fn award(&mut self, die: DieAt, points: Points) {
        self.awarded = self.awarded.saturating_add(points);
        if self.banks_round {
            let before = self.round_score;
            self.awarded_to_round = points;
            let after = before.saturating_add(points);
            self.changes.push((die, Change { what: Measure::ROUND_SCORE, before, after }));
        } else {
            self.score(die, points);
        }
    }

    /// Banks the round score, with the points awarded to it.
    pub(super) fn bank_round(&mut self, die: DieAt) {
        self.kept = self.kept.saturating_add(self.round_score);
        self.score(die, self.round_score.saturating_add(self.awarded_to_round));
    }

    /// Raises the bonus of the next bank.
    pub(super) fn raise_bonus(&mut self, die: DieAt, points: Points) {
        let before = self.bonus;
        self.bonus = before.saturating_add(points);
        self.changes.push((die, Change { what: DARE_BONUS, before, after: self.bonus }));
    }

    fn score(&mut self, die: DieAt, points: Points) {
        if points != 0 {
            let before = self.game_score;
            self.game_score = before.saturating_add(points);
            let after = self.game_score;
            self.changes.push((die, Change { what: Measure::GAME_SCORE, before, after }));
        }
    }
}
