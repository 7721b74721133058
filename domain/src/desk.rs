//! Where a decision is made: events are recorded and seen at once.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    AwardedFor, Change, DecidedBy, Dice, DieOnTable, Dollars, Draw, Drawn, EffectApplied,
    EffectSource, Event, Fact, FarkledBy, Moment, Offer, Outcome, Play, Points, Purpose, Rejection,
    SeatNo, Selection, Table, Thing, TurnEnd, TurnEnded, Word, fair,
    special_dice::{Catalogue, Code},
};

/// What a kind of game adds to the table: the part of the rules that only it has.
pub(crate) trait Rulebook: Clone {
    /// The fewest seats the game makes sense with.
    const FEWEST_SEATS: u8 = 1;

    /// The most seats the game can have.
    const MOST_SEATS: u8;

    /// Whether the lowest score is the best one.
    const COUNTS_DOWN: bool = false;

    /// The state after one more event. Never consults a rule.
    fn apply(&mut self, event: &Event);

    /// A move of the seat whose turn it is.
    fn play(desk: &mut Desk<'_, Self>, play: &Play) -> Result<(), Rejection>;

    /// The moves the seat to move has.
    fn plays(&self, table: &Table) -> Vec<Play>;

    /// Ends the running turn where it stands, the mildest way the game knows.
    fn cut_short(desk: &mut Desk<'_, Self>, how: TurnEnd) -> Result<(), Rejection>;

    /// The game begins: by default the first seat has the first turn.
    fn begin(desk: &mut Desk<'_, Self>, first: SeatNo) -> Result<(), Rejection> {
        desk.start_turn(first, 1);
        Ok(())
    }

    /// A seat chooses whom to play, where it can.
    fn choose_character(
        _desk: &mut Desk<'_, Self>,
        _seat: SeatNo,
        _named: &str,
    ) -> Result<(), Rejection> {
        Err(Rejection::NoCharacters)
    }

    /// The characters a seat can still choose.
    fn characters_free(&self, _seat: SeatNo) -> Vec<Word> {
        Vec::new()
    }

    /// Time is up for the seat to move: by default its turn ends where it stands.
    fn time_out(desk: &mut Desk<'_, Self>) -> Result<(), Rejection> {
        Self::cut_short(desk, TurnEnd::TimedOut)?;
        Self::next_turn(desk)
    }

    /// A seat has left that did not have the turn.
    fn left(_desk: &mut Desk<'_, Self>, _seat: SeatNo) -> Result<(), Rejection> {
        Ok(())
    }

    /// The move of a seat that begins with these events, as this game writes it down.
    fn play_behind(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
        usual_play_behind(log)
    }

    /// What can be bought.
    fn offers(&self, _table: &Table) -> Vec<Offer> {
        Vec::new()
    }

    /// The turn is over: the next seat has its turn, or the game ends.
    fn next_turn(desk: &mut Desk<'_, Self>) -> Result<(), Rejection>;

    /// The points of each seat.
    fn scores(&self) -> Vec<Points>;

    /// What can be asked about a seat by name.
    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)>;

    /// The dice of the seat to move, by slot.
    fn dice_on_table(&self, table: &Table) -> Vec<DieOnTable>;

    /// Everything on the table that can be scored, explained, the best first; nothing where dice are not chosen.
    fn selections_on_table(&self, _table: &Table) -> Vec<Selection> {
        Vec::new()
    }

    /// The best of them.
    fn best_selection(&self, table: &Table) -> Option<Selection> {
        self.selections_on_table(table).into_iter().next()
    }

    /// The dice of a seat, one a slot; nothing where seats bring none.
    fn loadout_of(&self, _seat: SeatNo) -> Vec<Code> {
        Vec::new()
    }
}

/// The moves of games that roll, save and bank.
fn usual_play_behind(log: &[Event]) -> Option<(SeatNo, Play)> {
    let event = log.first()?;
    if let Event::Rolled(roll) = event {
        Some((roll.seat, Play::Roll))
    } else if let Event::Saved(save) = event {
        Some((save.seat, Play::Save { slots: save.slots.to_vec() }))
    } else if let Event::Banked(bank) = event {
        // Saving and then banking is the same as banking with the dice, event by event.
        Some((bank.seat, Play::Bank { slots: None }))
    } else if let Event::Farkled(farkle) = event
        && farkle.by == FarkledBy::Choice
    {
        Some((farkle.seat, Play::Forfeit))
    } else {
        None
    }
}

/// What a kind of game is played by: its parameters.
pub(crate) trait Parameters {
    /// Refuses rules that make no sense.
    fn check(&self) -> Result<(), Rejection>;

    /// A parameter that may be given by the name of a known value.
    fn named_value(&self, _parameter: &str, value: &Value) -> Result<Value, Rejection> {
        Ok(value.clone())
    }

    /// The special dice there are, if the game is played with any.
    fn catalogue(&self) -> Option<&Catalogue> {
        None
    }

    /// The same with other special dice; `None` is no difference.
    fn with_catalogue(&self, _catalogue: &Arc<Catalogue>) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// What a thing of these rules is called: a card, a consumable, a character.
    fn name_of(&self, _code: Word) -> Option<String> {
        None
    }

    /// What the ability of a character is called.
    fn ability_of(&self, _character: Word) -> Option<String> {
        None
    }

    /// Everything that these rules name.
    fn things(&self) -> Vec<Thing> {
        Vec::new()
    }

    /// What a side of the dice shows, where it is no number.
    fn face_name(&self, _face: u8) -> Option<&'static str> {
        None
    }

    /// The dice that a seat may play with, out of those it named.
    fn lawful_loadout(&self, _named: &[String]) -> Result<Vec<Code>, Rejection> {
        Err(Rejection::NoSpecialDice)
    }
}

/// A working copy of a game, on which recorded events take effect at once.
pub(crate) struct Desk<'a, B> {
    pub(crate) table: Table,
    pub(crate) board: B,
    pub(crate) now: Moment,
    dice: &'a mut dyn Dice,
    events: Vec<Event>,
}

