//! A farkle, and what special dice make of it.

use super::save::Money;
use crate::{
    Change, Measure, Points,
    special_dice::{DARE_BONUS, DieAt},
};

/// What takes the edge off a farkle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relief {
    /// Points were scored because it came early.
    Consoled,
    /// The round score is safe.
    RoundBanked,
    /// A part of the turn score is safe.
    TurnKept,
    /// The bonus of the next bank has grown.
    BonusRaised,
}

/// A farkle under the hands of special dice.
#[derive(Clone, Debug)]
pub(crate) struct Fall {
    /// Dice saved this round.
    pub(super) dice_saved: u32,
    /// Points of the completed hands.
    pub(super) round_score: Points,
    /// Points of the hand, before any multiplier.
    pub(super) turn_score: Points,
    /// What has happened: of dice that do the same, only the first one does it.
    done: Vec<Relief>,
    /// A die of the player banks the round: what is awarded goes there.
    banks_round: bool,
    /// Points awarded to the round.
    awarded_to_round: Points,
    game_score: Points,
    bonus: Points,
    /// What was saved out of the round.
    pub(crate) kept: Points,
    /// What was scored beyond it.
    pub(crate) awarded: Points,
    /// What each die changed.
    pub(crate) changes: Vec<(DieAt, Change)>,
    /// What each die earned.
    pub(crate) money: Money,
}

impl Fall {
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
            done: Vec::new(),
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

    /// Whether this has happened.
    pub(crate) fn had(&self, relief: Relief) -> bool {
        self.done.contains(&relief)
    }

    /// Whether this happens now: for the first time.
    pub(super) fn first(&mut self, relief: Relief) -> bool {
        let first = !self.had(relief);
        if first {
            self.done.push(relief);
        }
        first
    }

    /// Points of the round that a die saves.
    pub(super) fn keep(&mut self, die: DieAt, points: Points) {
        self.kept = self.kept.saturating_add(points);
        self.score(die, points);
    }

    /// Points that a die adds: to the round if that is banked, to the score if not.
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

    /// The round, with what was awarded to it.
    pub(super) fn bank_round(&mut self, die: DieAt) {
        self.kept = self.kept.saturating_add(self.round_score);
        self.score(die, self.round_score.saturating_add(self.awarded_to_round));
    }

    /// The next bank is worth more.
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
