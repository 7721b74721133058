//! Last Line: one turn each, extended by every double; the highest total wins.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    contest::{Contest, Contested, finish, next_turn},
    counts::count_multipliers,
    pair::{Pair, roll, score},
};
use crate::{
    Counts, DieOnTable, Event, Fact, Play, Points, Rejection, Rules, Ruleset, SeatNo, Table,
    TurnEnd,
    decision::Decision,
    game_rules::{GameRules, Parameters},
    verbs::{ROLL, Verb},
};

/// The parameters of Last Line: it has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastLineRules {}

/// The state of a game of Last Line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLine {
    /// The players and the current turn.
    pub contest: Contest,
}

type LastLineDecision<'a> = Decision<'a, LastLine>;

impl LastLineRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        vec![Ruleset::standard(1, Rules::LastLine(Arc::new(Self {})))]
    }
}

impl Parameters for LastLineRules {}

impl LastLine {
    pub(crate) fn new(_: &Arc<LastLineRules>) -> Self {
        Self { contest: Contest::default() }
    }
}

impl Contested for LastLine {
    fn contest(&self) -> &Contest {
        &self.contest
    }
}

impl GameRules for LastLine {
    const TITLE: &'static str = "Last Line";
    const FEWEST_SEATS: u8 = 2;
    const MOST_SEATS: u8 = 6;
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
    fn play(decision: &mut LastLineDecision<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll if roll_on(decision)? => Ok(()),
            Play::Roll => {
                finish(decision, TurnEnd::Finished);
                next_turn(decision)
            }
            _ => Err(Rejection::NoSuchMove { moves: "roll" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        vec![Play::Roll]
    }

    /// The house rolls for a player whose time is up; a player who leaves keeps nothing.
    fn cut_short(decision: &mut LastLineDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        if how == TurnEnd::TimedOut {
            while roll_on(decision)? {}
        }
        finish(decision, how);
        Ok(())
    }

    fn next_turn(decision: &mut LastLineDecision<'_>) -> Result<(), Rejection> {
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

/// Rolls and adds the points; returns whether it was a double, which extends the turn.
fn roll_on(decision: &mut LastLineDecision<'_>) -> Result<bool, Rejection> {
    let before = decision.board.contest.turn.total;
    let pair = roll(decision, Pair::sum)?;
    score(decision, pair, (pair.sum(), 1), before);
    Ok(pair.double().is_some())
}
