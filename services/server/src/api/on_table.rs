//! What is on the table: dice, scoring selections and offers.

use async_graphql::{Enum, SimpleObject};
use domain::{Boost, Combination, DieOnTable, DiePlace, Game, Rules};

use super::{
    enums::CombinationKind,
    events::DieAtView,
    rules::CatalogItem,
    scalars::{DieCode, Long, int},
};

/// Where a die is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum DieLocation {
    /// In hand, to be rolled next.
    Hand,
    /// On the table, just rolled.
    Table,
    /// Saved and set aside.
    Saved,
}

/// A die of the seat whose turn it is.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Die {
    /// The slot, from 0.
    slot: i32,
    /// The code of the die; `STANDARD` is an ordinary die. In DiceRogue, the colour: `GREEN`.
    code: DieCode,
    /// The face shown. Null if it was not rolled in this round.
    face: Option<i32>,
    /// The symbol of the face: `sword`, `energy`, `heart`. Null if the face is a number.
    face_name: Option<&'static str>,
    /// Where the die is.
    place: DieLocation,
    /// Whether it is an extra die, in addition to those that every player has.
    extra: bool,
}

/// Dice that score together.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Combination")]
pub(super) struct CombinationView {
    /// The kind of combination.
    kind: CombinationKind,
    /// The slots of the dice.
    slots: Vec<i32>,
    /// The faces of the dice.
    faces: Vec<i32>,
    /// The points by the scoring table.
    points: Long,
    /// The boosts by special dice, in the order of application.
    boosts: Vec<BoostView>,
    /// The points including the boosts.
    total: Long,
}

/// Points added or multiplied by a special die.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Boost")]
pub(super) struct BoostView {
    /// The special die.
    die: DieAtView,
    /// The points before.
    before: Long,
    /// The points after.
    after: Long,
}

/// Dice of the current roll that can be scored together. In DiceRogue, one per open category; in
/// NeonPolis, the sets.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Selection {
    /// The slots of the dice. In Farkle, send them as `slots` of `save`.
    slots: Vec<i32>,
    /// The points, including the boosts by special dice.
    points: Long,
    /// How the points are calculated, one step per line.
    score_breakdown: Vec<String>,
    /// Whether they can also be sent as `saveSlots` of `bank`.
    can_bank: bool,
    /// The points of a `bank` with these `saveSlots`, including multiplier and bonus.
    bank_points: Long,
    /// The money earned by scoring them, in dollars.
    money: i32,
    /// Extra points for the round: in DiceRogue, those of an extra yahtzee and the upper bonus.
    extra_points: Long,
    /// The number of items granted for scoring them, if there is room for them.
    gifts: i32,
    /// The combinations scored. Their totals and the bonuses add up to `points`.
    combinations: Vec<CombinationView>,
    /// The points that special dice add to the combinations.
    bonuses: Vec<BoostView>,
}

/// An offer in a game.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Offer {
    /// The item. Send its code with `buyItem`.
    pub(super) item: CatalogItem,
    /// The price, in the money or energy of the game.
    price: Long,
    /// Colours of DiceRogue: after buying, a die gets the colour one time in this many. Null for
    /// other items.
    odds: Option<i32>,
    /// Whether the seat to act can buy it now.
    affordable: bool,
}

impl Offer {
    pub(super) fn new(offer: domain::Offer, rules: &Rules) -> Self {
        let domain::Offer { code, name, text, price, odds, buyable } = offer;
        let item = CatalogItem::find(rules, code)
            .unwrap_or_else(|| CatalogItem::offered(code, name, text));
        Self { item, price: Long(price), odds: odds.map(int), affordable: buyable }
    }

    /// Whether the item has this code.
    pub(super) fn is(&self, code: &str) -> bool {
        self.item.code.0 == code
    }
}

impl Die {
    /// The dice of the seat whose turn it is.
    pub(super) fn all(game: &Game) -> Vec<Self> {
        let name = |face| game.table.ruleset.rules.face_name(face);
        let view = |die: DieOnTable| Self {
            slot: die.slot.into(),
            code: die.code.into(),
            face: die.face.map(Into::into),
            face_name: die.face.and_then(name),
            place: match die.place {
                DiePlace::Hand => DieLocation::Hand,
                DiePlace::Table => DieLocation::Table,
                DiePlace::Saved => DieLocation::Saved,
            },
            extra: die.extra,
        };
        game.dice().into_iter().map(view).collect()
    }
}

impl Selection {
    pub(super) fn new(selection: &domain::Selection, rules: &Rules) -> Self {
        Self {
            slots: ints(selection.slots.iter()),
            points: Long(selection.points),
            score_breakdown: selection.lines(rules),
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
            kind: combination.name.into(),
            slots: ints(combination.slots.iter()),
            faces: ints(combination.faces.iter()),
            points: Long(combination.points),
            boosts: combination.effects.iter().map(Into::into).collect(),
            total: Long(combination.total()),
        }
    }
}

impl From<&Boost> for BoostView {
    fn from(boost: &Boost) -> Self {
        Self { die: boost.die.into(), before: Long(boost.before), after: Long(boost.after) }
    }
}

pub(super) fn ints(numbers: impl Iterator<Item = u8>) -> Vec<i32> {
    numbers.map(i32::from).collect()
}
