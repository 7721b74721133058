//! What a game is played by.

use std::{mem::discriminant, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Card, CardKind, Character, Evolution, Neon, card, character, names, words};
use crate::{
    Event, Measure, Points, Rejection, Rules, Ruleset, Table, Thing, Word,
    rulebook::{Parameters, Rulebook},
    ruleset::{bad, within},
};

/// The parameters of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeonRules {
    /// How many dice there are, before cards.
    pub dice: u8,
    /// How often they may be rolled again in a turn, before cards.
    pub rerolls: u8,
    /// Who has so many victory points wins at once.
    pub goal: Points,
    /// The health everybody begins with, and at the most has.
    pub hp: i64,
    /// The energy everybody begins with.
    pub energy: i64,
    /// The victory points for entering the centre.
    pub enter_vp: Points,
    /// The victory points for starting a turn inside.
    pub hold_vp: Points,
    /// So many hearts unlock an evolution.
    pub evolution_hearts: u8,
    /// How many cards lie open.
    pub open_cards: u8,
    /// What it costs to replace them, in energy.
    pub renew_price: i64,
    /// Whom an attack from inside hits; combat is a phase of its own then. `None` is a game without: swords hit everybody outside when
    /// the dice are resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_hits: Option<InsideHits>,
    /// Whether abilities heal as little inside as hearts do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nothing_heals_inside: bool,
    /// Who can be played.
    pub characters: Vec<Character>,
    /// The cards of the market.
    pub cards: Vec<Card>,
    /// The evolutions there are.
    pub evolutions: Vec<Evolution>,
}

/// Whom an attack from inside hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsideHits {
    /// One player outside, whom the attacker names.
    One,
    /// Everybody outside, each with all swords.
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
    pub fn card(&self, code: Word) -> Option<&Card> {
        self.cards.iter().find(|card| card.code == code)
    }

    /// An evolution by its code.
    pub fn evolution(&self, code: Word) -> Option<&Evolution> {
        self.evolutions.iter().find(|evolution| evolution.code == code)
    }

    /// A character by its code.
    pub fn character(&self, code: Word) -> Option<&Character> {
        self.characters.iter().find(|character| character.code == code)
    }
}

/// Everything that works tells of itself, and a command has room for so many events.
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
    fn check(&self) -> Result<(), Rejection> {
        within("dice", self.dice, 1..=8)?;
        within("rerolls", self.rerolls, 0..=20)?;
        within("goal", self.goal, 2..=1_000)?;
        within("hp", self.hp, 1..=1_000)?;
        within("energy", self.energy, 0..=1_000)?;
        within("enter_vp", self.enter_vp, 0..=100.min(self.goal - 1))?;
        within("hold_vp", self.hold_vp, 0..=100)?;
        within("evolution_hearts", self.evolution_hearts, 1..=16)?;
        within("open_cards", self.open_cards, 0..=8)?;
        within("renew_price", self.renew_price, 1..=100)?;
        within("characters", self.characters.len(), usize::from(Neon::MOST_SEATS)..=64)?;
        within("cards", self.cards.len(), 0..=100)?;
        within("evolutions", self.evolutions.len(), 0..=64)?;
        self.characters.iter().try_for_each(Character::check)?;
        self.cards.iter().try_for_each(Card::check)?;
        self.evolutions.iter().try_for_each(Evolution::check)?;
        self.check_passives()?;
        let mut codes: Vec<Word> = self
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

    fn things(&self) -> Vec<Thing> {
        let characters = self.characters.iter().map(|character| Thing {
            kind: "character",
            code: character.code,
            name: character.name.clone(),
            text: format!("{}: {}", character.ability, character.text()),
            price: None,
        });
        let cards = self.cards.iter().map(|card| Thing {
            kind: "card",
            code: card.code,
            name: card.name.clone(),
            text: card.text(),
            price: Some(card.price),
        });
        let evolutions = self.evolutions.iter().map(|evolution| Thing {
            kind: "evolution",
            code: evolution.code,
            name: evolution.name.clone(),
            text: evolution.text(),
            price: None,
        });
        characters.chain(cards).chain(evolutions).collect()
    }

    fn name_of(&self, code: Word) -> Option<String> {
        let card = self.card(code).map(|card| &card.name);
        let evolution = self.evolution(code).map(|evolution| &evolution.name);
        let character = self.character(code).map(|character| &character.name);
        card.or(evolution).or(character).cloned()
    }

    fn face_name(&self, face: u8) -> Option<&'static str> {
        words::face_name(face)
    }

    fn wording(&self, name: Word) -> Option<&'static str> {
        names::wording(name)
    }

    fn thing_wording(&self, done: Word, thing: Word) -> String {
        self.done(done, thing)
    }

    fn value_wording(&self, what: Measure, value: i64) -> Option<String> {
        words::shown(what, value)
    }

    fn tell(&self, event: &Event, table: &Table) -> Option<String> {
        words::told(event, table)
    }
}
