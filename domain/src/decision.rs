//! The context in which a command is decided.

use crate::{
    AwardedFor, Change, Combination, CombinationName, DecidedBy, Dice, Dollars, Draw, Drawn,
    EffectApplied, EffectSource, Event, Faces, Farkled, FarkledBy, Moment, Outcome, Points,
    Purpose, Rejection, Rolled, Saved, SeatNo, Slots, Slug, Table, TurnEnd, TurnEnded, fair,
    game_rules::GameRules, special_dice::Code,
};

/// A working copy of a game; recorded events are applied to it at once.
pub(crate) struct Decision<'a, B> {
    pub(crate) table: Table,
    pub(crate) board: B,
    pub(crate) now: Moment,
    dice: &'a mut dyn Dice,
    events: Vec<Event>,
}

impl<'a, B: GameRules> Decision<'a, B> {
    pub(crate) fn new(table: &Table, board: &B, now: Moment, dice: &'a mut dyn Dice) -> Self {
        Self {
            table: table.clone(),
            board: board.clone(),
            now,
            dice,
            events: Vec::with_capacity(4),
        }
    }

    /// Records and applies the event.
    pub(crate) fn record(&mut self, event: Event) {
        self.table.apply(&event);
        self.board.apply(&event);
        self.events.push(event);
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// The raw values of a roll, validated: a script may be wrong.
    pub(crate) fn roll(&mut self, dice: u8, sides: u32) -> Result<(Draw, Vec<u32>), Rejection> {
        let draw = Draw { purpose: Purpose::Dice, number: self.table.rolls + 1, sides };
        Ok((draw, self.draw(draw, dice)?))
    }

    /// Rolls this number of standard dice, all that are on the table; `worth` computes their score.
    pub(crate) fn roll_ordinary(
        &mut self,
        dice: u8,
        worth: impl FnOnce(&[u8]) -> Points,
    ) -> Result<Vec<u8>, Rejection> {
        let (draw, raw) = self.roll(dice, 6)?;
        let faces: Vec<u8> = raw.iter().filter_map(|&value| u8::try_from(value).ok()).collect();
        self.record_roll(draw, raw, &faces, worth(&faces));
        Ok(faces)
    }

    /// Records a roll of all dice.
    pub(crate) fn record_roll(
        &mut self,
        draw: Draw,
        raw: Vec<u32>,
        faces: &[u8],
        max_points: Points,
    ) {
        self.record(Event::Rolled(Rolled {
            seat: self.table.turn.seat,
            draw,
            slots: Slots::first(u8::try_from(faces.len()).unwrap_or(u8::MAX)),
            raw,
            faces: Faces::of(faces).unwrap_or_default(),
            max_points,
            folded: None,
            colours: None,
        }));
    }

    /// Scores all dice as one combination, times the multiplier, on top of the previous points of
    /// the turn.
    pub(crate) fn score_all(
        &mut self,
        name: CombinationName,
        faces: &[u8],
        (points, multiplier): (Points, Points),
        before: Points,
    ) {
        let slots = Slots::first(u8::try_from(faces.len()).unwrap_or(u8::MAX));
        let faces = Faces::of(faces).unwrap_or_default();
        let total = points.saturating_mul(multiplier);
        self.record(Event::Saved(Saved {
            seat: self.table.turn.seat,
            slots,
            combinations: vec![Combination { name, slots, faces, points, effects: Vec::new() }],
            bonuses: Vec::new(),
            multiplier,
            points: total,
            turn_score: before.saturating_add(total),
            left: Slots::EMPTY,
        }));
    }

    /// The first values of a draw, validated.
    pub(crate) fn draw(&mut self, draw: Draw, dice: u8) -> Result<Vec<u32>, Rejection> {
        let (raw, sides) = (self.dice.draw(draw, dice), draw.sides);
        if raw.len() != usize::from(dice) || raw.iter().any(|value| !(1..=sides).contains(value)) {
            return Err(Rejection::WrongRoll { got: raw, dice, sides });
        }
        Ok(raw)
    }

    /// The colours of the dice just rolled, if a script dictates them.
    pub(crate) fn painted(&mut self) -> Option<Vec<Code>> {
        self.dice.painted()
    }

    /// Draws one of several items, each equally likely.
    pub(crate) fn one_of(
        &mut self,
        purpose: Purpose,
        number: u64,
        things: &[Slug],
        place: Option<u8>,
    ) -> Result<Drawn, Rejection> {
        let sides = u32::try_from(things.len()).unwrap_or(u32::MAX);
        let draw = Draw { purpose, number, sides };
        let raw = self.dice.one_of(draw, things);
        let chosen = raw.and_then(|raw| {
            let item = things.get(usize::try_from(raw).ok()?.checked_sub(1)?)?;
            Some(Drawn { draw, raw, item: *item, place })
        });
        let got = raw.into_iter().collect();
        chosen.ok_or(Rejection::WrongRoll { got, dice: 1, sides })
    }

    /// Records a change of a seat's values. Unchanged values are left out.
    pub(crate) fn apply_effect(
        &mut self,
        seat: SeatNo,
        source: EffectSource,
        changes: impl IntoIterator<Item = Change>,
    ) {
        let changes = changes.into_iter().filter(|change| change.before != change.after).collect();
        self.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }

    /// Ends the current turn.
    pub(crate) fn end_turn(&mut self, how: TurnEnd, points: Points, forfeited: Points) {
        let turn = self.table.turn;
        self.record(Event::TurnEnded(TurnEnded {
            seat: turn.seat,
            round: turn.round,
            how,
            points,
            forfeited,
            bonus_lost: 0,
            reaches_target: false,
        }));
    }

    /// Ends the current turn by a farkle; its points are lost.
    pub(crate) fn farkle(&mut self, forfeited: Points, in_a_row: u32) {
        let (seat, by, kept, awarded) = (self.table.turn.seat, FarkledBy::Roll, 0, 0);
        self.record(Event::Farkled(Farkled { seat, by, forfeited, kept, awarded, in_a_row }));
        self.end_turn(TurnEnd::Farkled, 0, forfeited);
    }

    /// The deadline of a turn that starts now.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.table.turn_seconds().map(|seconds| self.now.plus_seconds(seconds))
    }

