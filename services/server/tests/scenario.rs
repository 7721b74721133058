//! `croupier scenario` as a person runs it: what it prints and how it exits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{path::Path, process::Command};

struct Run {
    code: i32,
    printed: String,
}

fn croupier(arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_croupier"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap();
    let printed =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    Run { code: output.status.code().unwrap(), printed }
}

/// A scenario file of these lines exits with this code and prints these lines, among others.
#[track_caller]
fn check(file: &str, code: i32, prints: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, file).unwrap();
    let run = croupier(&["scenario", path.to_str().unwrap()]);
    for line in prints {
        assert!(run.printed.contains(line), "no '{line}' in:\n{}", run.printed);
    }
    assert_eq!(run.code, code, "{}", run.printed);
    assert!(!run.printed.contains('\u{1b}'), "no colours where there is no terminal");
}

const HEAD: &str = "name: A game\ngame: farkle\nseats: [ann, bob]\nsteps:\n";

#[track_caller]
fn steps(steps: &str, code: i32, prints: &[&str]) {
    check(&format!("{HEAD}{steps}"), code, prints);
}

#[test]
fn all_of_ours_pass() {
    let run = croupier(&["scenario", "tests/scenarios"]);
    assert_eq!(run.code, 0, "{}", run.printed);
    assert!(run.printed.ends_with(" passed, 0 failed\n"));
}

#[test]
fn steps_are_told_when_asked_for() {
    let run = croupier(&["scenario", "--steps", "tests/scenarios/farkle/hot-dice.yaml"]);
    assert_eq!(run.code, 0);
    assert!(run.printed.contains("two triplets 1 1 1 5 5 5 = 2,500"), "{}", run.printed);
    assert!(run.printed.contains("hot dice, 2,500 kept: ann rolls 1 2 2 3 4 6"));
}

#[test]
fn a_failed_expectation_is_a_diff() {
    steps(
        "  - ann: roll [1,1,1,2,3,4]\n  - expect: { ann: { max_roll_points: 900 }, to_move: bob }\n",
        1,
        &[
            "✗ A game",
            "line 6: not as expected",
            "ann.max_roll_points",
            "- expected 900",
            "+ found    1000",
            "- expected bob",
            "+ found    ann",
            "ann rolls 1 1 1 2 3 4, worth up to 1,000",
            "0 passed, 1 failed",
        ],
    );
}

#[test]
fn events_are_compared_in_order_and_exactly() {
    let farkle = "  - ann: roll [2,2,3,3,4,6]\n";
    steps(&format!("{farkle}  - expect: {{ events: [Farkled] }}\n"), 0, &[]);
    steps(&format!("{farkle}  - expect: {{ events: [Rolled, Farkled] }}\n"), 0, &[]);
    steps(
        &format!("{farkle}  - expect: {{ events: [Rolled] }}\n"),
        1,
        &["- expected [Rolled]", "+ found    [Rolled, Farkled]"],
    );
    steps(&format!("{farkle}  - expect: {{ events: [Farkled, EffectApplied] }}\n"), 1, &[]);
    steps(&format!("{farkle}  - expect: {{ events: [Sung] }}\n"), 2, &["there is no event 'Sung'"]);
}

#[test]
fn an_unexpected_refusal_fails() {
    steps(
        "  - bob: roll [1,1,1,2,3,4]\n",
        1,
        &["line 5: refused: it is the turn of ann", "NotYourTurn"],
    );
}

#[test]
fn an_unexpected_acceptance_fails() {
    steps(
        "  - ann: roll [1,1,1,2,3,4]\n    rejected: NothingRolled\n",
        1,
        &["line 5: accepted, but it should be refused"],
    );
}

#[test]
fn another_refusal_than_the_named_one_fails() {
    steps(
        "  - bob: roll [1,1,1,2,3,4]\n    rejected: GameOver\n",
        1,
        &["- expected GameOver", "+ found    NotYourTurn: it is the turn of ann"],
    );
}

