//! A streak that gets hotter.

use serde::{Deserialize, Serialize};

use super::{Kind, MOST_POINTS, Save, within};
use crate::{Points, special_dice::DieAt};

/// Each save is worth a bonus for every save of the round before it that had such a die in it. All of a player's
/// such dice share one count: it goes up by one a save, lasts through hot dice and ends with the round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streak {
    /// The bonus for each.
    pub points: Points,
}

impl Kind for Streak {
    fn check(&self) -> Result<(), String> {
        within("points", self.points, 1..=MOST_POINTS)
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
