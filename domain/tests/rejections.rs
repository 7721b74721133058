//! Every rejection, with its data and message.

use domain::{
    BadText, Command, Dice, Draw, Moment, NoDice, Play, Rejection, RejectionCode, Ruleset, Slots,
    Stage, decide,
    fair::{FairDice, Secret},
};
use serde_json::{Value, json};
use test_games::{Match, bank, create, join, play, player, roll, ruleset, save};

/// Dice that count how often they were rolled.
struct Counted<'a> {
    draws: usize,
    raw: &'a [u32],
}

impl Dice for Counted<'_> {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.draws += 1;
        self.raw.to_vec()
    }

    fn secret(&self) -> Option<Secret> {
        Some(test_games::SECRET)
    }
}

/// Asserts that a command is rejected with this reason and message, and that no die is rolled.
#[track_caller]
fn refused(table: &Match, command: &Command, raw: &[u32], why: Rejection, message: &str) {
    let mut dice = Counted { draws: 0, raw };
    let answer = decide(table.game.as_ref(), command, table.now, &mut dice);
    assert_eq!(answer, Err(why.clone()));
    assert_eq!(why.to_string(), message);
    let rolls_wrongly = matches!(why, Rejection::WrongRoll { .. });
    assert_eq!(dice.draws, usize::from(rolls_wrongly), "what is refused draws no dice");
}

fn running(seats: u8) -> Match {
    Match::running("classic", json!({}), seats)
}

/// One seat has rolled 1 1 1 2 3 5.
fn rolled() -> Match {
    let mut table = running(2);
    table.execute(&roll(0), &[1, 1, 1, 2, 3, 5]).unwrap();
    table
}

#[test]
fn the_table() {
    let none = Match::empty();
    refused(&none, &Command::Start, &[], Rejection::NoSuchGame, "there is no such game");
    let open = Match::open("classic", json!({ "min_seats": 2, "max_seats": 2 }));
    let again = create(ruleset("classic", json!({})));
    refused(&open, &again, &[], Rejection::AlreadyCreated, "this game exists already");
    refused(&open, &roll(0), &[], Rejection::NotStarted, "the game has not started yet");
    refused(
        &open,
        &Command::TimeOut { seat: 0 },
        &[],
        Rejection::NotStarted,
        "the game has not started yet",
    );
    refused(
        &open,
        &Command::Start,
        &[],
        Rejection::NotEnoughSeats { seated: 0, needed: 2 },
        "0 seats are taken, the game needs 2 to start",
    );
    refused(
        &open,
        &Command::Leave { seat: 0 },
        &[],
        Rejection::NoSuchSeat { seat: 0, seats: 0 },
        "there is no seat 0; the table has 0, counted from 0",
    );
}

#[test]
fn seats() {
    let mut open = Match::open("classic", json!({ "max_seats": 2 }));
    open.execute(&join(0), &[]).unwrap();
    refused(
        &open,
        &join(0),
        &[],
        Rejection::AlreadySeated { seat: 0 },
        "you sit at this table already, on seat 0",
    );
    let namesake =
        Command::Join { player: player(1), name: " player 0 ".into(), seed: Some("x".into()) };
    let name = open.game().table.seats[0].name.clone();
    refused(
        &open,
        &namesake,
        &[],
        Rejection::NameTaken { name },
        "another player at this table is called player 0; choose another name",
    );
    open.execute(&join(1), &[]).unwrap();
    refused(&open, &join(2), &[], Rejection::TableFull { seats: 2 }, "all 2 seats are taken");
    let seed = Command::ChooseSeed { seat: 1, seed: "late".into() };
    let mut started = open.clone();
    started.execute(&Command::Start, &[]).unwrap();
    for command in [&Command::Start, &join(3), &seed] {
        refused(&started, command, &[], Rejection::AlreadyStarted, "the game has started already");
    }
    open.execute(&Command::Leave { seat: 1 }, &[]).unwrap();
    for command in [&seed, &Command::Leave { seat: 1 }] {
        refused(&open, command, &[], Rejection::SeatGone { seat: 1 }, "seat 1 has left the game");
    }
}

