//! Farkle as a client draws it.

use super::{Farkle, Phase, RollRecord, plays::breaks_in};
use crate::{DieOnTable, DiePlace, Selection, Slots, Table};

impl Farkle {
    /// Where each die of the set lies. The rolls of the round tell: a die shows what it was last rolled to.
    pub(crate) fn dice_on_table(&self) -> Vec<DieOnTable> {
        let place = |slot| match (self.round.phase, self.round.hand.contains(slot)) {
            (Phase::Opening, _) | (Phase::Saved, true) => DiePlace::Hand,
            (Phase::Rolled, true) => DiePlace::Table,
            (Phase::Rolled | Phase::Saved, false) => DiePlace::Saved,
        };
        let face = |slot| {
            let rolls = self.round.rolls.iter().rev();
            rolls.flat_map(RollRecord::dice).find(|die| die.0 == slot).map(|die| die.1)
        };
        Slots::first(self.rules.dice)
            .iter()
            .map(|slot| DieOnTable { slot, face: face(slot), place: place(slot) })
            .collect()
    }

    /// Everything that scores, the best first.
    pub(crate) fn selections_on_table(&self, table: &Table) -> Vec<Selection> {
        let mut selections: Vec<Selection> =
            self.selections().filter_map(|(slots, _)| self.explained(slots, table)).collect();
        selections.sort_by_key(|found| std::cmp::Reverse((found.points, found.slots.len())));
        selections
    }

    pub(crate) fn best_selection(&self, table: &Table) -> Option<Selection> {
        let best = self.selections().max_by_key(|(slots, points)| (*points, slots.len()))?;
        self.explained(best.0, table)
    }

    fn explained(&self, slots: Slots, table: &Table) -> Option<Selection> {
        let roll = self.round.last_roll()?;
        let chosen = roll.dice().filter(|&(slot, _)| slots.contains(slot));
        let combinations = self.rules.scoring.explain(chosen)?;
        let points = combinations.iter().map(|combination| combination.points).sum();
        let unbanked = self.round.unbanked().saturating_add(points);
        let can_bank = breaks_in(self, table.turn.seat, unbanked).is_ok();
        Some(Selection { slots, points, combinations, can_bank })
    }
}
