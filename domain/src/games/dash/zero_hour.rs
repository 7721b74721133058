//! Zero Hour: count down from 100; a bank that reaches exactly 0 wins.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    counts::count_multipliers,
    names,
    pair::{Pair, roll, score},
};
use crate::{
    Banked, Change, Counts, DecidedBy, DieOnTable, EffectApplied, EffectSource, Event, Fact,
    Measure, Number, Play, Points, Rejection, Rules, Ruleset, SeatNo, Slug, Table, TurnEnd,
    decision::Decision,
    game_rules::{GameRules, Parameters},
    ruleset::within,
    verbs::{BANK, ROLL, Verb},
};

/// The parameters of Zero Hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZeroHourRules {
    /// The initial score.
    pub start: Points,
    /// The score after a bank that goes below 0.
    pub overshoot_to: Points,
    /// The effects of doubles, from 1s to 6s.
    pub doubles: [DoubleEffect; 6],
    /// Whether the active multiplier also applies to the bonus of a double.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiplies_bonus: bool,
}

/// The effect of a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubleEffect {
    /// The points added to the turn score, instead of the sum.
    pub bonus: Points,
    /// The multiplier of later rolls of the turn; `None` keeps the current one.
    pub multiplier: Option<Points>,
    /// The cost of a bank for the opponents.
    pub penalty: Penalty,
}

/// The cost of a double for the opponents when the turn is banked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// Nothing.
    None,
    /// This number of points.
    Points(Points),
    /// The turn score right after the bonus.
    TurnScore,
}

/// The state of a game of Zero Hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroHour {
    /// Its rules.
    pub rules: Arc<ZeroHourRules>,
    /// The players, in seat order.
    pub players: Vec<ZeroPlayer>,
    /// The turn of the seat to move.
    pub turn: ZeroTurn,
}

/// The state of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroPlayer {
    /// The points left to count down.
    pub score: Points,
    /// Farkles since the last bank.
    pub farkles_in_a_row: u32,
}

/// The current turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroTurn {
    /// The points that a bank subtracts from the score.
    pub score: Points,
    /// The factor of plain rolls.
    pub multiplier: Points,
    /// The points that a bank costs every opponent.
    pub penalty: Points,
    /// The number of rolls.
    pub rolls: u32,
    /// The last roll.
    pub last: Option<Pair>,
}

impl Default for ZeroTurn {
    fn default() -> Self {
        Self { score: 0, multiplier: 1, penalty: 0, rolls: 0, last: None }
    }
}

type ZeroHourDecision<'a> = Decision<'a, ZeroHour>;

impl ZeroHourRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        let double = |bonus, multiplier, penalty| DoubleEffect { bonus, multiplier, penalty };
        let preset = |version, multiplies_bonus, of_3s_and_6s| {
            let rules = Self {
                start: 100,
                overshoot_to: 100,
                doubles: [
                    double(20, Some(2), Penalty::None),
                    double(12, Some(2), Penalty::Points(4)),
                    double(6, of_3s_and_6s, Penalty::TurnScore),
                    double(8, Some(2), Penalty::Points(8)),
                    double(10, Some(2), Penalty::Points(10)),
                    double(12, of_3s_and_6s, Penalty::TurnScore),
                ],
                multiplies_bonus,
            };
            Ruleset::standard(version, Rules::ZeroHour(Arc::new(rules)))
        };
        // In version 1 a bonus was never multiplied, and 3s and 6s kept the multiplier.
        vec![preset(2, true, Some(1)), preset(1, false, None)]
    }

    fn double(&self, face: u8) -> Option<&DoubleEffect> {
        self.doubles.get(usize::from(face).checked_sub(1)?)
    }
}

impl Parameters for ZeroHourRules {
    fn wording(&self, name: Slug) -> Option<&'static str> {
        names::wording(name)
    }

    fn numbers(&self) -> Vec<Number> {
        let (start, overshoot_to) = (self.start, self.overshoot_to);
        vec![
            Number::new("start", start, 1..=1_000_000, "The points that everyone starts with."),
            Number::new(
                "overshoot_to",
                overshoot_to,
                1..=1_000_000,
                "The score after a bank that goes below 0.",
            ),
        ]
    }

    fn check(&self) -> Result<(), Rejection> {
        for double in &self.doubles {
            within("doubles.bonus", double.bonus, 0..=10_000)?;
            within("doubles.multiplier", double.multiplier.unwrap_or(1), 1..=1_000)?;
            if let Penalty::Points(points) = double.penalty {
                within("doubles.penalty", points, 0..=10_000)?;
            }
        }
        Ok(())
    }
}