impl<'a, B: Rulebook> Desk<'a, B> {
    pub(crate) fn new(table: &Table, board: &B, now: Moment, dice: &'a mut dyn Dice) -> Self {
        Self {
            table: table.clone(),
            board: board.clone(),
            now,
            dice,
            events: Vec::with_capacity(4),
        }
    }

    /// It has happened.
    pub(crate) fn record(&mut self, event: Event) {
        self.table.apply(&event);
        self.board.apply(&event);
        self.events.push(event);
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// Raw values of so many dice, checked: a script may be wrong.
    pub(crate) fn roll(&mut self, dice: u8, sides: u32) -> Result<(Draw, Vec<u32>), Rejection> {
        let draw = Draw { purpose: Purpose::Dice, number: self.table.rolls + 1, sides };
        Ok((draw, self.draw(draw, dice)?))
    }

    /// The first values of a draw, checked.
    pub(crate) fn draw(&mut self, draw: Draw, dice: u8) -> Result<Vec<u32>, Rejection> {
        let (raw, sides) = (self.dice.draw(draw, dice), draw.sides);
        if raw.len() != usize::from(dice) || raw.iter().any(|value| !(1..=sides).contains(value)) {
            return Err(Rejection::WrongRoll { got: raw, dice, sides });
        }
        Ok(raw)
    }

    /// The colours of the dice just rolled, where a script says them.
    pub(crate) fn painted(&mut self) -> Option<Vec<Code>> {
        self.dice.painted()
    }

    /// One of several things comes up, each as likely as the others.
    pub(crate) fn one_of(
        &mut self,
        purpose: Purpose,
        number: u64,
        things: &[Word],
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

    /// Something changed values of a seat. Values that stay as they are are left out.
    pub(crate) fn apply_effect(
        &mut self,
        seat: SeatNo,
        source: EffectSource,
        changes: impl IntoIterator<Item = Change>,
    ) {
        let changes = changes.into_iter().filter(|change| change.before != change.after).collect();
        self.record(Event::EffectApplied(EffectApplied { seat, source, changes }));
    }

    /// The turn under way is over.
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

    /// When a turn that begins now may be ended by the house.
    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.table.turn_seconds().map(|seconds| self.now.plus_seconds(seconds))
    }

    /// The ticket of a weighted choice, and the entry it falls on.
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

    /// Somebody earns money, unless it is a game without.
    pub(crate) fn award(&mut self, seat: SeatNo, amount: Dollars, why: AwardedFor) {
        if amount > 0 && !self.table.ruleset.table.practice {
            self.record(Event::MoneyAwarded { seat, amount, why });
        }
    }

    pub(crate) fn start_turn(&mut self, seat: SeatNo, round: u32) {
        let deadline = self.deadline();
        self.record(Event::TurnStarted { seat, round, deadline });
    }

    /// Ends the game: pays who finished and who won, and reveals what the dice were made from.
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