#[test]
fn a_refused_set_up_fails_unless_expected() {
    let nine = "name: Nine\ngame: farkle\nseats: [a, b, c, d, e, f, g, h, i]\n";
    check(nine, 1, &["the set-up is refused: all 8 seats are taken (TableFull)"]);
    check(&format!("{nine}rejected: true\n"), 0, &["✓ Nine"]);
    check(&format!("{HEAD}  []\nrejected: true\n"), 1, &["accepted, but it should be refused"]);
}

#[test]
fn rolls_that_cannot_be_are_broken() {
    for roll in ["[1,1,1]", "[1,1,1,1,1,1,1]", "[1,1,1,1,1,7]", "[0,1,1,1,1,1]", "[]", ""] {
        steps(
            &format!("  - ann: roll {roll}\n"),
            2,
            &["! line 5: 6 dice are rolled, each from 1 to 6", "1 broken"],
        );
    }
}

#[test]
fn broken_files_name_their_line() {
    steps(
        "  - ann: dance\n",
        2,
        &["! line 5: unknown step 'dance'; expected one of: ability HOW, attack"],
    );
    steps("  - ann: save\n", 2, &["! line 5: 'save': a list of slots behind 'save'"]);
    steps("  - ann: save 0\n", 2, &["! line 5: 'save 0': a list of slots"]);
    steps(
        "  - ann: save [x]\n",
        2,
        &["! line 5: 'save [x]': one of the slots of 'save' is expected, not 'x'"],
    );
    steps(
        "  - ann: save [256]\n",
        2,
        &["! line 5: 'save [256]': one of the slots of 'save' is expected, not '256'"],
    );
    steps("  - zoe: roll [1]\n", 2, &["! line 5: there is no seat 'zoe'; the seats are: ann, bob"]);
    steps("  - house: roll [1]\n", 2, &["! line 5: unknown step 'roll [1]'"]);
    steps(
        "  - expect: { zoe: 1 }\n",
        2,
        &["! line 5: unknown expectation 'zoe'; expected one of: to_move"],
    );
    steps(
        "  - expect: { ann: { luck: 1 } }\n",
        2,
        &["! line 5: a seat has no 'luck' in this game"],
    );
    steps("  - ann: forfeit\n    bob: forfeit\n", 2, &["a step is one action"]);
    steps("  - rejected: true\n", 2, &["a step is either one action"]);
    steps("  - ann: forfeit\n    rejected: 7\n", 2, &["rejected must be true or the name"]);
    steps("  - ann: forfeit\n    rejected: NotATurn\n", 2, &["there is no rejection 'NotATurn'"]);
    steps("  - ann: [\n", 2, &["! line "]);
    steps("  - expect: { ann: { game_score: 1.5 } }\n", 2, &["only integers, strings"]);
    check("", 2, &["! line 1: the file contains no scenario"]);
    check("name: x\ngame: farkle\n", 2, &["the scenario has no 'seats'"]);
    check("name: x\ngame: farkle\nseats: [a]\nmood: good\n", 2, &["! line 4: unknown key 'mood'"]);
    check("name: x\ngame: farkle\nseats: [{ name: a, dice: GOLD }]\n", 2, &["dice must be a list"]);
    let gold = "name: x\ngame: farkle\npreset: competitive\nseats: [{ name: a, dice: [GOLD] }]\n";
    check(gold, 1, &["there is no die 'GOLD'; there are: STANDARD, PHOENIX"]);
    check("name: x\ngame: farkle\nseats: [expect]\n", 2, &["a seat cannot be called 'expect'"]);
    check("- a\n- b\n", 2, &["! line 1: a scenario must be a map"]);
}

#[test]
fn one_broken_scenario_leaves_the_others_of_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("a.yaml"), "name: [\n").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not a scenario").unwrap();
    std::fs::write(inner.join("b.yml"), format!("{HEAD}  - ann: roll [1,1,1,2,3,4]\n")).unwrap();
    let run = croupier(&["scenario", folder.path().to_str().unwrap()]);
    assert!(run.printed.ends_with("1 passed, 0 failed, 1 broken\n"), "{}", run.printed);
    assert_eq!(run.code, 2);
}

