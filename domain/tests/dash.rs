//! DashDice in exact numbers: every roll is played, and expected values are computed as fractions.

use std::{iter::Sum, ops};

use domain::{
    Board, Command, Dice, Draw, Event, Ruleset, Stage, decide,
    fair::{FairDice, Secret, commitment, first_ticket, pick, ruleset_hash},
    legal_commands, verify,
};
use std::sync::Arc;
use test_games::{Match, NOW, SECRET, join, roll};

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exact(i128, i128);

impl Exact {
    fn new(above: i128, below: i128) -> Self {
        let (mut a, mut b) = (above.abs(), below.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let sign = below.signum();
        Self(sign * above / a.max(1), sign * below / a.max(1))
    }

    fn whole(number: i64) -> Self {
        Self::new(number.into(), 1)
    }
}

impl ops::Add for Exact {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }
}

impl ops::Sub for Exact {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self::new(-other.0, other.1)
    }
}

impl ops::Mul for Exact {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.0 * other.0, self.1 * other.1)
    }
}

impl ops::Div for Exact {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::new(self.0 * other.1, self.1 * other.0)
    }
}

impl Sum for Exact {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self(0, 1), |sum, item| sum + item)
    }
}

/// Scripted dice; a weighted roll is given by its faces.
struct Show([u32; 2]);

