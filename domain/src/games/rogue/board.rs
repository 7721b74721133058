//! The state of a run, folded from events.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Card, Category, Colour, ColourStatistics, RogueRules, names};
use crate::{
    Change, EffectApplied, EffectSource, Event, Measure, Points, Purpose, Rolled, Saved, Slug,
    effect::{ACTIVE, HELD},
};

/// A run of DiceRogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rogue {
    /// Its rules.
    pub rules: Arc<RogueRules>,
    /// The money of the run.
    pub money: i64,
    /// The points of the previous rounds.
    pub total: Points,
    /// The points of this round.
    pub round_score: Points,
    /// The part of them that is the bonus of the upper section.
    pub upper_bonus: Points,
    /// The card of this round.
    pub card: Box<Card>,
    /// Whether a yahtzee was scored in its category in this round.
    pub yahtzee: bool,
    /// The category scored last in this round.
    pub last: Option<Category>,
    /// The bonus it got as an extra yahtzee.
    pub last_bonus: Points,
    /// The number of purchases of each colour, in their order.
    pub purchases: [u32; 5],
    /// The consumables held.
    pub held: BTreeMap<Slug, u32>,
    /// The consumables that were used and have yet to take effect.
    pub active: BTreeMap<Slug, u32>,
    /// Whether the player is in the shop.
    pub shopping: bool,
    /// The current turn.
    pub turn: RogueTurn,
    /// The number of items granted at random.
    pub grants: u64,
    /// The statistics of colours so far.
    pub statistics: Box<ColourStatistics>,
}

/// The current turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RogueTurn {
    /// The number of rolls left.
    pub rolls_left: u8,
    /// The number of dice in play.
    pub size: u8,
    /// The dice; none before the first roll.
    pub dice: Vec<ColouredDie>,
}

/// A die and its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColouredDie {
    /// Its face.
    pub face: u8,
    /// Its colour, if any.
    pub colour: Option<Colour>,
}

impl Rogue {
    pub(crate) fn new(rules: &Arc<RogueRules>) -> Self {
        Self {
            rules: Arc::clone(rules),
            money: rules.start_money,
            total: 0,
            round_score: 0,
            upper_bonus: 0,
            card: Box::default(),
            yahtzee: false,
            last: None,
            last_bonus: 0,
            purchases: [0; 5],
            held: BTreeMap::new(),
            active: BTreeMap::new(),
            shopping: false,
            turn: RogueTurn::default(),
            grants: 0,
            statistics: Box::default(),
        }
    }

    /// The points of the whole run.
    pub fn score(&self) -> Points {
        self.total.saturating_add(self.round_score)
    }

    /// The number of consumables held.
    pub fn held_in_all(&self) -> u32 {
        self.held.values().sum()
    }

    pub(super) fn fold(&mut self, event: &Event) {
        if let Event::TurnStarted { round, .. } = event {
            self.turn_started(*round);
        } else if let Event::Rolled(rolled) = event {
            self.rolled(rolled);
        } else if let Event::Saved(saved) = event {
            self.scored(saved);
        } else if let Event::EffectApplied(effect) = event {
            self.changed(effect);
        } else if let Event::Drawn(drawn) = event {
            if drawn.draw.purpose == Purpose::Grants {
                self.grants = drawn.draw.number;
            }
        } else if let Event::TurnEnded(_) = event {
            if self.shopping && self.card.is_full() {
                self.round_over();
            }
            self.shopping = false;
            self.turn = RogueTurn::default();
        }
    }

    /// A turn with a full card, or before the first round, is a visit to the shop.
    fn turn_started(&mut self, round: u32) {
        self.shopping = round == 0 || self.card.is_full();
        let dice = Vec::new();
        self.turn = RogueTurn { rolls_left: self.rules.rolls, size: self.rules.dice, dice };
    }

    fn round_over(&mut self) {
        self.total = self.score();
        (self.round_score, self.upper_bonus, *self.card) = (0, 0, Card::default());
        (self.yahtzee, self.last, self.last_bonus) = (false, None, 0);
    }

