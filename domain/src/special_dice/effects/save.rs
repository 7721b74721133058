//! A save and the effects of special dice on it.

use crate::{
    Boost, Change, Dollars, Points, Slots,
    special_dice::{DieAt, HOT_STREAK, SAVE_POINTS},
};

/// A save while special dice are applied to it.
#[derive(Clone, Debug)]
pub(crate) struct Save {
    /// The slots of the dice.
    pub(super) slots: Slots,
    /// The points so far.
    pub(crate) points: Points,
    /// The number of earlier saves of this round with a hot die.
    streak: u32,
    streak_added: bool,
    streak_counted: bool,
    /// Bonuses on top of the combinations.
    pub(crate) bonuses: Vec<Boost>,
    /// The changes by each die.
    pub(crate) changes: Vec<(DieAt, Vec<Change>)>,
    /// The money earned by each die.
    pub(crate) money: Money,
}

/// Money earned by dice, added up by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Money(pub(crate) Vec<(DieAt, Dollars)>);

impl Money {
    pub(super) fn pay(&mut self, die: DieAt, dollars: Dollars) {
        match self.0.iter_mut().find(|(other, _)| other.code == die.code) {
            Some((_, sum)) => *sum = sum.saturating_add(dollars),
            None => self.0.push((die, dollars)),
        }
    }
}

impl Save {
    pub(crate) fn new(slots: Slots, points: Points, streak: u32) -> Self {
        Self {
            slots,
            points,
            streak,
            streak_added: false,
            streak_counted: false,
            bonuses: Vec::new(),
            changes: Vec::new(),
            money: Money::default(),
        }
    }

    /// Adds the bonus of the streak so far, once per save.
    pub(super) fn add_streak(&mut self, die: DieAt, each: Points) {
        if self.streak_added || self.streak == 0 {
            return;
        }
        self.streak_added = true;
        let before = self.points;
        let after = before.saturating_add(each.saturating_mul(self.streak.into()));
        self.points = after;
        self.bonuses.push(Boost { die, before, after });
        self.change(die, Change { what: SAVE_POINTS, before, after });
    }

    /// Counts a save with a hot die, once per save.
    pub(super) fn count_streak(&mut self, die: DieAt) {
        if self.streak_counted {
            return;
        }
        self.streak_counted = true;
        let before = i64::from(self.streak);
        self.change(die, Change { what: HOT_STREAK, before, after: before + 1 });
    }

    fn change(&mut self, die: DieAt, change: Change) {
        match self.changes.iter_mut().find(|(other, _)| *other == die) {
            Some((_, changes)) => changes.push(change),
            None => self.changes.push((die, vec![change])),
        }
    }
}
