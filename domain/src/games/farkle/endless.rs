//! Detects loadouts with which a round need never end; they are rejected.

use super::scoring::{ScoreTable, Tally};
use crate::{
    Slots,
    special_dice::{Catalogue, DieKind, Loadout, ORDINARY},
};

/// Whether a player with these dice can keep rolling for ever, whatever the dice show. Six dice
/// with only 5s are the simplest case: every roll scores all dice, and the full set is rolled
/// again.
pub(super) fn never_farkles(
    loadout: Loadout,
    slots: u8,
    catalogue: &Catalogue,
    table: &ScoreTable,
) -> bool {
    let table = with_lone_faces(loadout, catalogue, table);
    let faces = |slot| loadout.kind(slot, Some(catalogue)).map_or(ORDINARY, DieKind::faces);
    let dice: Vec<Vec<u8>> = (0..slots).map(|slot| worst_first(faces(slot), &table)).collect();
    if dice.is_empty() || can_farkle(&dice, Tally::EMPTY, &table) {
        return false;
    }
    // The hands from which a player can surely continue, starting with all: unsafe ones are
    // removed.
    let whole = Slots::first(slots);
    // Small hands first: larger ones depend on them.
    let mut safe: Vec<Slots> = whole.subsets().collect();
    safe.sort_by_key(|hand| hand.len());
    loop {
        let before = safe.len();
        let mut next = 0;
        while let Some(&hand) = safe.get(next) {
            if survives(hand, &dice, &table, |rest| safe.contains(&rest), whole) {
                next += 1;
            } else if hand == whole {
                return false;
            } else {
                safe.remove(next);
            }
        }
        if safe.len() == before {
            return true;
        }
    }
}

/// Whether these dice can show faces that score nothing together with those already counted.
fn can_farkle(dice: &[Vec<u8>], counted: Tally, table: &ScoreTable) -> bool {
    let Some((first, others)) = dice.split_first() else { return true };
    first.iter().any(|&face| {
        let counted = counted.with(face);
        table.best(counted) == 0 && can_farkle(others, counted, table)
    })
}

/// Whether every roll of this hand can lead to a safe hand.
fn survives(
    hand: Slots,
    dice: &[Vec<u8>],
    table: &ScoreTable,
    safe: impl Fn(Slots) -> bool,
    whole: Slots,
) -> bool {
    let slots = hand.to_vec();
    let mut sides = vec![0; slots.len()];
    loop {
        let face = |n: usize| dice[usize::from(slots[n])][sides[n]];
        let goes_on = hand.subsets().any(|saved| {
            let faces = (0..slots.len()).filter(|&n| saved.contains(slots[n])).map(face);
            let scores = Tally::of(faces).is_some_and(|tally| table.score(tally).is_some());
            let left = hand.without(saved);
            scores && safe(if left.is_empty() { whole } else { left })
        });
        if !goes_on {
            return false;
        }
        // The next roll: sides are counted up like the digits of a number.
        let Some(up) = (0..slots.len()).find(|&n| sides[n] + 1 < dice[usize::from(slots[n])].len())
        else {
            return true;
        };
        sides[up] += 1;
        sides[..up].fill(0);
    }
}

/// The scoring table with the faces that score as singles for this player.
fn with_lone_faces(loadout: Loadout, catalogue: &Catalogue, table: &ScoreTable) -> ScoreTable {
    let mut scoring = table.scoring().clone();
    for die in loadout.special(Some(catalogue)) {
        if let Some((face, points)) = die.effect().kind().scores_alone()
            && let Some(single) = scoring.single.get_mut(usize::from(face).wrapping_sub(1))
        {
            *single = points.max(*single);
        }
    }
    ScoreTable::new(scoring)
}

/// The faces of a die, those that do not score as singles first: a farkle is then found early.
fn worst_first(faces: [u8; 6], table: &ScoreTable) -> Vec<u8> {
    let mut faces = faces.to_vec();
    faces.sort_by_key(|&face| (Tally::of([face]).map_or(0, |tally| table.best(tally)), face));
    faces.dedup();
    faces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special_dice::effects::{Effect, Faces};

    fn endless(codes: &[&str], more: &[(&str, [u8; 6])]) -> bool {
        let mut catalogue = Catalogue::builtin();
        for (code, faces) in more {
            let mut die = catalogue.dice[0].clone();
            die.code = code.parse().unwrap();
            die.effect = Effect::Faces(Faces { faces: *faces });
            catalogue.dice.push(die);
        }
        let codes: Vec<_> = codes.iter().map(|code| code.parse().unwrap()).collect();
        let loadout = Loadout::of(&codes, &catalogue);
        never_farkles(loadout, 6, &catalogue, &ScoreTable::classic())
    }

    #[test]
    fn six_fives_are_endless_and_five_are_not() {
        assert!(endless(&["FIVES"; 6], &[]));
        assert!(!endless(&["FIVES"; 5], &[]));
        assert!(!endless(&["FIVES", "FIVES", "FIVES", "FIVES", "FIVES", "HEAVY"], &[]));
        assert!(!endless(&["FIVES", "FIVES", "FIVES", "FIVES", "FIVES", "THREE"], &[]));
        assert!(!endless(&[], &[]));
        assert!(!endless(&["HEAVY"; 6], &[]));
    }

    #[test]
    fn finds_endless_mixed_loadouts() {
        let twos = ("TWOS", [2; 6]);
        let odd = ("ODD", [1, 1, 3, 3, 5, 5]);
        assert!(endless(&["TWOS", "TWOS", "TWOS", "FIVES", "FIVES", "FIVES"], &[twos]));
        // Four of a kind and a pair are three pairs: all six dice score every time.
        assert!(endless(&["TWOS", "TWOS", "FIVES", "FIVES", "FIVES", "FIVES"], &[twos]));
        assert!(!endless(&["TWOS", "FIVES", "FIVES", "FIVES", "FIVES", "FIVES"], &[twos]));
        assert!(!endless(&["ODD"; 6], &[odd]));
        assert!(endless(
            &["ODD", "ODD", "ODD", "ODD", "ODD", "FIVES"],
            &[("ODD", [1, 1, 1, 5, 5, 5])]
        ));
    }
}
