//! The counts of DashDice: how often a roll was multiplied, by multiplier.

use crate::{Counts, Event};

pub(super) fn count_multipliers(event: &Event, counts: &mut Counts) {
    if let Event::Saved(saved) = event
        && saved.multiplier > 1
    {
        counts.add(saved.seat, format!("multiplied_by_{}", saved.multiplier), 1);
    }
}
