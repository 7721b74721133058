//! What games count for the statistics of their players.

use std::collections::BTreeMap;

use crate::{Change, EffectApplied, Event, Measure, SeatNo};

/// What was counted of each seat, by name. Several games together are the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    seats: Vec<BTreeMap<String, i64>>,
}

/// A number that statistics show.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// What it is, as people read it.
    pub label: String,
    /// Its value.
    pub value: f64,
}

impl Counts {
    /// So much more of something for a seat.
    pub fn add(&mut self, seat: SeatNo, name: impl Into<String>, more: i64) {
        if more == 0 {
            return;
        }
        let seat = usize::from(seat);
        if self.seats.len() <= seat {
            self.seats.resize_with(seat + 1, BTreeMap::new);
        }
        let sum = self.seats[seat].entry(name.into()).or_default();
        *sum = sum.saturating_add(more);
    }

    /// What was counted of a seat.
    pub fn of(&self, seat: SeatNo) -> BTreeMap<String, i64> {
        self.seats.get(usize::from(seat)).cloned().unwrap_or_default()
    }
}

/// How much less of something a seat has by an effect.
pub(crate) fn lost(effect: &EffectApplied, what: Measure) -> i64 {
    let less = |change: &Change| change.before.saturating_sub(change.after).max(0);
    effect.changes.iter().find(|change| change.what == what).map_or(0, less)
}

/// What a purchase cost, in the money of the game.
pub(crate) fn count_spent(event: &Event, money: Measure, counts: &mut Counts) {
    if let Event::EffectApplied(effect) = event
        && effect.source.is_purchase()
    {
        counts.add(effect.seat, "spent", lost(effect, money));
    }
}

impl Figure {
    /// A count as it is; its label is its name.
    pub fn count(name: &str, count: i64) -> Self {
        Self::new(name, &name.replace('_', " "), count, 1)
    }

    /// A sum, or with a count its average.
    #[expect(clippy::cast_precision_loss, reason = "a figure is shown, not reckoned with")]
    pub fn new(name: &str, label: &str, sum: i64, by: i64) -> Self {
        let value = if by == 0 { 0.0 } else { sum as f64 / by as f64 };
        Self { name: name.to_owned(), label: label.to_owned(), value }
    }
}
