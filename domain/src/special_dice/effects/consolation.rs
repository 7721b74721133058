//! Points for an early farkle.

use serde::{Deserialize, Serialize};

use super::{Fall, Kind, MOST_POINTS, Relief, within};
use crate::{Points, special_dice::DieAt};

/// A farkle with few dice saved this round scores points. It takes the place of what is kept of the hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consolation {
    /// The points.
    pub points: Points,
    /// The most dice that may be saved this round.
    pub most_saved: u32,
}

impl Kind for Consolation {
    fn check(&self) -> Result<(), String> {
        within("points", self.points, 1..=MOST_POINTS)?;
        within("most_saved", self.most_saved.into(), 0..=100)
    }

    fn text(&self) -> String {
        let saved = match self.most_saved {
            0 => "no die".to_owned(),
            1 => "at most 1 die".to_owned(),
            most => format!("at most {most} dice"),
        };
        format!("A farkle with {saved} saved this round scores {}.", self.points)
    }

    fn strength(&self) -> i64 {
        self.points
    }

    fn on_farkle(&self, die: DieAt, fall: &mut Fall) {
        if fall.dice_saved <= self.most_saved && fall.first(Relief::Consoled) {
            fall.award(die, self.points);
        }
    }
}
