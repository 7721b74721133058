//! The score of dice in a category, with the effects of colours.
//!
//! Base and red are added; purple multiplies, rounded down; then all blue factors together, rounded
//! down once. The arithmetic is exact: integers and fractions only.

use super::{Category, Colour, ColouredDie, ConsumableEffect, Rogue};
use crate::{Boost, Combination, Faces, Points, Selection, Slots, special_dice::DieAt};

/// A computed score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scored {
    pub(super) category: Category,
    /// The slots it uses.
    pub(super) used: Slots,
    /// The points without colours.
    pub(super) base: Points,
    /// The effects of red, purple and blue, in this order.
    pub(super) bonuses: Vec<Boost>,
    /// The final points.
    pub(super) points: Points,
    /// The money of green dice: the first of them, and the dollars.
    pub(super) money: Option<(DieAt, i64)>,
    /// The items given by yellow dice: the first of them, and the number of consumables.
    pub(super) gifts: Option<(DieAt, u32)>,
    /// Whether it is an extra yahtzee.
    pub(super) extra_yahtzee: bool,
    /// Further points for the round: an extra yahtzee, the bonus of the upper section.
    pub(super) extra: Points,
}

/// A fraction that multiplies a score.
#[derive(Clone, Copy, Debug)]
struct Factor {
    times: i128,
    by: i128,
}

impl Factor {
    const ONE: Self = Self { times: 1, by: 1 };

    const fn times(self, times: i128) -> Self {
        Self { times: self.times.saturating_mul(times), ..self }
    }

    const fn divided(self, by: i128) -> Self {
        Self { by: self.by.saturating_mul(by), ..self }
    }

    /// Times one and a half.
    const fn and_half(self) -> Self {
        self.times(3).divided(2)
    }

    /// Multiplies a number, rounding down.
    fn of(self, number: i64) -> i64 {
        let product = i128::from(number).saturating_mul(self.times).div_euclid(self.by);
        i64::try_from(product).unwrap_or(i64::MAX)
    }
}

/// The dice of one colour.
struct Tint<'a> {
    dice: &'a [ColouredDie],
    colour: Colour,
    /// Whether there are enough of them to double their effect.
    doubled: bool,
    /// Whether all colours are present.
    rainbow: bool,
}

impl Tint<'_> {
    /// The first die of the colour, if any.
    fn first(&self) -> Option<DieAt> {
        let of = |die: &ColouredDie| die.colour == Some(self.colour);
        let slot = u8::try_from(self.dice.iter().position(of)?).ok()?;
        Some(DieAt { slot, code: self.colour.code() })
    }

    /// The faces of its dice, and whether each die is used.
    fn faces(&self, used: Slots) -> impl Iterator<Item = (i128, bool)> {
        let dice = (0..).zip(self.dice).filter(|(_, die)| die.colour == Some(self.colour));
        dice.map(move |(slot, die)| (i128::from(die.face), used.contains(slot)))
    }

    /// The factor of its effect: doubled by enough dice, raised by a rainbow.
    const fn strength(&self) -> Factor {
        let factor = if self.doubled { Factor::ONE.times(2) } else { Factor::ONE };
        if self.rainbow { factor.and_half() } else { factor }
    }

    /// The sum of its faces times the strength: dollars of green dice, points of red ones.
    fn sum(&self) -> i64 {
        let sum: i128 = self.faces(Slots::EMPTY).map(|(face, _)| face).sum();
        self.strength().of(i64::try_from(sum).unwrap_or(i64::MAX))
    }

    /// The product of its faces times the strength.
    fn product(&self) -> Factor {
        self.faces(Slots::EMPTY).fold(self.strength(), |factor, (face, _)| factor.times(face))
    }

    /// Used dice multiply, the others divide. Each side is doubled once if there are enough dice; a
    /// rainbow raises the factor, never the divisor.
    fn balance(&self, used: Slots) -> Factor {
        let mut factor = Factor::ONE;
        let (mut any_used, mut any_idle) = (false, false);
        for (face, is_used) in self.faces(used) {
            factor = if is_used { factor.times(face) } else { factor.divided(face) };
            any_used |= is_used;
            any_idle |= !is_used;
        }
        if self.doubled && any_used {
            factor = factor.times(2);
        }
        if self.doubled && any_idle {
            factor = factor.divided(2);
        }
        if self.rainbow && any_used { factor.and_half() } else { factor }
    }
}

