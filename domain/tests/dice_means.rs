//! The average result of a turn with one special die among six: computed from the written rules,
//! and played with fair dice. Both must agree.
//!
//! The player has a fixed strategy: save the selection with the most points, if tied with the most
//! dice, then with the lowest slots; bank as soon as a bank scores enough, otherwise roll on.

use std::{cmp::Reverse, collections::BTreeMap};

use domain::{Board, Command, Game, decide, evolve, fair::FairDice, farkle::Phase};
use serde_json::json;
use test_games::{Match, NOW, SECRET, bank, player, roll, save};

const ORDINARY: &str = "STANDARD";

/// A player who banks early: most turns have one hand.
const CAUTIOUS: Player = Player { bank_at: 300, turns: 200_000 };
/// The same with half as many turns: some dice take longer to score.
const CAUTIOUS_HALF: Player = Player { turns: 100_000, ..CAUTIOUS };
/// A player who continues until hot dice are common.
const BOLD: Player = Player { bank_at: 1_000, turns: 80_000 };

/// The number of turns of a game.
const TURNS_PER_GAME: u32 = 100;

/// The strategy of a player, and the number of turns to play.
#[derive(Clone, Copy, Debug)]
struct Player {
    /// The minimum points of a bank.
    bank_at: i64,
    turns: u32,
}

/// The probability of a larger deviation of a mean is one in sixteen thousand.
const STANDARD_ERRORS: f64 = 4.0;

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
fn plain(sorted: &[u8]) -> Option<i64> {
    let triple = |face: u8| if face == 1 { 1000 } else { i64::from(face) * 100 };
    match sorted {
        [1] => Some(100),
        [5] => Some(50),
        [1, 2, 3, 4, 5, 6] => Some(2000),
        [1, 1, 1, 1, 1, 1] => Some(5000),
        [a, _, z] if a == z => Some(triple(*a)),
        [a, _, _, z] if a == z => Some(triple(*a) * 2),
        [a, _, _, _, z] if a == z => Some(triple(*a) * 3),
        [a, _, _, _, _, z] if a == z => Some(triple(*a) * 4),
        _ if in_groups_of(3, sorted) => Some(2500),
        _ if in_groups_of(2, sorted) => Some(1250),
        _ => None,
    }
}

/// Whether six dice form groups of equal faces.
fn in_groups_of(size: usize, sorted: &[u8]) -> bool {
    sorted.len() == 6 && sorted.chunks(size).all(|group| group.iter().all(|die| *die == group[0]))
}

/// A die on the table: its face, and whether it is the special one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Die {
    face: u8,
    special: bool,
}

impl Die {
    /// A number whose sum over dice identifies them, in any order: four bits, for up to six dice,
    /// for each possible die.
    fn key(self) -> u64 {
        1 << (4 * self.face + 32 * u8::from(self.special))
    }
}

/// What is saved of a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Saved {
    points: i64,
    special: bool,
    ordinary: u8,
}

impl Saved {
    fn dice(self) -> u8 {
        self.ordinary + u8::from(self.special)
    }
}

/// The state of a turn before a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    /// The dice in hand: whether the special one is among them, and the number of others.
    special: bool,
    ordinary: u8,
    turn_score: i64,
    round_score: i64,
    /// The number of saves of this turn with a Hot die.
    streak: i64,
    /// The number of dice saved in this turn, at most 2: more make no difference.
    dice_saved: u8,
}

/// The mean of the points of a turn, and of their square.
///
/// Each is an average of averages of non-negative numbers, a few hundred terms wide and a few dozen
/// deep: rounding affects the tenth digit at most.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mean: f64,
    square: f64,
}

impl Moments {
    fn of(points: i64) -> Self {
        let mean = f64::from(i32::try_from(points).unwrap());
        Self { mean, square: mean * mean }
    }

    fn add(&mut self, chance: f64, other: Self) {
        self.mean += chance * other.mean;
        self.square += chance * other.square;
    }

    fn standard_error(self, turns: u32) -> f64 {
        ((self.square - self.mean * self.mean) / f64::from(turns)).sqrt()
    }
}

/// All outcomes of a roll with their probabilities; `None` is a farkle.
type Outcomes = Vec<(Option<Saved>, f64)>;

/// The written rules for a set of one special die and standard ones.
struct Rules {
    kind: &'static str,
    dice: u8,
    bank_at: i64,
    outcomes: BTreeMap<(bool, u8), Outcomes>,
    known: BTreeMap<Position, Moments>,
}

impl Rules {
    fn new(kind: &'static str, dice: u8, bank_at: i64) -> Self {
        Self { kind, dice, bank_at, outcomes: BTreeMap::new(), known: BTreeMap::new() }
    }

