//! Compares saves with special dice to an independent scorer, written from the rules: it tries
//! every partition of the dice into groups.

use std::collections::BTreeMap;

use domain::{Board, Boost, Combination, CombinationName as Name, Command, Event, Slots};
use serde_json::json;
use test_games::{Match, Numbers, bank, join, roll, save};

/// Every kind of special die.
const KINDS: [&str; 16] = [
    "PHOENIX", "BADLUCK", "FARK$", "GAMBLE", "DARE", "CUSHION", "CHUTE", "LUCKY", "HEAVY", "FIVES",
    "DOUBLE", "MIDAS", "HOT", "JACKPOT", "TRIPLE", "THREE",
];

/// The kinds that change the score of a selection; first those that could wrongly be counted more
/// than once.
const SCORING: [&str; 6] = ["TRIPLE", "JACKPOT", "THREE", "FIVES", "LUCKY", "HEAVY"];

/// The number of those; the others only have different faces.
const COUNTED: usize = 3;

/// The kinds whose effect grows from save to save, and those that show it best.
const GROWING: [&str; 6] = ["HOT", "DOUBLE", "MIDAS", "DARE", "JACKPOT", "THREE"];

const ORDINARY: &str = "STANDARD";

/// The face of a die for a raw value.
fn face(kind: &str, raw: u32) -> u8 {
    let faces = match kind {
        "LUCKY" => [1, 2, 3, 4, 5, 5],
        "HEAVY" => [1, 1, 3, 4, 5, 6],
        "FIVES" => [5, 5, 5, 5, 5, 5],
        _ => [1, 2, 3, 4, 5, 6],
    };
    faces[raw as usize - 1]
}

/// The points of standard dice as one combination.
fn plain(sorted: &[u8]) -> Option<(Name, i64)> {
    let triple = |face: u8| if face == 1 { 1000 } else { i64::from(face) * 100 };
    match sorted {
        [1] => Some((Name::Single, 100)),
        [5] => Some((Name::Single, 50)),
        [1, 2, 3, 4, 5, 6] => Some((Name::Straight, 2000)),
        [1, 1, 1, 1, 1, 1] => Some((Name::SixOfAKind, 5000)),
        [a, _, z] if a == z => Some((Name::ThreeOfAKind, triple(*a))),
        [a, _, _, z] if a == z => Some((Name::FourOfAKind, triple(*a) * 2)),
        [a, _, _, _, z] if a == z => Some((Name::FiveOfAKind, triple(*a) * 3)),
        [a, _, _, _, _, z] if a == z => Some((Name::SixOfAKind, triple(*a) * 4)),
        _ if in_groups_of(3, sorted) => Some((Name::TwoTriplets, 2500)),
        _ if in_groups_of(2, sorted) => Some((Name::ThreePairs, 1250)),
        _ => None,
    }
}

/// Whether six dice form groups of equal faces.
fn in_groups_of(size: usize, sorted: &[u8]) -> bool {
    sorted.len() == 6 && sorted.chunks(size).all(|group| group.iter().all(|die| *die == group[0]))
}

/// A die on the table, with everything that affects its points.
#[derive(Clone, Copy, Debug)]
struct Die {
    face: u8,
    triple: bool,
    jackpot: bool,
    /// Whether its player has a Thrice die.
    thrice: bool,
}

impl Die {
    /// A single 3 scores nothing by itself, and 30 for the owner of a Thrice die.
    fn is_thrice_three(group: &[Self]) -> bool {
        matches!(group, [die] if die.face == 3 && die.thrice)
    }

    /// A number whose sum over dice identifies them, in any order: three bits, for up to six dice,
    /// for each possible die.
    fn key(self) -> u128 {
        let face = if Self::is_thrice_three(&[self]) { 0 } else { self.face };
        1 << (3 * (face * 4 + u8::from(self.triple) * 2 + u8::from(self.jackpot)))
    }

    /// The points of dice as one combination, and its name.
    fn score(group: &[Self]) -> Option<(Name, i64)> {
        if Self::is_thrice_three(group) {
            return Some((Name::Single, 0));
        }
        let mut faces = [0; 6];
        group.iter().zip(&mut faces).for_each(|(die, face)| *face = die.face);
        let faces = &mut faces[..group.len()];
        faces.sort_unstable();
        plain(faces)
    }

