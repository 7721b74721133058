//! What each kind of game implements: the rules of play ([`GameRules`]) and their parameters
//! ([`Parameters`]).

use std::sync::Arc;

use serde_json::Value;

use crate::{
    Boost, CatalogItem, Counts, DieOnTable, Event, Fact, FarkledBy, Figure, Measure, Number, Offer,
    Play, Points, Rejection, SeatNo, Selection, Slug, Table, TurnEnd,
    decision::Decision,
    effect::{ACTIVE, BOUGHT, USED},
    explain,
    special_dice::{Catalogue, Code},
    verbs::Verb,
};

/// The phases of a turn and their descriptions, shared by all games.
pub const PHASES: [(&str, &str); 9] = [
    ("roll", "A roll."),
    ("save", "Dice of the roll must be saved."),
    ("roll_or_bank", "Another roll, or banking."),
    ("roll_or_score", "Another roll, or scoring a category."),
    ("score", "A category must be scored."),
    ("roll_or_resolve", "Another roll, or resolving the dice."),
    ("combat", "An attack."),
    ("answer", "The decision of the seat that was hit."),
    ("shop", "Buying, or the end of the turn."),
];

/// The rules that are specific to a kind of game; everything else is common to all tables.
pub(crate) trait GameRules: Clone {
    /// The name of the game, as people write it.
    const TITLE: &'static str;

    /// The minimum number of seats.
    const FEWEST_SEATS: u8 = 1;

    /// The maximum number of seats.
    const MOST_SEATS: u8;

    /// Whether the lowest score wins.
    const COUNTS_DOWN: bool = false;

    /// Its moves, as written by people.
    const VERBS: &'static [Verb];

    /// Whether its state contains the counts for statistics.
    const KEEPS_COUNT: bool = false;

    /// Folds an event. Never consults a rule.
    fn apply(&mut self, event: &Event);

