//! Forks: identical without changes, and marked where the original is no longer possible.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    Command, Event, Fork, ForkedStep, NoFork, OtherDice, Rejection, Ruleset, Stage, Then,
    VerificationError, WhatIf, infer_commands, replay, what_if,
};
use serde_json::json;
use test_games::{Match, Numbers, bank, eventful, generous, join, presets, roll, ruleset, save};

/// A fork without changes.
fn unchanged(log: &[Event]) -> Fork {
    Fork {
        rules: None,
        loadouts: BTreeMap::new(),
        from: log.len(),
        then: Then::Original,
        dice: OtherDice::Same,
    }
}

/// These moves instead of everything after event `from`.
fn instead(from: usize, moves: Vec<Command>, dice: OtherDice) -> Fork {
    let moves = moves.into_iter().map(|command| {
        let Command::Play { seat, play } = command else { panic!("{command:?} is no move") };
        (seat, play)
    });
    let then = Then::Moves(moves.collect());
    Fork { rules: None, loadouts: BTreeMap::new(), from, then, dice }
}

fn events(fork: &WhatIf) -> Vec<Event> {
    fork.steps.iter().flat_map(|step| step.events.clone()).collect()
}

/// Removes what differs in any fork: its commitment and the money.
fn comparable(log: &[Event]) -> Vec<Event> {
    let own = ["Created", "SeedRevealed", "MoneyAwarded"];
    log.iter().filter(|event| !own.contains(&event.name())).cloned().collect()
}

fn rolls(fork: &WhatIf) -> Vec<Vec<u32>> {
    let raw =
        |event: &Event| if let Event::Rolled(roll) = event { Some(roll.raw.clone()) } else { None };
    events(fork).iter().filter_map(raw).collect()
}

fn rejections(fork: &WhatIf) -> Vec<(&Command, &Rejection)> {
    let refused = |step: &'_ ForkedStep| step.refused.is_some();
    let steps = fork.steps.iter().filter(|step| refused(step));
    steps.map(|step| (&step.command, step.refused.as_ref().unwrap())).collect()
}

#[test]
fn an_unchanged_fork_is_identical() {
    for (game, preset) in presets().chain(generous()) {
        for number in 1..=15u64 {
            let mut numbers = Numbers(number.wrapping_mul(0x9FB2_1C65_1E98_DF25));
            let log = eventful(&preset, &mut numbers, 150).log;
            let fork = what_if(&log, &unchanged(&log)).unwrap();
            assert_eq!(rejections(&fork), [], "{game} {number}");
            let forked = events(&fork);
            assert_eq!(comparable(&forked), comparable(&log), "{game} {number}");
            assert_eq!(replay(&forked).unwrap(), fork.game);
            assert_eq!(fork.steps.last().unwrap().game, fork.game);
            assert!(fork.game.table.ruleset.table.practice);
            assert!(forked.iter().all(|event| event.name() != "MoneyAwarded"));
            let told: Vec<_> =
                fork.steps.iter().map(|step| step.original.clone().unwrap()).collect();
            let steps: Vec<_> =
                infer_commands(&log).unwrap().into_iter().map(|s| s.events).collect();
            assert_eq!(told, steps);
            // The fork is a valid game, although its dice are those of another.
            infer_commands(&forked).unwrap();
        }
    }
}