    /// The points of dice as one combination with effects: a Triple die as a single triples it, one
    /// or more Jackpots double it.
    fn worth(group: &[Self]) -> Option<i64> {
        let scored = if Self::is_thrice_three(group) { 30 } else { Self::score(group)?.1 };
        let tripled = if matches!(group, [die] if die.triple) { 3 } else { 1 };
        let doubled = if group.iter().any(|die| die.jackpot) { 2 } else { 1 };
        Some(scored * tripled * doubled)
    }
}

/// Caches the points of sets of dice.
#[derive(Default)]
struct Oracle {
    known: BTreeMap<u128, Option<i64>>,
}

impl Oracle {
    /// The best partition of dice into scoring groups.
    fn best(&mut self, dice: &[Die]) -> Option<i64> {
        let Some((&first, others)) = dice.split_first() else { return Some(0) };
        let key = dice.iter().map(|die| die.key()).sum();
        if let Some(&best) = self.known.get(&key) {
            return best;
        }
        // The first die is grouped with every possible subset of the others.
        let mut best = None;
        for companions in 0u32..1 << others.len() {
            let (mut group, mut rest) = (vec![first], Vec::new());
            for (n, &die) in others.iter().enumerate() {
                if companions >> n & 1 == 1 { group.push(die) } else { rest.push(die) }
            }
            let points = Die::worth(&group).zip(self.best(&rest)).map(|(g, r)| g + r);
            best = best.max(points);
        }
        self.known.insert(key, best);
        best
    }
}

/// A single player, and the expected state of the round.
#[derive(Clone)]
struct Player {
    /// The kind of die in each slot.
    kinds: Vec<&'static str>,
    table: Match,
    /// The dice to roll next.
    hand: Slots,
    turn_score: i64,
    round_score: i64,
    /// The number of saves of this round with a Hot die.
    streak: i64,
    /// The bonus of the Dare for the next bank.
    dare: i64,
}

/// A scoring selection, and its points without those of the streak.
type Scoring = (Slots, i64);

impl Player {
    fn new(kinds: Vec<&'static str>) -> Self {
        let mut table = Match::open(
            "challenge-standard",
            json!({ "dice": kinds.len(), "target": null, "rounds": 1000 }),
        );
        table.execute(&join(0), &[]).unwrap();
        let dice = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        table.execute(&Command::ChooseLoadout { seat: 0, dice }, &[]).unwrap();
        table.execute(&Command::Start, &[]).unwrap();
        let hand = Slots::EMPTY;
        let mut player =
            Self { kinds, table, hand, turn_score: 0, round_score: 0, streak: 0, dare: 0 };
        player.next_round();
        player
    }

    fn dice_of(&self, kind: &str) -> impl Iterator<Item = u8> {
        (0..).zip(&self.kinds).filter(move |(_, k)| **k == kind).map(|(slot, _)| slot)
    }

    /// Each Double die doubles once more.
    fn multiplier(&self) -> i64 {
        self.dice_of("DOUBLE").fold(1, |times, _| times * 2)
    }

    /// The dice of a roll, by slot; slots that were not rolled are ignored.
    fn shown(&self, raw: &[u32]) -> [Die; 6] {
        let thrice = self.kinds.contains(&"THREE");
        let mut dice = [Die { face: 0, triple: false, jackpot: false, thrice }; 6];
        for (slot, &raw) in self.hand.iter().map(usize::from).zip(raw) {
            let kind = self.kinds[slot];
            dice[slot].face = face(kind, raw);
            dice[slot].triple = kind == "TRIPLE";
            dice[slot].jackpot = kind == "JACKPOT";
        }
        dice
    }

    /// Every scoring selection of the dice rolled.
    fn scoring(&self, dice: [Die; 6], oracle: &mut Oracle) -> Vec<Scoring> {
        let worth = |slots: Slots| {
            let (group, size) = pick(dice, slots);
            Some((slots, oracle.best(&group[..size])?))
        };
        self.hand.subsets().filter_map(worth).collect()
    }