    fn rolled(&mut self, rolled: &Rolled) {
        self.turn.rolls_left = self.turn.rolls_left.saturating_sub(1);
        let mut codes = rolled.colours.iter().flat_map(|colours| colours.codes.iter().copied());
        for (slot, face) in rolled.slots.iter().zip(rolled.faces.iter()) {
            let colour = codes.next().and_then(Colour::of);
            self.statistics.count_rolled(colour);
            let die = ColouredDie { face, colour };
            match self.turn.dice.get_mut(usize::from(slot)) {
                Some(place) => *place = die,
                None => self.turn.dice.push(die),
            }
        }
    }

    fn scored(&mut self, saved: &Saved) {
        let Some(combination) = saved.combinations.first() else { return };
        let Some(category) = Category::of(combination.name) else { return };
        self.card.set(category, Some(saved.points));
        self.round_score = saved.turn_score;
        self.last = Some(category);
        self.last_bonus = 0;
        let counts = combination.points > 0 && saved.multiplier != 0;
        self.yahtzee |= category == Category::Yahtzee && counts;
        self.statistics.count_score(category, saved.points);
        for slot in saved.slots.iter() {
            let die = self.turn.dice.get(usize::from(slot));
            self.statistics.count_scored(die.and_then(|die| die.colour));
        }
        let blue = saved.bonuses.iter().find(|bonus| bonus.die.code == Colour::Blue.code());
        if let Some(bonus) = blue {
            let blues = (0..).zip(&self.turn.dice).filter(|(_, d)| d.colour == Some(Colour::Blue));
            let used: Vec<bool> = blues.map(|(slot, _)| saved.slots.contains(slot)).collect();
            let change = bonus.after.saturating_sub(bonus.before);
            self.statistics.count_blue(
                category,
                used.contains(&true),
                used.contains(&false),
                change,
            );
        }
    }

    fn changed(&mut self, effect: &EffectApplied) {
        for change in &effect.changes {
            self.change(effect.source, *change);
        }
    }

    fn change(&mut self, source: EffectSource, change: Change) {
        let count = u32::try_from(change.after).unwrap_or(0);
        let small = u8::try_from(change.after).unwrap_or(u8::MAX);
        if change.what == names::MONEY {
            self.money = change.after;
        } else if change.what == Measure::ROUND_SCORE {
            self.round_score = change.after;
            let more = change.after.saturating_sub(change.before);
            if source == names::UPPER_BONUS {
                self.upper_bonus = self.upper_bonus.saturating_add(more);
            } else if source == names::EXTRA_YAHTZEE {
                self.last_bonus = more;
            }
        } else if change.what == names::ROLLS_LEFT {
            self.turn.rolls_left = small;
        } else if change.what == names::DICE_IN_PLAY {
            self.turn.size = small;
        } else if let Measure::OfItem(HELD, code) = change.what {
            set(&mut self.held, code, count);
        } else if let Measure::OfItem(ACTIVE, code) = change.what {
            set(&mut self.active, code, count);
        } else if let Measure::OfItem(names::PURCHASES, colour) = change.what {
            if let Some(colour) = Colour::ALL.into_iter().find(|known| known.slug() == colour) {
                self.purchases[colour.index()] = count;
            }
        } else if let Measure::OfItem(names::CATEGORY_POINTS, category) = change.what {
            if let Some(category) = Category::named(category.as_str()) {
                self.card.set(category, Some(change.after));
            }
        } else if let Measure::OfItem(names::CATEGORY_OPEN, category) = change.what
            && let Some(category) = Category::named(category.as_str())
        {
            self.card.set(category, None);
            (self.last, self.last_bonus) = (None, 0);
            self.yahtzee &= category != Category::Yahtzee;
        }
    }
}

/// Sets a count; zero removes it.
fn set(counts: &mut BTreeMap<Slug, u32>, code: Slug, count: u32) {
    if count == 0 {
        counts.remove(&code);
    } else {
        counts.insert(code, count);
    }
}