    /// A whole turn, from its first roll on.
    fn turn(&mut self) -> Moments {
        let ordinary = self.dice - 1;
        let (turn_score, round_score, streak, dice_saved) = (0, 0, 0, 0);
        let special = true;
        self.from(Position { special, ordinary, turn_score, round_score, streak, dice_saved })
    }

    /// The points of a turn from this state on, including those made so far.
    fn from(&mut self, turn: Position) -> Moments {
        if let Some(known) = self.known.get(&turn) {
            return *known;
        }
        let mut moments = Moments::default();
        for (saved, chance) in self.outcomes_of(turn.special, turn.ordinary) {
            let then = match saved {
                None => Moments::of(self.farkled(turn)),
                Some(saved) => self.saved(turn, saved),
            };
            moments.add(chance, then);
        }
        self.known.insert(turn, moments);
        moments
    }

    /// A farkle loses the turn, except for the effect of the special die.
    fn farkled(&self, turn: Position) -> i64 {
        match self.kind {
            "BADLUCK" if turn.dice_saved <= 1 => 1000,
            "GAMBLE" | "CHUTE" => turn.round_score,
            "PHOENIX" | "CUSHION" => turn.turn_score / 2,
            _ => 0,
        }
    }

    /// Dice are saved; the turn is banked, or another roll follows.
    fn saved(&mut self, mut turn: Position, saved: Saved) -> Moments {
        let doubled = if self.kind == "DOUBLE" { 2 } else { 1 };
        turn.turn_score += saved.points + 50 * turn.streak;
        turn.streak += i64::from(self.kind == "HOT" && saved.special);
        turn.special &= !saved.special;
        turn.ordinary -= saved.ordinary;
        turn.dice_saved = (turn.dice_saved + saved.dice()).min(2);
        let worth = turn.round_score + turn.turn_score * doubled;
        if worth >= self.bank_at {
            return Moments::of(worth);
        }
        // Hot dice: the hand is added to the round, and the full set is rolled.
        if !turn.special && turn.ordinary == 0 {
            (turn.round_score, turn.turn_score) = (worth, 0);
            (turn.special, turn.ordinary) = (true, self.dice - 1);
        }
        self.from(turn)
    }

    /// Every roll of these dice is equally likely.
    fn outcomes_of(&mut self, special: bool, ordinary: u8) -> Outcomes {
        if let Some(known) = self.outcomes.get(&(special, ordinary)) {
            return known.clone();
        }
        let dice = u32::from(ordinary) + u32::from(special);
        let mut choices: BTreeMap<u64, Option<Saved>> = BTreeMap::new();
        let mut counts: BTreeMap<Option<Saved>, u32> = BTreeMap::new();
        for number in 0..6u32.pow(dice) {
            let mut hand = [Die { face: 0, special: false }; 6];
            for (n, die) in (0..dice).zip(&mut hand) {
                die.special = special && n == 0;
                let kind = if die.special { self.kind } else { ORDINARY };
                die.face = face(kind, number / 6u32.pow(n) % 6 + 1);
            }
            let hand = &hand[..dice as usize];
            let key = hand.iter().map(|die| die.key()).sum();
            let choice = *choices.entry(key).or_insert_with(|| self.choose(hand));
            *counts.entry(choice).or_default() += 1;
        }
        let all = f64::from(6u32.pow(dice));
        let outcomes: Outcomes =
            counts.into_iter().map(|(saved, count)| (saved, f64::from(count) / all)).collect();
        self.outcomes.insert((special, ordinary), outcomes.clone());
        outcomes
    }

    /// The selection with the most points, if tied with the most dice. Remaining ties differ only
    /// in which of equal standard dice they contain.
    fn choose(&self, hand: &[Die]) -> Option<Saved> {
        let scoring = |set: u32| {
            let chosen = (0..).zip(hand).filter(|(n, _)| set >> n & 1 == 1);
            let chosen: Vec<Die> = chosen.map(|(_, die)| *die).collect();
            let special = chosen.iter().any(|die| die.special);
            let ordinary = u8::try_from(chosen.len()).unwrap() - u8::from(special);
            Some(Saved { points: self.best(&chosen)?, special, ordinary })
        };
        let all: Vec<Saved> = (1..1 << hand.len()).filter_map(scoring).collect();
        let rank = |saved: &Saved| (saved.points, saved.dice());
        let best = *all.iter().max_by_key(|saved| rank(saved))?;
        let others = all.iter().filter(|saved| rank(saved) == rank(&best));
        assert!(others.copied().all(|other| other == best), "{hand:?} with {}", self.kind);
        Some(best)
    }

