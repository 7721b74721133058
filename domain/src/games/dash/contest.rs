//! One turn each, the highest total wins, and the tied play again among themselves.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Pair;
use crate::{
    DecidedBy, Event, Fact, Measure, Points, Rejection, SeatNo, Table, TurnEnd, TurnEnded,
    desk::Desk, rulebook::Rulebook,
};

/// The players of a contest and the turn under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    /// The players, in seat order.
    pub players: Vec<Contestant>,
    /// The turn of the seat to move.
    pub turn: ContestTurn,
}

/// What a player has made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contestant {
    /// The total of each round played.
    pub totals: Arc<Vec<RoundTotal>>,
}

/// What a turn brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTotal {
    /// The round of the table.
    pub round: u32,
    /// The total.
    pub points: Points,
}

/// A turn under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContestTurn {
    /// The points so far.
    pub total: Points,
    /// What plain rolls are multiplied by.
    pub multiplier: Points,
    /// How often the dice were rolled.
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
pub(super) trait Contested: Rulebook {
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

    /// What a seat made in a round, if it has played it.
    pub(super) fn total(&self, seat: SeatNo, round: u32) -> Option<Points> {
        let totals = &self.players.get(usize::from(seat))?.totals;
        totals.iter().find(|total| total.round == round).map(|total| total.points)
    }

    /// The seats that play a round: all in the first, then those who were tied for the lead in the one before.
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

/// The next contender who has not played this round; behind the last one the leader wins, or the tied play again.
pub(super) fn next_turn<B: Contested>(desk: &mut Desk<'_, B>) -> Result<(), Rejection> {
    let turn = desk.table.turn;
    let contest = desk.board.contest();
    let contenders = contest.contenders(&desk.table, turn.round);
    let to_play = |&&seat: &&SeatNo| contest.total(seat, turn.round).is_none();
    if let Some(&next) = contenders.iter().find(to_play) {
        desk.start_turn(next, turn.round);
        return Ok(());
    }
    let round = turn.round.saturating_add(1);
    let tied = contest.contenders(&desk.table, round);
    match tied[..] {
        [] => desk.end(DecidedBy::Deserted, Vec::new()),
        [winner] => desk.end(DecidedBy::Score, vec![winner]),
        [first, ..] => {
            desk.start_turn(first, round);
            Ok(())
        }
    }
}

/// The turn is over, with whatever it made.
pub(super) fn finish<B: Contested>(desk: &mut Desk<'_, B>, how: TurnEnd) {
    let turn = desk.table.turn;
    let points = desk.board.contest().turn.total;
    desk.record(Event::TurnEnded(TurnEnded {
        seat: turn.seat,
        round: turn.round,
        how,
        points,
        forfeited: 0,
        bonus_lost: 0,
        reaches_target: false,
    }));
}
