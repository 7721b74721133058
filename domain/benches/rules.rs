//! Benchmarks of the rules: `cargo bench -p domain`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops by panicking")]
#![allow(missing_docs, reason = "a benchmark has no readers of its API")]

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use divan::{Bencher, black_box, counter::ItemsCount};
use domain::{
    Board, Command, Dice, Draw, Event, Game, GameId, Moment, Play, PlayerId, Ruleset, decide,
    evolve,
    fair::{FairDice, Secret, commitment, ruleset_hash},
    farkle::{
        Phase,
        scoring::{ScoreTable, Scoring, Tally},
    },
    replay,
};
use uuid::Uuid;

fn main() {
    divan::main();
}

const SECRET: Secret = Secret([7; 32]);

struct Script(&'static [u32]);

impl Dice for Script {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.0.to_vec()
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

fn table() -> ScoreTable {
    ScoreTable::new(Scoring::classic())
}

/// A thousand rolls, so that caches and branch prediction do not flatter the result.
fn rolls() -> Vec<[u8; 6]> {
    let roll = |n: usize| {
        std::array::from_fn(|d| {
            u8::try_from(n * 7919 / 6usize.pow(u32::try_from(d).unwrap()) % 6 + 1).unwrap()
        })
    };
    (0..1000).map(roll).collect()
}

#[divan::bench]
fn best_points_of_a_roll(bencher: Bencher<'_, '_>) {
    let (table, rolls) = (table(), rolls());
    bencher.counter(ItemsCount::new(rolls.len())).bench(|| {
        rolls.iter().map(|roll| table.best(Tally::of(*black_box(roll)).unwrap())).sum::<i64>()
    });
}

#[divan::bench]
fn score_a_selection(bencher: Bencher<'_, '_>) {
    let (table, rolls) = (table(), rolls());
    bencher.counter(ItemsCount::new(rolls.len())).bench(|| {
        let score = |roll: &[u8; 6]| table.score(Tally::of(black_box(roll)[..3].iter().copied())?);
        rolls.iter().filter_map(score).sum::<i64>()
    });
}

#[divan::bench]
fn explain_a_selection(bencher: Bencher<'_, '_>) {
    let table = table();
    let dice = [(0, 1), (1, 1), (2, 5), (3, 1), (4, 5)];
    bencher.bench(|| table.explain(black_box(dice)));
}

#[divan::bench]
fn compile_a_scoring_table(bencher: Bencher<'_, '_>) {
    // Different numbers each time: known tables are not compiled again.
    let straight = AtomicI64::new(0);
    bencher
        .with_inputs(|| {
            let straight = straight.fetch_add(1, Ordering::Relaxed);
            Scoring { straight, ..Scoring::classic() }
        })
        .bench_values(ScoreTable::new);
}

fn running(seats: u128, number: u8) -> Game {
    started("classic", seats, number, &[])
}

/// A running game; the first seat has these dice.
fn started(preset: &str, seats: u128, number: u8, dice: &[&str]) -> Game {
    let ruleset = Arc::new(Ruleset::preset("farkle", Some(preset)).unwrap());
    let game = GameId(Uuid::from_u128(number.into()));
    let commitment = commitment(&SECRET, game, ruleset_hash(&ruleset));
    let mut state = None;
    let mut commands = vec![Command::Create { game, ruleset, commitment }];
    commands.extend((0..seats).map(|number| Command::Join {
        player: PlayerId(Uuid::from_u128(number)),
        name: format!("player {number}"),
        seed: None,
    }));
    if !dice.is_empty() {
        let dice = dice.iter().map(ToString::to_string).collect();
        commands.push(Command::ChooseLoadout { seat: 0, dice });
    }
    commands.push(Command::Start);
    for command in commands {
        state = execute(state, &command, &mut Script(&[]));
    }
    state.unwrap()
}

fn execute(game: Option<Game>, command: &Command, dice: &mut impl Dice) -> Option<Game> {
    let events = decide(game.as_ref(), command, Moment(0), dice).unwrap();
    events.iter().fold(game, evolve)
}

fn play(play: Play) -> Command {
    Command::Play { seat: 0, play }
}

/// Decides and folds one command of a two-seat game.
fn command(bencher: Bencher<'_, '_>, before: &[Command], measured: &Command, raw: &'static [u32]) {
    command_in(bencher, running(2, 0), before, measured, raw);
}

fn command_in(
    bencher: Bencher<'_, '_>,
    game: Game,
    before: &[Command],
    measured: &Command,
    raw: &'static [u32],
) {
    let mut game = Some(game);
    for command in before {
        game = execute(game, command, &mut Script(raw));
    }
    bencher
        .with_inputs(|| game.clone())
        .bench_values(|game| execute(game, measured, &mut Script(raw)));
}

#[divan::bench]
fn command_roll(bencher: Bencher<'_, '_>) {
    command(bencher, &[], &play(Play::Roll), &[1, 1, 1, 2, 3, 5]);
}

#[divan::bench]
fn command_roll_with_fair_dice(bencher: Bencher<'_, '_>) {
    let game = running(2, 0);
    let dice = FairDice::new(SECRET, &game);
    bencher
        .with_inputs(|| (Some(game.clone()), dice.clone()))
        .bench_values(|(game, mut dice)| execute(game, &play(Play::Roll), &mut dice));
}

#[divan::bench]
fn command_save(bencher: Bencher<'_, '_>) {
    let save = play(Play::Save { slots: vec![0, 1, 2, 5] });
    command(bencher, &[play(Play::Roll)], &save, &[1, 1, 1, 2, 3, 5]);
}

#[divan::bench]
fn command_bank(bencher: Bencher<'_, '_>) {
    let before = [play(Play::Roll), play(Play::Save { slots: vec![0, 1, 2] })];
    command(bencher, &before, &play(Play::Bank { slots: None }), &[1, 1, 1, 2, 3, 5]);
}

/// Six dice that all affect a save.
const SPECIAL: [&str; 6] = ["TRIPLE", "JACKPOT", "THREE", "HOT", "MIDAS", "DOUBLE"];

#[divan::bench]
fn special_dice_roll(bencher: Bencher<'_, '_>) {
    let game = started("challenge-standard", 2, 0, &SPECIAL);
    command_in(bencher, game, &[], &play(Play::Roll), &[1, 1, 3, 2, 3, 5]);
}

#[divan::bench]
fn special_dice_save(bencher: Bencher<'_, '_>) {
    let game = started("challenge-standard", 2, 0, &SPECIAL);
    let save = play(Play::Save { slots: vec![0, 1, 2, 5] });
    command_in(bencher, game, &[play(Play::Roll)], &save, &[1, 1, 3, 2, 3, 5]);
}

#[divan::bench]
fn special_dice_bank(bencher: Bencher<'_, '_>) {
    let game = started("challenge-standard", 2, 0, &SPECIAL);
    let before = [play(Play::Roll), play(Play::Save { slots: vec![0, 1, 2] })];
    command_in(bencher, game, &before, &play(Play::Bank { slots: None }), &[1, 1, 3, 2, 3, 5]);
}

#[divan::bench]
fn special_dice_all_selections(bencher: Bencher<'_, '_>) {
    let game = Some(started("challenge-standard", 2, 0, &SPECIAL));
    let game = execute(game, &play(Play::Roll), &mut Script(&[1, 1, 3, 2, 3, 5])).unwrap();
    bencher.bench(|| black_box(&game).selections());
}

/// The slowest check of a loadout: whether a round with it can go on for ever.
#[divan::bench(args = [&["PHOENIX"][..], &["THREE"], &["FIVES", "THREE", "HEAVY", "LUCKY"]])]
fn choose_a_loadout(bencher: Bencher<'_, '_>, dice: &[&str]) {
    let ruleset = Ruleset::preset("farkle", Some("challenge-standard")).unwrap();
    let dice: Vec<String> = dice.iter().map(ToString::to_string).collect();
    bencher.bench(|| ruleset.rules.lawful_loadout(black_box(&dice)));
}

/// A game of two players who save all they can and bank from 300 points on.
fn whole_game(number: u8) -> Vec<Event> {
    let mut game = Some(running(2, number));
    let mut log = Vec::new();
    let mut dice = FairDice::new(SECRET, game.as_ref().unwrap());
    while let Some(seat) = game.as_ref().and_then(Game::to_move) {
        let Board::Farkle(farkle) = &game.as_ref().unwrap().board else { panic!("this is Farkle") };
        let play = match farkle.round.phase {
            Phase::Rolled => {
                let best =
                    farkle.selections(seat).max_by_key(|(slots, points)| (*points, slots.len()));
                Play::Save { slots: best.unwrap().0.to_vec() }
            }
            Phase::Saved if farkle.round.unbanked() >= 300 => Play::Bank { slots: None },
            Phase::Opening | Phase::Saved => Play::Roll,
        };
        let command = Command::Play { seat, play };
        let events = decide(game.as_ref(), &command, Moment(0), &mut dice).unwrap();
        game = events.iter().fold(game, evolve);
        log.extend(events);
    }
    log
}

/// A million events of whole games, each folded from its first event.
#[divan::bench(sample_count = 10)]
fn fold_a_million_events(bencher: Bencher<'_, '_>) {
    let ruleset = Arc::new(Ruleset::preset("farkle", None).unwrap());
    let game = GameId(Uuid::nil());
    let created = Event::Created {
        game,
        commitment: commitment(&SECRET, game, ruleset_hash(&ruleset)),
        ruleset_hash: ruleset_hash(&ruleset),
        ruleset,
    };
    let seat = |seat: u8| Event::SeatTaken {
        seat,
        player: PlayerId(Uuid::from_u128(seat.into())),
        name: domain::Name::parse(&format!("player {seat}")).unwrap(),
    };
    let games: Vec<Vec<Event>> = (0..50)
        .map(|number| {
            let opening = [created.clone(), seat(0), seat(1)];
            opening.into_iter().chain(whole_game(number)).collect()
        })
        .collect();
    let events: usize = games.iter().map(Vec::len).sum();
    let times = 1_000_000 / events;
    bencher.counter(ItemsCount::new(times * events)).bench(|| {
        for _ in 0..times {
            for game in &games {
                black_box(replay(game));
            }
        }
    });
}
