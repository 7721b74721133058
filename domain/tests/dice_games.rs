//! A hundred thousand random games with random special dice: points and money add up, every number
//! is explained, and every game ends.

#![allow(clippy::wildcard_enum_match_arm, reason = "only points and money are checked")]

use crate::measures;
use std::collections::BTreeMap;

use domain::{
    Board, Combination, Command, EffectSource, Event, Game, Legal, Play, Rejection, Stage, decide,
    evolve,
    fair::FairDice,
    farkle::Phase,
    legal_commands, replay,
    special_dice::{Catalogue, Code},
    verify,
};
use serde_json::json;
use test_games::{Match, Numbers, SECRET, bank, join, play, roll, ruleset, save};

const GAMES: u64 = 100_000;
/// The maximum length of a random game.
const MOST_COMMANDS: usize = 5_000;

/// The tables to play at, without players.
fn tables() -> Vec<(&'static str, Match)> {
    let rules = [
        ("challenge-standard", json!({ "target": 3000 })),
        ("challenge-standard", json!({ "target": 3000, "farkle_forfeits_round": false })),
        ("challenge-ten-round", json!({ "rounds": 3, "overtime_rounds": 1 })),
        ("competitive", json!({ "target": 3000 })),
    ];
    rules.into_iter().map(|(preset, rules)| (preset, Match::open(preset, rules))).collect()
}

/// A started game of two players with random dice.
fn started(tables: &[(&str, Match)], catalogue: &Catalogue, numbers: &mut Numbers) -> Game {
    let (preset, mut table) = tables[numbers.index(tables.len())].clone();
    for seat in 0..2 {
        table.execute(&join(seat), &[]).unwrap();
        loop {
            let dice = loadout(catalogue, numbers);
            match table.execute(&Command::ChooseLoadout { seat, dice: dice.clone() }, &[]) {
                Ok(_) => break,
                Err(Rejection::EndlessLoadout) => assert_eq!(dice, ["FIVES"; 6]),
                Err(refused) => assert_eq!(preset, "competitive", "{dice:?}: {refused}"),
            }
        }
    }
    table.execute(&Command::Start, &[]).unwrap();
    table.game.unwrap()
}

/// Up to six dice; sometimes many of one kind.
fn loadout(catalogue: &Catalogue, numbers: &mut Numbers) -> Vec<String> {
    let any = |numbers: &mut Numbers| catalogue.dice[numbers.index(16)].code.to_string();
    let favourite = any(numbers);
    (0..numbers.index(7))
        .map(|_| if numbers.index(3) == 0 { favourite.clone() } else { any(numbers) })
        .collect()
}

/// Any move; banks more often, so that games end.
fn choose(game: &Game, numbers: &mut Numbers) -> Command {
    let seat = game.to_move().unwrap();
    let Board::Farkle(farkle) = &game.board else { panic!("this is Farkle") };
    match farkle.round.phase {
        Phase::Opening => roll(seat),
        Phase::Saved if numbers.index(2) == 0 => bank(seat, None),
        Phase::Saved => roll(seat),
        Phase::Rolled if numbers.index(40) == 0 => play(seat, Play::Forfeit),
        Phase::Rolled => {
            let selections: Vec<_> = farkle.selections(seat).collect();
            let slots = selections[numbers.index(selections.len())].0.to_vec();
            if numbers.index(4) == 0 { bank(seat, Some(&slots)) } else { save(seat, &slots) }
        }
    }
}

/// The totals of a game, computed from its events alone.
#[derive(Default)]
struct Books {
    scores: BTreeMap<u8, i64>,
    money: BTreeMap<u8, u32>,
    /// The points of the current round, and of its last hand.
    made: i64,
    hand: i64,
    /// The multiplier of the hands of a seat.
    times: BTreeMap<u8, i64>,
    /// Effects that the last explanation announced and whose events are still missing.
    announced: Vec<(u8, Code, i64, i64)>,
}

impl Books {
    fn write(&mut self, event: &Event) {
        match event {
            Event::Saved(save) => {
                for laid in &save.combinations {
                    let mut worth = laid.points;
                    for effect in &laid.effects {
                        assert_eq!(effect.before, worth, "{save:?}");
                        worth = effect.after;
                        let (die, code) = (effect.die.slot, effect.die.code);
                        self.announced.push((die, code, effect.before, effect.after));
                    }
                }
                let laid: i64 = save.combinations.iter().map(Combination::total).sum();
                let added: i64 = save.bonuses.iter().map(|bonus| bonus.after - bonus.before).sum();
                assert_eq!(laid + added, save.points, "{save:?}");
                self.made += save.points;
                self.hand += save.points;
            }
            Event::Rolled(rolled) if rolled.folded.is_some() => self.hand = 0,
            Event::Banked(bank) => {
                self.hand = 0;
                let hand = bank.turn_score.saturating_mul(bank.multiplier);
                assert_eq!(bank.points, bank.round_score + hand + bank.bonus, "{bank:?}");
                let score = self.scores.entry(bank.seat).or_default();
                *score += bank.points;
                assert_eq!(bank.game_score, *score, "{bank:?}");
            }
            Event::Farkled(farkle) => self.made += farkle.awarded,
            Event::EffectApplied(effect) => {
                for change in &effect.changes {
                    self.write_change(effect.seat, effect.source, *change);
                }
            }
            Event::MoneyAwarded { seat, amount, .. } => {
                *self.money.entry(*seat).or_default() += amount;
            }
            Event::TurnEnded(turn) => {
                // Lost points are those shown to the player: the last hand with its multiplier.
                let lost_more = self.hand * (self.times[&turn.seat] - 1);
                assert_eq!(turn.points + turn.forfeited, self.made + lost_more, "{turn:?}");
                self.hand = 0;
                assert!(self.announced.is_empty(), "{:?} is missing", self.announced);
                self.made = 0;
            }
            _ => {}
        }
    }