impl Dice for Show {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.0.to_vec()
    }

    fn ticket(&mut self, _: Draw, weights: &[u32]) -> Option<u32> {
        let entry = (self.0[0] - 1) * 6 + self.0[1] - 1;
        first_ticket(weights, usize::try_from(entry).unwrap())
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// A running game with this number of seats.
fn running(game: &str, seats: u8) -> Match {
    let rules = Arc::new(Ruleset::preset(game, None).unwrap());
    let id = domain::GameId(uuid::Uuid::from_u128(7));
    let commitment = commitment(&SECRET, id, ruleset_hash(&rules));
    let mut table = Match::empty();
    table.execute(&Command::Create { game: id, ruleset: rules, commitment }, &[]).unwrap();
    for seat in 0..seats {
        table.execute(&join(seat), &[]).unwrap();
    }
    table.execute(&Command::Start, &[]).unwrap();
    table
}

/// The effect of each of the 36 rolls at this table: points added, the new multiplier, whether the
/// turn continues.
fn rolls(table: &Match) -> Vec<([u32; 2], i64, i64, bool)> {
    let seat = table.game().to_move().unwrap();
    let all = (1..=6).flat_map(|first| (1..=6).map(move |second| [first, second]));
    all.map(|faces| {
        let events = decide(table.game.as_ref(), &roll(seat), NOW, &mut Show(faces)).unwrap();
        let added = |event: &Event| if let Event::Saved(save) = event { save.points } else { 0 };
        let ends = events.iter().any(|event| matches!(event, Event::TurnEnded(_)));
        let mut after = table.clone();
        for event in &events {
            after.game = domain::evolve(after.game.take(), event);
        }
        let facts = after.game().facts(seat);
        let multiplier =
            facts.iter().find(|(name, _)| *name == "multiplier").unwrap().1.to_string();
        (faces, events.iter().map(added).sum(), multiplier.parse().unwrap(), !ends)
    })
    .collect()
}

/// E = E[roll] + P(double) × E, and the same for the square.
#[test]
fn last_line_by_enumeration() {
    let table = running("last_line", 2);
    let one = Exact::new(1, 36);
    let rolls = rolls(&table);
    let mean_of = |pick: &dyn Fn(i64, bool) -> Exact| -> Exact {
        rolls.iter().map(|&(_, points, _, on)| one * pick(points, on)).sum()
    };
    let again = mean_of(&|_, on| Exact::whole(i64::from(on)));
    assert_eq!(again, Exact::new(1, 6));
    let mean = mean_of(&|points, _| Exact::whole(points)) / (Exact::whole(1) - again);
    assert_eq!(mean, Exact::new(42, 5));
    // E[T²] = E[X²] + 2 E[X; double] E[T] + P(double) E[T²].
    let squares = mean_of(&|points, _| Exact::whole(points * points));
    let cross = mean_of(&|points, on| Exact::whole(if on { points } else { 0 }));
    let square = (squares + Exact::whole(2) * cross * mean) / (Exact::whole(1) - again);
    assert_eq!(square - mean * mean, Exact::new(469, 25));
}

/// With multiplier m a turn is worth E(m) = Σ p × (points + E(m after)), over all rolls that
/// continue.
#[test]
fn true_grit_by_enumeration() {
    let mut table = running("true_grit", 2);
    let weight = |faces: [u32; 2]| {
        let single = (faces[0] == 1) != (faces[1] == 1);
        Exact::new(if single { 52 } else { 70 }, 2_340)
    };
    let first = rolls(&table);
    let single_one: Exact = first.iter().filter(|roll| !roll.3).map(|roll| weight(roll.0)).sum();
    assert_eq!(single_one, Exact::new(2, 9));
    // For each multiplier: the points added at once, and the next multipliers.
    let mut rows = Vec::new();
    for face in 1..=6u32 {
        let mut at = table.clone();
        let seat = at.game().to_move().unwrap();
        let events = decide(at.game.as_ref(), &roll(seat), NOW, &mut Show([face, face])).unwrap();
        for event in &events {
            at.game = domain::evolve(at.game.take(), event);
        }
        rows.push(rolls(&at));
    }
    let added: Vec<Exact> = rows
        .iter()
        .map(|row| row.iter().map(|roll| weight(roll.0) * Exact::whole(roll.1)).sum())
        .collect();
    let stays: Exact = rows[0]
        .iter()
        .filter(|roll| roll.3 && roll.0[0] != roll.0[1])
        .map(|roll| weight(roll.0))
        .sum();
    // E(m) = added(m) + stays × E(m) + Σ over doubles d of p × E(d); the sum is the same S for
    // every m.
    let double = weight([1, 1]);
    for (n, row) in rows.iter().enumerate() {
        for &(faces, _, multiplier, on) in row {
            let expected = if faces[0] == faces[1] {
                i64::from(faces[0])
            } else {
                i64::try_from(n + 1).unwrap()
            };
            assert!(!on || multiplier == expected, "{faces:?}");
        }
    }
    let rest = Exact::whole(1) - stays;
    let base: Exact = added.iter().map(|&added| added / rest).sum();
    let sum = double * base / (Exact::whole(1) - Exact::whole(6) * double / rest);
    assert_eq!((added[0] + sum) / rest, Exact::new(62_629, 1_222));
    table.now = NOW;
}

/// All 2,340 tickets of a roll map to the right faces.
#[test]
fn tickets_of_true_grit() {
    let single = |n: usize| (n / 6 == 0) != n.is_multiple_of(6);
    let weights: Vec<u32> = (0..36).map(|n| if single(n) { 52 } else { 70 }).collect();
    assert_eq!(weights.iter().sum::<u32>(), 2_340);
    let ones = (1..=2_340).filter(|&ticket| single(pick(&weights, ticket).unwrap())).count();
    assert_eq!(ones, 520);
}

/// Random games of all three: listed commands are accepted, games end, and verify.
#[test]
fn random_games_end_and_verify() {
    for game in ["zero_hour", "last_line", "true_grit"] {
        for number in 0..60u32 {
            let seats = 2 + u8::try_from(number % 3).unwrap();
            let mut table = running(game, seats);
            let mut choices = number;
            for commands in 0.. {
                assert!(commands < 20_000, "{game} {number} does not end");
                let Some(seat) = table.game().to_move() else { break };
                choices = choices.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let legal = legal_commands(table.game.as_ref());
                let bank = domain::Play::Bank { slots: None };
                let can_bank = legal.contains(&domain::Legal::Play(seat, bank.clone()));
                // Zero Hour ends soonest if players bank what fits; sometimes they also bank too
                // much.
                let fits = if let Board::ZeroHour(board) = &table.game().board {
                    board.players[usize::from(seat)].score >= board.turn.score
                } else {
                    false
                };
                let wants =
                    if fits { choices >> 16 & 3 != 0 } else { (choices >> 16).is_multiple_of(8) };
                let play = if can_bank && wants { bank } else { domain::Play::Roll };
                let mut dice = FairDice::new(SECRET, table.game());
                let command = Command::Play { seat, play };
                let events = decide(table.game.as_ref(), &command, NOW, &mut dice).unwrap();
                for event in &events {
                    table.game = domain::evolve(table.game.take(), event);
                }
                table.log.extend(events);
            }
            assert!(matches!(table.game().table.stage, Stage::Ended(_)));
            let read: Vec<Event> = table
                .log
                .iter()
                .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
                .collect();
            assert_eq!(domain::replay(&read).as_ref(), Some(table.game()));
            assert_eq!(verify(&read).unwrap().events, read.len(), "{game} {number}");
        }
    }
}