impl Rogue {
    /// The score of dice in a category, as a preview: it does not grant anything.
    pub(super) fn score_of(&self, dice: &[ColouredDie], category: Category) -> Scored {
        let faces: Vec<u8> = dice.iter().map(|die| die.face).collect();
        let waived = self.active_effects().any(|effect| effect == ConsumableEffect::AnyScore);
        let used = category.used(&faces);
        let base = category.base(&faces, &self.rules, waived);
        let (red, purple, blue) = (
            self.tint(dice, Colour::Red),
            self.tint(dice, Colour::Purple),
            self.tint(dice, Colour::Blue),
        );
        let mut points = base;
        let mut bonuses = Vec::new();
        let mut step = |die: Option<DieAt>, after: &dyn Fn(Points) -> Points| {
            if let Some(die) = die {
                let (before, after) = (points, after(points));
                bonuses.push(Boost { die, before, after });
                points = after;
            }
        };
        step(red.first(), &|points| points.saturating_add(red.sum()));
        step(purple.first(), &|points| purple.product().of(points));
        step(blue.first(), &|points| blue.balance(used).of(points));
        let extra_yahtzee =
            self.yahtzee && category != Category::Yahtzee && Category::Yahtzee.fits(&faces);
        let more = if extra_yahtzee { self.rules.extra_yahtzee } else { 0 };
        let mut card = *self.card;
        card.set(category, Some(points));
        let upper = card.upper_bonus(&self.rules).saturating_sub(self.upper_bonus);
        Scored {
            category,
            used,
            base,
            bonuses,
            points,
            money: self.green_money(dice),
            gifts: self.yellow_gifts(dice, used),
            extra_yahtzee,
            extra: more.saturating_add(upper),
        }
    }

    fn tint<'a>(&self, dice: &'a [ColouredDie], colour: Colour) -> Tint<'a> {
        let count = |colour| dice.iter().filter(|die| die.colour == Some(colour)).count();
        Tint {
            dice,
            colour,
            doubled: count(colour) >= usize::from(self.rules.same_colour),
            rainbow: Colour::ALL.into_iter().all(|colour| count(colour) > 0),
        }
    }

    fn green_money(&self, dice: &[ColouredDie]) -> Option<(DieAt, i64)> {
        let green = self.tint(dice, Colour::Green);
        let times = self.active_effects().fold(1i64, |times, effect| match effect {
            ConsumableEffect::MultiplyGreen(by) => times.saturating_mul(by),
            _ => times,
        });
        Some((green.first()?, green.sum().saturating_mul(times)))
    }

    fn yellow_gifts(&self, dice: &[ColouredDie], used: Slots) -> Option<(DieAt, u32)> {
        let yellow = self.tint(dice, Colour::Yellow);
        let any_used = yellow.faces(used).any(|(_, used)| used);
        let gifts = 1 + u32::from(yellow.doubled) + u32::from(yellow.rainbow);
        yellow.first().filter(|_| any_used).map(|die| (die, gifts))
    }

    /// The effects of consumables that were used and are pending.
    pub(super) fn active_effects(&self) -> impl Iterator<Item = ConsumableEffect> {
        self.active.keys().filter_map(|&code| self.rules.consumable(code)).map(|item| item.effect)
    }

    /// Every open category with the score of the current dice, best first.
    pub(super) fn previews(&self) -> Vec<Scored> {
        let dice = &self.turn.dice;
        if dice.is_empty() || self.shopping {
            return Vec::new();
        }
        let mut scores: Vec<Scored> =
            self.card.open().map(|category| self.score_of(dice, category)).collect();
        // Of equal scores the first on the card.
        scores.sort_by_key(|scored| std::cmp::Reverse(scored.total()));
        scores
    }

    /// The most that dice can add to the round in an open category.
    pub(super) fn best_of(&self, dice: &[ColouredDie]) -> Points {
        let totals = self.card.open().map(|category| self.score_of(dice, category).total());
        totals.max().unwrap_or(0)
    }
}

impl Scored {
    /// Everything it adds to the round.
    fn total(&self) -> Points {
        self.points.saturating_add(self.extra)
    }

    /// The score as a combination.
    pub(super) fn combination(&self, dice: &[ColouredDie]) -> Combination {
        let faces: Vec<u8> = self
            .used
            .iter()
            .filter_map(|slot| dice.get(usize::from(slot)))
            .map(|die| die.face)
            .collect();
        Combination {
            name: self.category.combination(),
            slots: self.used,
            faces: Faces::of(&faces).unwrap_or_default(),
            points: self.base,
            effects: Vec::new(),
        }
    }

    /// The score as a selection for clients.
    pub(super) fn selection(&self, dice: &[ColouredDie]) -> Selection {
        Selection {
            slots: self.used,
            points: self.points,
            combinations: vec![self.combination(dice)],
            bonuses: self.bonuses.clone(),
            dollars: self.money.map_or(0, |(_, money)| u32::try_from(money).unwrap_or(u32::MAX)),
            bank: 0,
            can_bank: false,
            extra: self.extra,
            gifts: self.gifts.map_or(0, |(_, gifts)| gifts),
        }
    }
}
