//! Last Line: one turn each, and again after every double; the highest total wins.

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
    desk::Desk,
    rulebook::{Parameters, Rulebook},
    verbs::{ROLL, Verb},
};

/// What a game of Last Line is played by: it has no numbers of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastLineRules {}

/// The state of a game of Last Line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLine {
    /// The players and the turn.
    pub contest: Contest,
}

type LineDesk<'a> = Desk<'a, LastLine>;

impl LastLineRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        vec![Ruleset::standard(1, Rules::LastLine(Arc::new(Self {})))]
    }
}

impl Parameters for LastLineRules {
    fn check(&self) -> Result<(), Rejection> {
        Ok(())
    }
}

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

impl Rulebook for LastLine {
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

    #[expect(clippy::wildcard_enum_match_arm, reason = "the moves of other games are refused")]
    fn play(desk: &mut LineDesk<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll if roll_on(desk)? => Ok(()),
            Play::Roll => {
                finish(desk, TurnEnd::Finished);
                next_turn(desk)
            }
            _ => Err(Rejection::NoSuchMove { moves: "roll" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        vec![Play::Roll]
    }

    /// The house rolls for who does not; who leaves keeps nothing.
    fn cut_short(desk: &mut LineDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
        if how == TurnEnd::TimedOut {
            while roll_on(desk)? {}
        }
        finish(desk, how);
        Ok(())
    }

    fn next_turn(desk: &mut LineDesk<'_>) -> Result<(), Rejection> {
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

/// Rolls and adds; whether it was a double, and goes on.
fn roll_on(desk: &mut LineDesk<'_>) -> Result<bool, Rejection> {
    let before = desk.board.contest.turn.total;
    let pair = roll(desk, Pair::sum)?;
    score(desk, pair, (pair.sum(), 1), before);
    Ok(pair.double().is_some())
}
