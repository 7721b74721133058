//! Dice laid together as one combination, and what special dice make of it.

use crate::{Boost, Combination, CombinationName, Faces, Points, Slots, special_dice::DieAt};

/// A combination under the hands of special dice.
#[derive(Clone, Debug)]
pub(crate) struct Laid {
    pub(super) name: CombinationName,
    pub(super) slots: Slots,
    pub(super) faces: Faces,
    /// What it scores so far.
    pub(super) total: Points,
    /// Whether it was multiplied as a whole.
    pub(super) multiplied: bool,
    points: Points,
    effects: Vec<Boost>,
}

impl Laid {
    pub(crate) fn new(name: CombinationName, slots: Slots, faces: Faces, points: Points) -> Self {
        let effects = Vec::new();
        Self { name, slots, faces, total: points, multiplied: false, points, effects }
    }

    /// A die makes it worth so much.
    pub(super) fn raise(&mut self, die: DieAt, after: Points) {
        if after != self.total {
            self.effects.push(Boost { die, before: self.total, after });
            self.total = after;
        }
    }

    pub(crate) fn total(&self) -> Points {
        self.total
    }

    pub(crate) fn into_combination(self) -> Combination {
        let Self { name, slots, faces, points, effects, .. } = self;
        Combination { name, slots, faces, points, effects }
    }
}
