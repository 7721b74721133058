//! The moves of Farkle.

use std::sync::Arc;

use super::{
    Farkle, Phase, names,
    verbs::{BANK_WITH, FORFEIT, SAVE},
};
use crate::{
    AwardedFor, Banked, Boost, Change, Counts, DieOnTable, Dollars, EffectApplied, EffectSource,
    Event, Faces, Fact, Farkled, FarkledBy, Measure, Play, Points, Rejection, Rolled, Saved,
    SeatNo, Selection, Slots, Table, TurnEnd, TurnEnded,
    decision::Decision,
    game_rules::GameRules,
    special_dice,
    special_dice::{
        Code, Die, DieAt,
        effects::{FarkleContext, Mitigation, in_order},
    },
    verbs::{ROLL, Verb},
};

type FarkleDecision<'a> = Decision<'a, Farkle>;

impl GameRules for Farkle {
    const TITLE: &'static str = "Farkle";
    const MOST_SEATS: u8 = 8;
    const VERBS: &'static [Verb] = &[ROLL, SAVE, BANK_WITH, FORFEIT];

    fn without_history(&self) -> Self {
        let mut board = self.clone();
        for player in &mut board.players {
            player.rounds = Arc::default();
        }
        board
    }

    fn phase(&self, _: &Table) -> &'static str {
        match self.round.phase {
            Phase::Opening => "roll",
            Phase::Rolled => "save",
            Phase::Saved => "roll_or_bank",
        }
    }

    /// Counts hot dice.
    fn count(event: &Event, _: Option<SeatNo>, counts: &mut Counts) {
        if let Event::Saved(saved) = event {
            counts.add(saved.seat, "hot_dice", saved.left.is_empty().into());
        }
    }

    fn apply(&mut self, event: &Event) {
        self.fold(event);
    }

    fn play(decision: &mut FarkleDecision<'_>, play: &Play) -> Result<(), Rejection> {
        match (play, decision.board.round.phase) {
            (Play::Roll, Phase::Opening | Phase::Saved) => roll(decision),
            (Play::Roll, Phase::Rolled) => Err(Rejection::SaveFirst),

            (Play::Save { slots }, Phase::Rolled) => save(decision, slots),
            (Play::SaveAndRoll { slots }, Phase::Rolled) => {
                save(decision, slots).and_then(|()| roll(decision))
            }
            (Play::Save { .. } | Play::SaveAndRoll { .. }, Phase::Opening) => {
                Err(Rejection::NothingRolled)
            }
            (Play::Save { .. } | Play::SaveAndRoll { .. }, Phase::Saved) => {
                Err(Rejection::AlreadySaved)
            }

            (Play::Bank { slots: None }, Phase::Saved) => bank(decision),
            (Play::Bank { slots: None }, Phase::Rolled) => Err(Rejection::SaveFirst),
            (Play::Bank { slots: None }, Phase::Opening) => Err(Rejection::NothingToBank),
            (Play::Bank { slots: Some(slots) }, Phase::Rolled) => {
                save(decision, slots).and_then(|()| bank(decision))
            }
            (Play::Bank { slots: Some(_) }, Phase::Opening) => Err(Rejection::NothingRolled),
            (Play::Bank { slots: Some(_) }, Phase::Saved) => Err(Rejection::AlreadySaved),

            (Play::Forfeit, Phase::Rolled) => farkle(decision, FarkledBy::Choice),
            (Play::Forfeit, Phase::Opening) => Err(Rejection::NothingRolled),
            (Play::Forfeit, Phase::Saved) => Err(Rejection::AlreadySaved),

            _ => Err(Rejection::NoSuchMove { moves: "roll, save, bank, forfeit" }),
        }
    }

    fn plays(&self, table: &Table) -> Vec<Play> {
        match self.round.phase {
            Phase::Opening => vec![Play::Roll],
            Phase::Saved => {
                let mut plays = vec![Play::Roll];
                if breaks_in(self, table.turn.seat, 0).is_ok() {
                    plays.push(Play::Bank { slots: None });
                }
                plays
            }
            Phase::Rolled => {
                let mut plays = vec![Play::Forfeit];
                for (slots, points) in self.selections(table.turn.seat) {
                    plays.push(Play::Save { slots: slots.to_vec() });
                    plays.push(Play::SaveAndRoll { slots: slots.to_vec() });
                    if breaks_in(self, table.turn.seat, points).is_ok() {
                        plays.push(Play::Bank { slots: Some(slots.to_vec()) });
                    }
                }
                plays
            }
        }
    }

    /// Unbanked points are lost, and so is the bonus of earlier farkles. It is not a farkle, and
    /// dice have no effect.
    fn cut_short(decision: &mut FarkleDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        let seat = decision.table.turn.seat;
        let forfeited = decision.board.at_stake(seat);
        let bonus_lost = decision.board.player(seat).dare;
        decision.record(Event::TurnEnded(TurnEnded {
            bonus_lost,
            ..turn_ended(decision, how, 0, forfeited)
        }));
        Ok(())
    }

    fn next_turn(decision: &mut FarkleDecision<'_>) -> Result<(), Rejection> {
        super::ends::next_turn(decision)
    }

    fn scores(&self) -> Vec<Points> {
        self.players.iter().map(|player| player.game_score).collect()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        self.seat_facts(table, seat)
    }

    fn dice_on_table(&self, table: &Table) -> Vec<DieOnTable> {
        self.show_dice(table.turn.seat)
    }

    fn selections_on_table(&self, table: &Table) -> Vec<Selection> {
        self.show_selections(table)
    }

    fn best_selection(&self, table: &Table) -> Option<Selection> {
        self.show_best(table)
    }

    fn loadout_of(&self, seat: SeatNo) -> Vec<Code> {
        (0..self.rules.dice).map(|slot| self.die_code(seat, slot)).collect()
    }
}