    /// Rolls, compares what can be scored and returns it.
    fn roll(&mut self, raw: &[u32], oracle: &mut Oracle) -> Vec<Scoring> {
        let folded = self.fold();
        let dice = self.shown(raw);
        let expected = self.scoring(dice, oracle);
        let events = self.table.execute(&roll(0), raw).unwrap();
        let Some(Event::Rolled(rolled)) = events.first() else { panic!("{events:?}") };
        let faces = self.hand.iter().map(|slot| dice[usize::from(slot)].face);
        assert!(rolled.faces.iter().eq(faces), "{rolled:?} with {:?}", self.kinds);
        let best = expected.iter().map(|(_, points)| *points).max().unwrap_or(0);
        assert_eq!(rolled.max_points, best, "{rolled:?} with {:?}", self.kinds);
        assert_eq!(rolled.folded, folded, "{rolled:?} with {:?}", self.kinds);
        let Board::Farkle(farkle) = &self.table.game().board else { panic!("this is Farkle") };
        let mut found: Vec<Scoring> = farkle.selections(0).collect();
        found.sort_unstable();
        let on_a_streak = |(slots, points): &Scoring| (*slots, points + 50 * self.streak);
        let wanted: Vec<Scoring> = expected.iter().map(on_a_streak).collect();
        assert_eq!(found, wanted, "{rolled:?} with {:?}", self.kinds);
        expected
    }

    /// Compares the explanation of every selection of the dice rolled.
    fn explained(&self, raw: &[u32], expected: &[Scoring]) {
        let shown = self.shown(raw);
        let mut selections = self.table.game().selections();
        selections.sort_by_key(|selection| selection.slots);
        let of = expected.iter().map(|(slots, _)| *slots);
        assert!(selections.iter().map(|s| s.slots).eq(of), "{raw:?} with {:?}", self.kinds);
        for (selection, (_, points)) in selections.iter().zip(expected) {
            let context = || format!("{selection:?} of {raw:?} with {:?}", self.kinds);
            let sum: i64 = selection.combinations.iter().map(Combination::total).sum();
            assert_eq!(sum, *points, "{}", context());
            let streak = gains(sum, &selection.bonuses);
            assert_eq!(streak, Some(50 * self.streak), "{}", context());
            assert_eq!(selection.points, sum + 50 * self.streak, "{}", context());
            assert_eq!(selection.dollars, self.midas(selection.slots), "{}", context());
            assert_eq!(selection.bank, self.bank_with(selection.points), "{}", context());
            assert!(selection.can_bank);

            let mut used = Slots::EMPTY;
            for combo in &selection.combinations {
                assert!(combo.slots.iter().all(|slot| !used.contains(slot)), "{}", context());
                used = combo.slots.iter().fold(used, Slots::with);
                self.combination(shown, combo);
            }
            assert_eq!(used, selection.slots, "{}", context());
        }
    }

    /// A combination has the faces of its dice, the expected points, and names each die that raised
    /// them.
    fn combination(&self, shown: [Die; 6], combo: &Combination) {
        let context = || format!("{combo:?} with {:?}", self.kinds);
        let (group, size) = pick(shown, combo.slots);
        let group = &group[..size];
        assert!(combo.faces.iter().eq(group.iter().map(|die| die.face)), "{}", context());
        assert_eq!(Die::score(group), Some((combo.name, combo.points)), "{}", context());
        assert_eq!(Die::worth(group), Some(combo.total()), "{}", context());
        let gained = gains(combo.points, &combo.effects);
        assert_eq!(gained, Some(combo.total() - combo.points), "{}", context());

        let causes = [
            ("JACKPOT", group.iter().any(|die| die.jackpot)),
            ("THREE", Die::is_thrice_three(group)),
            ("TRIPLE", matches!(group, [die] if die.triple)),
        ];
        let expected = causes.iter().filter(|(_, is)| *is).map(|(kind, _)| *kind);
        let mut named: Vec<&str> = combo.effects.iter().map(|e| e.die.code.as_str()).collect();
        named.sort_unstable();
        assert!(named.iter().copied().eq(expected), "{}", context());
        for Boost { die, .. } in &combo.effects {
            assert_eq!(self.kinds[usize::from(die.slot)], die.code.as_str(), "{}", context());
            // A Thrice die applies in any slot, the others only where they are scored.
            let counts = die.code.as_str() == "THREE" || combo.slots.contains(die.slot);
            assert!(counts, "{}", context());
        }
    }

    /// One dollar for each saved die, for each Midas die.
    fn midas(&self, saved: Slots) -> u32 {
        self.dice_of("MIDAS").map(|_| u32::from(saved.len())).sum()
    }

    /// The points of a bank with this many more points saved.
    fn bank_with(&self, points: i64) -> i64 {
        self.round_score + (self.turn_score + points) * self.multiplier() + self.dare
    }

    fn all(&self) -> Slots {
        Slots::first(u8::try_from(self.kinds.len()).unwrap())
    }

    /// Hot dice: an empty hand is added to the round, and all dice are rolled.
    fn fold(&mut self) -> Option<i64> {
        let folded = self.hand.is_empty().then(|| self.turn_score * self.multiplier())?;
        self.round_score += folded;
        self.turn_score = 0;
        self.hand = self.all();
        Some(folded)
    }

