//! Properties of every game and preset: a new game is tested by being in the list.

use std::collections::BTreeSet;

use domain::{
    Ability, Command, DecidedBy, Event, Exchange, Game, Legal, Moment, Play, Proven, Rejection,
    Ruleset, Slots, Stage, VoidedFor, decide,
    fair::FairDice,
    legal_commands, parse_play, replay,
    rogue::{Category, Colour},
    verify, write_play,
};
use test_games::{
    Match, Numbers, SECRET, bank, begun, choose, create, generous, join, play, presets, roll, save,
};

/// The maximum length of a random game.
const MOST_COMMANDS: usize = 50_000;

/// Every command for a table of this size, valid or not.
fn universe(table: &Match) -> Vec<Command> {
    let seats = u8::try_from(table.game().table.seats.len()).unwrap();
    let mut all =
        vec![create(Ruleset::clone(&table.game().table.ruleset)), Command::Start, join(100)];
    all.push(Command::Void { why: VoidedFor::Malfunction, dispute: None });
    all.extend([table.now, Moment(0)].map(|touched| Command::Abandon { touched }));
    for seat in 0..=seats {
        all.push(Command::ChooseSeed { seat, seed: "another".into() });
        all.push(Command::ChooseLoadout { seat, dice: vec!["LUCKY".into()] });
        all.extend([Command::Leave { seat }, Command::TimeOut { seat }]);
        all.extend([roll(seat), bank(seat, None), play(seat, Play::Forfeit)]);
        for slots in Slots::first(6).subsets() {
            all.extend([save(seat, &slots.to_vec()), bank(seat, Some(&slots.to_vec()))]);
            all.push(play(seat, Play::SaveAndRoll { slots: slots.to_vec() }));
        }
        all.extend([save(seat, &[]), save(seat, &[0, 0]), bank(seat, Some(&[255]))]);
        all.extend(moves(table).into_iter().map(|wanted| play(seat, wanted)));
        for character in things(table) {
            all.push(Command::ChooseCharacter { seat, character });
        }
    }
    all
}

/// All codes in the rules of a game: cards, consumables, characters, categories; and some unknown
/// ones.
fn things(table: &Match) -> Vec<String> {
    fn codes(value: &serde_json::Value, found: &mut Vec<String>) {
        if let Some(code) = value.get("code").and_then(serde_json::Value::as_str) {
            found.push(code.to_owned());
        }
        let map = value.as_object().into_iter().flat_map(serde_json::Map::values);
        let list = value.as_array().into_iter().flatten();
        for below in map.chain(list) {
            codes(below, found);
        }
    }
    let mut found = vec!["nonsense".to_owned(), String::new(), "no such\0thing".to_owned()];
    codes(&table.game().table.ruleset.to_json(), &mut found);
    found.extend(Category::ALL.map(|category| category.slug().to_string()));
    found.extend(Colour::ALL.map(|colour| colour.slug().to_string()));
    found
}

/// Every move beyond rolling, saving and banking, valid or not.
fn moves(table: &Match) -> Vec<Play> {
    let mut all = vec![Play::Resolve, Play::Renew, Play::End];
    all.extend([true, false].map(|stay| Play::Answer { stay }));
    let targets = [None, Some(0), Some(1), Some(2), Some(3), Some(255)];
    all.extend(targets.map(|target| Play::Attack { target }));
    all.extend(Slots::first(9).subsets().map(|kept| Play::Reroll { keep: kept.to_vec() }));
    all.extend([vec![], vec![0, 0], vec![255]].map(|keep| Play::Reroll { keep }));
    for code in things(table) {
        let targets = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(255)];
        all.extend(targets.map(|target| Play::Buy { code: code.clone(), target }));
        all.extend([Play::Use { code: code.clone() }, Play::Evolve { code: code.clone() }]);
        all.push(Play::Score { category: code });
    }
    for slot in (0..9).chain([255]) {
        all.extend([Ability::Store(slot), Ability::Place(slot)].map(Play::Ability));
        all.push(Play::Ability(Ability::Convert(slot)));
        all.extend((0..9).map(|onto| Play::Ability(Ability::Copy { from: slot, onto })));
    }
    let exchanges = [Exchange::Heal, Exchange::Charge].map(Ability::Exchange);
    all.extend(exchanges.map(Play::Ability));
    all
}