/// With any change, the fork is a valid game, and skipped commands changed nothing.
#[test]
fn a_fork_with_other_rules_is_valid() {
    let all: Vec<_> = presets().chain(generous()).collect();
    for ((game, preset), (other_game, other)) in
        all.iter().flat_map(|one| all.iter().map(move |two| (one, two)))
    {
        if game != other_game {
            continue;
        }
        for number in 1..=4u64 {
            let mut numbers = Numbers(number.wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
            let log = eventful(preset, &mut numbers, 120).log;
            let dice = OtherDice::Seed("other".into());
            let fork = Fork { rules: Some(Arc::new(other.clone())), dice, ..unchanged(&log) };
            let fork = what_if(&log, &fork).unwrap();
            infer_commands(&events(&fork)).unwrap_or_else(|why| panic!("{game} {number}: {why}"));
            assert_eq!(replay(&events(&fork)).unwrap(), fork.game);
            for pair in fork.steps.windows(2).filter(|pair| pair[1].refused.is_some()) {
                assert_eq!(pair[0].game, pair[1].game);
                assert_eq!(pair[1].events, []);
            }
        }
    }
}

/// New moves with the dice of the original roll what the original would have rolled.
#[test]
fn same_dice_continue_those_of_the_original() {
    for (_, preset) in presets() {
        let log = eventful(&preset, &mut Numbers(4_711), 40).log;
        let mut table = running_part(&log);
        let from = table.log.len();
        let mut numbers = Numbers(99);
        let mut moves = Vec::new();
        for _ in 0..20 {
            if table.game().to_move().is_none() {
                break;
            }
            let command = test_games::choose(&table, &mut numbers, false);
            table.execute_fairly(&command).unwrap();
            moves.push(command);
        }
        // The original continued differently and is over.
        let mut other = running_part(&log);
        other
            .execute_fairly(&Command::Void { why: domain::VoidedFor::Mistake, dispute: None })
            .unwrap();
        let fork = what_if(&other.log, &instead(from, moves, OtherDice::Same)).unwrap();
        assert_eq!(rejections(&fork), []);
        let without_clock = |log: &[Event]| {
            let text = serde_json::to_string(&comparable(log)).unwrap();
            let parts: Vec<String> = text.split("\"deadline\":").map(str::to_owned).collect();
            let digits = |c: char| c.is_ascii_digit();
            parts.iter().map(|part| part.trim_start_matches(digits)).collect::<String>()
        };
        assert_eq!(without_clock(&events(&fork)), without_clock(&table.log));
    }
}

/// The part of the game before its end.
fn running_part(log: &[Event]) -> Match {
    let mut table = Match::empty();
    for step in infer_commands(log).unwrap() {
        let game = replay(&log[..step.events.end]);
        if game.as_ref().is_some_and(|game| matches!(game.table.stage, Stage::Ended(_))) {
            break;
        }
        table.log = log[..step.events.end].to_vec();
        table.game = game;
    }
    assert!(table.game().to_move().is_some());
    table
}

/// A finished game of two players: three 1s and a bank, a single 5 and a bank, then one leaves.
fn short_game() -> Match {
    let mut table = Match::running("classic", json!({}), 2);
    for (command, raw) in [
        (roll(0), &[1, 1, 1, 2, 3, 4][..]),
        (save(0, &[0, 1, 2]), &[]),
        (bank(0, None), &[]),
        (roll(1), &[5, 2, 3, 4, 6, 6]),
        (save(1, &[0]), &[]),
        (bank(1, None), &[]),
        (roll(0), &[1, 5, 3, 4, 6, 2]),
        (save(0, &[0, 1, 2, 3, 4, 5]), &[]),
        (bank(0, None), &[]),
        (Command::Leave { seat: 1 }, &[]),
    ] {
        table.execute(&command, raw).unwrap();
    }
    table
}

/// Under rules without a single 5 and a straight, exactly the saves of these are marked, and the
/// moves that depend on them.
#[test]
fn other_rules_mark_impossible_saves() {
    let log = short_game().log;
    let rules =
        ruleset("classic", json!({ "scoring": { "straight": 0, "single": [100, 0, 0, 0, 0, 0] } }));
    let fork = Fork { rules: Some(Arc::new(rules)), ..unchanged(&log) };
    let fork = what_if(&log, &fork).unwrap();
    let refused: Vec<String> = rejections(&fork)
        .iter()
        .map(|(command, why)| format!("{command:?}: {}", why.code().name()))
        .collect();
    // Without its 5 the second roll is a farkle: the turn is over before the save.
    assert_eq!(
        refused,
        [
            "Play { seat: 1, play: Save { slots: [0] } }: NotYourTurn",
            "Play { seat: 1, play: Bank { slots: None } }: NotYourTurn",
            "Play { seat: 0, play: Save { slots: [0, 1, 2, 3, 4, 5] } }: NotScoring",
            "Play { seat: 0, play: Bank { slots: None } }: SaveFirst",
        ]
    );
    assert_eq!(fork.game.board.scores(), [1_000, 0]);
    assert!(matches!(fork.game.table.stage, Stage::Ended(_)), "the leaving still ends it");
}

#[test]
fn other_loadouts_change_scores() {
    let mut table = Match::open("challenge-standard", json!({}));
    for seat in [0, 1] {
        table.execute(&join(seat), &[]).unwrap();
    }
    let plain = Command::ChooseLoadout { seat: 0, dice: Vec::new() };
    table.execute(&plain, &[]).unwrap();
    table.execute(&Command::Start, &[]).unwrap();
    for (command, raw) in [
        (roll(0), &[1, 1, 1, 2, 3, 4][..]),
        (save(0, &[0, 1, 2]), &[]),
        (bank(0, None), &[]),
        (Command::Leave { seat: 1 }, &[]),
    ] {
        table.execute(&command, raw).unwrap();
    }
    let with = |seat: u8, code: &str| Fork {
        loadouts: BTreeMap::from([(seat, vec![code.to_owned()])]),
        ..unchanged(&table.log)
    };
    let kinds = &table.game().table.ruleset.rules.catalogue().unwrap().dice;
    let mut scores: Vec<i64> = Vec::new();
    for kind in kinds {
        let fork = what_if(&table.log, &with(0, kind.code.as_str())).unwrap();
        assert_eq!(fork.game.loadout(0)[0], kind.code);
        let chosen = fork.steps.iter().find(|step| step.original.is_none()).unwrap();
        assert_eq!(chosen.events.len(), 1, "{:?}", chosen.command);
        assert_eq!(rolls(&fork), [[1, 1, 1, 2, 3, 4]], "the same values, shown by other dice");
        scores.push(fork.game.board.scores()[0]);
    }
    assert!(scores.contains(&1_000) && scores.iter().any(|&score| score > 1_000), "{scores:?}");
    let refused = |fork: &Fork| what_if(&table.log, fork).unwrap_err();
    assert!(matches!(
        refused(&with(0, "NONE")),
        NoFork::BadLoadout { seat: 0, why: Rejection::UnknownDie { .. } }
    ));
    assert!(matches!(
        refused(&with(7, "LUCKY")),
        NoFork::BadLoadout { seat: 7, why: Rejection::NoSuchSeat { .. } }
    ));
    let plain = short_game().log;
    let fork = Fork { loadouts: BTreeMap::from([(0, Vec::new())]), ..unchanged(&plain) };
    let why = Rejection::NoSpecialDice;
    assert_eq!(what_if(&plain, &fork), Err(NoFork::BadLoadout { seat: 0, why }));
}

/// After the first save, seat 0 rolls on instead of banking.
fn rolls_on(log: &[Event], dice: OtherDice) -> Result<WhatIf, NoFork> {
    let saved = log.iter().position(|event| event.name() == "Saved").unwrap() + 1;
    what_if(log, &instead(saved, vec![roll(0), bank(0, None), roll(1)], dice))
}

#[test]
fn other_moves_are_played_instead() {
    let log = short_game().log;
    let script = vec![vec![1, 2, 3]];
    let fork = rolls_on(&log, OtherDice::Script(script)).unwrap();
    assert_eq!(rolls(&fork), [vec![1, 1, 1, 2, 3, 4], vec![1, 2, 3]]);
    assert_eq!(rejections(&fork), [(&bank(0, None), &Rejection::SaveFirst)]);
    assert_eq!(fork.steps.last().unwrap().command, bank(0, None), "a refused move is the last");
    assert_eq!(fork.steps.last().unwrap().original, None);
    // A roll that is missing in the script, and one with invalid values.
    let moves = vec![roll(0), save(0, &[3]), roll(0)];
    let saved = log.iter().position(|event| event.name() == "Saved").unwrap() + 1;
    for (script, got) in
        [(vec![vec![1, 2, 3]], vec![]), (vec![vec![1, 2, 3], vec![9, 9]], vec![9, 9])]
    {
        let fork =
            what_if(&log, &instead(saved, moves.clone(), OtherDice::Script(script))).unwrap();
        let why = Rejection::WrongRoll { got, dice: 2, sides: 6 };
        assert_eq!(rejections(&fork), [(&roll(0), &why)]);
    }
}

#[test]
fn a_seed_always_gives_the_same_dice() {
    let log = short_game().log;
    let of = |text: &str| rolls_on(&log, OtherDice::Seed(text.to_owned())).unwrap();
    assert_eq!(of("one"), of("one"));
    assert!(["two", "three", "four"].iter().any(|text| rolls(&of(text)) != rolls(&of("one"))));
}

#[test]
fn a_running_game_does_not_reveal_its_future() {
    let log = short_game().log;
    let last = infer_commands(&log).unwrap().pop().unwrap();
    let running = &log[..last.events.start];
    assert!(replay(running).unwrap().to_move().is_some());
    assert_eq!(rolls_on(running, OtherDice::Same), Err(NoFork::StillRunning));
    assert!(rolls_on(running, OtherDice::Seed("mine".into())).is_ok());
    assert!(what_if(running, &unchanged(running)).is_ok(), "what fell is no secret");
    // More dice than were rolled would need secret ones.
    let mut small = Match::running("classic", json!({ "dice": 3 }), 1);
    small.execute(&roll(0), &[1, 2, 3]).unwrap();
    let larger = Some(Arc::new(ruleset("classic", json!({ "dice": 4 }))));
    let fork = Fork { rules: larger, ..unchanged(&small.log) };
    assert_eq!(what_if(&small.log, &fork), Err(NoFork::StillRunning));
    let seeded = Fork { dice: OtherDice::Seed("mine".into()), ..fork.clone() };
    assert_eq!(rolls(&what_if(&small.log, &seeded).unwrap())[0].len(), 4);
}

/// With more dice than the original, its secret gives the rest; with fewer, the first ones are
/// used.
#[test]
fn a_set_of_another_size_rolls_the_same_dice() {
    let mut table = Match::running("classic", json!({ "dice": 3 }), 1);
    table.execute_fairly(&roll(0)).unwrap();
    table
        .execute_fairly(&Command::Void { why: domain::VoidedFor::Mistake, dispute: None })
        .unwrap();
    let Some(Event::Rolled(rolled)) = table.log.iter().find(|e| e.name() == "Rolled") else {
        panic!()
    };
    for dice in [2, 5] {
        let rules = Some(Arc::new(ruleset("classic", json!({ "dice": dice }))));
        let fork = what_if(&table.log, &Fork { rules, ..unchanged(&table.log) }).unwrap();
        let common = rolled.raw.len().min(dice);
        assert_eq!(rolls(&fork)[0].len(), dice);
        assert_eq!(rolls(&fork)[0][..common], rolled.raw[..common]);
    }
}

#[test]
fn impossible_forks_are_rejected() {
    let log = short_game().log;
    let fork = unchanged(&log);
    assert_eq!(what_if(&[], &fork), Err(NoFork::NoGame));
    let ahead = Fork { from: log.len() + 1, ..fork.clone() };
    let (from, events) = (log.len() + 1, log.len());
    assert_eq!(what_if(&log, &ahead), Err(NoFork::VersionAhead { from, events }));
    let other =
        Fork { rules: Some(Arc::new(Ruleset::preset("neonpolis", None).unwrap())), ..fork.clone() };
    let (game, rules) = ("farkle", "neonpolis");
    assert_eq!(what_if(&log, &other), Err(NoFork::OtherGame { game, rules }));
    let mut nonsense = Ruleset::preset("farkle", None).unwrap();
    nonsense.table.max_seats = 0;
    let bad = Fork { rules: Some(Arc::new(nonsense)), ..fork.clone() };
    assert!(matches!(what_if(&log, &bad), Err(NoFork::BadRules(Rejection::BadRule { .. }))));
    let mut false_log = log.clone();
    let last = false_log.iter_mut().rfind(|event| event.name() == "Banked");
    let Some(Event::Banked(banked)) = last else { panic!() };
    banked.points += 50;
    assert!(matches!(
        what_if(&false_log, &fork),
        Err(NoFork::VerificationError(VerificationError::Differs { .. }))
    ));
}

/// A command is only kept if all of its events are.
#[test]
fn a_command_is_kept_as_a_whole() {
    let log = short_game().log;
    let steps = infer_commands(&log).unwrap();
    let start = steps.iter().find(|step| step.command == Command::Start).unwrap();
    for (from, started) in [(start.events.end - 1, false), (start.events.end, true)] {
        let fork =
            what_if(&log, &instead(from, vec![roll(0)], OtherDice::Seed("x".into()))).unwrap();
        assert_eq!(fork.game.table.stage == Stage::Playing, started);
        assert_eq!(rejections(&fork).is_empty(), started);
    }
}