    /// Draws a weighted choice: its ticket and the index of the chosen entry.
    pub(crate) fn pick(&mut self, weights: &[u32]) -> Result<(Draw, u32, usize), Rejection> {
        let sides = weights.iter().copied().fold(0, u32::saturating_add);
        let draw = Draw { purpose: Purpose::Dice, number: self.table.rolls + 1, sides };
        let ticket = self.dice.ticket(draw, weights);
        let entry = ticket.and_then(|ticket| Some((ticket, fair::pick(weights, ticket)?)));
        let (ticket, entry) = entry.ok_or_else(|| Rejection::WrongRoll {
            got: ticket.into_iter().collect(),
            dice: 1,
            sides,
        })?;
        Ok((draw, ticket, entry))
    }

    /// Awards money to a seat, unless it is a practice game.
    pub(crate) fn award(&mut self, seat: SeatNo, amount: Dollars, why: AwardedFor) {
        if amount > 0 && !self.table.ruleset.table.practice {
            self.record(Event::MoneyAwarded { seat, amount, why });
        }
    }

    pub(crate) fn start_turn(&mut self, seat: SeatNo, round: u32) {
        let deadline = self.deadline();
        self.record(Event::TurnStarted { seat, round, deadline });
    }

    /// Starts the turn of the next seat; after the last one, in the next round.
    pub(crate) fn pass_turn(&mut self) -> Result<(), Rejection> {
        let turn = self.table.turn;
        let next = self.table.next_in_round(turn.seat).map(|seat| (seat, turn.round));
        let first = self.table.seated().next().map(|seat| (seat, turn.round.saturating_add(1)));
        match next.or(first) {
            Some((seat, round)) => {
                self.start_turn(seat, round);
                Ok(())
            }
            None => self.end(DecidedBy::Deserted, Vec::new()),
        }
    }

    /// Ends the game: pays the awards and reveals the secret of the dice.
    pub(crate) fn end(&mut self, by: DecidedBy, winners: Vec<SeatNo>) -> Result<(), Rejection> {
        let table = &self.table;
        let promised =
            |secret: &_| fair::commitment(secret, table.id, table.ruleset_hash) == table.commitment;
        let secret = self.dice.secret().filter(promised).ok_or(Rejection::WrongSecret)?;
        if !matches!(by, DecidedBy::Abandoned | DecidedBy::Voided) {
            for (seat, amount, why) in self.table.awards(&winners) {
                self.award(seat, amount, why);
            }
        }
        let scores = self.board.scores();
        self.record(Event::Ended(Outcome { by, winners, scores }));
        self.record(Event::SeedRevealed { secret });
        Ok(())
    }
}