    /// Saves dice, or banks with them, and compares the events.
    fn save(&mut self, (slots, points): Scoring, and_bank: bool) {
        let all = self.table.game().selections();
        let explained = all.iter().find(|selection| selection.slots == slots).unwrap();
        let named = slots.to_vec();
        let command = if and_bank { bank(0, Some(&named)) } else { save(0, &named) };
        let events = self.table.execute(&command, &[]).unwrap();
        self.turn_score += points + 50 * self.streak;
        let hot = self.dice_of("HOT").any(|slot| slots.contains(slot));
        self.streak += i64::from(hot);
        self.hand = self.hand.without(slots);

        let Some(Event::Saved(saved)) = events.first() else { panic!("{events:?}") };
        assert_eq!((saved.slots, saved.left), (slots, self.hand), "{:?}", self.kinds);
        assert_eq!(saved.combinations, explained.combinations, "{:?}", self.kinds);
        assert_eq!(saved.bonuses, explained.bonuses, "{:?}", self.kinds);
        assert_eq!(saved.points, explained.points, "{:?}", self.kinds);
        assert_eq!(saved.turn_score, self.turn_score, "{:?}", self.kinds);
        let paid = |event: &Event| {
            let Event::MoneyAwarded { amount, .. } = event else { return None };
            Some(*amount)
        };
        let paid: u32 = events.iter().filter_map(paid).sum();
        assert_eq!(paid, self.midas(slots), "{saved:?} with {:?}", self.kinds);
        if and_bank {
            self.banked(&events);
        }
    }

    fn bank(&mut self) {
        let events = self.table.execute(&bank(0, None), &[]).unwrap();
        self.banked(&events);
    }

    fn banked(&mut self, events: &[Event]) {
        let banked = events.iter().find_map(|event| {
            let Event::Banked(banked) = event else { return None };
            Some(banked)
        });
        let banked = banked.unwrap();
        assert_eq!(banked.round_score, self.round_score, "{:?}", self.kinds);
        assert_eq!(banked.turn_score, self.turn_score, "{:?}", self.kinds);
        assert_eq!(banked.multiplier, self.multiplier(), "{:?}", self.kinds);
        assert_eq!(banked.bonus, self.dare, "{:?}", self.kinds);
        assert_eq!(banked.points, self.bank_with(0), "{:?}", self.kinds);
        self.dare = 0;
        self.next_round();
    }

    /// Each farkle raises the next bank of the owner of a Dare die.
    fn farkled(&mut self) {
        self.dare += if self.kinds.contains(&"DARE") { 200 } else { 0 };
        self.next_round();
    }

    fn next_round(&mut self) {
        (self.turn_score, self.round_score, self.streak) = (0, 0, 0);
        self.hand = self.all();
    }
}

/// The dice of these slots, and their number.
fn pick(dice: [Die; 6], slots: Slots) -> ([Die; 6], usize) {
    let mut picked = dice;
    slots.iter().zip(&mut picked).for_each(|(slot, die)| *die = dice[usize::from(slot)]);
    (picked, slots.len().into())
}

/// The total gain, if each step begins where the previous one ended.
fn gains(points: i64, steps: &[Boost]) -> Option<i64> {
    let reached =
        steps.iter().try_fold(points, |now, step| (step.before == now).then_some(step.after))?;
    Some(reached - points)
}

/// All rolls of this number of dice.
fn all_rolls(dice: usize) -> impl Iterator<Item = Vec<u32>> {
    let dice = u32::try_from(dice).unwrap();
    (0..6u32.pow(dice)).map(move |n| (0..dice).map(|d| n / 6u32.pow(d) % 6 + 1).collect())
}

