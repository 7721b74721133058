//! What lies on the table: dice, what they can score, and what can be bought.

use async_graphql::{Enum, SimpleObject};
use domain::{Boost, Combination, DieOnTable, DiePlace, Game, Rules};

use super::{
    game::text,
    scalars::{Long, int},
};

/// Where a die lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum Place {
    /// In hand, to be rolled next.
    Hand,
    /// On the table, just rolled.
    Table,
    /// Saved, set aside.
    Saved,
}

/// A die of the seat to move.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Die {
    /// Its slot, from 0.
    slot: i32,
    /// Its kind: a code, `STANDARD` for an ordinary die; in DiceRogue the colour it came up in, as `GREEN`.
    code: String,
    /// What it shows, if it was rolled in this round.
    face: Option<i32>,
    /// What that is called, where it is no number: `sword`, `energy`, `heart`.
    face_name: Option<&'static str>,
    /// Where it lies.
    place: Place,
    /// Whether it is a further die, beyond those that everybody has.
    extra: bool,
}

/// Dice that score together.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Combination")]
struct CombinationView {
    /// What they are: `single`, `three_of_a_kind`, `straight` …
    name: String,
    /// The dice, by slot.
    slots: Vec<i32>,
    /// What they show.
    faces: Vec<i32>,
    /// What they score by the table.
    points: Long,
    /// What special dice made of it, in the order in which they did.
    effects: Vec<BoostView>,
    /// What they score with it.
    total: Long,
}

/// A special die makes something worth more.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Boost")]
struct BoostView {
    /// The slot of the die.
    slot: i32,
    /// Its code.
    code: String,
    /// What it was worth.
    before: Long,
    /// What it is worth now.
    after: Long,
}

/// Dice of the roll on the table that can be scored together; in DiceRogue one for each open category, in NeonPolis the sets.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Selection {
    /// The dice, by slot: in Farkle what `save(slots: …)` takes.
    slots: Vec<i32>,
    /// What they score, with everything special dice make of it.
    points: Long,
    /// How the points come about, line by line, ready to show.
    lines: Vec<String>,
    /// Whether `bank(slots: …)` is accepted too.
    can_bank: bool,
    /// What `bank(slots: …)` would bring, with multiplier and bonus.
    bank_points: Long,
    /// The money that scoring them earns, in dollars.
    money: i32,
    /// What else scoring them brings to the round: in DiceRogue one more yahtzee and the bonus of the upper part.
    extra_points: Long,
    /// The things that scoring them gives, if there is room for them.
    gifts: i32,
    /// What they score as: the sum of their totals and the bonuses is the points.
    combinations: Vec<CombinationView>,
    /// What is added to the combinations.
    bonuses: Vec<BoostView>,
}

/// Something that can be bought in a game.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Offer {
    /// Its code: what `buyItem(code: …)` takes.
    code: String,
    /// Its name.
    name: String,
    /// What it does.
    text: String,
    /// What it costs, in the money or energy of the game.
    price: Long,
    /// Once it is bought, a die comes up in it 1 time in so many: the colours of DiceRogue.
    odds: Option<i32>,
    /// Whether the seat to move could buy it now.
    buyable: bool,
}

impl From<domain::Offer> for Offer {
    fn from(offer: domain::Offer) -> Self {
        let domain::Offer { code, name, text, price, odds, buyable } = offer;
        let odds = odds.map(int);
        Self { code: code.to_string(), name, text, price: Long(price), odds, buyable }
    }
}

impl Die {
    /// The dice of the seat that has the turn.
    pub(super) fn all(game: &Game) -> Vec<Self> {
        let name = |face| game.table.ruleset.rules.face_name(face);
        let shown = |die: DieOnTable| Self {
            slot: die.slot.into(),
            code: die.code.to_string(),
            face: die.face.map(Into::into),
            face_name: die.face.and_then(name),
            place: match die.place {
                DiePlace::Hand => Place::Hand,
                DiePlace::Table => Place::Table,
                DiePlace::Saved => Place::Saved,
            },
            extra: die.extra,
        };
        game.dice().into_iter().map(shown).collect()
    }
}

impl Selection {
    pub(super) fn new(selection: &domain::Selection, rules: &Rules) -> Self {
        Self {
            slots: ints(selection.slots.iter()),
            points: Long(selection.points),
            lines: selection.lines(rules),
            can_bank: selection.can_bank,
            bank_points: Long(selection.bank),
            money: int(selection.dollars),
            extra_points: Long(selection.extra),
            gifts: int(selection.gifts),
            bonuses: selection.bonuses.iter().map(Into::into).collect(),
            combinations: selection.combinations.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Combination> for CombinationView {
    fn from(combination: &Combination) -> Self {
        Self {
            name: text(&combination.name),
            slots: ints(combination.slots.iter()),
            faces: ints(combination.faces.iter()),
            points: Long(combination.points),
            effects: combination.effects.iter().map(Into::into).collect(),
            total: Long(combination.total()),
        }
    }
}

impl From<&Boost> for BoostView {
    fn from(boost: &Boost) -> Self {
        Self {
            slot: boost.die.slot.into(),
            code: boost.die.code.to_string(),
            before: Long(boost.before),
            after: Long(boost.after),
        }
    }
}

pub(super) fn ints(numbers: impl Iterator<Item = u8>) -> Vec<i32> {
    numbers.map(i32::from).collect()
}
