//! The parameters of NeonPolis, and its presets.

use std::{mem::discriminant, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Card, CardKind, Character, Evolution, Neon, card, character, names, words};
use crate::{
    CatalogItem, Event, Measure, Number, Points, Rejection, Rules, Ruleset, Slug, Table,
    game_rules::{GameRules, Parameters},
    ruleset::{bad, within},
};

/// The parameters of NeonPolis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeonRules {
    /// The number of dice, without cards.
    pub dice: u8,
    /// The number of re-rolls per turn, without cards.
    pub rerolls: u8,
    /// A player with this many victory points wins at once.
    pub goal: Points,
    /// Initial and maximum health.
    pub hp: i64,
    /// Initial energy.
    pub energy: i64,
    /// The victory points for entering the centre.
    pub enter_vp: Points,
    /// The victory points for starting a turn inside.
    pub hold_vp: Points,
    /// The number of hearts in a roll that unlocks an evolution.
    pub evolution_hearts: u8,
    /// The number of open cards in the market.
    pub open_cards: u8,
    /// The price of replacing them, in energy.
    pub renew_price: i64,
    /// The targets of an attack from inside, in games with a combat phase. `None`: no combat phase,
    /// swords hit everybody outside when the dice are resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_hits: Option<InsideHits>,
    /// Whether abilities, like hearts, do not heal inside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_heals_inside: bool,
    /// The characters to choose from.
    pub characters: Vec<Character>,
    /// The cards of the market.
    pub cards: Vec<Card>,
    /// The evolutions to choose from.
    pub evolutions: Vec<Evolution>,
}

/// The targets of an attack from inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsideHits {
    /// One player outside, chosen by the attacker.
    One,
    /// Everybody outside, each with the damage of all swords.
    All,
}

impl NeonRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        let preset = |name: &str, version, inside_hits: Option<InsideHits>| {
            let nothing_heals_inside = inside_hits.is_some();
            let rules = Self { inside_hits, nothing_heals_inside, ..Self::builtin() };
            let standard = Ruleset::standard(version, Rules::NeonPolis(Arc::new(rules)));
            Ruleset { preset: name.to_owned(), ..standard }
        };
        vec![
            preset("standard", 2, Some(InsideHits::One)),
            preset("arena", 1, Some(InsideHits::All)),
            preset("standard", 1, None),
        ]
    }

    fn builtin() -> Self {
        Self {
            dice: 6,
            rerolls: 3,
            goal: 20,
            hp: 10,
            energy: 0,
            enter_vp: 1,
            hold_vp: 2,
            evolution_hearts: 3,
            open_cards: 3,
            renew_price: 2,
            inside_hits: None,
            nothing_heals_inside: false,
            characters: character::builtin(),
            cards: card::builtin(),
            evolutions: card::builtin_evolutions(),
        }
    }

    /// A card by its code.
    pub fn card(&self, code: Slug) -> Option<&Card> {
        self.cards.iter().find(|card| card.code == code)
    }

    /// An evolution by its code.
    pub fn evolution(&self, code: Slug) -> Option<&Evolution> {
        self.evolutions.iter().find(|evolution| evolution.code == code)
    }

    /// A character by its code.
    pub fn character(&self, code: Slug) -> Option<&Character> {
        self.characters.iter().find(|character| character.code == code)
    }
}

/// Every effect produces an event, and the number of events per command is limited.
const MOST_OF_A_KIND: usize = 3;

impl NeonRules {
    fn check_passives(&self) -> Result<(), Rejection> {
        let kept = self.cards.iter().filter_map(|card| match card.kind {
            CardKind::Kept(passive) => Some(passive),
            CardKind::Once(_) => None,
        });
        let evolved = self.evolutions.iter().map(|evolution| evolution.effect);
        let kinds: Vec<_> = kept.chain(evolved).map(|passive| discriminant(&passive)).collect();
        let same = |kind| kinds.iter().filter(|&other| other == kind).count();
        let most = kinds.iter().map(same).max().unwrap_or(0);
        within("cards and evolutions of one kind", most, 0..=MOST_OF_A_KIND)
    }
}

