//! DiceRogue.

use std::sync::Arc;

use async_graphql::{Enum, InputObject, SimpleObject};
use domain::{
    Play, Slug,
    rogue::{Colour, RogueRules},
};

use crate::api::{
    rules::CatalogItem,
    ruleset::ruleset_type,
    scalars::{ItemCode, Long, int},
    seat_state::{Facts, Nested},
};

/// A category of the score card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "domain::rogue::Category")]
pub(in crate::api) enum Category {
    /// The sum of all ones.
    Ones,
    /// The sum of all twos.
    Twos,
    /// The sum of all threes.
    Threes,
    /// The sum of all fours.
    Fours,
    /// The sum of all fives.
    Fives,
    /// The sum of all sixes.
    Sixes,
    /// Three dice of one face.
    ThreeOfAKind,
    /// Four dice of one face.
    FourOfAKind,
    /// Three dice of one face and two of another.
    FullHouse,
    /// Four consecutive faces.
    SmallStraight,
    /// Five consecutive faces.
    LargeStraight,
    /// Five dice of one face.
    Yahtzee,
    /// Any dice.
    Chance,
}

/// Scores the dice in a category of the score card and ends the turn.
#[derive(Clone, Copy, Debug, InputObject)]
pub(in crate::api) struct ScoreCategoryInput {
    /// The category.
    category: Category,
}

/// Uses a consumable.
#[derive(Clone, Debug, InputObject)]
pub(in crate::api) struct UseItemInput {
    /// The code of the consumable.
    code: ItemCode,
}

impl From<ScoreCategoryInput> for Play {
    fn from(input: ScoreCategoryInput) -> Self {
        let category = domain::rogue::Category::from(input.category);
        Self::Score { category: category.slug().to_string() }
    }
}

impl From<UseItemInput> for Play {
    fn from(input: UseItemInput) -> Self {
        Self::Use { code: input.code.0 }
    }
}

/// A seat of DiceRogue.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct DiceRogueSeat {
    /// The money of the run.
    money: i32,
    /// The points to reach in this round; in the shop, in the next round.
    target: Long,
    /// The points of all rounds.
    total: Long,
    /// The points of this round.
    round_score: Long,
    /// The bonus of the upper section of the score card.
    upper_bonus: Long,
    /// The number of rolls left in this turn.
    rolls_left: i32,
    /// The number of dice.
    dice: i32,
    /// Whether the shop is open.
    shopping: bool,
    /// The filled categories of the score card.
    scores: Vec<CategoryScore>,
    /// The consumables held.
    held_items: Vec<ItemCount>,
    /// The consumables in effect.
    active_items: Vec<ItemCount>,
    /// The odds of each colour.
    odds: Vec<ColourOdds>,
    /// The number of dice rolled so far, by colour.
    dice_rolled: Vec<ColourCount>,
    /// The number of dice scored so far, by colour.
    dice_scored: Vec<ColourCount>,
    /// The statistics of blue dice so far.
    blue: BlueFigures,
    /// The statistics of each category so far.
    categories: Vec<CategoryFigures>,
}

/// A filled category.
#[derive(Clone, Copy, Debug, SimpleObject)]
struct CategoryScore {
    /// The category.
    category: Category,
    /// The points of the category.
    points: Long,
}

/// A number of copies of an item.
#[derive(Clone, Debug, SimpleObject)]
struct ItemCount {
    /// The item.
    item: CatalogItem,
    /// The count.
    count: i32,
}

/// The odds of a colour.
#[derive(Clone, Debug, SimpleObject)]
struct ColourOdds {
    /// The colour.
    colour: ItemCode,
    /// A die gets the colour one time in this many.
    one_in: i32,
}

/// The number of dice of a colour.
#[derive(Clone, Debug, SimpleObject)]
struct ColourCount {
    /// The colour; `none` for dice without one.
    colour: ItemCode,
    /// The count.
    count: Long,
}

/// Statistics of blue dice.
#[derive(Clone, Copy, Debug, SimpleObject)]
struct BlueFigures {
    /// How often blue dice added points.
    bonuses: Long,
    /// The total points added.
    gained: Long,
    /// The average points added.
    average_gain: Long,
    /// How often blue dice subtracted points.
    penalties: Long,
    /// The total points subtracted.
    lost: Long,
    /// The average points subtracted.
    average_loss: Long,
}

/// Statistics of a category.
#[derive(Clone, Copy, Debug, SimpleObject)]
struct CategoryFigures {
    /// The category.
    category: Category,
    /// How often the category was scored.
    scored: i32,
    /// The points of the category.
    points: Long,
    /// The statistics of blue dice in the category.
    blue: BlueFigures,
}