    fn write_change(&mut self, seat: u8, source: EffectSource, change: domain::Change) {
        let gain = change.after - change.before;
        assert_ne!(gain, 0, "an effect that changes nothing is no event");
        match change.what {
            measures::GAME_SCORE => {
                let score = self.scores.entry(seat).or_default();
                assert_eq!(change.before, *score);
                *score += gain;
            }
            measures::HAND_POINTS | measures::BANK_POINTS => self.made += gain,
            measures::COMBINATION_POINTS => {
                let EffectSource::Die(die) = source else { panic!("{source:?} lays no dice") };
                let recorded = (die.slot, die.code, change.before, change.after);
                assert_eq!(self.announced.remove(0), recorded);
            }
            _ => {}
        }
    }
}

/// Plays one game to the end and checks its totals; counts the effects of each kind of die.
fn play_one(mut game: Game, number: u64, numbers: &mut Numbers, effects: &mut BTreeMap<Code, u64>) {
    let doubles = |seat| game.loadout(seat).iter().filter(|die| die.as_str() == "DOUBLE").count();
    let times = (0..2).map(|seat| (seat, 1 << doubles(seat))).collect();
    let mut books = Books { times, ..Books::default() };
    let mut dice = FairDice::new(SECRET, &game);
    for commands in 0.. {
        assert!(commands < MOST_COMMANDS, "game {number} does not end");
        if game.to_move().is_none() {
            break;
        }
        let command = choose(&game, numbers);
        let events = decide(Some(&game), &command, test_games::NOW, &mut dice)
            .unwrap_or_else(|refused| panic!("game {number}: {command:?}: {refused}"));
        for event in &events {
            books.write(event);
            game = evolve(Some(game), event).unwrap();
            if let Event::EffectApplied(effect) = event
                && let EffectSource::Die(die) = effect.source
            {
                *effects.entry(die.code).or_default() += 1;
            }
        }
    }
    let score = |seat| books.scores.get(&seat).copied().unwrap_or(0);
    assert_eq!(game.board.scores(), [score(0), score(1)], "game {number}");
    for (seat, player) in (0..).zip(&game.table.seats) {
        assert_eq!(player.money, books.money.get(&seat).copied().unwrap_or(0));
    }
    assert!(matches!(game.table.stage, Stage::Ended(_)));
    assert_eq!(legal_commands(Some(&game)), [Legal::Void]);
}

#[test]
fn random_games_add_up_and_end() {
    let (tables, catalogue) = (tables(), Catalogue::builtin());
    let share = |rest: u64| {
        let mut effects = BTreeMap::new();
        for number in (1..=GAMES).filter(|number| number % 2 == rest) {
            let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let game = started(&tables, &catalogue, &mut numbers);
            play_one(game, number, &mut numbers, &mut effects);
        }
        effects
    };
    let effects = std::thread::scope(|threads| {
        let other = threads.spawn(|| share(1));
        let mut effects = share(0);
        effects.extend(other.join().unwrap());
        effects
    });
    // Every die with effects in events occurred: the others change faces or earn money.
    let silent = ["LUCKY", "HEAVY", "FIVES", "MIDAS", "FARK$"];
    for die in &catalogue.dice {
        let silent = silent.contains(&die.code.as_str());
        assert_eq!(effects.contains_key(&die.code), !silent, "{}", die.code);
    }
}

/// Complete logs of some games replay and verify.
#[test]
fn games_with_special_dice_verify() {
    for number in 1..=300u64 {
        let mut numbers = Numbers(number.wrapping_mul(0xD134_2543_DE82_EF95));
        let mut table = Match::open("challenge-standard", json!({ "target": 2000 }));
        for seat in 0..3 {
            table.execute(&join(seat), &[]).unwrap();
            let dice = loadout(&Catalogue::builtin(), &mut numbers);
            table.execute(&Command::ChooseLoadout { seat, dice }, &[]).ok();
        }
        table.execute(&Command::Start, &[]).unwrap();
        while table.game().to_move().is_some() {
            let command = choose(table.game(), &mut numbers);
            table.execute_fairly(&command).unwrap();
        }
        let written: Vec<String> =
            table.log.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let read: Vec<Event> =
            written.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
        assert_eq!(replay(&read).as_ref(), Some(table.game()));
        let proven = verify(&read).unwrap_or_else(|why| panic!("game {number}: {why}"));
        assert_eq!(proven.events, table.log.len());
    }
}

/// The catalogue of a game is the one of its first event.
#[test]
fn a_game_keeps_the_catalogue_of_its_first_event() {
    let rules = ruleset("challenge-standard", json!({}));
    let catalogue = rules.rules.catalogue().unwrap();
    assert_eq!(*catalogue, Catalogue::builtin());
    let mut dearer = catalogue.clone();
    dearer.version += 1;
    dearer.dice[0].price = 99;
    let changed = ruleset("challenge-standard", json!({ "catalogue": dearer }));
    assert_eq!(changed.rules.catalogue(), Some(&dearer));
    assert_eq!(changed.preset, "custom");
}
