//! What a kind of game has to say: how it is played ([`Rulebook`]) and what by ([`Parameters`]).

use std::sync::Arc;

use serde_json::Value;

use crate::{
    Boost, Counts, DieOnTable, Event, Fact, FarkledBy, Figure, Measure, Offer, Play, Points,
    Rejection, SeatNo, Selection, Table, Thing, TurnEnd, Word,
    desk::Desk,
    effect::{ACTIVE, BOUGHT, USED},
    explain,
    special_dice::{Catalogue, Code},
    verbs::Verb,
};

/// What a kind of game adds to the table: the part of the rules that only it has.
pub(crate) trait Rulebook: Clone {
    /// The fewest seats the game makes sense with.
    const FEWEST_SEATS: u8 = 1;

    /// The most seats the game can have.
    const MOST_SEATS: u8;

    /// Whether the lowest score is the best one.
    const COUNTS_DOWN: bool = false;

    /// Its moves, as people write them.
    const VERBS: &'static [Verb];

    /// Whether what it counts for statistics is part of its state.
    const KEEPS_COUNT: bool = false;

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

    /// What the turn is waiting for, as a client shows it: `roll`, `combat`, `shop`.
    fn phase(&self, table: &Table) -> &'static str;

    /// What an event adds to the statistics of seats; `turn` is whose turn it is.
    fn count(_event: &Event, _turn: Option<SeatNo>, _counts: &mut Counts) {}

    /// What a seat did, where the state keeps count of it.
    fn counted(&self, _seat: SeatNo) -> Vec<(String, i64)> {
        Vec::new()
    }

    /// What statistics show of these counts: by default each as it is.
    fn figures(counts: &std::collections::BTreeMap<String, i64>) -> Vec<Figure> {
        counts.iter().map(|(name, count)| Figure::count(name, *count)).collect()
    }

    /// The kind of a die that a script writes with this letter: `3g`.
    fn kind_by_letter(_letter: &str) -> Option<Code> {
        None
    }

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

    /// Everything that these rules name.
    fn things(&self) -> Vec<Thing> {
        Vec::new()
    }

    /// What people read in place of the name of a measure or a rule.
    fn wording(&self, _name: Word) -> Option<&'static str> {
        None
    }

    /// What was done with a thing, as people read it.
    fn thing_wording(&self, done: Word, thing: Word) -> String {
        let name = self.name_of(thing).unwrap_or_else(|| thing.spoken());
        match done {
            BOUGHT => format!("buys {name}"),
            USED => format!("uses {name}"),
            _ => name,
        }
    }

    /// A value as people read it, where it is more than a number.
    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        let flag = matches!(what, Measure::OfThing(ACTIVE, _));
        flag.then(|| yes_or_no(value)).flatten()
    }

    /// What a kind of die is called.
    fn die_name(&self, code: Code) -> String {
        let kind = self.catalogue().and_then(|catalogue| catalogue.find(code));
        kind.map_or_else(|| code.to_string(), |kind| kind.name.clone())
    }

    /// An event in the game's own words; `None` is the words that all games share.
    fn tell(&self, _event: &Event, _table: &Table) -> Option<String> {
        None
    }

    /// How the numbers of an event come about, line by line.
    fn explain(&self, event: &Event) -> Vec<String> {
        explain::usual_lines(event, &|boost| self.boost_line(boost))
    }

    /// How the points of a selection come about, line by line.
    fn selection_lines(&self, selection: &Selection) -> Vec<String> {
        explain::save_lines(&selection.combinations, &selection.bonuses, &|boost| {
            self.boost_line(boost)
        })
    }

    /// What a die adds to the sum of a save.
    fn boost_line(&self, boost: &Boost) -> String {
        explain::plus(&self.die_name(boost.die.code), boost.after.saturating_sub(boost.before))
            .unwrap_or_default()
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

/// A value that is yes or no, as people read it.
pub(crate) fn yes_or_no(value: i64) -> Option<String> {
    match value {
        0 => Some("no".to_owned()),
        1 => Some("yes".to_owned()),
        _ => None,
    }
}