/// Standard dice, except for these slots.
fn with(special: &[(usize, &'static str)], dice: usize) -> Vec<&'static str> {
    let mut kinds = vec![ORDINARY; dice];
    for &(slot, kind) in special {
        kinds[slot] = kind;
    }
    kinds
}

/// Whether the standard dice are in ascending order: one of all orders of the same faces.
fn in_order(kinds: &[&str], raw: &[u32]) -> bool {
    kinds.iter().zip(raw).filter(|(kind, _)| **kind == ORDINARY).is_sorted_by_key(|(_, raw)| *raw)
}

/// Whether no die shows a face that it also shows for a smaller raw value.
fn new_faces(kinds: &[&str], raw: &[u32]) -> bool {
    let new = |(kind, &raw): (&&str, &u32)| raw == 1 || face(kind, raw) != face(kind, raw - 1);
    kinds.iter().zip(raw).all(new)
}

/// Both conditions: each hand of different dice once.
fn new_hands(kinds: &[&str], raw: &[u32]) -> bool {
    in_order(kinds, raw) && new_faces(kinds, raw)
}

/// Compares every selection of the selected rolls of these dice; returns the number of rolls.
///
/// Explanations are slow, so only every `explained`-th hand in order is explained.
fn compare(
    kinds: Vec<&'static str>,
    oracle: &mut Oracle,
    wanted: impl Fn(&[&str], &[u32]) -> bool,
    explained: usize,
) -> usize {
    let fresh = Player::new(kinds);
    let (mut rolls, mut hands) = (0, 0);
    for raw in all_rolls(fresh.kinds.len()).filter(|raw| wanted(&fresh.kinds, raw)) {
        let mut player = fresh.clone();
        let expected = player.roll(&raw, oracle);
        rolls += 1;
        if in_order(&player.kinds, &raw) {
            hands += 1;
            if hands % explained == 0 {
                player.explained(&raw, &expected);
            }
        }
    }
    rolls
}

/// One to six dice; the special ones are of one to three kinds.
fn loadout(numbers: &mut Numbers) -> Vec<&'static str> {
    let of = numbers.one_of(&[&KINDS[..], &SCORING, &GROWING]);
    let kinds: Vec<&str> = (0..=numbers.below(3)).map(|_| numbers.one_of(of)).collect();
    let slots = 0..=numbers.below(6);
    let mut dice: Vec<&str> = slots
        .map(|_| if numbers.below(3) == 0 { ORDINARY } else { numbers.one_of(&kinds) })
        .collect();
    // Only Fives would never farkle, so such a loadout is rejected.
    if dice.iter().all(|kind| *kind == "FIVES") {
        dice[0] = ORDINARY;
    }
    dice
}

/// How often each case occurred: the test must reach all of them.
#[derive(Debug, Default)]
struct Seen {
    rolls: u32,
    of_fewer_dice: u32,
    selections: usize,
    on_a_streak: u32,
    after_hot_dice: u32,
    with_dare: u32,
    doubled: u32,
    paid: u32,
}

/// A roll, and unless it is a farkle a save, a bank with dice, or both in sequence.
fn one_move(player: &mut Player, numbers: &mut Numbers, oracle: &mut Oracle, seen: &mut Seen) {
    let hand = if player.hand.is_empty() { player.all() } else { player.hand };
    let raw: Vec<u32> = hand.iter().map(|_| numbers.below(6) + 1).collect();
    let expected = player.roll(&raw, oracle);
    player.explained(&raw, &expected);
    seen.rolls += 1;
    seen.of_fewer_dice += u32::from(player.hand != player.all());
    seen.selections += expected.len();
    if expected.is_empty() {
        return player.farkled();
    }
    let choice = numbers.one_of(&expected);
    seen.on_a_streak += u32::from(player.streak > 0);
    seen.after_hot_dice += u32::from(player.round_score > 0);
    seen.with_dare += u32::from(player.dare > 0);
    seen.doubled += u32::from(player.multiplier() > 1);
    seen.paid += u32::from(player.midas(choice.0) > 0);
    match numbers.below(8) {
        0 => player.save(choice, true),
        1 => {
            player.save(choice, false);
            player.bank();
        }
        _ => player.save(choice, false),
    }
}

#[test]
fn examples_of_the_rules() {
    let die = |face| Die { face, triple: false, jackpot: false, thrice: false };
    let triple = |face| Die { triple: true, ..die(face) };
    let jackpot = |face| Die { jackpot: true, ..die(face) };
    let thrice = |face| Die { thrice: true, ..die(face) };
    let both = |face| Die { triple: true, ..jackpot(face) };
    let examples: [(&[Die], Option<i64>); 16] = [
        (&[1, 1, 1, 1, 5, 5].map(die), Some(2_100)),
        (&[2, 2, 2, 2, 3, 3].map(die), Some(1_250)),
        (&[1, 1, 6, 6, 6, 6].map(die), Some(1_400)),
        (&[1, 1, 1, 5, 5, 5].map(die), Some(2_500)),
        (&[2, 2, 2, 2, 2, 2].map(die), Some(800)),
        (&[1, 1, 1, 1, 1, 1].map(die), Some(5_000)),
        (&[die(3)], None),
        (&[triple(1), die(1), die(5)], Some(450)),
        (&[triple(5)], Some(150)),
        (&[triple(1), die(1), die(1)], Some(1_000)),
        (&[die(1), die(1), jackpot(1)], Some(2_000)),
        (&[die(1), jackpot(1), jackpot(1)], Some(2_000)),
        (&[die(1), jackpot(1), die(5)], Some(350)),
        (&[3, 3].map(thrice), Some(60)),
        (&[Die { triple: true, ..thrice(3) }], Some(90)),
        (&[both(1)], Some(600)),
    ];
    for (dice, points) in examples {
        assert_eq!(Oracle::default().best(dice), points, "{dice:?}");
    }
}

#[test]
fn every_roll_with_one_special_die() {
    let mut oracle = Oracle::default();
    let loadouts = SCORING.iter().map(|kind| with(&[(0, kind)], 6));
    let rolls: usize = loadouts.map(|kinds| compare(kinds, &mut oracle, |_, _| true, 1)).sum();
    assert_eq!(rolls, 6 * 46_656);
}

#[test]
fn every_hand_with_a_die_without_points() {
    let mut oracle = Oracle::default();
    let others = KINDS.iter().filter(|kind| !SCORING.contains(kind));
    let loadouts = others.map(|kind| with(&[(0, kind)], 6));
    let rolls: usize = loadouts.map(|kinds| compare(kinds, &mut oracle, in_order, 1)).sum();
    // Six faces of the special die, and 252 rolls of the five others.
    assert_eq!(rolls, 10 * 6 * 252);
}

#[test]
fn every_roll_with_two_scoring_dice() {
    let mut oracle = Oracle::default();
    let mut rolls = 0;
    for (n, first) in SCORING[..COUNTED].iter().enumerate() {
        for second in &SCORING[n..COUNTED] {
            for dice in 2..=6 {
                let kinds = with(&[(0, first), (dice - 1, second)], dice);
                rolls += compare(kinds, &mut oracle, |_, _| true, 1);
            }
        }
    }
    assert_eq!(rolls, 6 * (36 + 216 + 1_296 + 7_776 + 46_656));
}

#[test]
fn every_roll_with_different_faces_and_a_scoring_die() {
    let mut oracle = Oracle::default();
    let (mut loadouts, mut rolls) = (0, 0);
    for (n, faces) in SCORING.iter().enumerate().skip(COUNTED) {
        for other in &SCORING[..n] {
            let kinds = with(&[(1, faces), (4, other)], 6);
            rolls += compare(kinds, &mut oracle, new_faces, 1);
            loadouts += 1;
        }
    }
    assert_eq!(loadouts, 12);
    // Fives have one face, Lucky and Heavy five: combined with a die of six faces, and with each
    // other.
    assert_eq!(rolls, 1_296 * (3 * 6 * (1 + 5 + 5) + 5 + 5 + 5 * 5));
}

#[test]
fn every_hand_with_three_special_dice() {
    let mut oracle = Oracle::default();
    let (mut loadouts, mut rolls) = (0, 0);
    for (n, first) in SCORING[..COUNTED].iter().enumerate() {
        for (m, second) in SCORING[..COUNTED].iter().enumerate().skip(n) {
            for (o, third) in SCORING.iter().enumerate().skip(m) {
                if o < COUNTED || n < m {
                    let kinds = with(&[(1, first), (2, second), (4, third)], 6);
                    rolls += compare(kinds, &mut oracle, new_hands, 7);
                    loadouts += 1;
                }
            }
        }
    }
    assert_eq!(loadouts, 19);
    // 56 rolls of three standard dice.
    assert_eq!(rolls, 56 * (10 * 6 * 6 * 6 + 3 * 6 * 6 * (1 + 5 + 5)));
}

#[test]
fn rounds_with_any_dice() {
    let (mut numbers, mut oracle, mut seen) = (Numbers(0x5EED), Oracle::default(), Seen::default());
    for _ in 0..1_200 {
        let mut player = Player::new(loadout(&mut numbers));
        for _ in 0..30 {
            one_move(&mut player, &mut numbers, &mut oracle, &mut seen);
        }
    }
    assert_eq!(seen.rolls, 1_200 * 30);
    let each = [seen.of_fewer_dice, seen.on_a_streak, seen.after_hot_dice, seen.with_dare];
    assert!(each.iter().all(|times| *times > 500), "{seen:?}");
    assert!(seen.doubled > 500 && seen.paid > 500 && seen.selections > 50_000, "{seen:?}");
}
