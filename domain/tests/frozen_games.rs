//! One recorded game of every version of every preset: old games must still be decided the same.
//!
//! `CROUPIER_FREEZE=1 cargo test --workspace --test rules freeze` writes the missing ones. Existing files never
//! change.

use std::{env, fs, path::PathBuf};

use domain::{Command, Event, Moment, Ruleset, Stage, parse_record, verify, write_record};
use test_games::{Match, Numbers, choose, gathered, presets};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "tests", "vectors", "frozen"].iter().collect()
}

fn file_of(game: &str, preset: &Ruleset) -> PathBuf {
    folder().join(format!("{game}-{}-v{}.record", preset.preset, preset.version))
}

#[test]
fn freeze() {
    if env::var_os("CROUPIER_FREEZE").is_none() {
        return;
    }
    fs::create_dir_all(folder()).unwrap();
    for (game, preset) in presets() {
        let file = file_of(game, &preset);
        if !file.exists() {
            fs::write(file, write_record(&eventful_game(&preset)).unwrap()).unwrap();
        }
    }
}

/// A short game with as many different events as the preset allows.
fn eventful_game(preset: &Ruleset) -> Vec<Event> {
    let games = (1..500u64).map(|number| played(preset, &mut Numbers(number << 32 | number)));
    let kinds = |log: &Vec<Event>| {
        let mut names: Vec<&str> = log.iter().map(Event::name).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    games.max_by_key(|log| (kinds(log), log.len())).unwrap()
}

/// Some moves and time-outs; then the remaining players leave.
fn played(preset: &Ruleset, numbers: &mut Numbers) -> Vec<Event> {
    let mut table: Match = gathered(preset, numbers);
    table.execute_fairly(&Command::Start).unwrap();
    for _ in 0..60 {
        if table.game().to_move().is_none() {
            break;
        }
        let command = choose(&table, numbers, true);
        if let Command::TimeOut { .. } = command {
            table.now = table.game().table.turn.deadline.unwrap();
        }
        table.now = Moment(table.now.0 + u64::from(numbers.below(5_000)));
        table.execute_fairly(&command).unwrap();
    }
    while let Some(seat) = table.game().to_move() {
        table.execute_fairly(&Command::Leave { seat }).unwrap();
    }
    table.log
}

#[test]
fn every_frozen_game_verifies() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let log = parse_record(&text).unwrap_or_else(|bad| panic!("{}: {bad}", path.display()));
        assert_eq!(verify(&log).map(|proven| proven.events), Ok(log.len()), "{}", path.display());
        assert_eq!(write_record(&log).unwrap(), text, "the notation stays: {}", path.display());
    }
}

/// A changed preset is a new version and needs its own game.
#[test]
fn every_current_preset_has_a_frozen_game() {
    for (game, preset) in presets() {
        let file = file_of(game, &preset);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| {
            panic!(
                "{} is missing: CROUPIER_FREEZE=1 cargo test --workspace --test rules freeze",
                file.display()
            )
        });
        let log = parse_record(&text).unwrap();
        let Some(Event::Created { ruleset, .. }) = log.first() else { panic!() };
        assert_eq!(**ruleset, preset, "{game}: a changed preset gets a new version");
        let over = domain::replay(&log).unwrap().table.stage;
        assert!(matches!(over, Stage::Ended(_)));
    }
}