impl ZeroHour {
    pub(crate) fn new(rules: &Arc<ZeroHourRules>) -> Self {
        Self { rules: Arc::clone(rules), players: Vec::new(), turn: ZeroTurn::default() }
    }

    fn player(&self, seat: SeatNo) -> ZeroPlayer {
        self.players.get(usize::from(seat)).copied().unwrap_or_default()
    }

    fn change(&mut self, seat: SeatNo, change: impl FnOnce(&mut ZeroPlayer)) {
        if let Some(player) = self.players.get_mut(usize::from(seat)) {
            change(player);
        }
    }

    fn changed(&mut self, effect: &EffectApplied) {
        for change in &effect.changes {
            let after = change.after;
            if change.what == Measure::GAME_SCORE {
                self.change(effect.seat, |player| player.score = after);
            } else if change.what == Measure::MULTIPLIER {
                self.turn.multiplier = after;
            } else if change.what == names::PENDING_PENALTY {
                self.turn.penalty = after;
            }
        }
    }
}

impl GameRules for ZeroHour {
    const TITLE: &'static str = "Zero Hour";
    const FEWEST_SEATS: u8 = 2;
    const MOST_SEATS: u8 = 4;
    const COUNTS_DOWN: bool = true;
    const VERBS: &'static [Verb] = &[ROLL, BANK];

