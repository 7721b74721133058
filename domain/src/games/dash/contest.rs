//! A contest: one turn each, the highest total wins, and tied players repeat it among themselves.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Pair;
use crate::{
    DecidedBy, Event, Fact, Measure, Points, Rejection, SeatNo, Table, TurnEnd, TurnEnded,
    decision::Decision, game_rules::GameRules,
};

/// The players of a contest and the current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    /// The players, in seat order.
    pub players: Vec<Contestant>,
    /// The turn of the seat to move.
    pub turn: ContestTurn,
}

/// The results of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contestant {
    /// The total of each round played.
    pub totals: Arc<Vec<RoundTotal>>,
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTotal {
    /// The round of the table.
    pub round: u32,
    /// The total.
    pub points: Points,
}

/// The current turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContestTurn {
    /// The points so far.
    pub total: Points,
    /// The factor of plain rolls.
    pub multiplier: Points,
    /// The number of rolls.
    pub rolls: u32,
    /// The last roll.
    pub last: Option<Pair>,
}

impl Default for ContestTurn {
    fn default() -> Self {
        Self { total: 0, multiplier: 1, rolls: 0, last: None }
    }
}

/// A game that is a contest.
pub(super) trait Contested: GameRules {
    fn contest(&self) -> &Contest;
}

impl Contest {
    pub(super) fn fold(&mut self, event: &Event) {
        if let Event::SeatTaken { seat, .. } = event {
            if usize::from(*seat) == self.players.len() {
                self.players.push(Contestant::default());
            }
        } else if let Event::TurnStarted { .. } | Event::Ended(_) = event {
            self.turn = ContestTurn::default();
        } else if let Event::Rolled(rolled) = event {
            self.turn.rolls = self.turn.rolls.saturating_add(1);
            self.turn.last = Pair::of(rolled.faces);
        } else if let Event::Saved(saved) = event {
            self.turn.total = saved.turn_score;
        } else if let Event::EffectApplied(effect) = event {
            let set = effect.changes.iter().find(|change| change.what == Measure::MULTIPLIER);
            self.turn.multiplier = set.map_or(self.turn.multiplier, |change| change.after);
        } else if let Event::TurnEnded(ended) = event {
            self.turn = ContestTurn::default();
            if let Some(player) = self.players.get_mut(usize::from(ended.seat)) {
                let total = RoundTotal { round: ended.round, points: ended.points };
                Arc::make_mut(&mut player.totals).push(total);
            }
        }
    }

    /// The total of a seat in a round, if it has played it.
    pub(super) fn total(&self, seat: SeatNo, round: u32) -> Option<Points> {
        let totals = &self.players.get(usize::from(seat))?.totals;
        totals.iter().find(|total| total.round == round).map(|total| total.points)
    }

    /// The seats that play a round: all in the first one, then those tied for the lead in the
    /// previous one.
    pub(super) fn contenders(&self, table: &Table, round: u32) -> Vec<SeatNo> {
        let seated: Vec<SeatNo> = table.seated().collect();
        let Some(before) = round.checked_sub(1).filter(|&before| before > 0) else { return seated };
        let played = |seat: &SeatNo| self.total(*seat, before).is_some();
        let played: Vec<SeatNo> = seated.into_iter().filter(played).collect();
        let best = played.iter().filter_map(|&seat| self.total(seat, before)).max();
        played.into_iter().filter(|&seat| self.total(seat, before) == best).collect()
    }

    pub(super) fn scores(&self) -> Vec<Points> {
        let last = |player: &Contestant| player.totals.last().map_or(0, |total| total.points);
        self.players.iter().map(last).collect()
    }

    pub(super) fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let idle = ContestTurn::default();
        let moves = table.turn.seat == seat && self.turn.rolls > 0;
        let turn = if moves { &self.turn } else { &idle };
        let made = self.scores().get(usize::from(seat)).copied().unwrap_or(0);
        let total = if moves { turn.total } else { made };
        vec![
            ("total", Fact::Number(total)),
            ("game_score", Fact::Number(made)),
            ("turn_score", Fact::Number(turn.total)),
            ("multiplier", Fact::Number(turn.multiplier)),
            ("rolls_this_turn", Fact::Number(turn.rolls.into())),
        ]
    }
}

/// The turn of the next contender in this round; after the last one the leader wins, or tied
/// players play another round.
pub(super) fn next_turn<B: Contested>(decision: &mut Decision<'_, B>) -> Result<(), Rejection> {
    let turn = decision.table.turn;
    let contest = decision.board.contest();
    let contenders = contest.contenders(&decision.table, turn.round);
    let to_play = |&&seat: &&SeatNo| contest.total(seat, turn.round).is_none();
    if let Some(&next) = contenders.iter().find(to_play) {
        decision.start_turn(next, turn.round);
        return Ok(());
    }
    let round = turn.round.saturating_add(1);
    let tied = contest.contenders(&decision.table, round);
    match tied[..] {
        [] => decision.end(DecidedBy::Deserted, Vec::new()),
        [winner] => decision.end(DecidedBy::Score, vec![winner]),
        [first, ..] => {
            decision.start_turn(first, round);
            Ok(())
        }
    }
}

/// Ends the turn with its total.
pub(super) fn finish<B: Contested>(decision: &mut Decision<'_, B>, how: TurnEnd) {
    let turn = decision.table.turn;
    let points = decision.board.contest().turn.total;
    decision.record(Event::TurnEnded(TurnEnded {
        seat: turn.seat,
        round: turn.round,
        how,
        points,
        forfeited: 0,
        bonus_lost: 0,
        reaches_target: false,
    }));
}