/// The first roll of a round uses the full set, and so does the roll after hot dice, which adds the
/// points of the completed hand to the round score. Every other roll uses the dice in hand.
fn roll(decision: &mut FarkleDecision<'_>) -> Result<(), Rejection> {
    let round = &decision.board.round;
    let whole_set = Slots::first(decision.board.rules.dice);
    let seat = decision.table.turn.seat;
    let folds = round.phase == Phase::Saved && round.hand.is_empty();
    let folded = folds.then(|| decision.board.counted(seat, round.turn_score));
    let slots = if round.hand.is_empty() { whole_set } else { round.hand };
    let (draw, raw) = decision.roll(slots.len(), 6)?;
    let (board, loadout) = (&decision.board, decision.board.player(seat).dice);
    let shown = slots.iter().zip(&raw).try_fold(Faces::EMPTY, |faces, (slot, &value)| {
        let raw = u8::try_from(value).ok()?;
        faces.with(loadout.face(slot, raw, board.rules.catalogue.as_deref()))
    });
    let Some(faces) = shown else {
        return Err(Rejection::WrongRoll { got: raw, dice: slots.len(), sides: draw.sides });
    };
    let max_points = board.scores(seat, slots, faces).best();
    let (folded, boosts) = folded.unzip();
    decision.record(Event::Rolled(Rolled {
        seat,
        draw,
        slots,
        raw,
        faces,
        max_points,
        folded,
        colours: None,
    }));
    for boost in boosts.unwrap_or_default() {
        record_boost(decision, boost, special_dice::HAND_POINTS);
    }
    if max_points == 0 { farkle(decision, FarkledBy::Roll) } else { Ok(()) }
}