    /// The best partition of dice into scoring groups.
    fn best(&self, dice: &[Die]) -> Option<i64> {
        let Some((&first, others)) = dice.split_first() else { return Some(0) };
        // The first die is grouped with every possible subset of the others.
        let mut best = None;
        for companions in 0u32..1 << others.len() {
            let (mut group, mut rest) = (vec![first], Vec::new());
            for (n, &die) in others.iter().enumerate() {
                if companions >> n & 1 == 1 { group.push(die) } else { rest.push(die) }
            }
            let Some(points) = self.worth(&group) else { continue };
            best = best.max(self.best(&rest).map(|others| points + others));
        }
        best
    }

    /// The points of dice as one combination: a Thrice die lets every single 3 score 30, a Triple
    /// die counts three times as a single, a Jackpot doubles its combination.
    fn worth(&self, group: &[Die]) -> Option<i64> {
        let mut faces: Vec<u8> = group.iter().map(|die| die.face).collect();
        faces.sort_unstable();
        let special = group.iter().any(|die| die.special);
        Some(match self.kind {
            "THREE" if faces == [3] => 30,
            "TRIPLE" if special && faces.len() == 1 => plain(&faces)? * 3,
            "JACKPOT" if special => plain(&faces)? * 2,
            _ => plain(&faces)?,
        })
    }
}

/// A table for one player, without players.
fn table() -> Match {
    Match::open("challenge-standard", json!({ "target": null, "rounds": TURNS_PER_GAME }))
}

/// A started game with the special die in the first slot, and its own random dice.
fn started(mut table: Match, kind: &str, number: u32) -> Game {
    let seed = Some(format!("{kind} {number}"));
    let join = Command::Join { player: player(0), name: "player 0".to_owned(), seed };
    let choose = Command::ChooseLoadout { seat: 0, dice: vec![kind.to_owned()] };
    for command in [join, choose, Command::Start] {
        table.execute(&command, &[]).unwrap();
    }
    table.game.unwrap()
}

/// The next command of the player.
fn next(game: &Game, bank_at: i64) -> Command {
    let Board::Farkle(farkle) = &game.board else { panic!("this is Farkle") };
    if farkle.round.phase != Phase::Rolled {
        return roll(0);
    }
    let all = farkle.selections(0);
    let best = all.max_by_key(|&(slots, points)| (points, slots.len(), Reverse(slots)));
    let (slots, points) = best.unwrap();
    if farkle.worth(0, points) >= bank_at {
        bank(0, Some(&slots.to_vec()))
    } else {
        save(0, &slots.to_vec())
    }
}

/// The mean of the points of played turns.
fn played(kind: &str, how: Player) -> f64 {
    let table = table();
    let mut sum = 0;
    for number in 0..how.turns / TURNS_PER_GAME {
        let mut game = started(table.clone(), kind, number);
        let mut dice = FairDice::new(SECRET, &game);
        while game.to_move().is_some() {
            let command = next(&game, how.bank_at);
            for event in decide(Some(&game), &command, NOW, &mut dice).unwrap() {
                game = evolve(Some(game), &event).unwrap();
            }
        }
        sum += game.board.scores()[0];
    }
    f64::from(i32::try_from(sum).unwrap()) / f64::from(how.turns)
}

fn expected(kind: &'static str, how: Player) -> Moments {
    Rules::new(kind, 6, how.bank_at).turn()
}

#[track_caller]
fn agree(kind: &'static str, how: Player) {
    let (expected, played) = (expected(kind, how), played(kind, how));
    let error = expected.standard_error(how.turns);
    let off = (played - expected.mean) / error;
    let said = format!("{kind}: {played} instead of {} ± {error}", expected.mean);
    assert!(off.abs() <= STANDARD_ERRORS, "{said}");
}

/// With a single die that is banked as soon as it scores, a turn is one roll.
#[test]
fn one_die_by_hand() {
    let sixths = [
        (ORDINARY, 100 + 50),
        ("LUCKY", 100 + 50 + 50),
        ("HEAVY", 100 + 100 + 50),
        ("FIVES", 6 * 50),
        ("TRIPLE", 300 + 150),
        ("JACKPOT", 200 + 100),
        ("THREE", 100 + 50 + 30),
        ("DOUBLE", 200 + 100),
        ("HOT", 100 + 50),
        ("PHOENIX", 100 + 50),
        ("GAMBLE", 100 + 50),
        ("BADLUCK", 100 + 50 + 4 * 1000),
    ];
    for (kind, points) in sixths {
        let mean = Rules::new(kind, 1, 1).turn().mean;
        assert!((mean * 6.0 - f64::from(points)).abs() < 1e-9, "{kind}: {mean}");
    }
}

