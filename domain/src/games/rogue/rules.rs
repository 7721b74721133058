//! The parameters of DiceRogue, and its presets.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Category, Colour, Colours, Consumable, Rogue, consumable, names, words};
use crate::{
    Boost, CatalogItem, Event, Measure, Number, Points, Rejection, Rules, Ruleset, Selection, Slug,
    Table, TableRules,
    game_rules::{GameRules, Parameters},
    ruleset::{bad, within},
    special_dice::Code,
};

/// The parameters of DiceRogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RogueRules {
    /// The number of dice.
    pub dice: u8,
    /// The number of rolls per turn.
    pub rolls: u8,
    /// The rounds of a run.
    pub rounds: Vec<RoundGoal>,
    /// The initial money.
    pub start_money: i64,
    /// The maximum earnings of a round beyond its reward: one dollar per point above the target.
    pub most_surplus: i64,
    /// Whether there is also a shop before the first round.
    pub opening_shop: bool,
    /// The points of a full house.
    pub full_house: Points,
    /// The points of four faces in a row.
    pub small_straight: Points,
    /// The points of five faces in a row.
    pub large_straight: Points,
    /// The points of five of a kind.
    pub yahtzee: Points,
    /// The bonus of each further yahtzee after the first.
    pub extra_yahtzee: Points,
    /// The points of the upper section from which on it gets a bonus.
    pub upper_bonus_at: Points,
    /// The bonus of the upper section.
    pub upper_bonus: Points,
    /// The colours that dice can have.
    pub colours: Colours,
    /// Odds and prices of the colours: blue, green, red, purple, yellow.
    pub colour_table: [ColourRule; 5],
    /// The best odds that can be bought: 1 in this many.
    pub best_odds: u32,
    /// The number of dice of a colour that doubles its effect.
    pub same_colour: u8,
    /// The maximum number of consumables held.
    pub slots: u8,
    /// The available consumables.
    pub consumables: Vec<Consumable>,
}

/// A round of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundGoal {
    /// The points to reach.
    pub target: Points,
    /// The money for reaching them.
    pub reward: i64,
}

/// The odds and price of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColourRule {
    /// The odds after the first purchase, 1 in this many; each further purchase halves it, rounded
    /// up.
    pub odds: u32,
    /// The price of the first purchase; each further one costs twice as much.
    pub price: i64,
}

impl RogueRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        let goal = |target, reward| RoundGoal { target, reward };
        let colour = |odds, price| ColourRule { odds, price };
        let rules = Self {
            dice: 5,
            rolls: 3,
            rounds: vec![
                goal(150, 100),
                goal(300, 125),
                goal(250, 150),
                goal(350, 200),
                goal(450, 250),
                goal(550, 350),
            ],
            start_money: 100,
            most_surplus: 100,
            opening_shop: false,
            full_house: 25,
            small_straight: 30,
            large_straight: 40,
            yahtzee: 50,
            extra_yahtzee: 100,
            upper_bonus_at: 63,
            upper_bonus: 35,
            colours: Colours::All(true),
            colour_table: [
                colour(100, 125),
                colour(25, 50),
                colour(50, 75),
                colour(88, 100),
                colour(60, 85),
            ],
            best_odds: 2,
            same_colour: 5,
            slots: 3,
            consumables: consumable::builtin(),
        };
        vec![Ruleset {
            preset: "standard".to_owned(),
            version: 1,
            table: TableRules { max_seats: 1, ..TableRules::usual() },
            rules: Rules::DiceRogue(Arc::new(rules)),
        }]
    }

    /// The odds of a colour after this many purchases, as 1 in N; `None` if it was not bought.
    pub fn odds(&self, colour: Colour, purchases: u32) -> Option<u32> {
        let halvings = purchases.checked_sub(1)?;
        let first = self.colour_table[colour.index()].odds;
        let odds = (0..halvings.min(32)).fold(first, |odds, _| odds.div_ceil(2));
        Some(odds.max(self.best_odds))
    }

    /// The price of the next purchase of a colour after this many.
    pub fn price(&self, colour: Colour, purchases: u32) -> i64 {
        let first = self.colour_table[colour.index()].price;
        (0..purchases).fold(first, |price, _| price.saturating_mul(2))
    }

    /// A consumable by its code.
    pub fn consumable(&self, code: Slug) -> Option<&Consumable> {
        self.consumables.iter().find(|consumable| consumable.code == code)
    }
}