/// A listed command is accepted, an unlisted one rejected; neither changes the state.
fn check_legal_commands(table: &Match) {
    let before = table.game().clone();
    let legal = legal_commands(Some(&before));
    let mut dice = FairDice::new(SECRET, &before);
    for command in universe(table) {
        let listed = legal.iter().any(|legal| legal.covers(&command, table.now));
        let answer = decide(Some(&before), &command, table.now, &mut dice);
        assert_eq!(listed, answer.is_ok(), "{command:?}: {answer:?}");
    }
    assert_eq!(*table.game(), before);
    check_text_of_moves(&legal);
}

/// Every legal move can be written as text and read again.
fn check_text_of_moves(legal: &[Legal]) {
    for listed in legal {
        if let Legal::Play(_, play) = listed {
            let text = write_play(play).unwrap();
            assert_eq!(parse_play(&text).as_ref(), Ok(play), "{text}");
        }
    }
}

/// The state survives a JSON round trip, and is the fold of its serialized log.
fn check_fold_of_log(table: &Match) {
    let written = serde_json::to_string(table.game()).unwrap();
    assert_eq!(serde_json::from_str::<Game>(&written).unwrap(), *table.game());
    let read: Vec<Event> = table
        .log
        .iter()
        .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
        .collect();
    assert_eq!(read, table.log);
    assert_eq!(replay(&read).as_ref(), Some(table.game()));
    assert_eq!(table.game().table.version, table.log.len() as u64);
}

/// A game can be voided once, at any time: it then has ended with its secret revealed, without
/// awards, and verifies.
fn check_void(table: &mut Match) {
    let over = matches!(table.game().table.stage, Stage::Ended(_));
    let (board, log) = (table.game().board.scores(), table.log.clone());
    let events =
        table.execute_fairly(&Command::Void { why: VoidedFor::Cheating, dispute: None }).unwrap();
    let made: Vec<&str> = events.iter().map(Event::name).collect();
    let ends: &[&str] = if over { &[] } else { &["Ended", "SeedRevealed"] };
    assert_eq!(made, [&["Voided"], ends].concat());
    assert_eq!(table.game().table.voided, Some(VoidedFor::Cheating));
    assert_eq!(table.game().board.scores(), board, "it stays as it was played");
    let events = log.len() + events.len();
    assert_eq!(verify(&table.log), Ok(Proven { rolls: table.game().table.rolls, events }));
    let again = Command::Void { why: VoidedFor::Mistake, dispute: None };
    assert_eq!(table.decide(&again, &[]), Err(Rejection::AlreadyVoid));
    assert_eq!(Rejection::AlreadyVoid.to_string(), "the game is void already");
    check_fold_of_log(table);
    check_legal_commands(table);
}

#[test]
fn a_game_can_be_voided_at_any_time() {
    for (_, preset) in presets() {
        check_void(&mut Match::under(&preset));
        for turns in [0, 1, 7] {
            let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
            let mut table = begun(&preset, &mut numbers);
            for _ in 0..turns {
                if table.game().to_move().is_some() {
                    let command = choose(&table, &mut numbers, false);
                    table.execute_fairly(&command).unwrap();
                }
            }
            check_void(&mut table);
        }
    }
}

/// The house can end a running game with any winners; it pays the usual awards, and verifies.
#[test]
fn the_house_can_end_a_game() {
    for (game, preset) in presets() {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
        let mut table = begun(&preset, &mut numbers);
        let wrong = |table: &Match, winners: &[u8]| {
            table
                .decide(&Command::Rule { winners: winners.to_vec(), dispute: None }, &[])
                .unwrap_err()
        };
        assert_eq!(wrong(&table, &[0, 0]), Rejection::RepeatedWinner { seat: 0 });
        assert!(matches!(wrong(&table, &[99]), Rejection::NoSuchSeat { seat: 99, .. }));
        let command = choose(&table, &mut numbers, false);
        table.execute_fairly(&command).unwrap();
        let events =
            table.execute_fairly(&Command::Rule { winners: vec![0], dispute: None }).unwrap();
        assert_eq!(events[0], Event::Ruled { winners: vec![0], dispute: None });
        let Stage::Ended(outcome) = &table.game().table.stage else { panic!("{game}") };
        assert_eq!((outcome.by, &outcome.winners[..]), (DecidedBy::Ruled, &[0][..]), "{game}");
        check_fold_of_log(&table);
        let proven = Proven { rolls: table.game().table.rolls, events: table.log.len() };
        assert_eq!(verify(&table.log), Ok(proven), "{game}");
        let record = domain::write_record(&table.log).unwrap();
        assert_eq!(domain::parse_record(&record).unwrap(), table.log);
        assert_eq!(wrong(&table, &[]), Rejection::GameOver);
        assert_eq!(wrong(&Match::under(&preset), &[]), Rejection::NotStarted);
    }
}

