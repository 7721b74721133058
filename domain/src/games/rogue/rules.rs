//! What a run is played by.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Category, Colour, Colours, Consumable, Rogue, consumable, names, words};
use crate::{
    Boost, Event, Measure, Points, Rejection, Rules, Ruleset, Selection, Table, TableRules, Thing,
    Word,
    rulebook::{Parameters, Rulebook},
    ruleset::{bad, within},
    special_dice::Code,
};

/// The parameters of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RogueRules {
    /// How many dice there are.
    pub dice: u8,
    /// How often they may be rolled in a turn.
    pub rolls: u8,
    /// The rounds of a run.
    pub rounds: Vec<RoundGoal>,
    /// The money a run begins with.
    pub start_money: i64,
    /// The most a round earns beyond its reward: a dollar a point above the target.
    pub most_surplus: i64,
    /// Whether there is a shop before the first round too.
    pub opening_shop: bool,
    /// What a full house scores.
    pub full_house: Points,
    /// What four faces in a row score.
    pub small_straight: Points,
    /// What five faces in a row score.
    pub large_straight: Points,
    /// What five of a kind score.
    pub yahtzee: Points,
    /// What each further yahtzee is worth, once one was scored.
    pub extra_yahtzee: Points,
    /// From how many points of the upper part on it is worth more.
    pub upper_bonus_at: Points,
    /// How much more.
    pub upper_bonus: Points,
    /// Which colours dice can have.
    pub colours: Colours,
    /// Odds and prices of the colours: blue, green, red, purple, yellow.
    pub colour_table: [ColourRule; 5],
    /// The best odds that are sold: 1 time in so many.
    pub best_odds: u32,
    /// From how many dice of a colour on its effect is doubled.
    pub same_colour: u8,
    /// How many consumables one can hold.
    pub slots: u8,
    /// The consumables there are.
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

/// How often a colour comes up, and what that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColourRule {
    /// After the first purchase it comes up 1 time in so many; each further one halves this, rounded up.
    pub odds: u32,
    /// What the first purchase costs; each further one costs twice as much.
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

    /// 1 time in how many a colour comes up after so many purchases; `None` while it was not bought.
    pub fn odds(&self, colour: Colour, purchases: u32) -> Option<u32> {
        let halvings = purchases.checked_sub(1)?;
        let first = self.colour_table[colour.index()].odds;
        let odds = (0..halvings.min(32)).fold(first, |odds, _| odds.div_ceil(2));
        Some(odds.max(self.best_odds))
    }

    /// What the next purchase of a colour costs after so many.
    pub fn price(&self, colour: Colour, purchases: u32) -> i64 {
        let first = self.colour_table[colour.index()].price;
        (0..purchases).fold(first, |price, _| price.saturating_mul(2))
    }

    /// A consumable by its code.
    pub fn consumable(&self, code: Word) -> Option<&Consumable> {
        self.consumables.iter().find(|consumable| consumable.code == code)
    }
}

impl Parameters for RogueRules {
    fn wording(&self, name: Word) -> Option<&'static str> {
        names::wording(name)
    }

    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        words::shown(what, value)
    }

    fn die_name(&self, code: Code) -> String {
        words::die_name(code)
    }

    fn tell(&self, event: &Event, _: &Table) -> Option<String> {
        words::told(event)
    }

    fn selection_lines(&self, selection: &Selection) -> Vec<String> {
        words::selection_lines(selection)
    }

    fn boost_line(&self, boost: &Boost) -> String {
        words::boost_line(boost)
    }

    fn check(&self) -> Result<(), Rejection> {
        within("dice", self.dice, 1..=8)?;
        within("rolls", self.rolls, 1..=20)?;
        within("rounds", self.rounds.len(), 1..=50)?;
        for round in &self.rounds {
            within("rounds.target", round.target, 0..=1_000_000)?;
            within("rounds.reward", round.reward, 0..=1_000_000)?;
        }
        within("start_money", self.start_money, 0..=1_000_000)?;
        within("most_surplus", self.most_surplus, 0..=1_000_000)?;
        let points = [
            ("full_house", self.full_house),
            ("small_straight", self.small_straight),
            ("large_straight", self.large_straight),
            ("yahtzee", self.yahtzee),
            ("extra_yahtzee", self.extra_yahtzee),
            ("upper_bonus_at", self.upper_bonus_at),
            ("upper_bonus", self.upper_bonus),
        ];
        for (name, points) in points {
            within(name, points, 0..=100_000)?;
        }
        for colour in &self.colour_table {
            within("colour_table.odds", colour.odds, 1..=1_000_000)?;
            within("colour_table.price", colour.price, 0..=1_000_000)?;
        }
        within("best_odds", self.best_odds, 1..=1_000_000)?;
        within("same_colour", self.same_colour, 1..=16)?;
        within("slots", self.slots, 0..=16)?;
        within("consumables", self.consumables.len(), 0..=64)?;
        for (n, item) in self.consumables.iter().enumerate() {
            item.check()?;
            let taken = self.consumables[..n].iter().any(|other| other.code == item.code)
                || Colour::ALL.iter().any(|colour| colour.word() == item.code);
            if taken {
                return Err(bad("consumables", item.code, "each needs a code of its own"));
            }
        }
        Ok(())
    }

    fn things(&self) -> Vec<Thing> {
        let colours = self.colours.each().map(|colour| Thing {
            kind: "colour",
            code: colour.word(),
            name: colour.name().to_owned(),
            text: colour.text().to_owned(),
            price: Some(self.price(colour, 0)),
        });
        let items = self.consumables.iter().map(|item| Thing {
            kind: "consumable",
            code: item.code,
            name: item.name.clone(),
            text: item.text(),
            price: Some(item.price),
        });
        colours.chain(items).collect()
    }

    fn name_of(&self, code: Word) -> Option<String> {
        let colour = Colour::ALL.into_iter().find(|colour| colour.word() == code);
        let item = || self.consumable(code).map(|item| item.name.clone());
        colour.map(|colour| colour.name().to_owned()).or_else(item)
    }
}

impl Rogue {
    /// What the player is to reach in this round.
    pub(super) fn goal(&self, round: u32) -> Option<RoundGoal> {
        self.rules.rounds.get(usize::try_from(round).ok()?.checked_sub(1)?).copied()
    }
}

/// The names of the open categories, as refusals list them.
pub(super) fn names(categories: impl Iterator<Item = Category>) -> String {
    let names: Vec<String> = categories.map(|category| category.word().to_string()).collect();
    names.join(", ")
}

const _: () = assert!(Rogue::MOST_SEATS == 1, "a run is one player's");