/// With a single die and a bank at 100, a 5 is rolled again as hot dice: a turn ends with 100 for a
/// 1, 150 for a 5 and a 1, 100 for two 5s.
#[test]
fn one_die_through_hot_dice_by_hand() {
    let sixths_of_sixths = [
        (ORDINARY, 6 * 100 + 150 + 100),
        // The second hand scores 50 more.
        ("HOT", 6 * 100 + 200 + 150),
        // A farkle in the second hand, 4 of 6 rolls, keeps the 50 of the first; only one die was
        // saved, so the other die treats it as an early one, as in the first hand.
        ("GAMBLE", 6 * 100 + 150 + 100 + 4 * 50),
        ("CHUTE", 6 * 100 + 150 + 100 + 4 * 50),
        ("BADLUCK", 6 * 100 + 150 + 100 + 4 * 1000 + 6 * 4 * 1000),
        // The hand is empty when the second one farkles.
        ("PHOENIX", 6 * 100 + 150 + 100),
        // A 5 counts 100 and is banked.
        ("DOUBLE", 6 * 200 + 6 * 100),
    ];
    for (kind, points) in sixths_of_sixths {
        let mean = Rules::new(kind, 1, 100).turn().mean;
        assert!((mean * 36.0 - f64::from(points)).abs() < 1e-9, "{kind}: {mean}");
    }
}

/// Detects dice without an effect: for one of the players, the mean with each die differs from that
/// of a standard die by more than chance explains.
#[test]
fn every_die_has_an_effect() {
    let cautious = ["HEAVY", "FIVES", "DOUBLE", "HOT", "PHOENIX", "BADLUCK"];
    let half = ["TRIPLE", "JACKPOT", "THREE"];
    let bold = ["LUCKY", "HOT", "PHOENIX", "CUSHION", "GAMBLE", "CHUTE", "BADLUCK"];
    for (how, kinds) in [(CAUTIOUS, &cautious[..]), (CAUTIOUS_HALF, &half), (BOLD, &bold)] {
        let ordinary = expected(ORDINARY, how).mean;
        for kind in kinds {
            let die = expected(kind, how);
            let apart = (die.mean - ordinary).abs() / die.standard_error(how.turns);
            assert!(apart > STANDARD_ERRORS + 2.0, "{kind}: {apart} standard errors");
        }
    }
}

#[test]
fn ordinary_dice() {
    agree(ORDINARY, CAUTIOUS);
}

#[test]
fn a_heavy_die() {
    agree("HEAVY", CAUTIOUS);
}

#[test]
fn a_lucky_die() {
    agree("LUCKY", CAUTIOUS);
}

#[test]
fn a_lucky_die_played_boldly() {
    agree("LUCKY", BOLD);
}

#[test]
fn a_fives_die() {
    agree("FIVES", CAUTIOUS);
}

#[test]
fn a_triple_die() {
    agree("TRIPLE", CAUTIOUS_HALF);
}

#[test]
fn a_jackpot_die() {
    agree("JACKPOT", CAUTIOUS_HALF);
}

/// Six single 3s score 180: hot dice come before anything can be banked.
#[test]
fn a_thrice_die() {
    agree("THREE", CAUTIOUS_HALF);
}

#[test]
fn a_double_die() {
    agree("DOUBLE", CAUTIOUS);
}

/// Hands are doubled when they are added to the round, and not again later.
#[test]
fn a_double_die_played_boldly() {
    agree("DOUBLE", BOLD);
}

#[test]
fn a_hot_die() {
    agree("HOT", CAUTIOUS);
}

/// The streak survives hot dice.
#[test]
fn a_hot_die_played_boldly() {
    agree("HOT", BOLD);
}

#[test]
fn a_phoenix_die() {
    agree("PHOENIX", CAUTIOUS);
}

/// Half of the hand is kept, but nothing of the round.
#[test]
fn a_phoenix_or_a_cushion_die_played_boldly() {
    agree("PHOENIX", BOLD);
    agree("CUSHION", BOLD);
}

/// Hot dice with standard faces score at least 300, so a cautious player has no round to lose.
#[test]
fn a_gamble_die() {
    agree("GAMBLE", CAUTIOUS);
    let (gamble, ordinary) = (expected("GAMBLE", CAUTIOUS), expected(ORDINARY, CAUTIOUS));
    assert!((gamble.mean - ordinary.mean).abs() < 1e-9);
}

#[test]
fn a_gamble_or_a_parachute_die_played_boldly() {
    agree("GAMBLE", BOLD);
    agree("CHUTE", BOLD);
}

#[test]
fn a_badluck_die() {
    agree("BADLUCK", CAUTIOUS);
}

#[test]
fn a_badluck_die_played_boldly() {
    agree("BADLUCK", BOLD);
}
