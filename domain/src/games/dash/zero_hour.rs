//! Zero Hour: count down from 100; exactly 0 wins, at a bank.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    counts::count_multipliers,
    names,
    pair::{Pair, roll, score},
};
use crate::{
    Banked, Change, Counts, DecidedBy, DieOnTable, EffectApplied, EffectSource, Event, Fact,
    Measure, Play, Points, Rejection, Rules, Ruleset, SeatNo, Table, TurnEnd, Word,
    desk::Desk,
    rulebook::{Parameters, Rulebook},
    ruleset::within,
    verbs::{BANK, ROLL, Verb},
};

/// What a game of Zero Hour is played by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZeroHourRules {
    /// Where everybody begins.
    pub start: Points,
    /// Where a bank that goes below 0 leads.
    pub overshoot_to: Points,
    /// What doubles do, from 1s to 6s.
    pub doubles: [DoubleEffect; 6],
    /// Whether the multiplier that is active when a double falls holds for its bonus, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiplies_bonus: bool,
}

/// What a double does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubleEffect {
    /// What it adds to the turn score, in place of its sum.
    pub bonus: Points,
    /// What later rolls of the turn are multiplied by; `None` leaves it as it is.
    pub multiplier: Option<Points>,
    /// What a bank costs the opponents.
    pub penalty: Penalty,
}

/// What a double costs the opponents when the turn is banked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalty {
    /// Nothing.
    None,
    /// So many points.
    Points(Points),
    /// The turn score just after the bonus.
    TurnScore,
}

/// The state of a game of Zero Hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroHour {
    /// What it is played by.
    pub rules: Arc<ZeroHourRules>,
    /// The players, in seat order.
    pub players: Vec<ZeroPlayer>,
    /// The turn of the seat to move.
    pub turn: ZeroTurn,
}

/// What a player has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroPlayer {
    /// What is left to count down.
    pub score: Points,
    /// Farkles since the last bank.
    pub farkles_in_a_row: u32,
}

/// A turn under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroTurn {
    /// What a bank takes off the score.
    pub score: Points,
    /// What plain rolls are multiplied by.
    pub multiplier: Points,
    /// What a bank costs every opponent.
    pub penalty: Points,
    /// How often the dice were rolled.
    pub rolls: u32,
    /// The last roll.
    pub last: Option<Pair>,
}

impl Default for ZeroTurn {
    fn default() -> Self {
        Self { score: 0, multiplier: 1, penalty: 0, rolls: 0, last: None }
    }
}

type ZeroDesk<'a> = Desk<'a, ZeroHour>;

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
        // In version 1 a bonus was never multiplied, and 3s and 6s left the multiplier as it was.
        vec![preset(2, true, Some(1)), preset(1, false, None)]
    }

    fn double(&self, face: u8) -> Option<&DoubleEffect> {
        self.doubles.get(usize::from(face).checked_sub(1)?)
    }
}

impl Parameters for ZeroHourRules {
    fn wording(&self, name: Word) -> Option<&'static str> {
        names::wording(name)
    }

    fn check(&self) -> Result<(), Rejection> {
        within("start", self.start, 1..=1_000_000)?;
        within("overshoot_to", self.overshoot_to, 1..=1_000_000)?;
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

impl Rulebook for ZeroHour {
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

    #[expect(clippy::wildcard_enum_match_arm, reason = "the moves of other games are refused")]
    fn play(desk: &mut ZeroDesk<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => roll_dice(desk),
            Play::Bank { slots: None } if desk.board.turn.rolls == 0 => {
                Err(Rejection::NothingToBank)
            }
            Play::Bank { slots: None } => bank(desk),
            _ => Err(Rejection::NoSuchMove { moves: "roll, bank" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        let bank = (self.turn.rolls > 0).then_some(Play::Bank { slots: None });
        [Play::Roll].into_iter().chain(bank).collect()
    }

    /// What is not banked is lost; it is no farkle.
    fn cut_short(desk: &mut ZeroDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
        desk.end_turn(how, 0, desk.board.turn.score);
        Ok(())
    }

    fn next_turn(desk: &mut ZeroDesk<'_>) -> Result<(), Rejection> {
        desk.pass_turn()
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

/// A single 1 ends the turn; a double gives its bonus and does what it does; everything else adds its sum.
fn roll_dice(desk: &mut ZeroDesk<'_>) -> Result<(), Rejection> {
    let (rules, turn) = (Arc::clone(&desk.board.rules), desk.board.turn);
    let double = |pair: Pair| pair.double().and_then(|face| rules.double(face));
    let worth = |pair: Pair| match double(pair) {
        _ if pair.is_single_one() => (0, 1),
        Some(double) if !rules.multiplies_bonus => (double.bonus, 1),
        Some(double) => (double.bonus, turn.multiplier),
        None => (pair.sum(), turn.multiplier),
    };
    let total = |(points, multiplier): (Points, Points)| points.saturating_mul(multiplier);
    let pair = roll(desk, |pair| total(worth(pair)))?;
    if pair.is_single_one() {
        return farkle(desk);
    }
    score(desk, pair, worth(pair), turn.score);
    if let Some(double) = double(pair) {
        apply_double(desk, double);
    }
    Ok(())
}

fn apply_double(desk: &mut ZeroDesk<'_>, double: &DoubleEffect) {
    let turn = desk.board.turn;
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
        let (seat, source) = (desk.table.turn.seat, names::DOUBLE);
        desk.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }
}

fn farkle(desk: &mut ZeroDesk<'_>) -> Result<(), Rejection> {
    let (seat, forfeited) = (desk.table.turn.seat, desk.board.turn.score);
    let in_a_row = desk.board.player(seat).farkles_in_a_row.saturating_add(1);
    desk.farkle(forfeited, in_a_row);
    ZeroHour::next_turn(desk)
}

/// Exactly 0 wins. Below 0 the score goes back, and the opponents are spared.
fn bank(desk: &mut ZeroDesk<'_>) -> Result<(), Rejection> {
    let (turn, now) = (desk.table.turn, desk.board.turn);
    let left = desk.board.player(turn.seat).score.saturating_sub(now.score);
    desk.record(Event::Banked(Banked::plain(turn, now.score, left, left == 0)));
    if left < 0 {
        let after = desk.board.rules.overshoot_to;
        change_score(desk, turn.seat, names::OVERSHOOT, after);
    } else if now.penalty > 0 {
        let others: Vec<SeatNo> = desk.table.seated().filter(|&seat| seat != turn.seat).collect();
        for seat in others {
            let after = desk.board.player(seat).score.saturating_add(now.penalty);
            change_score(desk, seat, names::BANK_PENALTY, after);
        }
    }
    desk.end_turn(TurnEnd::Banked, now.score, 0);
    if left == 0 {
        return desk.end(DecidedBy::Goal, vec![turn.seat]);
    }
    ZeroHour::next_turn(desk)
}

fn change_score(desk: &mut ZeroDesk<'_>, seat: SeatNo, source: EffectSource, after: Points) {
    let before = desk.board.player(seat).score;
    let changes = vec![Change { what: Measure::GAME_SCORE, before, after }];
    desk.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
}