/// Every die of the selection must be part of a combination.
fn save(decision: &mut FarkleDecision<'_>, named: &[u8]) -> Result<(), Rejection> {
    let board = &decision.board;
    let slots = Slots::parse(named, board.rules.dice)?;
    let roll = board.round.last_roll().ok_or(Rejection::NothingRolled)?;
    if let Some(slot) = slots.without(roll.slots).iter().next() {
        return Err(Rejection::NotInRoll { slot, rolled: roll.slots });
    }
    let seat = decision.table.turn.seat;
    let scores = board.scores_of(seat, roll);
    let combinations = scores
        .explain(slots)
        .ok_or_else(|| Rejection::NotScoring { idle: idle_dice(board, seat, slots) })?;
    let sum = combinations.iter().fold(0, |sum: Points, laid| sum.saturating_add(laid.total()));
    let save = board.saving(&in_order(board.special_dice(seat)), slots, sum);
    let boosts: Vec<Boost> =
        combinations.iter().flat_map(|laid| laid.effects.iter().copied()).collect();
    let saved = Saved {
        seat,
        slots,
        combinations,
        bonuses: save.bonuses,
        multiplier: 1,
        points: save.points,
        turn_score: board.round.turn_score.saturating_add(save.points),
        left: roll.slots.without(slots),
    };
    decision.record(Event::Saved(saved));
    for boost in boosts {
        record_boost(decision, boost, special_dice::COMBINATION_POINTS);
    }
    for (die, changes) in save.changes {
        record_effect(decision, EffectSource::Die(die), changes);
    }
    pay(decision, save.money.0);
    Ok(())
}

/// Records the effect of a special die on points.
fn record_boost(decision: &mut FarkleDecision<'_>, boost: Boost, what: Measure) {
    let Boost { die, before, after } = boost;
    record_effect(decision, EffectSource::Die(die), vec![Change { what, before, after }]);
}

fn record_effect(decision: &mut FarkleDecision<'_>, source: EffectSource, changes: Vec<Change>) {
    let seat = decision.table.turn.seat;
    decision.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
}

/// Pays the money earned by special dice.
fn pay(decision: &mut FarkleDecision<'_>, money: Vec<(DieAt, Dollars)>) {
    let seat = decision.table.turn.seat;
    for (die, amount) in money {
        decision.award(seat, amount, AwardedFor::Die(die));
    }
}

/// The smallest set of dice to remove from a selection that does not score.
fn idle_dice(board: &Farkle, seat: SeatNo, chosen: Slots) -> Slots {
    let scoring = board.selections(seat).map(|(slots, _)| slots);
    let within = scoring.filter(|slots| slots.without(chosen).is_empty());
    chosen.without(within.max_by_key(|slots| slots.len()).unwrap_or(Slots::EMPTY))
}

/// Banks the round score, the hand times its multiplier, and the bonus of earlier farkles.
fn bank(decision: &mut FarkleDecision<'_>) -> Result<(), Rejection> {
    let (board, turn) = (&decision.board, decision.table.turn);
    breaks_in(board, turn.seat, 0)?;
    let (round_score, turn_score) = (board.round.round_score, board.round.turn_score);
    let (_, boosts) = board.counted(turn.seat, turn_score);
    let (bonus, points) = (board.player(turn.seat).dare, board.worth(turn.seat, 0));
    let game_score = board.player(turn.seat).game_score.saturating_add(points);
    let dare = board.special_dice(turn.seat).find(|die| die.effect().kind().gives_bonus());
    let dare = dare.map(Die::at);
    decision.record(Event::Banked(Banked {
        seat: turn.seat,
        round: turn.round,
        round_score,
        turn_score,
        multiplier: board.multiplier(turn.seat),
        bonus,
        points,
        game_score,
        reaches_target: reaches_target(board, game_score),
    }));
    for boost in boosts {
        record_boost(decision, boost, special_dice::HAND_POINTS);
    }
    if let (Some(die), true) = (dare, bonus > 0) {
        let before = points.saturating_sub(bonus);
        let changes = vec![
            Change { what: special_dice::BANK_POINTS, before, after: points },
            Change { what: special_dice::DARE_BONUS, before: bonus, after: 0 },
        ];
        record_effect(decision, EffectSource::Die(die), changes);
    }
    let turn_ended = turn_ended(decision, TurnEnd::Banked, points, 0);
    decision.record(Event::TurnEnded(turn_ended));
    super::ends::next_turn(decision)
}

fn reaches_target(board: &Farkle, game_score: Points) -> bool {
    board.rules.target.is_some_and(|target| game_score >= target)
}

