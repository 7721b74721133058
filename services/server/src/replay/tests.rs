//! Marks and turns of the frozen games, against a plain look at their events.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use domain::{Event, Game, evolve};

use super::{Mark, Replay, source::read};

/// Every frozen game, with the name of its file.
fn games() -> Vec<(String, Replay)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/frozen");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let game = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, read(&std::fs::read_to_string(&path).unwrap()).unwrap())
    };
    files.map(game).collect()
}

/// All entries with a mark, walked forward; walking backward finds the same.
fn marked(replay: &Replay, mark: Mark) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    while let Some(next) = replay.next(found.last().copied(), mark) {
        found.push(next);
    }
    let mut back: Vec<usize> = Vec::new();
    while let Some(previous) = replay.previous(back.last().copied(), mark) {
        back.push(previous);
    }
    back.reverse();
    assert_eq!(found, back);
    found
}

/// The seat that leads alone: in Zero Hour with the fewest points, otherwise with the most.
fn leader(name: &str, game: &Game) -> Option<usize> {
    let mut scores: Vec<(i64, usize)> =
        game.board.scores().into_iter().enumerate().map(|(seat, score)| (score, seat)).collect();
    scores.sort_unstable();
    if !name.starts_with("zero_hour") {
        scores.reverse();
    }
    match scores[..] {
        [] => None,
        [only] => Some(only.1),
        [first, second, ..] => (first.0 != second.0).then_some(first.1),
    }
}

#[test]
fn only_farkle_has_hot_dice() {
    let mut seen = 0;
    for (name, replay) in games() {
        let hot = |event: &Event| matches!(event, Event::Saved(saved) if saved.left.is_empty());
        let entries = replay.entries.iter().enumerate();
        let expected: Vec<usize> = entries
            .filter(|(_, entry)| replay.events_of(entry).iter().any(|e| hot(&e.event)))
            .map(|(index, _)| index)
            .filter(|_| name.starts_with("farkle"))
            .collect();
        seen += expected.len();
        assert_eq!(marked(&replay, Mark::HotDice), expected, "{name}");
    }
    assert!(seen > 0);
}

#[test]
fn the_lead_changes_when_another_seat_leads_alone() {
    let mut seen = 0;
    for (name, replay) in games() {
        let (mut game, mut leads, mut expected) = (None, None, Vec::new());
        for (index, entry) in replay.entries.iter().enumerate() {
            for recorded in replay.events_of(entry) {
                game = evolve(game, &recorded.event);
            }
            if let Some(now) = game.as_ref().and_then(|game| leader(&name, game)) {
                if leads.is_some_and(|before| before != now) {
                    expected.push(index);
                }
                leads = Some(now);
            }
        }
        seen += expected.len();
        assert_eq!(marked(&replay, Mark::LeadChange), expected, "{name}");
    }
    assert!(seen > 0);
}

#[test]
fn every_turn_has_its_entries() {
    for (name, replay) in games() {
        let events = replay.events();
        let started: Vec<_> = events
            .iter()
            .filter_map(|event| {
                let Event::TurnStarted { seat, round, .. } = event else { return None };
                Some((*seat, *round))
            })
            .collect();
        let turns = replay.turns();
        let told: Vec<_> = turns.iter().map(|turn| (turn.seat, turn.round)).collect();
        assert_eq!(told, started, "{name}");
        for turn in &turns {
            // What is rolled in the entries of a turn is rolled by its seat.
            for entry in &replay.entries[turn.entries.clone()] {
                for recorded in replay.events_of(entry) {
                    if let Event::Rolled(rolled) = &recorded.event {
                        assert_eq!(rolled.seat, turn.seat, "{name}");
                    }
                }
            }
        }
    }
}
