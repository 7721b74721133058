//! Reconstructing commands from events: complete and exact.

use domain::{Command, Event, Moment, Step, VerificationError, infer_commands};
use serde_json::json;
use test_games::{Match, NOW, Numbers, bank, eventful, generous, join, presets, roll, save};

/// Every event belongs to exactly one step, in order.
fn check_complete(log: &[Event], steps: &[Step]) {
    let mut done = 0;
    for step in steps {
        assert_eq!(step.events.start, done);
        assert!(step.events.end > done, "{step:?} makes nothing happen");
        done = step.events.end;
    }
    assert_eq!(done, log.len());
}

#[test]
fn every_game_is_recounted_running_or_over() {
    for (game, preset) in presets().chain(generous()) {
        for number in 1..=20u64 {
            let mut numbers = Numbers(number.wrapping_mul(0xA076_1D64_78BD_642F));
            let table = eventful(&preset, &mut numbers, 120);
            let steps =
                infer_commands(&table.log).unwrap_or_else(|why| panic!("{game} {number}: {why}"));
            check_complete(&table.log, &steps);
        }
    }
}

#[test]
fn recounts_commands_and_times() {
    let mut table = Match::running("classic", json!({}), 2);
    table.now = Moment(NOW.0 + 17);
    table.execute(&roll(0), &[1, 2, 3, 4, 6, 6]).unwrap();
    table.execute(&bank(0, Some(&[0])), &[]).unwrap();
    let steps = infer_commands(&table.log).unwrap();
    let found: Vec<(&Command, Option<Moment>)> = steps.iter().map(|s| (&s.command, s.at)).collect();
    let Command::Join { player, name, .. } = join(0) else { panic!() };
    assert_eq!(*found[1].0, Command::Join { player, name, seed: None });
    assert_eq!(*found[2].0, Command::ChooseSeed { seat: 0, seed: "seed of 0".into() });
    let start = (&Command::Start, Some(NOW));
    let rest = [(&roll(0), None), (&save(0, &[0]), None), (&bank(0, None), Some(table.now))];
    assert_eq!(
        (found[4], &found[5..]),
        (start, &rest[..]),
        "a bank with dice is a save and a bank"
    );
}

#[test]
fn an_invalid_game_is_not_recounted() {
    assert_eq!(infer_commands(&[]), Err(VerificationError::NoGame));
    let mut table = Match::running("classic", json!({}), 2);
    table.execute(&roll(0), &[1, 1, 1, 4, 6, 6]).unwrap();
    assert_eq!(infer_commands(&table.log[1..]), Err(VerificationError::NoGame));
    let Some(Event::Rolled(rolled)) = table.log.last_mut() else { panic!() };
    rolled.max_points += 50;
    let number = table.log.len();
    let Err(VerificationError::Differs { number: found, .. }) = infer_commands(&table.log) else {
        panic!()
    };
    assert_eq!(found, number);
}
