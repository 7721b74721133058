//! Points for an early farkle.

use serde::{Deserialize, Serialize};

use super::{FarkleContext, Kind, MOST_POINTS, Mitigation};
use crate::{Number, Points, special_dice::DieAt};

/// A farkle with few dice saved this round scores points, instead of keeping a part of the hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consolation {
    /// The points.
    pub points: Points,
    /// The maximum number of dice saved this round.
    pub most_saved: u32,
}

impl Kind for Consolation {
    fn numbers(&self) -> Vec<Number> {
        vec![
            Number::new("points", self.points, 1..=MOST_POINTS, "The points."),
            Number::new("most_saved", self.most_saved, 0..=100, "The most dice saved this round."),
        ]
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

    fn on_farkle(&self, die: DieAt, context: &mut FarkleContext) {
        if context.dice_saved <= self.most_saved && context.first(Mitigation::Consoled) {
            context.award(die, self.points);
        }
    }
}