    fn phase(&self, _: &Table) -> &'static str {
        if self.turn.rolls == 0 { "roll" } else { "roll_or_bank" }
    }

    fn count(event: &Event, _: Option<SeatNo>, counts: &mut Counts) {
        count_multipliers(event, counts);
    }

    fn apply(&mut self, event: &Event) {
        let start = self.rules.start;
        if let Event::SeatTaken { seat, .. } = event {
            if usize::from(*seat) == self.players.len() {
                self.players.push(ZeroPlayer { score: start, farkles_in_a_row: 0 });
            }
        } else if let Event::TurnStarted { .. } | Event::TurnEnded(_) | Event::Ended(_) = event {
            self.turn = ZeroTurn::default();
        } else if let Event::Rolled(rolled) = event {
            self.turn.rolls = self.turn.rolls.saturating_add(1);
            self.turn.last = Pair::of(rolled.faces);
        } else if let Event::Saved(saved) = event {
            self.turn.score = saved.turn_score;
        } else if let Event::Banked(banked) = event {
            self.change(banked.seat, |player| {
                *player = ZeroPlayer { score: banked.game_score, farkles_in_a_row: 0 };
            });
        } else if let Event::Farkled(farkled) = event {
            self.change(farkled.seat, |player| player.farkles_in_a_row = farkled.in_a_row);
        } else if let Event::EffectApplied(effect) = event {
            self.changed(effect);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "moves of other games are rejected")]
    fn play(decision: &mut ZeroHourDecision<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => roll_dice(decision),
            Play::Bank { slots: None } if decision.board.turn.rolls == 0 => {
                Err(Rejection::NothingToBank)
            }
            Play::Bank { slots: None } => bank(decision),
            _ => Err(Rejection::NoSuchMove { moves: "roll, bank" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        let bank = (self.turn.rolls > 0).then_some(Play::Bank { slots: None });
        [Play::Roll].into_iter().chain(bank).collect()
    }

    /// Unbanked points are lost; this is not a farkle.
    fn cut_short(decision: &mut ZeroHourDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        decision.end_turn(how, 0, decision.board.turn.score);
        Ok(())
    }

    fn next_turn(decision: &mut ZeroHourDecision<'_>) -> Result<(), Rejection> {
        decision.pass_turn()
    }

    fn scores(&self) -> Vec<Points> {
        self.players.iter().map(|player| player.score).collect()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let player = self.player(seat);
        let idle = ZeroTurn::default();
        let turn = if table.turn.seat == seat { &self.turn } else { &idle };
        vec![
            ("game_score", Fact::Number(player.score)),
            ("total", Fact::Number(player.score)),
            ("turn_score", Fact::Number(turn.score)),
            ("remaining", Fact::Number(player.score.saturating_sub(turn.score).max(0))),
            ("multiplier", Fact::Number(turn.multiplier)),
            ("pending_penalty", Fact::Number(turn.penalty)),
            ("rolls_this_turn", Fact::Number(turn.rolls.into())),
            ("farkles_in_a_row", Fact::Number(player.farkles_in_a_row.into())),
        ]
    }

    fn dice_on_table(&self, _: &Table) -> Vec<DieOnTable> {
        Pair::show(self.turn.last)
    }
}

/// A single 1 ends the turn; a double gives its bonus and effect; any other roll adds its sum.
fn roll_dice(decision: &mut ZeroHourDecision<'_>) -> Result<(), Rejection> {
    let (rules, turn) = (Arc::clone(&decision.board.rules), decision.board.turn);
    let double = |pair: Pair| pair.double().and_then(|face| rules.double(face));
    let worth = |pair: Pair| match double(pair) {
        _ if pair.is_single_one() => (0, 1),
        Some(double) if !rules.multiplies_bonus => (double.bonus, 1),
        Some(double) => (double.bonus, turn.multiplier),
        None => (pair.sum(), turn.multiplier),
    };
    let total = |(points, multiplier): (Points, Points)| points.saturating_mul(multiplier);
    let pair = roll(decision, |pair| total(worth(pair)))?;
    if pair.is_single_one() {
        return farkle(decision);
    }
    score(decision, pair, worth(pair), turn.score);
    if let Some(double) = double(pair) {
        apply_double(decision, double);
    }
    Ok(())
}

fn apply_double(decision: &mut ZeroHourDecision<'_>, double: &DoubleEffect) {
    let turn = decision.board.turn;
    let cost = match double.penalty {
        Penalty::None => 0,
        Penalty::Points(points) => points,
        Penalty::TurnScore => turn.score,
    };
    let (before, after) = (turn.penalty, turn.penalty.saturating_add(cost));
    let penalty = Change { what: names::PENDING_PENALTY, before, after };
    let multiplier = double.multiplier.map(|after| Change {
        what: Measure::MULTIPLIER,
        before: turn.multiplier,
        after,
    });
    let changes: Vec<Change> =
        multiplier.into_iter().chain([penalty]).filter(|c| c.before != c.after).collect();
    if !changes.is_empty() {
        let (seat, source) = (decision.table.turn.seat, names::DOUBLE);
        decision.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }
}

fn farkle(decision: &mut ZeroHourDecision<'_>) -> Result<(), Rejection> {
    let (seat, forfeited) = (decision.table.turn.seat, decision.board.turn.score);
    let in_a_row = decision.board.player(seat).farkles_in_a_row.saturating_add(1);
    decision.farkle(forfeited, in_a_row);
    ZeroHour::next_turn(decision)
}

/// Exactly 0 wins. Below 0 the score is reset, and the opponents lose nothing.
fn bank(decision: &mut ZeroHourDecision<'_>) -> Result<(), Rejection> {
    let (turn, now) = (decision.table.turn, decision.board.turn);
    let left = decision.board.player(turn.seat).score.saturating_sub(now.score);
    decision.record(Event::Banked(Banked::plain(turn, now.score, left, left == 0)));
    if left < 0 {
        let after = decision.board.rules.overshoot_to;
        change_score(decision, turn.seat, names::OVERSHOOT, after);
    } else if now.penalty > 0 {
        let others: Vec<SeatNo> =
            decision.table.seated().filter(|&seat| seat != turn.seat).collect();
        for seat in others {
            let after = decision.board.player(seat).score.saturating_add(now.penalty);
            change_score(decision, seat, names::BANK_PENALTY, after);
        }
    }
    decision.end_turn(TurnEnd::Banked, now.score, 0);
    if left == 0 {
        return decision.end(DecidedBy::Goal, vec![turn.seat]);
    }
    ZeroHour::next_turn(decision)
}

fn change_score(
    decision: &mut ZeroHourDecision<'_>,
    seat: SeatNo,
    source: EffectSource,
    after: Points,
) {
    let before = decision.board.player(seat).score;
    let changes = vec![Change { what: Measure::GAME_SCORE, before, after }];
    decision.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
}