/// While the score is 0, a bank below the break-in is rejected; `saved` points are saved first.
pub(super) fn breaks_in(board: &Farkle, seat: SeatNo, saved: Points) -> Result<(), Rejection> {
    let needed = board.rules.break_in;
    let on_the_board = board.player(seat).game_score != 0;
    if needed == 0 || on_the_board {
        return Ok(());
    }
    let points = board.worth(seat, saved);
    if points >= needed { Ok(()) } else { Err(Rejection::BelowBreakIn { points, needed }) }
}

/// Points that no die keeps are lost, and several farkles in a row cost a penalty. A player who
/// gives up the roll gets no effects of dice.
fn farkle(decision: &mut FarkleDecision<'_>, by: FarkledBy) -> Result<(), Rejection> {
    let (board, seat) = (&decision.board, decision.table.turn.seat);
    let (round, player) = (&board.round, board.player(seat));
    let points = (round.round_score, round.turn_score);
    let banks_round = board.special_dice(seat).any(|die| die.effect().kind().banks_round());
    let (saved, score) = (round.dice_saved(), player.game_score);
    let mut context = FarkleContext::new(saved, points, score, player.dare, banks_round);
    let mut round_kept = 0;
    if by == FarkledBy::Roll {
        for die in in_order(board.special_dice(seat)) {
            die.effect().kind().on_farkle(die.at(), &mut context);
        }
        if !board.rules.forfeits_round() && !context.had(Mitigation::RoundBanked) {
            round_kept = round.round_score;
        }
    }
    let kept = context.kept.saturating_add(round_kept);
    let forfeited = board.at_stake(seat).saturating_sub(kept);
    let in_a_row = player.farkles_in_a_row.saturating_add(1);
    let awarded = context.awarded;
    decision.record(Event::Farkled(Farkled { seat, by, forfeited, kept, awarded, in_a_row }));
    for (die, change) in context.changes {
        record_effect(decision, EffectSource::Die(die), vec![change]);
    }
    if round_kept > 0 {
        let before = decision.board.player(seat).game_score;
        let after = before.saturating_add(round_kept);
        let change = Change { what: Measure::GAME_SCORE, before, after };
        record_effect(decision, names::ROUND_KEPT, vec![change]);
    }
    pay(decision, context.money.0);
    penalise(decision, seat);
    let how = match by {
        FarkledBy::Roll => TurnEnd::Farkled,
        FarkledBy::Choice => TurnEnd::Forfeited,
    };
    let scored = kept.saturating_add(awarded);
    let reaches_target =
        scored > 0 && reaches_target(&decision.board, decision.board.player(seat).game_score);
    let turn_ended = TurnEnded { reaches_target, ..turn_ended(decision, how, scored, forfeited) };
    decision.record(Event::TurnEnded(turn_ended));
    super::ends::next_turn(decision)
}

/// Applies the penalty for consecutive farkles; each penalty resets the count.
fn penalise(decision: &mut FarkleDecision<'_>, seat: SeatNo) {
    let rules = &decision.board.rules;
    let player = decision.board.player(seat);
    if rules.penalty_points == 0 || player.farkles_in_a_row < rules.penalty_farkles {
        return;
    }
    let score = player.game_score;
    let changes = vec![
        Change {
            what: Measure::GAME_SCORE,
            before: score,
            after: score.saturating_sub(rules.penalty_points),
        },
        Change { what: names::FARKLES_IN_A_ROW, before: player.farkles_in_a_row.into(), after: 0 },
    ];
    record_effect(decision, names::FARKLE_PENALTY, changes);
}

/// The event that ends the current turn.
fn turn_ended(
    decision: &FarkleDecision<'_>,
    how: TurnEnd,
    points: Points,
    forfeited: Points,
) -> TurnEnded {
    let turn = decision.table.turn;
    let (seat, round) = (turn.seat, turn.round);
    TurnEnded { seat, round, how, points, forfeited, bonus_lost: 0, reaches_target: false }
}
