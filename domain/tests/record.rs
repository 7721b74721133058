//! Records: a written game reads back as the same events, and invalid text is rejected.

use std::collections::BTreeSet;

use domain::{Command, Event, VerificationError, parse_record, write_record};
use proptest::prelude::*;
use serde_json::json;
use test_games::{Match, Numbers, bank, eventful, generous, presets, roll, save};

/// Writes and reads a log; returns the text.
fn check_round_trip(log: &[Event]) -> String {
    let text = write_record(log).unwrap();
    let read = parse_record(&text).unwrap_or_else(|bad| panic!("{bad}\n{text}"));
    assert_eq!(read, log, "{text}");
    text
}

#[test]
fn every_game_round_trips() {
    let (mut verbs, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for (_, preset) in presets().chain(generous()) {
        for number in 1..=140u64 {
            let mut numbers = Numbers(number.wrapping_mul(0x2545_F491_4F6C_DD1D));
            let most_commands = if number % 35 == 0 { 4_000 } else { 100 };
            let log = eventful(&preset, &mut numbers, most_commands).log;
            let text = check_round_trip(&log);
            let moves = text.split_once("\n\n").map_or("", |(_, moves)| moves);
            let words = moves.split([' ', '\n']).filter(|w| w.starts_with(char::is_alphabetic));
            verbs.extend(words.map(|word| word.trim_end_matches([';', ':']).to_owned()));
            ends.insert(log.last().unwrap().name());
        }
    }
    let words = "table house join start seed dice character leave timeout abandon void roll keep save bank forfeit score \
         resolve ability store place heal charge stay yield buy renew use evolve end colours market grants";
    for word in words.split_whitespace() {
        assert!(verbs.contains(word), "no game has {word}");
    }
    assert!(ends.contains("SeedRevealed") && ends.contains("Voided") && ends.len() > 4, "{ends:?}");
}

/// Games of a real server, with its secrets and times.
#[test]
fn games_of_a_server_round_trip() {
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
        check_round_trip(&log);
    }
}

/// A game can be written after each command.
#[test]
fn a_game_can_be_written_after_every_command() {
    for (_, preset) in presets() {
        let log = eventful(&preset, &mut Numbers(77), 60).log;
        for step in domain::infer_commands(&log).unwrap() {
            check_round_trip(&log[..step.events.end]);
        }
    }
}

/// A small game.
fn small() -> Match {
    let mut table = Match::running("classic", json!({}), 2);
    for (command, raw) in [
        (roll(0), &[1, 1, 1, 5, 2, 3][..]),
        (save(0, &[0, 1, 2]), &[]),
        (bank(0, None), &[]),
        (roll(1), &[2, 2, 3, 4, 6, 1]),
    ] {
        table.execute(&command, raw).unwrap();
        table.now.0 += 250;
    }
    table.execute(&Command::Leave { seat: 1 }, &[]).unwrap();
    table
}

#[test]
fn example_of_a_record() {
    let text = check_round_trip(&small().log);
    let (head, moves) = text.split_once("\n\n").unwrap();
    let names: Vec<&str> =
        head.lines().map(|line| line.split([':', '1']).next().unwrap()).collect();
    assert_eq!(names, ["croupier record ", "game", "rules", "commitment", "secret", "digest"]);
    assert_eq!(
        moves,
        "0. table: join 00000000-0000-0000-0000-00000000a000 \"player 0\" | 0: seed \"seed of 0\" | \
         table: join 00000000-0000-0000-0000-00000000a001 \"player 1\"; start @1800000000000\n\
         1. 0: roll [1,1,1,5,2,3]; save [0,1,2]; bank @+500 | 1: roll [2,2,3,4,6,1]; leave {1,000 : 0}\n"
    );
}

#[track_caller]
fn bad(text: &str, line: usize, column: usize, problem: &str) {
    let found = parse_record(text).unwrap_err();
    assert!(found.problem.contains(problem), "{found}");
    assert_eq!((found.line, found.column), (line, column), "{found}\n{text}");
    assert!(found.to_string().starts_with(&format!("line {line}, column {column}: ")));
}

#[test]
fn comments_and_blank_lines_are_ignored() {
    let log = small().log;
    let text = write_record(&log).unwrap();
    let with = text.replace("; ", "{;}\t;{ | 1: }").replace("\n\n", "\n  \n{ two\nlines }\r\n");
    let with = with.replace("digest: ", "{ of }\ndigest: { all } ");
    assert_eq!(parse_record(&with).unwrap(), log);
}

