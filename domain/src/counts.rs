//! Counts of games for the statistics of players.

use std::collections::BTreeMap;

use crate::{Change, EffectApplied, Event, Measure, SeatNo};

/// Counts by seat and name. Counts of several games are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    seats: Vec<BTreeMap<String, i64>>,
}

/// A number shown in statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// The text shown to people.
    pub label: String,
    /// Its value.
    pub value: f64,
}

impl Counts {
    /// Adds to a count of a seat.
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

    /// The counts of a seat.
    pub fn of(&self, seat: SeatNo) -> BTreeMap<String, i64> {
        self.seats.get(usize::from(seat)).cloned().unwrap_or_default()
    }
}

/// The decrease of a seat's value by an effect.
pub(crate) fn lost(effect: &EffectApplied, what: Measure) -> i64 {
    let less = |change: &Change| change.before.saturating_sub(change.after).max(0);
    effect.changes.iter().find(|change| change.what == what).map_or(0, less)
}

/// Counts the price of a purchase, in the money of the game.
pub(crate) fn count_spent(event: &Event, money: Measure, counts: &mut Counts) {
    if let Event::EffectApplied(effect) = event
        && effect.source.is_purchase()
    {
        counts.add(effect.seat, "spent", lost(effect, money));
    }
}

impl Figure {
    /// A plain count; its label is its name.
    pub fn count(name: &str, count: i64) -> Self {
        Self::new(name, &name.replace('_', " "), count, 1)
    }

    /// A sum, or its average if divided by a count.
    #[expect(clippy::cast_precision_loss, reason = "figures are only displayed")]
    pub fn new(name: &str, label: &str, sum: i64, by: i64) -> Self {
        let value = if by == 0 { 0.0 } else { sum as f64 / by as f64 };
        Self { name: name.to_owned(), label: label.to_owned(), value }
    }
}
