//! Farkle as shown by clients.

use super::{Farkle, Phase, RollRecord, plays::breaks_in};
use crate::{
    DieOnTable, DiePlace, SeatNo, Selection, Slots, Table,
    special_dice::{Code, effects::in_order},
};

impl Farkle {
    /// The position of each die of the set. A die shows the face of its last roll of the round.
    pub(super) fn show_dice(&self, seat: SeatNo) -> Vec<DieOnTable> {
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
            .map(|slot| DieOnTable {
                slot,
                code: self.die_code(seat, slot),
                face: face(slot),
                place: place(slot),
                extra: false,
            })
            .collect()
    }

    pub(super) fn die_code(&self, seat: SeatNo, slot: u8) -> Code {
        let kind = self.player(seat).dice.kind(slot, self.rules.catalogue.as_deref());
        kind.map_or(Code::STANDARD, |kind| kind.code)
    }

    /// All scoring selections, best first.
    pub(super) fn show_selections(&self, table: &Table) -> Vec<Selection> {
        let seat = table.turn.seat;
        let found: Vec<Slots> = self.selections(seat).map(|(slots, _)| slots).collect();
        let mut selections = self.explained(&found, table);
        selections.sort_by_key(|found| std::cmp::Reverse((found.points, found.slots.len())));
        selections
    }

    pub(super) fn show_best(&self, table: &Table) -> Option<Selection> {
        let best =
            self.selections(table.turn.seat).max_by_key(|(slots, points)| (*points, slots.len()));
        self.explained(&[best?.0], table).pop()
    }

    fn explained(&self, selections: &[Slots], table: &Table) -> Vec<Selection> {
        let seat = table.turn.seat;
        let Some(roll) = self.round.last_roll() else { return Vec::new() };
        let (scores, dice) = (self.scores_of(seat, roll), in_order(self.special_dice(seat)));
        let pays = !table.ruleset.table.practice;
        let explain = |&slots: &Slots| {
            let combinations = scores.explain(slots)?;
            let sum = combinations.iter().fold(0i64, |sum, laid| sum.saturating_add(laid.total()));
            let save = self.saving(&dice, slots, sum);
            let paid = save.money.0.iter().filter(|_| pays).map(|(_, paid)| *paid);
            let dollars = paid.fold(0u32, u32::saturating_add);
            let (points, bonuses) = (save.points, save.bonuses);
            let can_bank = breaks_in(self, seat, points).is_ok();
            let bank = self.worth(seat, points);
            let (extra, gifts) = (0, 0);
            Some(Selection {
                slots,
                points,
                combinations,
                bonuses,
                dollars,
                bank,
                can_bank,
                extra,
                gifts,
            })
        };
        selections.iter().filter_map(explain).collect()
    }
}
