//! The moves of Farkle.

use super::{Farkle, Phase, scoring::Tally};
use crate::{
    Banked, Change, EffectApplied, EffectSource, Event, Faces, Fact, Farkled, FarkledBy, Measure,
    Play, Points, Rejection, Rolled, Saved, SeatNo, Slots, Table, TurnEnd, TurnEnded,
    desk::{Desk, Rulebook},
};

type FarkleDesk<'a> = Desk<'a, Farkle>;

impl Rulebook for Farkle {
    const MOST_SEATS: u8 = 8;

    fn apply(&mut self, event: &Event) {
        self.fold(event);
    }

    fn play(desk: &mut FarkleDesk<'_>, play: &Play) -> Result<(), Rejection> {
        match (play, desk.board.round.phase) {
            (Play::Roll, Phase::Opening | Phase::Saved) => roll(desk),
            (Play::Roll, Phase::Rolled) => Err(Rejection::SaveFirst),

            (Play::Save { slots }, Phase::Rolled) => save(desk, slots),
            (Play::Save { .. }, Phase::Opening) => Err(Rejection::NothingRolled),
            (Play::Save { .. }, Phase::Saved) => Err(Rejection::AlreadySaved),

            (Play::Bank { slots: None }, Phase::Saved) => bank(desk),
            (Play::Bank { slots: None }, Phase::Rolled) => Err(Rejection::SaveFirst),
            (Play::Bank { slots: None }, Phase::Opening) => Err(Rejection::NothingToBank),
            (Play::Bank { slots: Some(slots) }, Phase::Rolled) => {
                save(desk, slots).and_then(|()| bank(desk))
            }
            (Play::Bank { slots: Some(_) }, Phase::Opening) => Err(Rejection::NothingRolled),
            (Play::Bank { slots: Some(_) }, Phase::Saved) => Err(Rejection::AlreadySaved),

            (Play::Forfeit, Phase::Rolled) => farkle(desk, FarkledBy::Choice),
            (Play::Forfeit, Phase::Opening) => Err(Rejection::NothingRolled),
            (Play::Forfeit, Phase::Saved) => Err(Rejection::AlreadySaved),
        }
    }

    fn plays(&self, table: &Table) -> Vec<Play> {
        match self.round.phase {
            Phase::Opening => vec![Play::Roll],
            Phase::Saved => {
                let mut plays = vec![Play::Roll];
                if breaks_in(self, table.turn.seat, self.round.unbanked()).is_ok() {
                    plays.push(Play::Bank { slots: None });
                }
                plays
            }
            Phase::Rolled => {
                let mut plays = vec![Play::Forfeit];
                for (slots, points) in self.selections() {
                    plays.push(Play::Save { slots: slots.to_vec() });
                    if breaks_in(
                        self,
                        table.turn.seat,
                        self.round.unbanked().saturating_add(points),
                    )
                    .is_ok()
                    {
                        plays.push(Play::Bank { slots: Some(slots.to_vec()) });
                    }
                }
                plays
            }
        }
    }

    /// What is not banked is lost; it is no farkle.
    fn cut_short(desk: &mut FarkleDesk<'_>, how: TurnEnd) {
        let forfeited = desk.board.round.unbanked();
        end_turn(desk, how, 0, forfeited);
    }

    fn next_turn(desk: &mut FarkleDesk<'_>) -> Result<(), Rejection> {
        super::ends::next_turn(desk)
    }

    fn scores(&self) -> Vec<Points> {
        self.players.iter().map(|player| player.game_score).collect()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        self.seat_facts(table, seat)
    }
}

/// The first roll of a round is the whole set, and so is the roll after hot dice, which makes the
/// points of the completed hand part of the round score. Every other roll is the dice in hand.
fn roll(desk: &mut FarkleDesk<'_>) -> Result<(), Rejection> {
    let round = &desk.board.round;
    let whole_set = Slots::first(desk.board.rules.dice);
    let folded = (round.phase == Phase::Saved && round.hand.is_empty()).then_some(round.turn_score);
    let slots = if round.hand.is_empty() { whole_set } else { round.hand };
    let (draw, raw) = desk.roll(slots.len(), 6)?;
    let shown = raw.iter().try_fold(Faces::EMPTY, |faces, &value| {
        u8::try_from(value).ok().and_then(|face| faces.with(face))
    });
    let dice = shown.and_then(|faces| Some((faces, Tally::of(faces.iter())?)));
    let Some((faces, tally)) = dice else {
        return Err(Rejection::WrongRoll { got: raw, dice: slots.len(), sides: draw.sides });
    };
    let max_points = desk.board.rules.scoring.best(tally);
    let seat = desk.table.turn.seat;
    desk.record(Event::Rolled(Rolled { seat, draw, slots, raw, faces, max_points, folded }));
    if max_points == 0 { farkle(desk, FarkledBy::Roll) } else { Ok(()) }
}

