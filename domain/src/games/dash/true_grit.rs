//! True Grit: one turn each, without a bank; a single 1 ends it, and its points are kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    contest::{Contest, Contested, finish, next_turn},
    counts::count_multipliers,
    names,
    pair::{Pair, score},
};
use crate::{
    Change, Counts, DecidedBy, DieOnTable, EffectApplied, Event, Fact, Measure, Number, Play,
    Points, Rejection, Rules, Ruleset, SeatNo, Slug, Table, TurnEnd,
    decision::Decision,
    game_rules::{GameRules, Parameters},
    verbs::{ROLL, Verb},
};

/// The parameters of True Grit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueGritRules {
    /// The weight of each of the ten rolls with a single 1.
    pub single_one_weight: u32,
    /// The weight of each of the other 26 rolls.
    pub other_weight: u32,
    /// Whether a seat in the lead wins as soon as all seats after it have left; otherwise it rolls
    /// once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wins_when_others_leave: bool,
}

/// The state of a game of True Grit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrueGrit {
    /// Its rules.
    pub rules: Arc<TrueGritRules>,
    /// The players and the current turn.
    pub contest: Contest,
}

type TrueGritDecision<'a> = Decision<'a, TrueGrit>;

impl TrueGritRules {
    /// A single 1 is 0.8 times as likely as with standard dice: 10 × 52 of 2,340 tickets.
    pub(crate) fn presets() -> Vec<Ruleset> {
        let preset = |version, wins_when_others_leave| {
            let rules = Self { single_one_weight: 52, other_weight: 70, wins_when_others_leave };
            Ruleset::standard(version, Rules::TrueGrit(Arc::new(rules)))
        };
        vec![preset(2, true), preset(1, false)]
    }

    /// The weights of all 36 rolls; the first die is the more significant digit.
    fn weights(&self) -> [u32; 36] {
        std::array::from_fn(|number| {
            let single = pair(number).is_single_one();
            if single { self.single_one_weight } else { self.other_weight }
        })
    }
}

/// The roll with a number from 0 to 35.
fn pair(number: usize) -> Pair {
    let face = |value: usize| u8::try_from(value % 6 + 1).unwrap_or(1);
    Pair(face(number / 6), face(number))
}

impl Parameters for TrueGritRules {
    fn wording(&self, name: Slug) -> Option<&'static str> {
        names::wording(name)
    }

    fn numbers(&self) -> Vec<Number> {
        let (one, other) = (self.single_one_weight, self.other_weight);
        vec![
            // Without a single 1 a turn would never end.
            Number::new("single_one_weight", one, 1..=1_000_000, "How likely a single 1 is."),
            Number::new("other_weight", other, 0..=1_000_000, "How likely every other roll is."),
        ]
    }
}

impl TrueGrit {
    pub(crate) fn new(rules: &Arc<TrueGritRules>) -> Self {
        Self { rules: Arc::clone(rules), contest: Contest::default() }
    }
}

impl Contested for TrueGrit {
    fn contest(&self) -> &Contest {
        &self.contest
    }
}

impl GameRules for TrueGrit {
    const TITLE: &'static str = "True Grit";
    const FEWEST_SEATS: u8 = 2;
    const MOST_SEATS: u8 = 4;
    const VERBS: &'static [Verb] = &[ROLL];

    fn phase(&self, _: &Table) -> &'static str {
        "roll"
    }

    fn count(event: &Event, _: Option<SeatNo>, counts: &mut Counts) {
        count_multipliers(event, counts);
    }

    fn apply(&mut self, event: &Event) {
        self.contest.fold(event);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "moves of other games are rejected")]
    fn play(decision: &mut TrueGritDecision<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => match roll_on(decision)? {
                After::GoesOn => Ok(()),
                After::Won => win(decision, TurnEnd::Finished),
                After::SingleOne => {
                    finish(decision, TurnEnd::Finished);
                    next_turn(decision)
                }
            },
            _ => Err(Rejection::NoSuchMove { moves: "roll" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        vec![Play::Roll]
    }

    /// The house rolls for a player whose time is up; a player who leaves keeps nothing.
    fn cut_short(decision: &mut TrueGritDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        if how == TurnEnd::TimedOut {
            while roll_on(decision)? == After::GoesOn {}
        }
        finish(decision, how);
        Ok(())
    }

    /// The seat to move may now be the last one, and in the lead.
    fn left(decision: &mut TrueGritDecision<'_>, _: SeatNo) -> Result<(), Rejection> {
        if decision.board.rules.wins_when_others_leave && has_won(decision) {
            return win(decision, TurnEnd::Finished);
        }
        Ok(())
    }

    fn next_turn(decision: &mut TrueGritDecision<'_>) -> Result<(), Rejection> {
        next_turn(decision)
    }

    fn scores(&self) -> Vec<Points> {
        self.contest.scores()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        self.contest.facts(table, seat)
    }

    fn dice_on_table(&self, _: &Table) -> Vec<DieOnTable> {
        Pair::show(self.contest.turn.last)
    }
}

/// What follows a roll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    GoesOn,
    SingleOne,
    /// The last seat has more than any other.
    Won,
}

/// Rolls; a double sets the multiplier of the following rolls to its face.
fn roll_on(decision: &mut TrueGritDecision<'_>) -> Result<After, Rejection> {
    let before = decision.board.contest.turn;
    let pair = weighted_roll(decision)?;
    if pair.is_single_one() {
        return Ok(After::SingleOne);
    }
    match pair.double() {
        None => score(decision, pair, (pair.sum(), before.multiplier), before.total),
        Some(face) => {
            score(decision, pair, (pair.sum(), 1), before.total);
            set_multiplier(decision, before.multiplier, face.into());
        }
    }
    Ok(if has_won(decision) { After::Won } else { After::GoesOn })
}

fn weighted_roll(decision: &mut TrueGritDecision<'_>) -> Result<Pair, Rejection> {
    let rules = Arc::clone(&decision.board.rules);
    let (draw, ticket, number) = decision.pick(&rules.weights())?;
    let (pair, before) = (pair(number), decision.board.contest.turn);
    let max_points = match (pair.is_single_one(), pair.double()) {
        (true, _) => 0,
        (false, Some(_)) => pair.sum(),
        (false, None) => pair.sum().saturating_mul(before.multiplier),
    };
    decision.record_roll(draw, vec![ticket], &pair.faces(), max_points);
    Ok(pair)
}

fn set_multiplier(decision: &mut TrueGritDecision<'_>, before: Points, after: Points) {
    if before != after {
        let (seat, source) = (decision.table.turn.seat, names::DOUBLE);
        let changes = vec![Change { what: Measure::MULTIPLIER, before, after }];
        decision.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }
}

/// Whether the seat to move is the last of its round and has more than all others, so that the
/// result is final.
fn has_won(decision: &TrueGritDecision<'_>) -> bool {
    let (turn, contest) = (decision.table.turn, &decision.board.contest);
    let others = contest.contenders(&decision.table, turn.round);
    let others = others.into_iter().filter(|&seat| seat != turn.seat);
    let totals: Option<Vec<Points>> = others.map(|seat| contest.total(seat, turn.round)).collect();
    totals.is_some_and(|totals| totals.iter().all(|&total| total < contest.turn.total))
}

fn win(decision: &mut TrueGritDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
    let seat = decision.table.turn.seat;
    finish(decision, how);
    decision.end(DecidedBy::Score, vec![seat])
}
