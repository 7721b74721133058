//! True Grit: one turn each, without a bank; a single 1 ends it, and what was made is kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    contest::{Contest, Contested, finish, next_turn},
    counts::count_multipliers,
    names,
    pair::{Pair, score},
};
use crate::{
    Change, Counts, DecidedBy, DieOnTable, EffectApplied, Event, Fact, Measure, Play, Points,
    Rejection, Rules, Ruleset, SeatNo, Table, TurnEnd, Word,
    desk::Desk,
    rulebook::{Parameters, Rulebook},
    ruleset::within,
    verbs::{ROLL, Verb},
};

/// What a game of True Grit is played by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrueGritRules {
    /// How many tickets each of the ten rolls with a single 1 has.
    pub single_one_weight: u32,
    /// How many each of the other 26 has.
    pub other_weight: u32,
    /// Whether a seat that leads has won as soon as all seats after it have left; otherwise it rolls once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wins_when_others_leave: bool,
}

/// The state of a game of True Grit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrueGrit {
    /// What it is played by.
    pub rules: Arc<TrueGritRules>,
    /// The players and the turn.
    pub contest: Contest,
}

type GritDesk<'a> = Desk<'a, TrueGrit>;

impl TrueGritRules {
    /// A single 1 is 0.8 times as likely as with ordinary dice: 10 × 52 of 2,340 tickets.
    pub(crate) fn presets() -> Vec<Ruleset> {
        let preset = |version, wins_when_others_leave| {
            let rules = Self { single_one_weight: 52, other_weight: 70, wins_when_others_leave };
            Ruleset::standard(version, Rules::TrueGrit(Arc::new(rules)))
        };
        vec![preset(2, true), preset(1, false)]
    }

    /// The tickets of all 36 rolls, the first die counting sixes.
    fn weights(&self) -> [u32; 36] {
        std::array::from_fn(|number| {
            let single = pair(number).is_single_one();
            if single { self.single_one_weight } else { self.other_weight }
        })
    }
}

/// The roll of a number from 0 to 35.
fn pair(number: usize) -> Pair {
    let face = |value: usize| u8::try_from(value % 6 + 1).unwrap_or(1);
    Pair(face(number / 6), face(number))
}

impl Parameters for TrueGritRules {
    fn wording(&self, name: Word) -> Option<&'static str> {
        names::wording(name)
    }

    fn check(&self) -> Result<(), Rejection> {
        // Without a single 1 a turn would never end.
        within("single_one_weight", self.single_one_weight, 1..=1_000_000)?;
        within("other_weight", self.other_weight, 0..=1_000_000)
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

impl Rulebook for TrueGrit {
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

    #[expect(clippy::wildcard_enum_match_arm, reason = "the moves of other games are refused")]
    fn play(desk: &mut GritDesk<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => match roll_on(desk)? {
                After::GoesOn => Ok(()),
                After::Won => win(desk, TurnEnd::Finished),
                After::SingleOne => {
                    finish(desk, TurnEnd::Finished);
                    next_turn(desk)
                }
            },
            _ => Err(Rejection::NoSuchMove { moves: "roll" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        vec![Play::Roll]
    }

    /// The house rolls for who does not; who leaves keeps nothing.
    fn cut_short(desk: &mut GritDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
        if how == TurnEnd::TimedOut {
            while roll_on(desk)? == After::GoesOn {}
        }
        finish(desk, how);
        Ok(())
    }

    /// The seat to move may be the last one now, and lead.
    fn left(desk: &mut GritDesk<'_>, _: SeatNo) -> Result<(), Rejection> {
        if desk.board.rules.wins_when_others_leave && leads_for_good(desk) {
            return win(desk, TurnEnd::Finished);
        }
        Ok(())
    }

    fn next_turn(desk: &mut GritDesk<'_>) -> Result<(), Rejection> {
        next_turn(desk)
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

/// What comes after a roll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    GoesOn,
    SingleOne,
    /// The last seat has more than anybody else.
    Won,
}

/// Rolls; a double sets the multiplier to its face, for the rolls behind it.
fn roll_on(desk: &mut GritDesk<'_>) -> Result<After, Rejection> {
    let before = desk.board.contest.turn;
    let pair = weighted_roll(desk)?;
    if pair.is_single_one() {
        return Ok(After::SingleOne);
    }
    match pair.double() {
        None => score(desk, pair, (pair.sum(), before.multiplier), before.total),
        Some(face) => {
            score(desk, pair, (pair.sum(), 1), before.total);
            set_multiplier(desk, before.multiplier, face.into());
        }
    }
    Ok(if leads_for_good(desk) { After::Won } else { After::GoesOn })
}

fn weighted_roll(desk: &mut GritDesk<'_>) -> Result<Pair, Rejection> {
    let rules = Arc::clone(&desk.board.rules);
    let (draw, ticket, number) = desk.pick(&rules.weights())?;
    let (pair, before) = (pair(number), desk.board.contest.turn);
    let max_points = match (pair.is_single_one(), pair.double()) {
        (true, _) => 0,
        (false, Some(_)) => pair.sum(),
        (false, None) => pair.sum().saturating_mul(before.multiplier),
    };
    desk.record_roll(draw, vec![ticket], &pair.faces(), max_points);
    Ok(pair)
}

fn set_multiplier(desk: &mut GritDesk<'_>, before: Points, after: Points) {
    if before != after {
        let (seat, source) = (desk.table.turn.seat, names::DOUBLE);
        let changes = vec![Change { what: Measure::MULTIPLIER, before, after }];
        desk.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }
}

/// Whether the seat to move is the last of its round and has more than all others: nothing can change that.
fn leads_for_good(desk: &GritDesk<'_>) -> bool {
    let (turn, contest) = (desk.table.turn, &desk.board.contest);
    let others = contest.contenders(&desk.table, turn.round);
    let others = others.into_iter().filter(|&seat| seat != turn.seat);
    let totals: Option<Vec<Points>> = others.map(|seat| contest.total(seat, turn.round)).collect();
    totals.is_some_and(|totals| totals.iter().all(|&total| total < contest.turn.total))
}

fn win(desk: &mut GritDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    finish(desk, how);
    desk.end(DecidedBy::Score, vec![seat])
}