#[test]
fn every_game_ends_and_verifies() {
    let mut seen = BTreeSet::new();
    for (game, preset) in presets().chain(generous()) {
        for number in 1..=12u64 {
            let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut table = begun(&preset, &mut numbers);
            let disturbed = number % 2 == 0;
            let mut commands = 0;
            while table.game().to_move().is_some() {
                commands += 1;
                assert!(commands < MOST_COMMANDS, "{game} {} {number} does not end", preset.preset);
                let command = choose(&table, &mut numbers, disturbed);
                if let Command::TimeOut { .. } = command {
                    table.now = table.game().table.turn.deadline.unwrap();
                }
                table.now = Moment(table.now.0 + 1);
                let events = table.execute_fairly(&command).unwrap();
                assert!(events.len() <= 256, "{command:?} makes {} events", events.len());
            }
            seen.extend(table.log.iter().map(Event::name));
            let count = |name| table.log.iter().filter(|event| event.name() == name).count();
            assert!(count("TurnEnded") <= count("TurnStarted"), "{game}: a turn ends once");
            check_fold_of_log(&table);
            let Stage::Ended(outcome) = &table.game().table.stage else { panic!("{game}") };
            assert_eq!(outcome.scores, table.game().board.scores());
            let proven = Proven { rolls: table.game().table.rolls, events: table.log.len() };
            assert_eq!(verify(&table.log), Ok(proven), "{game} {}", preset.preset);
            assert_eq!(legal_commands(table.game.as_ref()), [Legal::Void]);
            assert_eq!(table.decide(&roll(0), &[]), Err(Rejection::GameOver));
            check_void(&mut table);
            seen.insert("Voided");
        }
    }
    // All event types, except those that random players cannot cause here.
    let unseen: Vec<&str> = Event::NAMES.into_iter().filter(|name| !seen.contains(name)).collect();
    assert_eq!(unseen, ["LoadoutChosen", "Ruled"]);
}

#[test]
fn a_command_is_accepted_if_and_only_if_listed_in_every_game() {
    for (_, preset) in presets().chain(generous()) {
        for number in 1..=3u64 {
            let mut numbers = Numbers(number.wrapping_mul(0xD134_2543_DE82_EF95));
            check_legal_commands(&Match::under(&preset));
            let mut table = begun(&preset, &mut numbers);
            for _ in 0..40 {
                if table.game().to_move().is_none() {
                    break;
                }
                check_legal_commands(&table);
                check_fold_of_log(&table);
                let command = choose(&table, &mut numbers, false);
                table.execute_fairly(&command).unwrap();
            }
        }
    }
}

/// Presets are valid, survive a JSON round trip, and have unique names.
#[test]
fn every_preset_is_valid() {
    for (game, preset) in presets() {
        preset.check().unwrap();
        assert_eq!(preset.rules.game(), game);
        let written = serde_json::to_string(&preset).unwrap();
        assert_eq!(serde_json::from_str::<Ruleset>(&written).unwrap(), preset);
        let newest = Ruleset::preset(game, Some(&preset.preset)).unwrap();
        assert!(newest.version >= preset.version);
        assert_eq!(newest.in_version(preset.version).unwrap(), preset);
    }
}

/// Old games are still decided the same: with special dice, weighted dice, colours, cards, and
/// plain ones.
#[test]
fn frozen_games_verify() {
    let games = [
        include_str!("../../tests/vectors/game.ndjson"),
        include_str!("../../tests/vectors/challenge.ndjson"),
        include_str!("../../tests/vectors/true-grit.ndjson"),
        include_str!("../../tests/vectors/dice-rogue.ndjson"),
        include_str!("../../tests/vectors/neonpolis.ndjson"),
        include_str!("../../tests/vectors/void.ndjson"),
    ];
    for game in games {
        let log: Vec<Event> =
            game.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(verify(&log).map(|proven| proven.events), Ok(log.len()));
    }
}