#[test]
fn a_seat_left_before_the_start_is_free_again_without_its_seed() {
    let mut open = Match::open("classic", json!({}));
    for seat in 0..3 {
        open.execute(&join(seat), &[]).unwrap();
    }
    open.execute(&Command::Leave { seat: 0 }, &[]).unwrap();
    assert_eq!(open.game().table.seats[0].seed, None);
    open.execute(&join(7), &[]).unwrap();
    assert_eq!(open.game().table.seats[0].name.as_str(), "player 7");
    assert_eq!(open.game().table.seats[0].player, player(7));
    open.execute(&Command::Leave { seat: 0 }, &[]).unwrap();
    open.execute(&Command::Start, &[]).unwrap();
    assert_eq!(open.game().to_move(), Some(1), "a free seat has no turn");
}

#[test]
fn names_and_seeds() {
    let open = Match::open("classic", json!({}));
    let join = |name: &str, seed: Option<&str>| Command::Join {
        player: player(1),
        name: name.into(),
        seed: seed.map(Into::into),
    };
    refused(
        &open,
        &join(&"n".repeat(1000), None),
        &[],
        Rejection::BadName { why: BadText::TooLong { length: 1000, most: 32, unit: "characters" } },
        "this name cannot be used: it has 1000 characters, at most 32 are allowed",
    );
    refused(
        &open,
        &join("Ann\u{1b}[2J", None),
        &[],
        Rejection::BadName { why: BadText::Invisible('\u{1b}') },
        "this name cannot be used: it has an invisible character (U+001B); \
         use letters, digits and signs",
    );
    refused(
        &open,
        &join("", None),
        &[],
        Rejection::BadName { why: BadText::Empty },
        "this name cannot be used: it is empty",
    );
    refused(
        &open,
        &join("Ann", Some(&"s".repeat(65))),
        &[],
        Rejection::BadSeed { why: BadText::TooLong { length: 65, most: 64, unit: "bytes" } },
        "this seed cannot be used: it has 65 bytes, at most 64 are allowed",
    );
}

#[test]
fn turns() {
    let table = running(2);
    let name = table.game().table.seats[0].name.clone();
    refused(
        &table,
        &roll(1),
        &[1; 6],
        Rejection::NotYourTurn { to_move: 0, name },
        "it is the turn of player 0 on seat 0",
    );
    refused(
        &table,
        &roll(9),
        &[1; 6],
        Rejection::NoSuchSeat { seat: 9, seats: 2 },
        "there is no seat 9; the table has 2, counted from 0",
    );
    let mut three = running(3);
    three.execute(&Command::Leave { seat: 0 }, &[]).unwrap();
    refused(&three, &roll(0), &[1; 6], Rejection::SeatGone { seat: 0 }, "seat 0 has left the game");
}

#[test]
fn phases() {
    let opening = running(2);
    let nothing = "no dice are on the table; roll first";
    for command in [save(0, &[0]), bank(0, Some(&[0])), play(0, Play::Forfeit)] {
        refused(&opening, &command, &[], Rejection::NothingRolled, nothing);
    }
    refused(
        &opening,
        &bank(0, None),
        &[],
        Rejection::NothingToBank,
        "there are no points to bank; roll and save first",
    );
    let mut table = rolled();
    for command in [roll(0), bank(0, None)] {
        refused(
            &table,
            &command,
            &[1; 6],
            Rejection::SaveFirst,
            "save at least one scoring die of this roll first",
        );
    }
    table.execute(&save(0, &[0]), &[]).unwrap();
    let already = "dice of this roll are saved already; roll the rest or bank";
    for command in [save(0, &[1]), bank(0, Some(&[1])), play(0, Play::Forfeit)] {
        refused(&table, &command, &[], Rejection::AlreadySaved, already);
    }
}

#[test]
fn selections() {
    let mut table = rolled();
    for wish in [save, |seat, slots: &[u8]| bank(seat, Some(slots))] {
        refused(&table, &wish(0, &[]), &[], Rejection::EmptySelection, "name at least one die");
        refused(
            &table,
            &wish(0, &[0, 1, 0]),
            &[],
            Rejection::RepeatedSlot { slot: 0 },
            "die 0 is named twice",
        );
        refused(
            &table,
            &wish(0, &[6]),
            &[],
            Rejection::NoSuchSlot { slot: 6, dice: 6 },
            "there is no die 6; the set has 6 dice, counted from 0",
        );
        refused(
            &table,
            &wish(0, &[0, 1, 2, 3, 4, 5]),
            &[],
            Rejection::NotScoring { idle: Slots::from_iter([3, 4]) },
            "dice [3, 4] do not score; leave them out",
        );
    }
    table.execute(&save(0, &[0]), &[]).unwrap();
    table.execute(&roll(0), &[1, 2, 2, 3, 3]).unwrap();
    let rolled = Slots::from_iter([1, 2, 3, 4, 5]);
    refused(
        &table,
        &save(0, &[0, 1]),
        &[],
        Rejection::NotInRoll { slot: 0, rolled },
        "die 0 was not rolled just now; choose among [1, 2, 3, 4, 5]",
    );
}