#[test]
fn errors_have_positions() {
    let text = write_record(&small().log).unwrap();
    let first = text.lines().position(|line| line.starts_with("1.")).unwrap() + 1;
    let change = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let without = |header: &str| -> String {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(header)).collect();
        lines.join("\n")
    };
    bad("", 1, 1, "a record begins with 'croupier record 1'");
    bad(
        &change("record 1", "record 2"),
        1,
        1,
        "records of format 1 are read here, this one is of '2'",
    );
    bad(&without("game:"), 7, 1, "the header 'game:' is missing");
    bad(&change("digest:", "colour:"), 6, 1, "there is no header 'colour'");
    bad(&change("digest:", "game: x\ndigest:"), 6, 1, "the header 'game' stands here twice");
    bad(&change("game: 0", "game: g"), 2, 7, "the id of a game");
    bad(
        &change("game: ", "game: \n"),
        2,
        7,
        "a value of 'game:' is expected, not the end of the line",
    );
    bad(&change("rules: {", "rules: ["), 3, 8, "no rules of a game");
    bad(&change("\"max_seats\":8", "\"max_seats\":99"), 3, 8, "max_seats cannot be 99");
    bad(&change("secret: 2a", "secret: 2b"), 5, 9, "not the one that was committed to");
    bad(&change("secret: 2a", "secret: 2"), 5, 9, "64 hexadecimal digits");
    bad(&change("[2,2,3,4,6,1]", "[2,2,3,4,1,1]"), 6, 9, "the digest of another game");
    let line = text.lines().nth(first - 1).unwrap();
    let column = |of: &str| line.find(of).unwrap() + 1;
    bad(&change("1. 0", "2. 0"), first, 1, "the game is in round 1, not in '2'");
    bad(&change("1. 0", "1, 0"), first, 2, "'.' behind the number of a round");
    bad(
        &change("1. 0:", "1. bob:"),
        first,
        4,
        "a seat's number, 'table' or 'house' is expected, not 'bob'",
    );
    bad(
        &change("save [0,1,2]", "keep [0,1,2]"),
        first,
        column("save"),
        "there is no command 'keep'",
    );
    bad(&change("save [0,1,2]", "save [0,x,2]"), first, column("save") + 8, "not 'x'");
    bad(
        &change("save [0,1,2]", "save 0"),
        first,
        column("save") + 5,
        "a list of slots behind 'save'",
    );
    bad(&change("save [0,1,2]", "save [0,5]"), first, column("save"), "dice [5] do not score");
    bad(&change("[1,1,1,5,2,3]", "[1,1,1,5,2]"), first, column("roll"), "is not such a roll");
    bad(&change("[1,1,1,5,2,3]", "[1,1,1,5,2,7]"), first, column("roll"), "from 1 to 6");
    bad(&change("bank", "bank dice [3]"), first, column("bank"), "dice [3] is not asked for");
    bad(&change("bank", "bank now"), first, column("bank") + 5, "'now' stands behind a command");
    bad(&change("@+500", "@5x"), first, column("@+500") + 2, "");
    bad(&change("@+500", "@"), first, column("@+500"), "a stamp is a number of milliseconds");
    bad(&change("@+500", "@-9999999999999"), first, column("@+500"), "there is no such moment");
    bad(&format!("{text}{{ open"), first + 1, 1, "this comment does not end");
    let joined = text.lines().nth(first - 2).unwrap().find("\"player 1\"").unwrap() + 1;
    bad(&change("\"player 1\"", "\"player 1"), first - 1, joined, "this text does not end");
    bad(&without("secret:"), first - 1, column("leave"), "'secret:' is missing");
}

#[test]
fn an_invalid_game_is_not_written() {
    assert_eq!(write_record(&[]), Err(VerificationError::NoGame));
    let mut log = small().log;
    log.remove(3);
    assert!(write_record(&log).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    /// Reading a mutated record gives a game or an error, and never panics.
    #[test]
    fn a_mutated_record_does_not_panic(
        which in any::<prop::sample::Index>(),
        seed in 1u64..1_000,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, mutation()), 1..4),
    ) {
        let all: Vec<_> = presets().chain(generous()).collect();
        let log = eventful(&which.get(&all).1, &mut Numbers(seed), 40).log;
        let mut text: Vec<char> = write_record(&log).unwrap().chars().collect();
        for (place, length, other) in cuts {
            let from = place.index(text.len());
            let to = (from + length).min(text.len());
            text.splice(from..to, other.chars());
        }
        let text: String = text.into_iter().collect();
        match parse_record(&text) {
            Ok(read) => prop_assert_eq!(read, log, "another game has another digest"),
            Err(bad) => prop_assert!(bad.line >= 1 && bad.column >= 1 && !bad.problem.is_empty()),
        }
    }

    #[test]
    fn random_text_does_not_panic(text in ".{0,80}", moves in "[0-9a-z\\[\\], ;|:.@+\"{}\n>-]{0,80}") {
        prop_assert!(parse_record(&text).is_err());
        prop_assert!(parse_record(&["croupier record 1\n", &moves].concat()).is_err());
    }
}

/// Replacements: nothing, signs, words, numbers that are too large.
fn mutation() -> impl Strategy<Value = String> {
    let words = [
        "",
        "\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        ";",
        " | ",
        ":",
        ".",
        "\"",
        "\\",
        "->",
        "@",
        "@-1",
        "@+18446744073709551615",
        "255",
        "256",
        "4294967295",
        "18446744073709551616",
        "-1",
        "0",
        "7",
        "roll [1]",
        "; bank",
        "; leave",
        "house: void mistake",
        "dice [1,2,3,4,5,6]",
        "market 1",
        "ü",
        "\u{0}",
        "\u{202E}",
        "keep [0]",
        "ability 1 -> 2",
    ];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), ".{0,6}"]
}

/// Plans of moves use the same notation; anything that is not a move of a seat is rejected with its
/// position.
#[test]
fn parses_planned_moves() {
    let plan =
        domain::parse_moves("0: roll [1,1,1,2,3,4]; save [0,1,2] | 1: roll; bank [0]\n").unwrap();
    let told: Vec<String> =
        plan.iter().map(|m| format!("{} {:?} {:?}", m.seat, m.play, m.raw)).collect();
    let expected = [
        "0 Roll Some([1, 1, 1, 2, 3, 4])",
        "0 Save { slots: [0, 1, 2] } None",
        "1 Roll None",
        "1 Bank { slots: Some([0]) } None",
    ];
    assert_eq!(told, expected);
    let wrong = [
        ("", "line 1, column 1"),
        ("0: dance", "line 1, column 4"),
        ("0: roll; leave", "line 1, column 10"),
        ("table: start", "line 1, column 8"),
        ("0: save 3", "line 1, column 9"),
        ("0: roll\n1: roll", "line 1, column 8"),
    ];
    for (text, place) in wrong {
        let error = domain::parse_moves(text).unwrap_err().to_string();
        assert!(error.starts_with(place), "{text}: {error}");
    }
}