/// The selection must be used up entirely by combinations.
fn save(desk: &mut FarkleDesk<'_>, named: &[u8]) -> Result<(), Rejection> {
    let board = &desk.board;
    let slots = Slots::parse(named, board.rules.dice)?;
    let roll = board.round.last_roll().ok_or(Rejection::NothingRolled)?;
    if let Some(slot) = slots.without(roll.slots).iter().next() {
        return Err(Rejection::NotInRoll { slot, rolled: roll.slots });
    }
    let chosen = roll.dice().filter(|&(slot, _)| slots.contains(slot));
    let combinations = board
        .rules
        .scoring
        .explain(chosen)
        .ok_or_else(|| Rejection::NotScoring { idle: idle_dice(board, slots) })?;
    let points = combinations.iter().map(|combination| combination.points).sum();
    let saved = Saved {
        seat: desk.table.turn.seat,
        slots,
        combinations,
        points,
        turn_score: board.round.turn_score.saturating_add(points),
        left: roll.slots.without(slots),
    };
    desk.record(Event::Saved(saved));
    Ok(())
}

/// The dice to leave out of a selection that does not score: as few as possible.
fn idle_dice(board: &Farkle, chosen: Slots) -> Slots {
    let scoring = board.selections().map(|(slots, _)| slots);
    let within = scoring.filter(|slots| slots.without(chosen).is_empty());
    chosen.without(within.max_by_key(|slots| slots.len()).unwrap_or(Slots::EMPTY))
}

fn bank(desk: &mut FarkleDesk<'_>) -> Result<(), Rejection> {
    let (board, turn) = (&desk.board, desk.table.turn);
    let (round_score, turn_score) = (board.round.round_score, board.round.turn_score);
    let points = board.round.unbanked();
    breaks_in(board, turn.seat, points)?;
    let game_score = board.player(turn.seat).game_score.saturating_add(points);
    desk.record(Event::Banked(Banked {
        seat: turn.seat,
        round: turn.round,
        round_score,
        turn_score,
        points,
        game_score,
        reaches_target: board.rules.target.is_some_and(|target| game_score >= target),
    }));
    end_turn(desk, TurnEnd::Banked, points, 0);
    super::ends::next_turn(desk)
}

/// While nothing is on the score, a small bank is refused.
pub(super) fn breaks_in(board: &Farkle, seat: SeatNo, points: Points) -> Result<(), Rejection> {
    let needed = board.rules.break_in;
    let on_the_board = board.player(seat).game_score != 0;
    if on_the_board || points >= needed {
        Ok(())
    } else {
        Err(Rejection::BelowBreakIn { points, needed })
    }
}

/// Everything unbanked is lost; several farkles in a row cost points on top.
fn farkle(desk: &mut FarkleDesk<'_>, by: FarkledBy) -> Result<(), Rejection> {
    let seat = desk.table.turn.seat;
    let forfeited = desk.board.round.unbanked();
    let in_a_row = desk.board.player(seat).farkles_in_a_row.saturating_add(1);
    desk.record(Event::Farkled(Farkled { seat, by, forfeited, in_a_row }));
    penalise(desk, seat);
    let how = match by {
        FarkledBy::Roll => TurnEnd::Farkled,
        FarkledBy::Choice => TurnEnd::Forfeited,
    };
    end_turn(desk, how, 0, forfeited);
    super::ends::next_turn(desk)
}

/// The count starts again with each penalty.
fn penalise(desk: &mut FarkleDesk<'_>, seat: SeatNo) {
    let rules = &desk.board.rules;
    let player = desk.board.player(seat);
    if rules.penalty_points == 0 || player.farkles_in_a_row < rules.penalty_farkles {
        return;
    }
    let score = player.game_score;
    let changes = vec![
        Change {
            what: Measure::GameScore,
            before: score,
            after: score.saturating_sub(rules.penalty_points),
        },
        Change { what: Measure::FarklesInARow, before: player.farkles_in_a_row.into(), after: 0 },
    ];
    let source = EffectSource::FarklePenalty;
    desk.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
}

fn end_turn(desk: &mut FarkleDesk<'_>, how: TurnEnd, points: Points, forfeited: Points) {
    let turn = desk.table.turn;
    let (seat, round) = (turn.seat, turn.round);
    desk.record(Event::TurnEnded(TurnEnded { seat, round, how, points, forfeited }));
}