#[test]
fn rolls_of_wrong_length_or_values() {
    let table = running(1);
    for raw in [&[][..], &[1; 5], &[1; 7], &[1, 2, 3, 4, 5, 0], &[1, 2, 3, 4, 5, 7]] {
        refused(
            &table,
            &roll(0),
            raw,
            Rejection::WrongRoll { got: raw.to_vec(), dice: 6, sides: 6 },
            &format!("6 dice are rolled, each from 1 to 6; {raw:?} is not such a roll"),
        );
    }
}

#[test]
fn break_in() {
    let mut table = Match::running("classic", json!({ "break_in": 500 }), 1);
    table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
    refused(
        &table,
        &bank(0, Some(&[0])),
        &[],
        Rejection::BelowBreakIn { points: 100, needed: 500 },
        "while your score is 0 a bank needs 500 points, this round has 100; roll on",
    );
}

#[test]
fn clocks() {
    let mut table = Match::running("classic", json!({ "turn_seconds": 30 }), 2);
    let deadline = Moment(test_games::NOW.0 + 30_000);
    table.now = Moment(deadline.0 - 1);
    refused(
        &table,
        &Command::TimeOut { seat: 0 },
        &[],
        Rejection::TimeNotUp { deadline, now: table.now },
        "time is not up yet: 1 ms are left",
    );
    table.now = deadline;
    assert!(table.decide(&Command::TimeOut { seat: 0 }, &[]).is_ok());
    refused(
        &running(1),
        &Command::TimeOut { seat: 0 },
        &[],
        Rejection::NoTimeLimit,
        "there is no time limit in this game",
    );
}

#[test]
fn games_are_abandoned_only_when_stale() {
    let mut table = running(2);
    let touched = table.now;
    table.now = Moment(touched.plus_hours(72).0 - 1);
    refused(
        &table,
        &Command::Abandon { touched },
        &[],
        Rejection::NotStale { since_hours: 71, needed_hours: 72 },
        "the last command was 71 hours ago; the game can be abandoned after 72",
    );
    table.now = touched.plus_hours(72);
    assert!(table.decide(&Command::Abandon { touched }, &[]).is_ok());
}

#[test]
fn a_game_ends_only_with_the_committed_secret() {
    let table = running(1);
    let leave = Command::Leave { seat: 0 };
    let mut other = FairDice::new(Secret([1; 32]), table.game());
    let answer = decide(table.game.as_ref(), &leave, table.now, &mut other);
    assert_eq!(answer, Err(Rejection::WrongSecret));
    let answer = decide(table.game.as_ref(), &leave, table.now, &mut NoDice);
    assert_eq!(answer, Err(Rejection::WrongSecret));
    assert!(table.decide(&leave, &[]).is_ok());
}

#[test]
fn a_finished_game() {
    let mut table = Match::running("classic", json!({ "target": 100 }), 1);
    table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
    table.execute(&bank(0, Some(&[0])), &[]).unwrap();
    assert!(matches!(table.game().table.stage, Stage::Ended(_)));
    for command in [
        roll(0),
        Command::Leave { seat: 0 },
        Command::Start,
        Command::Abandon { touched: Moment(0) },
    ] {
        refused(&table, &command, &[1; 6], Rejection::GameOver, "the game is over");
    }
}

#[track_caller]
fn invalid(changes: Value, message: &str) {
    let classic = Ruleset::preset("farkle", None).unwrap();
    let refusal = classic.with(changes.as_object().unwrap()).unwrap_err();
    assert_eq!(refusal.to_string(), message);
}

