//! Compares every selection of every roll of six dice to an independent scorer, written from the
//! rules: it tries every partition of the dice into groups.

use std::collections::BTreeMap;

use domain::{
    CombinationName, Slots,
    farkle::scoring::{ScoreTable, Scoring, Tally},
};

/// The points of a group of dice as one combination, by the written rules.
struct WrittenRules {
    straight: i64,
    three_pairs: i64,
    six_ones: i64,
}

const CLASSIC: WrittenRules = WrittenRules { straight: 2000, three_pairs: 1250, six_ones: 5000 };
const HOUSE_750: WrittenRules = WrittenRules { straight: 1000, three_pairs: 750, six_ones: 4000 };

impl WrittenRules {
    fn group(&self, sorted: &[u8]) -> Option<(CombinationName, i64)> {
        use CombinationName as Name;
        let triple = |face: u8| if face == 1 { 1000 } else { i64::from(face) * 100 };
        match sorted {
            [1] => Some((Name::Single, 100)),
            [5] => Some((Name::Single, 50)),
            [1, 1, 1, 1, 1, 1] => Some((Name::SixOfAKind, self.six_ones)),
            [1, 2, 3, 4, 5, 6] => Some((Name::Straight, self.straight)),
            [a, .., z] if a == z && sorted.len() >= 3 => {
                let (name, times) = match sorted.len() {
                    3 => (Name::ThreeOfAKind, 1),
                    4 => (Name::FourOfAKind, 2),
                    5 => (Name::FiveOfAKind, 3),
                    _ => (Name::SixOfAKind, 4),
                };
                Some((name, triple(*a) * times))
            }
            [a, .., z] if a != z && in_groups_of(3, sorted) => Some((Name::TwoTriplets, 2500)),
            [a, .., z] if a != z && in_groups_of(2, sorted) => {
                Some((Name::ThreePairs, self.three_pairs))
            }
            _ => None,
        }
    }

    /// The first die is grouped with every possible subset of the others, and so on with the rest.
    fn best_partition(&self, dice: &[u8]) -> Option<i64> {
        let Some((&first, others)) = dice.split_first() else { return Some(0) };
        let mut best = None;
        for companions in 0u32..1 << others.len() {
            let (mut group, mut rest) = (vec![first], Vec::new());
            for (n, &die) in others.iter().enumerate() {
                if companions >> n & 1 == 1 { group.push(die) } else { rest.push(die) }
            }
            let group = self.group(&group).map(|(_, points)| points);
            let points = group.zip(self.best_partition(&rest)).map(|(g, r)| g + r);
            best = best.max(points);
        }
        best
    }
}

/// Whether six dice form groups of equal faces.
fn in_groups_of(size: usize, sorted: &[u8]) -> bool {
    sorted.len() == 6 && sorted.chunks(size).all(|group| group.iter().all(|die| *die == group[0]))
}

fn all_rolls(dice: u32) -> impl Iterator<Item = Vec<u8>> {
    (0..6u32.pow(dice)).map(move |number| {
        (0..dice).map(|d| u8::try_from(number / 6u32.pow(d) % 6 + 1).unwrap()).collect()
    })
}

#[track_caller]
fn compare(table: &ScoreTable, rules: &WrittenRules) {
    let mut known: BTreeMap<Vec<u8>, Option<i64>> = BTreeMap::new();
    let mut compared = 0;
    for roll in all_rolls(6) {
        let mut best = 0;
        for selection in Slots::first(6).subsets() {
            let chosen = || selection.iter().map(|slot| (slot, roll[usize::from(slot)]));
            let mut faces: Vec<u8> = chosen().map(|(_, face)| face).collect();
            faces.sort_unstable();
            let expected =
                *known.entry(faces).or_insert_with_key(|faces| rules.best_partition(faces));
            let tally = Tally::of(chosen().map(|(_, face)| face)).unwrap();
            assert_eq!(table.score(tally), expected, "{selection:?} of {roll:?}");
            best = best.max(expected.unwrap_or(0));

            let explained = table.explain(chosen());
            assert_eq!(explained.is_some(), expected.is_some());
            if let Some(combinations) = explained {
                let points: i64 = combinations.iter().map(|c| c.points).sum();
                assert_eq!(Some(points), expected, "explanation of {selection:?} of {roll:?}");
                let mut used = Slots::EMPTY;
                for c in &combinations {
                    assert!(c.slots.iter().all(|slot| !used.contains(slot)), "a die used twice");
                    let shown = c.slots.iter().map(|slot| roll[usize::from(slot)]);
                    assert!(shown.eq(c.faces.iter()), "faces are those of the roll");
                    used = c.slots.iter().fold(used, Slots::with);
                    let mut faces: Vec<u8> = c.faces.iter().collect();
                    faces.sort_unstable();
                    assert_eq!(rules.group(&faces), Some((c.name, c.points)), "{c:?}");
                }
                assert_eq!(used, selection, "a die left over");
            }
            compared += 1;
        }
        let tally = Tally::of(roll.iter().copied()).unwrap();
        assert_eq!(table.best(tally), best, "best of {roll:?}");
    }
    assert_eq!(compared, 46_656 * 63);
}

#[test]
fn every_roll_and_selection_of_the_classic_table() {
    compare(&ScoreTable::new(Scoring::classic()), &CLASSIC);
}

#[test]
fn every_roll_and_selection_of_the_house_table() {
    compare(&ScoreTable::new(Scoring::house_750()), &HOUSE_750);
}

#[test]
fn farkles_among_all_rolls_of_n_dice() {
    let table = ScoreTable::new(Scoring::classic());
    let farkles = |dice| {
        all_rolls(dice).filter(|roll| table.best(Tally::of(roll.iter().copied()).unwrap()) == 0)
    };
    let counts: Vec<usize> = (1..=6).map(|dice| farkles(dice).count()).collect();
    assert_eq!(counts, [4, 16, 60, 204, 600, 1080]);
}