impl Parameters for RogueRules {
    fn wording(&self, name: Slug) -> Option<&'static str> {
        names::wording(name)
    }

    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        words::shown(what, value)
    }

    fn die_name(&self, code: Code) -> String {
        words::die_name(code)
    }

    fn describe(&self, event: &Event, _: &Table) -> Option<String> {
        words::describe(event)
    }

    fn selection_lines(&self, selection: &Selection) -> Vec<String> {
        words::selection_lines(selection)
    }

    fn boost_line(&self, boost: &Boost) -> String {
        words::boost_line(boost)
    }

    fn numbers(&self) -> Vec<Number> {
        let points = 0..=100_000;
        vec![
            Number::new("dice", self.dice, 1..=8, "How many dice there are."),
            Number::new("rolls", self.rolls, 1..=20, "How often they can be rolled in a turn."),
            Number::new(
                "start_money",
                self.start_money,
                0..=1_000_000,
                "The money a run starts with.",
            ),
            Number::new(
                "most_surplus",
                self.most_surplus,
                0..=1_000_000,
                "The most a round earns beyond its reward, a dollar per point above the target.",
            ),
            Number::new("full_house", self.full_house, points.clone(), "Points of a full house."),
            Number::new(
                "small_straight",
                self.small_straight,
                points.clone(),
                "Points of four in a row.",
            ),
            Number::new(
                "large_straight",
                self.large_straight,
                points.clone(),
                "Points of five in a row.",
            ),
            Number::new("yahtzee", self.yahtzee, points.clone(), "Points of five of a kind."),
            Number::new(
                "extra_yahtzee",
                self.extra_yahtzee,
                points.clone(),
                "Points of each further one.",
            ),
            Number::new(
                "upper_bonus_at",
                self.upper_bonus_at,
                points.clone(),
                "Points of the upper part that earn its bonus.",
            ),
            Number::new("upper_bonus", self.upper_bonus, points, "The bonus of the upper part."),
            Number::new(
                "best_odds",
                self.best_odds,
                1..=1_000_000,
                "The best odds on sale: 1 in this many.",
            ),
            Number::new(
                "same_colour",
                self.same_colour,
                1..=16,
                "From this many dice of a colour on, its effect is doubled.",
            ),
            Number::new("slots", self.slots, 0..=16, "How many consumables a seat can hold."),
        ]
    }

    fn check(&self) -> Result<(), Rejection> {
        within("rounds", self.rounds.len(), 1..=50)?;
        for round in &self.rounds {
            within("rounds.target", round.target, 0..=1_000_000)?;
            within("rounds.reward", round.reward, 0..=1_000_000)?;
        }
        for colour in &self.colour_table {
            within("colour_table.odds", colour.odds, 1..=1_000_000)?;
            within("colour_table.price", colour.price, 0..=1_000_000)?;
        }
        within("consumables", self.consumables.len(), 0..=64)?;
        for (n, item) in self.consumables.iter().enumerate() {
            item.check()?;
            let taken = self.consumables[..n].iter().any(|other| other.code == item.code)
                || Colour::ALL.iter().any(|colour| colour.slug() == item.code);
            if taken {
                return Err(bad("consumables", item.code, "each needs a code of its own"));
            }
        }
        Ok(())
    }

    fn items(&self) -> Vec<CatalogItem> {
        let colours = self.colours.each().map(|colour| CatalogItem {
            kind: "colour",
            code: colour.slug(),
            name: colour.name().to_owned(),
            text: colour.text().to_owned(),
            price: Some(self.price(colour, 0)),
        });
        let items = self.consumables.iter().map(|item| CatalogItem {
            kind: "consumable",
            code: item.code,
            name: item.name.clone(),
            text: item.text(),
            price: Some(item.price),
        });
        colours.chain(items).collect()
    }

    fn name_of(&self, code: Slug) -> Option<String> {
        let colour = Colour::ALL.into_iter().find(|colour| colour.slug() == code);
        let item = || self.consumable(code).map(|item| item.name.clone());
        colour.map(|colour| colour.name().to_owned()).or_else(item)
    }
}

impl Rogue {
    /// The goal of a round.
    pub(super) fn goal(&self, round: u32) -> Option<RoundGoal> {
        self.rules.rounds.get(usize::try_from(round).ok()?.checked_sub(1)?).copied()
    }
}

/// The names of categories, as listed in rejections.
pub(super) fn names(categories: impl Iterator<Item = Category>) -> String {
    let names: Vec<String> = categories.map(|category| category.slug().to_string()).collect();
    names.join(", ")
}

const _: () = assert!(Rogue::MOST_SEATS == 1, "a run is one player's");