    /// Decides a move of the seat whose turn it is.
    fn play(decision: &mut Decision<'_, Self>, play: &Play) -> Result<(), Rejection>;

    /// The legal moves of the seat to move.
    fn plays(&self, table: &Table) -> Vec<Play>;

    /// Ends the current turn as it is, with the mildest outcome the game has.
    fn cut_short(decision: &mut Decision<'_, Self>, how: TurnEnd) -> Result<(), Rejection>;

    /// Starts the game: by default with the turn of the first seat.
    fn begin(decision: &mut Decision<'_, Self>, first: SeatNo) -> Result<(), Rejection> {
        decision.start_turn(first, 1);
        Ok(())
    }

    /// Chooses the character of a seat, in games with characters.
    fn choose_character(
        _decision: &mut Decision<'_, Self>,
        _seat: SeatNo,
        _named: &str,
    ) -> Result<(), Rejection> {
        Err(Rejection::NoCharacters)
    }

    /// The characters a seat can still choose.
    fn characters_free(&self, _seat: SeatNo) -> Vec<Slug> {
        Vec::new()
    }

    /// Time is up for the seat to move: by default its turn ends as it is.
    fn time_out(decision: &mut Decision<'_, Self>) -> Result<(), Rejection> {
        Self::cut_short(decision, TurnEnd::TimedOut)?;
        Self::next_turn(decision)
    }

    /// A seat left while another one had the turn.
    fn left(_decision: &mut Decision<'_, Self>, _seat: SeatNo) -> Result<(), Rejection> {
        Ok(())
    }

    /// Infers the move that produced these events from their beginning.
    fn infer_play(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
        infer_common_play(log)
    }

    /// The items on offer.
    fn offers(&self, _table: &Table) -> Vec<Offer> {
        Vec::new()
    }

    /// After a turn: starts the turn of the next seat or ends the game.
    fn next_turn(decision: &mut Decision<'_, Self>) -> Result<(), Rejection>;

    /// The scores in seat order.
    fn scores(&self) -> Vec<Points>;

    /// What the turn is waiting for, as clients show it: `roll`, `combat`, `shop`.
    fn phase(&self, table: &Table) -> &'static str;

    /// Adds an event to the statistics of seats; `turn` is the seat whose turn it is.
    fn count(_event: &Event, _turn: Option<SeatNo>, _counts: &mut Counts) {}

    /// The counts of a seat, in games whose state contains them.
    fn counted(&self, _seat: SeatNo) -> Vec<(String, i64)> {
        Vec::new()
    }

    /// The statistics shown for these counts: by default the counts themselves.
    fn figures(counts: &std::collections::BTreeMap<String, i64>) -> Vec<Figure> {
        counts.iter().map(|(name, count)| Figure::count(name, *count)).collect()
    }

    /// The kind of die that scripts write with this letter: `3g`.
    fn kind_by_letter(_letter: &str) -> Option<Code> {
        None
    }

    /// The facts that can be queried about a seat, by name.
    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)>;

    /// The dice of the seat to move, by slot.
    fn dice_on_table(&self, table: &Table) -> Vec<DieOnTable>;

    /// All scoring selections with explanations, best first; empty in games without selections.
    fn selections_on_table(&self, _table: &Table) -> Vec<Selection> {
        Vec::new()
    }

    /// The first of them.
    fn best_selection(&self, table: &Table) -> Option<Selection> {
        self.selections_on_table(table).into_iter().next()
    }

    /// The state without records of earlier rounds, which grow with the game.
    fn without_history(&self) -> Self {
        self.clone()
    }

    /// The dice of a seat, one per slot; empty in games without loadouts.
    fn loadout_of(&self, _seat: SeatNo) -> Vec<Code> {
        Vec::new()
    }
}

/// Infers the moves of games that roll, save and bank.
fn infer_common_play(log: &[Event]) -> Option<(SeatNo, Play)> {
    let event = log.first()?;
    if let Event::Rolled(roll) = event {
        Some((roll.seat, Play::Roll))
    } else if let Event::Saved(save) = event {
        Some((save.seat, Play::Save { slots: save.slots.to_vec() }))
    } else if let Event::Banked(bank) = event {
        // Saving and then banking produces the same events as banking with the dice.
        Some((bank.seat, Play::Bank { slots: None }))
    } else if let Event::Farkled(farkle) = event
        && farkle.by == FarkledBy::Choice
    {
        Some((farkle.seat, Play::Forfeit))
    } else {
        None
    }
}

/// The parameters of a kind of game.
pub(crate) trait Parameters {
    /// The numbers of these rules, with their ranges.
    fn numbers(&self) -> Vec<Number> {
        Vec::new()
    }

    /// Rejects invalid parameters, beyond numbers out of range.
    fn check(&self) -> Result<(), Rejection> {
        Ok(())
    }

    /// Whether all dice can be rolled again once all are scored.
    fn has_hot_dice(&self) -> bool {
        false
    }

    /// Resolves a parameter that is given by the name of a known value.
    fn named_value(&self, _parameter: &str, value: &Value) -> Result<Value, Rejection> {
        Ok(value.clone())
    }

    /// The catalogue of special dice, in games with special dice.
    fn catalogue(&self) -> Option<&Catalogue> {
        None
    }

    /// The same rules with another catalogue; `None` if the game has no special dice.
    fn with_catalogue(&self, _catalogue: &Arc<Catalogue>) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// The name of a card, consumable or character of these rules.
    fn name_of(&self, _code: Slug) -> Option<String> {
        None
    }

    /// All cards, consumables, characters and the like of these rules.
    fn items(&self) -> Vec<CatalogItem> {
        Vec::new()
    }

    /// The text shown for a measure or a rule.
    fn wording(&self, _name: Slug) -> Option<&'static str> {
        None
    }

    /// The text shown for an action with an item.
    fn item_label(&self, done: Slug, thing: Slug) -> String {
        let name = self.name_of(thing).unwrap_or_else(|| thing.spoken());
        match done {
            BOUGHT => format!("buys {name}"),
            USED => format!("uses {name}"),
            _ => name,
        }
    }

    /// The text shown for a value that is more than a number.
    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        let flag = matches!(what, Measure::OfItem(ACTIVE, _));
        flag.then(|| yes_or_no(value)).flatten()
    }

    /// The name of a kind of die.
    fn die_name(&self, code: Code) -> String {
        let kind = self.catalogue().and_then(|catalogue| catalogue.find(code));
        kind.map_or_else(|| code.to_string(), |kind| kind.name.clone())
    }

    /// The game's own text for an event; `None` for the common text.
    fn describe(&self, _event: &Event, _table: &Table) -> Option<String> {
        None
    }

    /// Explains the numbers of an event, line by line.
    fn explain(&self, event: &Event) -> Vec<String> {
        explain::usual_lines(event, &|boost| self.boost_line(boost))
    }

    /// Explains the points of a selection, line by line.
    fn selection_lines(&self, selection: &Selection) -> Vec<String> {
        explain::save_lines(&selection.combinations, &selection.bonuses, &|boost| {
            self.boost_line(boost)
        })
    }

    /// The text for the contribution of a die to the points of a save.
    fn boost_line(&self, boost: &Boost) -> String {
        explain::plus(&self.die_name(boost.die.code), boost.after.saturating_sub(boost.before))
            .unwrap_or_default()
    }

    /// The name of a face that is not a number.
    fn face_name(&self, _face: u8) -> Option<&'static str> {
        None
    }

    /// Validates a loadout given by codes.
    fn lawful_loadout(&self, _named: &[String]) -> Result<Vec<Code>, Rejection> {
        Err(Rejection::NoSpecialDice)
    }
}

/// The text of a boolean value.
pub(crate) fn yes_or_no(value: i64) -> Option<String> {
    match value {
        0 => Some("no".to_owned()),
        1 => Some("yes".to_owned()),
        _ => None,
    }
}
