//! The scores of a roll for a player, with the effects of special dice.

use super::{
    Farkle, RollRecord,
    scoring::{ScoreTable, Tally},
};
use crate::{
    Combination, CombinationName, Faces, Points, SeatNo, Slots,
    special_dice::{
        Die,
        effects::{ComboContext, in_order},
    },
};

/// The scores of all selections of a roll.
pub(super) enum Scores<'a> {
    /// By the scoring table alone: a look-up.
    Plain { table: &'a ScoreTable, slots: Slots, faces: Faces },
    /// With dice that change the points of combinations.
    Boosted(Boosted),
}

/// All partitions of a roll into combinations. Dice are numbered in slot order, a set of them is a
/// bit mask.
pub(super) struct Boosted {
    slots: Slots,
    /// The combination formed by each set of dice, if it scores as one.
    combos: Vec<Option<ComboContext>>,
    /// The best exact partition of each set: its points, and the combination with its first die.
    best: Vec<Option<(Points, usize)>>,
}

impl Farkle {
    /// The scores of these dice for a seat.
    pub(super) fn scores(&self, seat: SeatNo, slots: Slots, faces: Faces) -> Scores<'_> {
        let table = &self.rules.scoring;
        let boosting: Vec<Die<'_>> = self
            .special_dice(seat)
            .filter(|die| die.effect().kind().boosts_combinations())
            .collect();
        if boosting.is_empty() {
            Scores::Plain { table, slots, faces }
        } else {
            Scores::Boosted(Boosted::new(table, slots, faces, &in_order(boosting.into_iter())))
        }
    }

    /// The scores of a roll for the seat that rolled it.
    pub(super) fn scores_of(&self, seat: SeatNo, roll: &RollRecord) -> Scores<'_> {
        self.scores(seat, roll.slots, roll.faces)
    }
}

impl Scores<'_> {
    /// The best score of any selection; 0 is a farkle.
    pub(super) fn best(&self) -> Points {
        match self {
            Self::Plain { table, faces, .. } => {
                Tally::of(faces.iter()).map_or(0, |tally| table.best(tally))
            }
            Self::Boosted(boosted) => {
                boosted.best.iter().flatten().map(|&(points, _)| points).max().unwrap_or(0)
            }
        }
    }

    /// The score of exactly these dice; `None` if one of them is not part of a combination.
    pub(super) fn score(&self, selection: Slots) -> Option<Points> {
        match self {
            Self::Plain { table, slots, faces } => {
                let dice = chosen(*slots, *faces, selection);
                table.score(Tally::of(dice.map(|(_, face)| face))?)
            }
            Self::Boosted(boosted) => Some(boosted.best[boosted.mask(selection)]?.0),
        }
    }

    /// The combinations of [`Self::score`].
    pub(super) fn explain(&self, selection: Slots) -> Option<Vec<Combination>> {
        match self {
            Self::Plain { table, slots, faces } => table.explain(chosen(*slots, *faces, selection)),
            Self::Boosted(boosted) => boosted.explain(selection),
        }
    }
}

fn chosen(slots: Slots, faces: Faces, selection: Slots) -> impl Iterator<Item = (u8, u8)> {
    slots.iter().zip(faces.iter()).filter(move |&(slot, _)| selection.contains(slot))
}

impl Boosted {
    /// Computes sets of dice in ascending order: a partition is the combination with its first die
    /// and the best partition of the rest, which is a smaller number.
    fn new(table: &ScoreTable, slots: Slots, faces: Faces, dice: &[Die<'_>]) -> Self {
        let rolled: Vec<(u8, u8)> = slots.iter().zip(faces.iter()).collect();
        let sets = 1 << rolled.len();
        let (mut combos, mut best) = (vec![None; sets], vec![None; sets]);
        if Tally::of(faces.iter()).is_none() {
            return Self { slots, combos, best };
        }
        let mut tallies = vec![Tally::EMPTY; sets];
        best[0] = Some((0, 0));
        for mask in 1..sets {
            let first = mask & mask.wrapping_neg();
            let others = mask ^ first;
            tallies[mask] = tallies[others].with(rolled[first.ilog2() as usize].1);
            combos[mask] = combine(table, &rolled, mask, tallies[mask], dice);
            // Larger combinations first: of equal scores, the one with the larger combination is
            // explained.
            let mut companions = others;
            loop {
                let group: usize = companions | first;
                if let (Some(combo), Some((rest, _))) = (&combos[group], best[mask ^ group]) {
                    let points = combo.total().saturating_add(rest);
                    if best[mask].is_none_or(|(most, _)| points > most) {
                        best[mask] = Some((points, group));
                    }
                }
                if companions == 0 {
                    break;
                }
                companions = (companions - 1) & others;
            }
        }
        best[0] = None;
        Self { slots, combos, best }
    }

    fn mask(&self, selection: Slots) -> usize {
        let lying = self.slots.iter().enumerate();
        lying.filter(|&(_, slot)| selection.contains(slot)).map(|(n, _)| 1 << n).sum()
    }

    fn explain(&self, selection: Slots) -> Option<Vec<Combination>> {
        let mut left = self.mask(selection);
        let mut combinations = Vec::new();
        while left != 0 {
            let (_, group) = self.best[left]?;
            combinations.push(self.combos[group].clone()?.into_combination());
            left ^= group;
        }
        combinations.sort_by_key(|combination| std::cmp::Reverse(combination.slots.len()));
        (!combinations.is_empty()).then_some(combinations)
    }
}

/// The combination formed by a set of dice, with the effects of special dice. Some singles score
/// only because of these.
fn combine(
    table: &ScoreTable,
    rolled: &[(u8, u8)],
    mask: usize,
    tally: Tally,
    dice: &[Die<'_>],
) -> Option<ComboContext> {
    let single = (CombinationName::Single, 0);
    let (name, points) = table.whole(tally).or_else(|| mask.is_power_of_two().then_some(single))?;
    let group = || (0..).zip(rolled).filter(|(n, _)| mask >> n & 1 == 1).map(|(_, die)| *die);
    let slots = group().map(|(slot, _)| slot).collect();
    let faces = group().try_fold(Faces::EMPTY, |faces, (_, face)| faces.with(face))?;
    let mut combo = ComboContext::new(name, slots, faces, points);
    for die in dice {
        die.effect().kind().on_combination(die.at(), &mut combo);
    }
    (combo.total() > 0).then_some(combo)
}
