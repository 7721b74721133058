//! The moves of Farkle.

use super::{
    Farkle, Phase, names,
    verbs::{BANK_WITH, FORFEIT, SAVE},
};
use crate::{
    AwardedFor, Banked, Boost, Change, Counts, DieOnTable, Dollars, EffectApplied, EffectSource,
    Event, Faces, Fact, Farkled, FarkledBy, Measure, Play, Points, Rejection, Rolled, Saved,
    SeatNo, Selection, Slots, Table, TurnEnd, TurnEnded,
    desk::Desk,
    rulebook::Rulebook,
    special_dice,
    special_dice::{
        Code, Die, DieAt,
        effects::{Fall, Relief, in_order},
    },
    verbs::{ROLL, Verb},
};

type FarkleDesk<'a> = Desk<'a, Farkle>;

impl Rulebook for Farkle {
    const MOST_SEATS: u8 = 8;
    const VERBS: &'static [Verb] = &[ROLL, SAVE, BANK_WITH, FORFEIT];

    fn phase(&self, _: &Table) -> &'static str {
        match self.round.phase {
            Phase::Opening => "roll",
            Phase::Rolled => "save",
            Phase::Saved => "roll_or_bank",
        }
    }

    /// How often all dice were scored.
    fn count(event: &Event, _: Option<SeatNo>, counts: &mut Counts) {
        if let Event::Saved(saved) = event {
            counts.add(saved.seat, "hot_dice", saved.left.is_empty().into());
        }
    }

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
                    if breaks_in(self, table.turn.seat, points).is_ok() {
                        plays.push(Play::Bank { slots: Some(slots.to_vec()) });
                    }
                }
                plays
            }
        }
    }

    /// What is not banked is lost, and so is the bonus of earlier farkles; it is no farkle, and no die does anything.
    fn cut_short(desk: &mut FarkleDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
        let seat = desk.table.turn.seat;
        let forfeited = desk.board.at_stake(seat);
        let bonus_lost = desk.board.player(seat).dare;
        desk.record(Event::TurnEnded(TurnEnded { bonus_lost, ..ended(desk, how, 0, forfeited) }));
        Ok(())
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

/// The first roll of a round is the whole set, and so is the roll after hot dice, which makes the
/// points of the completed hand part of the round score. Every other roll is the dice in hand.
fn roll(desk: &mut FarkleDesk<'_>) -> Result<(), Rejection> {
    let round = &desk.board.round;
    let whole_set = Slots::first(desk.board.rules.dice);
    let seat = desk.table.turn.seat;
    let folds = round.phase == Phase::Saved && round.hand.is_empty();
    let folded = folds.then(|| desk.board.counted(seat, round.turn_score));
    let slots = if round.hand.is_empty() { whole_set } else { round.hand };
    let (draw, raw) = desk.roll(slots.len(), 6)?;
    let (board, loadout) = (&desk.board, desk.board.player(seat).dice);
    let shown = slots.iter().zip(&raw).try_fold(Faces::EMPTY, |faces, (slot, &value)| {
        let raw = u8::try_from(value).ok()?;
        faces.with(loadout.face(slot, raw, board.rules.catalogue.as_deref()))
    });
    let Some(faces) = shown else {
        return Err(Rejection::WrongRoll { got: raw, dice: slots.len(), sides: draw.sides });
    };
    let max_points = board.scores(seat, slots, faces).best();
    let (folded, boosts) = folded.unzip();
    desk.record(Event::Rolled(Rolled {
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
        record_boost(desk, boost, special_dice::HAND_POINTS);
    }
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
    let seat = desk.table.turn.seat;
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
    desk.record(Event::Saved(saved));
    for boost in boosts {
        record_boost(desk, boost, special_dice::COMBINATION_POINTS);
    }
    for (die, changes) in save.changes {
        record_effect(desk, EffectSource::Die(die), changes);
    }
    pay(desk, save.money.0);
    Ok(())
}

/// What a special die made of some points.
fn record_boost(desk: &mut FarkleDesk<'_>, boost: Boost, what: Measure) {
    let Boost { die, before, after } = boost;
    record_effect(desk, EffectSource::Die(die), vec![Change { what, before, after }]);
}

fn record_effect(desk: &mut FarkleDesk<'_>, source: EffectSource, changes: Vec<Change>) {
    let seat = desk.table.turn.seat;
    desk.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
}

/// What special dice earned.
fn pay(desk: &mut FarkleDesk<'_>, money: Vec<(DieAt, Dollars)>) {
    let seat = desk.table.turn.seat;
    for (die, amount) in money {
        desk.award(seat, amount, AwardedFor::Die(die));
    }
}

/// The dice to leave out of a selection that does not score: as few as possible.
fn idle_dice(board: &Farkle, seat: SeatNo, chosen: Slots) -> Slots {
    let scoring = board.selections(seat).map(|(slots, _)| slots);
    let within = scoring.filter(|slots| slots.without(chosen).is_empty());
    chosen.without(within.max_by_key(|slots| slots.len()).unwrap_or(Slots::EMPTY))
}

/// The round score, the hand times its multiplier, and the bonus of earlier farkles.
fn bank(desk: &mut FarkleDesk<'_>) -> Result<(), Rejection> {
    let (board, turn) = (&desk.board, desk.table.turn);
    breaks_in(board, turn.seat, 0)?;
    let (round_score, turn_score) = (board.round.round_score, board.round.turn_score);
    let (_, boosts) = board.counted(turn.seat, turn_score);
    let (bonus, points) = (board.player(turn.seat).dare, board.worth(turn.seat, 0));
    let game_score = board.player(turn.seat).game_score.saturating_add(points);
    let dare = board.special_dice(turn.seat).find(|die| die.effect().kind().gives_bonus());
    let dare = dare.map(Die::at);
    desk.record(Event::Banked(Banked {
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
        record_boost(desk, boost, special_dice::HAND_POINTS);
    }
    if let (Some(die), true) = (dare, bonus > 0) {
        let before = points.saturating_sub(bonus);
        let changes = vec![
            Change { what: special_dice::BANK_POINTS, before, after: points },
            Change { what: special_dice::DARE_BONUS, before: bonus, after: 0 },
        ];
        record_effect(desk, EffectSource::Die(die), changes);
    }
    let ended = ended(desk, TurnEnd::Banked, points, 0);
    desk.record(Event::TurnEnded(ended));
    super::ends::next_turn(desk)
}

fn reaches_target(board: &Farkle, game_score: Points) -> bool {
    board.rules.target.is_some_and(|target| game_score >= target)
}

/// While nothing is on the score, a small bank is refused; so many points are saved first.
pub(super) fn breaks_in(board: &Farkle, seat: SeatNo, saved: Points) -> Result<(), Rejection> {
    let needed = board.rules.break_in;
    let on_the_board = board.player(seat).game_score != 0;
    if needed == 0 || on_the_board {
        return Ok(());
    }
    let points = board.worth(seat, saved);
    if points >= needed { Ok(()) } else { Err(Rejection::BelowBreakIn { points, needed }) }
}

/// What no die keeps is lost, and several farkles in a row cost points on top. Who gives the roll up gets nothing from
/// any die.
fn farkle(desk: &mut FarkleDesk<'_>, by: FarkledBy) -> Result<(), Rejection> {
    let (board, seat) = (&desk.board, desk.table.turn.seat);
    let (round, player) = (&board.round, board.player(seat));
    let points = (round.round_score, round.turn_score);
    let banks_round = board.special_dice(seat).any(|die| die.effect().kind().banks_round());
    let (saved, score) = (round.dice_saved(), player.game_score);
    let mut fall = Fall::new(saved, points, score, player.dare, banks_round);
    let mut round_kept = 0;
    if by == FarkledBy::Roll {
        for die in in_order(board.special_dice(seat)) {
            die.effect().kind().on_farkle(die.at(), &mut fall);
        }
        if !board.rules.forfeits_round() && !fall.had(Relief::RoundBanked) {
            round_kept = round.round_score;
        }
    }
    let kept = fall.kept.saturating_add(round_kept);
    let forfeited = board.at_stake(seat).saturating_sub(kept);
    let in_a_row = player.farkles_in_a_row.saturating_add(1);
    let awarded = fall.awarded;
    desk.record(Event::Farkled(Farkled { seat, by, forfeited, kept, awarded, in_a_row }));
    for (die, change) in fall.changes {
        record_effect(desk, EffectSource::Die(die), vec![change]);
    }
    if round_kept > 0 {
        let before = desk.board.player(seat).game_score;
        let after = before.saturating_add(round_kept);
        let change = Change { what: Measure::GAME_SCORE, before, after };
        record_effect(desk, names::ROUND_KEPT, vec![change]);
    }
    pay(desk, fall.money.0);
    penalise(desk, seat);
    let how = match by {
        FarkledBy::Roll => TurnEnd::Farkled,
        FarkledBy::Choice => TurnEnd::Forfeited,
    };
    let scored = kept.saturating_add(awarded);
    let reaches_target =
        scored > 0 && reaches_target(&desk.board, desk.board.player(seat).game_score);
    let ended = TurnEnded { reaches_target, ..ended(desk, how, scored, forfeited) };
    desk.record(Event::TurnEnded(ended));
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
            what: Measure::GAME_SCORE,
            before: score,
            after: score.saturating_sub(rules.penalty_points),
        },
        Change { what: names::FARKLES_IN_A_ROW, before: player.farkles_in_a_row.into(), after: 0 },
    ];
    record_effect(desk, names::FARKLE_PENALTY, changes);
}

/// The end of the running turn.
fn ended(desk: &FarkleDesk<'_>, how: TurnEnd, points: Points, forfeited: Points) -> TurnEnded {
    let turn = desk.table.turn;
    let (seat, round) = (turn.seat, turn.round);
    TurnEnded { seat, round, how, points, forfeited, bonus_lost: 0, reaches_target: false }
}