#[test]
fn one_broken_scenario_leaves_the_others_of_its_file() {
    let good = format!("{HEAD}  - ann: roll [1,1,1,2,3,4]\n");
    let broken = format!("{HEAD}  - ann: rol [1]\n");
    check(&format!("{good}---\n{broken}---\n{good}"), 2, &["2 passed, 0 failed, 1 broken"]);
}

#[test]
fn nothing_passes_by_saying_nothing() {
    steps("  - expect: {}\n", 2, &["the expectation is empty"]);
    steps("  - expect: { ann: {} }\n", 2, &["the expectation of 'ann' is empty"]);
    let steps = "steps:\n  - a: roll [1]\n";
    check(
        &format!("name: x\ngame: farkle\nseats: [a]\nrejected: true\n{steps}"),
        2,
        &["a scenario whose set-up is rejected has no steps"],
    );
}

#[test]
fn odd_names_and_purses() {
    let numbers = "name: x\ngame: farkle\nseats: [7, 8]\nsteps:\n";
    check(&format!("{numbers}  - expect: {{ to_move: 7, winner: null }}\n"), 0, &[]);
    let seat = |seat: &str| format!("name: x\ngame: farkle\nseats: [{seat}]\n");
    check(&seat("winner"), 2, &["a seat cannot be called 'winner'"]);
    check(&seat("{ name: a, money: -1 }"), 2, &["money must be a number of dollars"]);
    check(&seat("{ name: a, money: 9223372036854775807 }"), 2, &["money must be a number"]);
}

#[test]
fn colours_are_for_terminals() {
    let output = Command::new(env!("CARGO_BIN_EXE_croupier"))
        .args(["scenario", "tests/scenarios/farkle/forfeit.yaml"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\u{1b}[32m✓"));
}

#[test]
fn paths_that_are_not_there() {
    let run = croupier(&["scenario", "no/such/file.yaml"]);
    assert_eq!(run.code, 2);
    assert!(run.printed.contains("! no/such/file.yaml"), "{}", run.printed);
    let empty = tempfile::tempdir().unwrap();
    let run = croupier(&["scenario", empty.path().to_str().unwrap()]);
    assert_eq!(run.code, 2);
    assert!(run.printed.contains("there is no .yaml file in this folder"));
}

#[test]
fn games_are_verified_from_their_events() {
    let run = croupier(&["verify", "tests/vectors/game.ndjson"]);
    assert_eq!(run.code, 0, "{}", run.printed);
    assert!(run.printed.contains("✓ 20 rolls drawn again"), "{}", run.printed);
    assert!(run.printed.contains("✓ 76 events decided again under farkle custom, version 1"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.ndjson");
    let game = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/game.ndjson");
    let game = std::fs::read_to_string(game).unwrap();
    let verify = |text: &str| {
        std::fs::write(&path, text).unwrap();
        croupier(&["verify", path.to_str().unwrap()])
    };
    let run = verify(&game.replacen("größe", "grosse", 1));
    assert_eq!(run.code, 1);
    assert!(run.printed.contains("event 7 is {\"Started\""), "{}", run.printed);
    let run = verify(&game.replacen("\"Started\"", "\"Begun\"", 1));
    assert_eq!(run.code, 2);
    assert!(run.printed.contains("line 7: unknown variant `Begun`"), "{}", run.printed);
    assert_eq!(croupier(&["verify", "no-such-file"]).code, 2);
}

/// The examples of the documentation are scenarios, and true.
#[test]
fn the_examples_of_the_documentation_pass() {
    let text = include_str!("../../../docs/scenarios.md");
    let examples: Vec<&str> = text
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|example| example.starts_with("name:"))
        .collect();
    assert!(examples.len() >= 2, "{text}");
    for example in examples {
        check(example, 0, &["✓"]);
    }
}
