//! A growing bonus for saves with a hot die.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_POINTS, Save};
use crate::{Number, Points, special_dice::DieAt};

/// Each save gets a bonus for every earlier save of the round that included such a die. All such
/// dice of a player share one count: it grows by at most one per save, survives hot dice and ends
/// with the round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streak {
    /// The bonus per earlier save.
    pub points: Points,
}

impl Kind for Streak {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("points", self.points, 1..=MOST_POINTS, "The bonus for each.")]
    }

    fn text(&self) -> String {
        format!(
            "Every save after one with this die is worth + {} more, until the round ends.",
            self.points
        )
    }

    fn strength(&self) -> i64 {
        self.points
    }

    fn on_save(&self, die: DieAt, save: &mut Save) {
        save.add_streak(die, self.points);
        if save.slots.contains(die.slot) {
            save.count_streak(die);
        }
    }
}