impl Parameters for NeonRules {
    fn numbers(&self) -> Vec<Number> {
        vec![
            Number::new("dice", self.dice, 1..=8, "How many dice there are, before cards."),
            Number::new(
                "rerolls",
                self.rerolls,
                0..=20,
                "Rolls after the first one of a turn, before cards.",
            ),
            Number::new("goal", self.goal, 2..=1_000, "The victory points that win."),
            Number::new(
                "hp",
                self.hp,
                1..=1_000,
                "The health everyone starts with; also the most.",
            ),
            Number::new("energy", self.energy, 0..=1_000, "The energy everyone starts with."),
            Number::new(
                "enter_vp",
                self.enter_vp,
                0..=100.min(self.goal - 1),
                "Victory points for entering the centre.",
            ),
            Number::new(
                "hold_vp",
                self.hold_vp,
                0..=100,
                "Victory points for starting a turn inside.",
            ),
            Number::new(
                "evolution_hearts",
                self.evolution_hearts,
                1..=16,
                "Hearts that unlock an evolution.",
            ),
            Number::new(
                "open_cards",
                self.open_cards,
                0..=8,
                "How many cards of the market are open.",
            ),
            Number::new(
                "renew_price",
                self.renew_price,
                1..=100,
                "Energy it costs to replace them.",
            ),
        ]
    }

    fn check(&self) -> Result<(), Rejection> {
        within("characters", self.characters.len(), usize::from(Neon::MOST_SEATS)..=64)?;
        within("cards", self.cards.len(), 0..=100)?;
        within("evolutions", self.evolutions.len(), 0..=64)?;
        self.characters.iter().try_for_each(Character::check)?;
        self.cards.iter().try_for_each(Card::check)?;
        self.evolutions.iter().try_for_each(Evolution::check)?;
        self.check_passives()?;
        let mut codes: Vec<Slug> = self
            .characters
            .iter()
            .map(|character| character.code)
            .chain(self.cards.iter().map(|card| card.code))
            .chain(self.evolutions.iter().map(|evolution| evolution.code))
            .collect();
        codes.sort_unstable();
        match codes.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(bad("cards", pair[0], "each thing needs a code of its own")),
            None => Ok(()),
        }
    }

    fn items(&self) -> Vec<CatalogItem> {
        let characters = self.characters.iter().map(|character| CatalogItem {
            kind: "character",
            code: character.code,
            name: character.name.clone(),
            text: format!("{}: {}", character.ability, character.text()),
            price: None,
        });
        let cards = self.cards.iter().map(|card| CatalogItem {
            kind: "card",
            code: card.code,
            name: card.name.clone(),
            text: card.text(),
            price: Some(card.price),
        });
        let evolutions = self.evolutions.iter().map(|evolution| CatalogItem {
            kind: "evolution",
            code: evolution.code,
            name: evolution.name.clone(),
            text: evolution.text(),
            price: None,
        });
        characters.chain(cards).chain(evolutions).collect()
    }

    fn name_of(&self, code: Slug) -> Option<String> {
        let card = self.card(code).map(|card| &card.name);
        let evolution = self.evolution(code).map(|evolution| &evolution.name);
        let character = self.character(code).map(|character| &character.name);
        card.or(evolution).or(character).cloned()
    }

    fn face_name(&self, face: u8) -> Option<&'static str> {
        words::face_name(face)
    }

    fn wording(&self, name: Slug) -> Option<&'static str> {
        names::wording(name)
    }

    fn item_label(&self, done: Slug, thing: Slug) -> String {
        self.done(done, thing)
    }

    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        words::shown(what, value)
    }

    fn describe(&self, event: &Event, table: &Table) -> Option<String> {
        words::describe(event, table)
    }
}