impl BlueFigures {
    fn of(numbers: &[(Slug, i64)]) -> Self {
        let number = |key: &str| {
            Long(numbers.iter().find(|(name, _)| name.as_str() == key).map_or(0, |(_, n)| *n))
        };
        Self {
            bonuses: number("bonuses"),
            gained: number("gained"),
            average_gain: number("average_gain"),
            penalties: number("penalties"),
            lost: number("lost"),
            average_loss: number("average_loss"),
        }
    }
}

fn category(name: Slug) -> Option<Category> {
    domain::rogue::Category::named(name.as_str()).map(Into::into)
}

impl DiceRogueSeat {
    pub(in crate::api) fn of(facts: &Facts<'_>) -> Self {
        let counts = |name: &str| {
            let item = |(code, count)| {
                let item = CatalogItem::find(facts.rules(), code)?;
                Some(ItemCount { item, count: int(count) })
            };
            facts.map(name).into_iter().filter_map(item).collect()
        };
        let colours = |name: &str| {
            let count = |(colour, count): (Slug, i64)| ColourCount {
                colour: colour.into(),
                count: Long(count),
            };
            facts.map(name).into_iter().map(count).collect()
        };
        let score = |(name, points)| {
            Some(CategoryScore { category: category(name)?, points: Long(points) })
        };
        let odds =
            |(colour, odds): (Slug, i64)| ColourOdds { colour: colour.into(), one_in: int(odds) };
        let figures = |(name, figures): (Slug, Nested)| {
            Some(CategoryFigures {
                category: category(name)?,
                scored: int(figures.number("scored")),
                points: Long(figures.number("points")),
                blue: BlueFigures::of(&figures.map("blue")),
            })
        };
        Self {
            money: facts.int("money"),
            target: facts.long("target"),
            total: facts.long("total"),
            round_score: facts.long("round_score"),
            upper_bonus: facts.long("upper_bonus"),
            rolls_left: facts.int("rolls_left"),
            dice: facts.int("dice"),
            shopping: facts.flag("shopping"),
            scores: facts.map("scores").into_iter().filter_map(score).collect(),
            held_items: counts("held"),
            active_items: counts("at_work"),
            odds: facts.map("odds").into_iter().map(odds).collect(),
            dice_rolled: colours("dice_rolled"),
            dice_scored: colours("dice_scored"),
            blue: BlueFigures::of(&facts.map("blue")),
            categories: facts.nested("categories").into_iter().filter_map(figures).collect(),
        }
    }
}

ruleset_type! {
    /// The rules of a run of DiceRogue. `numbers` lists the points of the categories.
    DiceRogueRuleset(Arc<RogueRules>) {
        /// The number of dice.
        async fn dice(&self) -> i32 {
            self.rules.dice.into()
        }

        /// The number of rolls per turn.
        async fn rolls(&self) -> i32 {
            self.rules.rolls.into()
        }

        /// The rounds of a run, in order.
        async fn rounds(&self) -> Vec<RogueRound> {
            let round = |round: &domain::rogue::RoundGoal| RogueRound {
                target: Long(round.target),
                reward: int(round.reward),
            };
            self.rules.rounds.iter().map(round).collect()
        }

        /// The money a run starts with.
        async fn start_money(&self) -> i32 {
            int(self.rules.start_money)
        }

        /// Whether the shop also opens before the first round.
        async fn opening_shop(&self) -> bool {
            self.rules.opening_shop
        }

        /// The colours of dice, with the odds and prices at the start of a run.
        async fn colours(&self) -> Vec<ColourRule> {
            let all = Colour::ALL.into_iter().zip(&self.rules.colour_table);
            let enabled = all.filter(|(colour, _)| self.rules.colours.has(*colour));
            let rule = |(colour, rule): (Colour, &domain::rogue::ColourRule)| ColourRule {
                colour: colour.slug().into(),
                one_in: int(rule.odds),
                price: int(rule.price),
            };
            enabled.map(rule).collect()
        }

        /// The maximum number of consumables held.
        async fn consumable_slots(&self) -> i32 {
            self.rules.slots.into()
        }
    }
}

/// A round of a run of DiceRogue.
#[derive(Clone, Debug, SimpleObject)]
struct RogueRound {
    /// The points to reach.
    target: Long,
    /// The money for reaching the target.
    reward: i32,
}

/// A colour of DiceRogue.
#[derive(Clone, Debug, SimpleObject)]
struct ColourRule {
    /// The colour.
    colour: ItemCode,
    /// A die gets the colour one time in this many.
    one_in: i32,
    /// The initial price of better odds.
    price: i32,
}
