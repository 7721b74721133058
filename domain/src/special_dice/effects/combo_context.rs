//! A combination and the effects of special dice on it.

use crate::{Boost, Combination, CombinationName, Faces, Points, Slots, special_dice::DieAt};

/// A combination while special dice are applied to it.
#[derive(Clone, Debug)]
pub(crate) struct ComboContext {
    pub(super) name: CombinationName,
    pub(super) slots: Slots,
    pub(super) faces: Faces,
    /// The points so far.
    pub(super) total: Points,
    /// Whether it was multiplied as a whole.
    pub(super) multiplied: bool,
    points: Points,
    effects: Vec<Boost>,
}

impl ComboContext {
    pub(crate) fn new(name: CombinationName, slots: Slots, faces: Faces, points: Points) -> Self {
        let effects = Vec::new();
        Self { name, slots, faces, total: points, multiplied: false, points, effects }
    }

    /// Sets the points as the effect of a die.
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
