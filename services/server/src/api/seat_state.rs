//! The state of a seat: one type per game, and a general one for games without their own type.

use async_graphql::{Json, SimpleObject, Union};
use domain::{Fact, Game, Rules, SeatNo, Slug};
use serde_json::Value;

use super::{
    games::{
        dash::{ContestSeat, ZeroHourSeat},
        farkle::FarkleSeat,
        neon::NeonPolisSeat,
        rogue::DiceRogueSeat,
    },
    rules::{CatalogItem, camel_case},
    scalars::{Long, int},
};

/// The state of a seat, one type per game. While it is another seat's turn, the values of the turn
/// are those at the start of a turn.
#[derive(Clone, Debug, Union)]
pub(super) enum SeatState {
    Farkle(FarkleSeat),
    ZeroHour(ZeroHourSeat),
    Contest(ContestSeat),
    DiceRogue(DiceRogueSeat),
    NeonPolis(NeonPolisSeat),
    General(GeneralSeat),
}

impl SeatState {
    pub(super) fn of(game: &Game, seat: SeatNo) -> Self {
        let rules = &game.table.ruleset.rules;
        let facts = Facts { facts: game.facts(seat), rules };
        match rules.game() {
            "farkle" => Self::Farkle(FarkleSeat::of(&facts)),
            "zero_hour" => Self::ZeroHour(ZeroHourSeat::of(&facts)),
            "last_line" | "true_grit" => Self::Contest(ContestSeat::of(&facts)),
            "dice_rogue" => Self::DiceRogue(DiceRogueSeat::of(&facts)),
            "neonpolis" => Self::NeonPolis(NeonPolisSeat::of(&facts)),
            _ => Self::General(GeneralSeat::of(&facts)),
        }
    }
}

/// The state of a seat in a game without its own type.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct GeneralSeat {
    /// The values of the state.
    facts: Vec<SeatFact>,
}

/// A value of the state of a seat.
#[derive(Clone, Debug, SimpleObject)]
struct SeatFact {
    /// The name: `turnScore`.
    name: String,
    /// The value.
    value: Json<Value>,
}

impl GeneralSeat {
    fn of(facts: &Facts<'_>) -> Self {
        let fact = |(name, fact): &(&'static str, Fact)| SeatFact {
            name: camel_case(name),
            value: Json(json(fact)),
        };
        Self { facts: facts.facts.iter().map(fact).collect() }
    }
}

fn json(fact: &Fact) -> Value {
    match fact {
        Fact::Number(number) | Fact::Money(number) => (*number).into(),
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => (*text).into(),
        Fact::Slug(word) => word.as_str().into(),
        Fact::List(facts) => facts.iter().map(json).collect(),
        Fact::Map(facts) => {
            facts.iter().map(|(word, fact)| (camel_case(word.as_str()), json(fact))).collect()
        }
    }
}

/// The facts of a seat in the domain, by name.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    facts: Vec<(&'static str, Fact)>,
    rules: &'a Rules,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a fact of another type counts as missing")]
impl Facts<'_> {
    fn get(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
    }

    fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Fact::Number(number) | Fact::Money(number)) => *number,
            _ => 0,
        }
    }

    /// Points.
    pub(super) fn long(&self, name: &str) -> Long {
        Long(self.number(name))
    }

    /// A count.
    pub(super) fn int(&self, name: &str) -> i32 {
        int(self.number(name))
    }

    /// A boolean.
    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Fact::Flag(true)))
    }

    /// A name of a closed set.
    pub(super) fn text(&self, name: &str) -> &'static str {
        match self.get(name) {
            Some(Fact::Text(text)) => text,
            _ => "",
        }
    }

    /// An item of the rules.
    pub(super) fn item(&self, name: &str) -> Option<CatalogItem> {
        match self.get(name) {
            Some(Fact::Slug(word)) => CatalogItem::find(self.rules, *word),
            _ => None,
        }
    }

    /// Items of the rules.
    pub(super) fn items(&self, name: &str) -> Vec<CatalogItem> {
        let Some(Fact::List(list)) = self.get(name) else { return Vec::new() };
        let item = |fact: &Fact| match fact {
            Fact::Slug(word) => CatalogItem::find(self.rules, *word),
            _ => None,
        };
        list.iter().filter_map(item).collect()
    }

    /// Numbers by name.
    pub(super) fn map(&self, name: &str) -> Vec<(Slug, i64)> {
        numbers(self.get(name))
    }

    /// Maps of facts, by name.
    pub(super) fn nested(&self, name: &str) -> Vec<(Slug, Nested)> {
        let Some(Fact::Map(map)) = self.get(name) else { return Vec::new() };
        let inner = |(name, fact): &(Slug, Fact)| match fact {
            Fact::Map(inner) => Some((*name, Nested(inner.clone()))),
            _ => None,
        };
        map.iter().filter_map(inner).collect()
    }

    pub(super) fn rules(&self) -> &Rules {
        self.rules
    }
}

/// Facts within a fact.
#[derive(Debug)]
pub(super) struct Nested(Vec<(Slug, Fact)>);

impl Nested {
    fn get(&self, name: &str) -> Option<&Fact> {
        self.0.iter().find(|(known, _)| known.as_str() == name).map(|(_, fact)| fact)
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> i64 {
        if let Some(Fact::Number(number)) = self.get(name) { *number } else { 0 }
    }

    /// Numbers by name.
    pub(super) fn map(&self, name: &str) -> Vec<(Slug, i64)> {
        numbers(self.get(name))
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only numbers are wanted")]
fn numbers(fact: Option<&Fact>) -> Vec<(Slug, i64)> {
    let Some(Fact::Map(map)) = fact else { return Vec::new() };
    let number = |(name, fact): &(Slug, Fact)| match fact {
        Fact::Number(number) => Some((*name, *number)),
        _ => None,
    };
    map.iter().filter_map(number).collect()
}