#[test]
fn invalid_rules() {
    invalid(json!({ "target": 0 }), "rule target cannot be 0: it must be from 1 to 1000000");
    invalid(json!({ "target": -5 }), "rule target cannot be -5: it must be from 1 to 1000000");
    invalid(json!({ "dice": 0 }), "rule dice cannot be 0: it must be from 1 to 6");
    invalid(json!({ "dice": 7 }), "rule dice cannot be 7: it must be from 1 to 6");
    invalid(json!({ "max_seats": 9 }), "rule max_seats cannot be 9: it must be from 1 to 8");
    invalid(json!({ "min_seats": 0 }), "rule min_seats cannot be 0: it must be from 1 to 8");
    invalid(
        json!({ "max_seats": 2, "min_seats": 3 }),
        "rule min_seats cannot be 3: it must be from 1 to 2",
    );
    invalid(json!({ "break_in": -1 }), "rule break_in cannot be -1: it must be from 0 to 1000000");
    invalid(
        json!({ "target": null }),
        "rule target cannot be null: a game needs a target or a number of rounds",
    );
    invalid(
        json!({ "scoring": { "straight": 2_000_000 } }),
        "rule scoring.straight cannot be 2000000: it must be from 0 to 1000000",
    );
    invalid(
        json!({ "dice": 2, "scoring": { "single": [0, 0, 0, 0, 0, 0] } }),
        "rule scoring cannot be this table: no roll of these dice would ever score",
    );
    invalid(
        json!({ "target": "much" }),
        "rule target cannot be \"much\": it must be a whole number",
    );
    invalid(
        json!({ "scoring": "no-such" }),
        "rule scoring cannot be \"no-such\": the known tables are classic, house-750",
    );
    invalid(
        json!({ "dice": 300 }),
        "rule dice cannot be 300: it must be a whole number from 0 to 255",
    );
    invalid(
        json!({ "turn_seconds": -1 }),
        "rule turn_seconds cannot be -1: it must be a whole number of 0 or more",
    );
    invalid(
        json!({ "scoring": { "single": [1, 2, 3] } }),
        "rule scoring cannot be {\"single\":[1,2,3]}: it must be an array of length 6",
    );
    let classic = Ruleset::preset("farkle", None).unwrap();
    let typo = json!({ "scoring": { "straigth": 5 } });
    let refusal = classic.with(typo.as_object().unwrap()).unwrap_err().to_string();
    assert!(refusal.contains("unknown field `straigth`, expected one of `single`"), "{refusal}");
}

#[test]
fn unknown_games_presets_and_rules() {
    let refusal = Ruleset::preset("chess", None).unwrap_err();
    let known = domain::GAMES.join(", ");
    assert_eq!(refusal.to_string(), format!("there is no game 'chess'; there are: {known}"));
    let refusal = Ruleset::preset("farkle", Some("blitz")).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "there is no preset 'blitz' of farkle; there are: classic, ten-round, house-750, \
         challenge-standard, challenge-ten-round, competitive"
    );
    let classic = Ruleset::preset("farkle", None).unwrap();
    let refusal = classic.in_version(7).unwrap_err();
    assert_eq!(refusal.to_string(), "there is no version 7 of the preset 'classic'; there are: 1");
    let refusal = classic.with(json!({ "speed": 1 }).as_object().unwrap()).unwrap_err();
    assert!(refusal.to_string().starts_with("there is no rule 'speed'; there are: "));
    assert!(refusal.to_string().contains("target"));
    assert!(refusal.to_string().contains("turn_seconds"));
}

#[test]
fn a_game_needs_a_valid_ruleset() {
    let mut rules = ruleset("classic", json!({}));
    rules.table.max_seats = 9;
    refused(
        &Match::empty(),
        &create(rules),
        &[],
        Rejection::BadRule {
            parameter: "max_seats".into(),
            value: "9".into(),
            allowed: "it must be from 1 to 8".into(),
        },
        "rule max_seats cannot be 9: it must be from 1 to 8",
    );
}

/// Clients and scenarios use these codes; new ones are added at the end of the file.
#[test]
fn published_codes_keep_their_spelling() {
    let codes: Vec<String> = RejectionCode::ALL
        .iter()
        .map(|code| format!("{} {}", code.name(), code.as_str()))
        .collect();
    let published: Vec<&str> = include_str!("frozen/rejection-codes.txt").lines().collect();
    for line in &published {
        assert!(codes.iter().any(|code| code == line), "{line} is gone or spelled in another way");
    }
    assert_eq!(codes.len(), published.len(), "add the new code to frozen/rejection-codes.txt");
    for code in RejectionCode::ALL {
        assert_eq!(code.name().parse(), Ok(*code));
    }
    assert!("NoSuchCode".parse::<RejectionCode>().is_err());
}
