//! The catalogue of special dice: changes, effects in games, and rejected loadouts.

use domain::{
    Command, Event, Game, Rejection, RejectionCode, Stage,
    special_dice::{Catalogue, CatalogueCommand, CatalogueEvent, Code, DieKind, decide_catalogue},
};
use serde_json::{Map, Value, json};
use test_games::{Match, bank, join, roll, save};

/// The catalogue, folded from its log.
#[derive(Clone, Debug, Default)]
struct Shop {
    catalogue: Option<Catalogue>,
    log: Vec<CatalogueEvent>,
}

impl Shop {
    /// Decides and records a command.
    fn execute(&mut self, command: &CatalogueCommand) -> Result<Vec<CatalogueEvent>, Rejection> {
        let events = decide_catalogue(self.catalogue.as_ref(), command)?;
        for event in &events {
            self.catalogue = Catalogue::evolve(self.catalogue.take(), event);
        }
        self.log.extend_from_slice(&events);
        Ok(events)
    }

    #[track_caller]
    fn does(mut self, command: &CatalogueCommand) -> Self {
        self.execute(command).unwrap();
        self
    }

    /// Asserts that a command is rejected for this reason and changes nothing.
    #[track_caller]
    fn refuses(&mut self, command: &CatalogueCommand, why: Rejection) {
        let before = self.clone();
        assert_eq!(self.execute(command), Err(why), "{command:?}");
        assert_eq!((&self.catalogue, &self.log), (&before.catalogue, &before.log));
    }

    /// The current catalogue.
    fn now(&self) -> Catalogue {
        self.catalogue.clone().unwrap_or_else(Catalogue::builtin)
    }

    fn die(&self, name: &str) -> DieKind {
        self.now().named(name).unwrap().clone()
    }
}

/// A new die with this effect.
fn row(name: &str, effect: Value) -> Map<String, Value> {
    fields(json!({
        "code": name, "name": "New Die", "category": "score_boosters", "tier": "better",
        "colour": "#123abc", "price": 8, "description": "Nobody has seen it yet.",
        "effect": effect,
    }))
}

fn fields(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("{value}") };
    fields
}

fn add(name: &str, effect: Value) -> CatalogueCommand {
    CatalogueCommand::Add { die: row(name, effect) }
}

fn change(code: &str, die: Value) -> CatalogueCommand {
    CatalogueCommand::Change { code: code.to_owned(), die: fields(die) }
}

fn retire(code: &str) -> CatalogueCommand {
    CatalogueCommand::Retire { code: code.to_owned() }
}

/// The built-in dice and a die NEW with this effect.
fn with_new(effect: Value) -> Catalogue {
    Shop::default().does(&add("NEW", effect)).now()
}

fn code(name: &str) -> Code {
    name.parse().unwrap()
}

fn choose(seat: u8, dice: &[&str]) -> Command {
    Command::ChooseLoadout { seat, dice: dice.iter().map(|&die| die.to_owned()).collect() }
}

/// A challenge with this catalogue and one player.
fn seated(catalogue: &Catalogue) -> Match {
    let mut table = Match::open("challenge-standard", json!({ "catalogue": catalogue }));
    table.execute(&join(0), &[]).unwrap();
    table
}

/// The same, started with these dice.
#[track_caller]
fn started(catalogue: &Catalogue, dice: &[&str]) -> Match {
    let mut table = seated(catalogue);
    table.execute(&choose(0, dice), &[]).unwrap();
    table.execute(&Command::Start, &[]).unwrap();
    table
}

const FARKLE: [u32; 6] = [2, 2, 3, 3, 4, 6];

/// Rolls and saves; returns the points of the save.
#[track_caller]
fn scores(table: &mut Match, raw: &[u32], slots: &[u8]) -> i64 {
    table.execute(&roll(0), raw).unwrap();
    let events = table.execute(&save(0, slots), &[]).unwrap();
    let Some(Event::Saved(saved)) = events.first() else { panic!("{events:?}") };
    saved.points
}

fn score(table: &Match) -> i64 {
    table.game().board.scores()[0]
}

fn money(table: &Match) -> u32 {
    table.game().table.seats[0].money
}

/// Saves 2 2 2 and 1, 300 points, and farkles with the two remaining dice; returns the score.
#[track_caller]
fn farkles_with_300(mut table: Match) -> i64 {
    assert_eq!(scores(&mut table, &[1, 2, 2, 2, 3, 4], &[0, 1, 2, 3]), 300);
    table.execute(&roll(0), &[3, 4]).unwrap();
    score(&table)
}

/// Before its first change the catalogue has no events; the first change records its initial state.
#[test]
fn first_change_records_the_builtin_dice() {
    let effect = json!({ "kind": "farkle_money", "dollars": 2 });
    let new: DieKind = serde_json::from_value(row("NEW", effect.clone()).into()).unwrap();
    let dearer = DieKind { price: 9, ..Shop::default().die("PHOENIX") };
    let version = 2;
    let changes = [
        (add("NEW", effect), CatalogueEvent::DieAdded { die: new, version }),
        (
            change("PHOENIX", json!({ "price": 9 })),
            CatalogueEvent::DieChanged { die: dearer, version },
        ),
        (retire("DARE"), CatalogueEvent::DieRetired { code: code("DARE"), version }),
    ];
    for (command, event) in changes {
        let mut shop = Shop::default();
        let opened = CatalogueEvent::CatalogueOpened { catalogue: Catalogue::builtin() };
        assert_eq!(shop.execute(&command), Ok(vec![opened, event]));
        assert_eq!(shop.now().version, version);
        let again = shop.execute(&change("LUCKY", json!({ "price": 3 }))).unwrap();
        assert_eq!(again.iter().map(CatalogueEvent::name).collect::<Vec<_>>(), ["DieChanged"]);
    }
    assert_eq!((Catalogue::builtin().version, Catalogue::builtin().dice.len()), (1, 16));
}

/// Every change is a version, and JSON round trips.
#[test]
fn every_change_increments_the_version() {
    let commands = [
        add("NEW", json!({ "kind": "streak", "points": 70 })),
        change("NEW", json!({ "price": 11 })),
        retire("NEW"),
        retire("LUCKY"),
        change("NEW", json!({ "retired": false })),
        add("FARK$2", json!({ "kind": "farkle_money", "dollars": 30 })),
    ];
    let mut shop = Shop::default();
    for (command, version) in commands.iter().zip(2..) {
        shop.execute(command).unwrap();
        assert_eq!(shop.now().version, version);
        let written = serde_json::to_string(&shop.now()).unwrap();
        assert_eq!(serde_json::from_str::<Catalogue>(&written).unwrap(), shop.now());
    }
    assert_eq!(shop.now().dice.len(), 18);
    let mut folded = None;
    for event in &shop.log {
        let event = Event::Catalogue(event.clone());
        let written = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), event);
        let Event::Catalogue(event) = event else { panic!("{event:?}") };
        folded = Catalogue::evolve(folded, &event);
    }
    assert_eq!(folded, shop.catalogue);
    assert_eq!(shop.log.len(), 1 + commands.len());
}

/// Raw 1 shows the first of the faces.
#[test]
fn a_new_die_with_different_faces() {
    let new = with_new(json!({ "kind": "faces", "faces": [6, 6, 6, 1, 1, 1] }));
    let mut table = started(&new, &["NEW"]);
    let events = table.execute(&roll(0), &[4, 4, 3, 3, 2, 6]).unwrap();
    let Some(Event::Rolled(rolled)) = events.first() else { panic!("{events:?}") };
    assert_eq!(rolled.faces.iter().collect::<Vec<_>>(), [1, 4, 3, 3, 2, 6]);
    assert_eq!(rolled.max_points, 100);
    let mut table = started(&new, &["NEW"]);
    let events = table.execute(&roll(0), &[1, 4, 3, 3, 2, 6]).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Farkled(_))), "6 4 3 3 2 6");
}

/// Also on other dice.
#[test]
fn a_new_die_with_a_scoring_single() {
    let new = with_new(json!({ "kind": "lone_face", "face": 4, "points": 40 }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[2, 3, 3, 4, 4, 6], &[3, 4]), 80);
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[2, 3, 4, 4, 4, 6], &[2, 3, 4]), 400);
}

#[test]
fn a_new_die_that_multiplies_a_single() {
    let new = with_new(json!({ "kind": "multiply_single", "factor": 10 }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[1, 1, 3, 4, 4, 6], &[0, 1]), 1_100);
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[4, 4, 4, 2, 3, 6], &[0, 1, 2]), 400);
}

#[test]
fn a_new_die_that_multiplies_a_combination() {
    let new = with_new(json!({ "kind": "multiply_combination", "factor": 5 }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[2, 2, 2, 1, 3, 4], &[0, 1, 2, 3]), 1_100);
}

#[test]
fn a_new_die_with_a_streak() {
    let new = with_new(json!({ "kind": "streak", "points": 70 }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[1, 2, 3, 3, 4, 6], &[0]), 100);
    assert_eq!(scores(&mut table, &[5, 2, 3, 3, 4], &[1]), 50 + 70);
    assert_eq!(scores(&mut table, &[5, 2, 3, 3], &[2]), 50 + 70, "it was not in the last save");

    // The count survives hot dice and ends with the round.
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5]), 2_000);
    assert_eq!(scores(&mut table, &[1, 2, 3, 3, 4, 6], &[0]), 100 + 70);
    assert_eq!(scores(&mut table, &[5, 2, 3, 3, 4], &[1]), 50 + 2 * 70);
    table.execute(&bank(0, None), &[]).unwrap();
    assert_eq!(scores(&mut table, &[1, 2, 3, 3, 4, 6], &[0]), 100);
}

#[test]
fn a_new_die_that_multiplies_the_hand() {
    let new = with_new(json!({ "kind": "multiply_turn", "factor": 3 }));
    let mut table = started(&new, &["NEW", "DOUBLE"]);
    assert_eq!(scores(&mut table, &[1, 2, 3, 3, 4, 6], &[0]), 100);
    table.execute(&bank(0, None), &[]).unwrap();
    assert_eq!(score(&table), 600);
}

#[test]
fn a_new_die_that_earns_money_for_saves() {
    let new = with_new(json!({ "kind": "save_money", "dollars": 4 }));
    let mut table = started(&new, &["NEW", "MIDAS"]);
    assert_eq!(scores(&mut table, &[1, 5, 3, 3, 4, 6], &[0, 1]), 150);
    assert_eq!(money(&table), 2 * 4 + 2);
}

#[test]
fn a_new_die_that_consoles() {
    let new = with_new(json!({ "kind": "consolation", "points": 600, "most_saved": 0 }));
    let mut table = started(&new, &["NEW"]);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(score(&table), 600);
    scores(&mut table, &[1, 2, 3, 3, 4, 6], &[0]);
    table.execute(&roll(0), &FARKLE[..5]).unwrap();
    assert_eq!(score(&table), 600, "a die was saved");
    scores(&mut table, &[1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5]);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(score(&table), 600, "dice were saved before hot dice");
}

#[test]
fn a_new_die_that_banks_the_round() {
    let new = with_new(json!({ "kind": "bank_round" }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5]), 2_000);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(score(&table), 2_000);
}

/// The part is rounded down: 33 % of 50 is 16.
#[test]
fn a_new_die_that_keeps_a_part_of_the_hand() {
    let new = with_new(json!({ "kind": "keep_turn", "percent": 33 }));
    let mut table = started(&new, &["NEW"]);
    assert_eq!(scores(&mut table, &[5, 2, 3, 3, 4, 6], &[0]), 50);
    table.execute(&roll(0), &FARKLE[..5]).unwrap();
    assert_eq!(score(&table), 16);
}

#[test]
fn a_new_die_that_raises_the_next_bank() {
    let new = with_new(json!({ "kind": "bank_bonus", "points": 350 }));
    let mut table = started(&new, &["NEW", "NEW"]);
    for _ in 0..2 {
        table.execute(&roll(0), &FARKLE).unwrap();
    }
    table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
    table.execute(&bank(0, Some(&[0])), &[]).unwrap();
    assert_eq!(score(&table), 100 + 2 * 350);
}

#[test]
fn a_new_die_that_earns_money_for_farkles() {
    let new = with_new(json!({ "kind": "farkle_money", "dollars": 9 }));
    let mut table = started(&new, &["NEW", "FARK$", "NEW"]);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(money(&table), 9 + 3 + 9);
}

/// Of dice whose effects do not add up the strongest counts, whatever its slot.
#[test]
fn only_the_strongest_effect_counts() {
    let all = with_new(json!({ "kind": "keep_turn", "percent": 100 }));
    for dice in [["NEW", "PHOENIX"], ["PHOENIX", "NEW"]] {
        assert_eq!(farkles_with_300(started(&all, &dice)), 300);
    }
    let little = with_new(json!({ "kind": "keep_turn", "percent": 10 }));
    for dice in [["NEW", "CUSHION"], ["CUSHION", "NEW"]] {
        assert_eq!(farkles_with_300(started(&little, &dice)), 150);
    }
    assert_eq!(farkles_with_300(started(&little, &["NEW"])), 30);

    let threes = with_new(json!({ "kind": "lone_face", "face": 3, "points": 60 }));
    for dice in [["NEW", "THREE"], ["THREE", "NEW"]] {
        let mut table = started(&threes, &dice);
        assert_eq!(scores(&mut table, &[2, 3, 4, 4, 6, 6], &[1]), 60);
    }
    let fivefold = with_new(json!({ "kind": "multiply_combination", "factor": 5 }));
    for dice in [["NEW", "JACKPOT"], ["JACKPOT", "NEW"]] {
        let mut table = started(&fivefold, &dice);
        assert_eq!(scores(&mut table, &[2, 2, 2, 3, 4, 6], &[0, 1, 2]), 1_000);
    }
    let hotter = with_new(json!({ "kind": "streak", "points": 70 }));
    for dice in [["NEW", "HOT"], ["HOT", "NEW"]] {
        let mut table = started(&hotter, &dice);
        assert_eq!(scores(&mut table, &[1, 1, 3, 3, 4, 6], &[0, 1]), 200);
        assert_eq!(scores(&mut table, &[5, 3, 4, 6], &[2]), 50 + 70, "one count for both");
    }
    let bonus = with_new(json!({ "kind": "bank_bonus", "points": 350 }));
    for dice in [["NEW", "DARE"], ["DARE", "NEW"]] {
        let mut table = started(&bonus, &dice);
        table.execute(&roll(0), &FARKLE).unwrap();
        table.execute(&roll(0), &[1, 2, 3, 3, 4, 6]).unwrap();
        table.execute(&bank(0, Some(&[0])), &[]).unwrap();
        assert_eq!(score(&table), 100 + 350);
    }
}

/// The larger consolation counts if its condition is met, otherwise the other one.
#[test]
fn only_the_strongest_applicable_consolation_counts() {
    let late = with_new(json!({ "kind": "consolation", "points": 200, "most_saved": 6 }));
    for dice in [["NEW", "BADLUCK"], ["BADLUCK", "NEW"]] {
        let mut table = started(&late, &dice);
        table.execute(&roll(0), &FARKLE).unwrap();
        assert_eq!(score(&table), 1_000);
        assert_eq!(farkles_with_300(started(&late, &dice)), 200);
    }
}

/// Even with the largest factors a bank succeeds and the game ends.
#[test]
fn largest_factors_do_not_overflow() {
    let huge = with_new(json!({ "kind": "multiply_turn", "factor": 1_000 }));
    let mut table = started(&huge, &["NEW"; 6]);
    table.execute(&roll(0), &[1; 6]).unwrap();
    table.execute(&bank(0, Some(&[0, 1, 2, 3, 4, 5])), &[]).unwrap();
    assert!(score(&table) > 1_000_000_000_000_000_000);
    assert!(matches!(table.game().table.stage, Stage::Ended(_)));
    let written = serde_json::to_string(table.game()).unwrap();
    assert_eq!(serde_json::from_str::<Game>(&written).unwrap(), *table.game());
}

/// A game uses the dice it was created with, whatever happens to the catalogue.
#[test]
fn a_game_keeps_its_catalogue() {
    let before = Catalogue::builtin();
    let old = started(&before, &["PHOENIX"]);
    let all = json!({ "kind": "keep_turn", "percent": 100 });
    let shop = Shop::default()
        .does(&change("PHOENIX", json!({ "effect": all })))
        .does(&add("NEW", json!({ "kind": "multiply_single", "factor": 10 })))
        .does(&retire("LUCKY"));
    let new = started(&shop.now(), &["PHOENIX"]);
    assert_eq!(old.game().table.ruleset.rules.catalogue(), Some(&before));
    assert_eq!(new.game().table.ruleset.rules.catalogue(), Some(&shop.now()));
    assert_eq!((farkles_with_300(old), farkles_with_300(new)), (150, 300));
    // New dice are unknown there, and retired ones can still be played.
    let mut old = seated(&before);
    let unknown = old.execute(&choose(0, &["NEW"]), &[]).unwrap_err();
    assert!(matches!(unknown, Rejection::UnknownDie { code, .. } if code == "NEW"));
    old.execute(&choose(0, &["LUCKY"]), &[]).unwrap();
    let retired = Rejection::RetiredDie { code: code("LUCKY") };
    assert_eq!(seated(&shop.now()).execute(&choose(0, &["LUCKY"]), &[]), Err(retired));
}

/// Fields that are not given stay the same; an effect is replaced as a whole.
#[test]
fn a_die_is_changed_field_by_field() {
    let before = Shop::default().die("BADLUCK");
    let shop = Shop::default().does(&change("BADLUCK", json!({ "price": 30, "tier": "simple" })));
    let expected = json!({ "price": 30, "tier": "simple" });
    let mut row = fields(serde_json::to_value(&before).unwrap());
    row.extend(fields(expected));
    assert_eq!(serde_json::to_value(shop.die("BADLUCK")).unwrap(), Value::Object(row));
    let place =
        |catalogue: Catalogue| catalogue.dice.iter().position(|die| die.code == code("BADLUCK"));
    assert_eq!(place(shop.now()), place(Catalogue::builtin()), "its place in the shop too");

    let effect = json!({ "kind": "consolation", "points": 50, "most_saved": 0 });
    let shop = shop.does(&change("BADLUCK", json!({ "effect": effect, "code": "BADLUCK" })));
    let mut table = started(&shop.now(), &["BADLUCK"]);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(score(&table), 50);
    assert_eq!((shop.die("BADLUCK").price, shop.die("BADLUCK").name), (30, before.name));
}

#[test]
fn a_retired_die_can_be_restored() {
    let mut shop = Shop::default().does(&retire("PHOENIX"));
    assert!(shop.die("PHOENIX").retired);
    assert_eq!(shop.now().dice.len(), 16, "its row stays: somebody may own it");
    let retired = Rejection::RetiredDie { code: code("PHOENIX") };
    shop.refuses(&retire("PHOENIX"), retired.clone());
    assert_eq!(seated(&shop.now()).execute(&choose(0, &["PHOENIX"]), &[]), Err(retired));
    // Changing another field does not restore it.
    let mut shop = shop.does(&change("PHOENIX", json!({ "price": 1 })));
    assert!(shop.die("PHOENIX").retired);
    shop.execute(&change("PHOENIX", json!({ "retired": false }))).unwrap();
    assert_eq!((shop.die("PHOENIX").retired, shop.now().version), (false, 4));
    assert_eq!(farkles_with_300(started(&shop.now(), &["PHOENIX"])), 150);
    shop.execute(&retire("PHOENIX")).unwrap();
}

/// Asserts that an invalid die can neither be added nor result from a change; returns the
/// rejection.
#[track_caller]
fn invalid(part: Value) -> Rejection {
    let sensible = json!({ "kind": "bank_round" });
    let mut die = row("NEW", sensible.clone());
    die.extend(fields(part.clone()));
    let mut shop = Shop::default();
    let why = shop.execute(&CatalogueCommand::Add { die: die.clone() }).unwrap_err();
    shop.refuses(&CatalogueCommand::Add { die }, why.clone());
    shop.does(&add("NEW", sensible)).refuses(&change("NEW", part), why.clone());
    why
}

/// Asserts that a field cannot have this value, and that the rejection says what is allowed.
#[track_caller]
fn invalid_field(field: &'static str, value: Value, allowed: &str) {
    let why = invalid(json!({ field: value }));
    let (code, allowed) = (code("NEW"), allowed.to_owned());
    assert_eq!(why, Rejection::BadDie { code, field, allowed }, "{field}: {value}");
}

#[track_caller]
fn invalid_effect(effect: Value, allowed: &str) {
    invalid_field("effect", effect, allowed);
}

/// Asserts that data without the structure of a die is rejected with the name of the bad part.
#[track_caller]
fn malformed_die(part: Value, culprit: &str) {
    let why = invalid(part.clone());
    let Rejection::BadDieData { why } = &why else { panic!("{part}: {why:?}") };
    assert!(why.contains(culprit), "{part}: {why}");
}

#[test]
fn invalid_numbers() {
    for face in [0, 7, 255] {
        let effect = json!({ "kind": "faces", "faces": [1, 2, 3, 4, 5, face] });
        invalid_effect(effect, &format!("a face must be from 1 to 6, not {face}"));
        let effect = json!({ "kind": "lone_face", "face": face, "points": 30 });
        invalid_effect(effect, &format!("face must be from 1 to 6, not {face}"));
    }
    for kind in ["multiply_single", "multiply_combination", "multiply_turn"] {
        for factor in [0, -2, 1_001, i64::MAX] {
            let allowed = format!("factor must be from 1 to 1000, not {factor}");
            invalid_effect(json!({ "kind": kind, "factor": factor }), &allowed);
        }
    }
    for points in [0, -30, 1_000_001, i64::MIN] {
        let allowed = format!("points must be from 1 to 1000000, not {points}");
        invalid_effect(json!({ "kind": "streak", "points": points }), &allowed);
        invalid_effect(json!({ "kind": "bank_bonus", "points": points }), &allowed);
        invalid_effect(json!({ "kind": "lone_face", "face": 3, "points": points }), &allowed);
        let effect = json!({ "kind": "consolation", "points": points, "most_saved": 1 });
        invalid_effect(effect, &allowed);
    }
    let effect = json!({ "kind": "consolation", "points": 1, "most_saved": 101 });
    invalid_effect(effect, "most_saved must be from 0 to 100, not 101");
    for kind in ["save_money", "farkle_money"] {
        for dollars in [0, 1_001] {
            let allowed = format!("dollars must be from 1 to 1000, not {dollars}");
            invalid_effect(json!({ "kind": kind, "dollars": dollars }), &allowed);
        }
    }
    for percent in [0, 101, 255] {
        let allowed = format!("percent must be from 1 to 100, not {percent}");
        invalid_effect(json!({ "kind": "keep_turn", "percent": percent }), &allowed);
    }
}

/// The minimum and maximum of each number.
#[test]
fn limits_of_numbers() {
    let effects = [
        json!({ "kind": "faces", "faces": [6, 6, 6, 6, 6, 1] }),
        json!({ "kind": "lone_face", "face": 1, "points": 1 }),
        json!({ "kind": "lone_face", "face": 6, "points": 1_000_000 }),
        json!({ "kind": "multiply_single", "factor": 1 }),
        json!({ "kind": "multiply_single", "factor": 1_000 }),
        json!({ "kind": "multiply_combination", "factor": 1_000 }),
        json!({ "kind": "streak", "points": 1_000_000 }),
        json!({ "kind": "multiply_turn", "factor": 1_000 }),
        json!({ "kind": "save_money", "dollars": 1_000 }),
        json!({ "kind": "consolation", "points": 1, "most_saved": 0 }),
        json!({ "kind": "bank_round" }),
        json!({ "kind": "keep_turn", "percent": 1 }),
        json!({ "kind": "keep_turn", "percent": 100 }),
        json!({ "kind": "bank_bonus", "points": 1 }),
        json!({ "kind": "farkle_money", "dollars": 1 }),
    ];
    for effect in effects {
        with_new(effect);
    }
    let sensible = [
        json!({ "price": 1 }),
        json!({ "price": 100_000 }),
        json!({ "name": "N" }),
        json!({ "name": "é".repeat(40) }),
        json!({ "description": "D".repeat(300) }),
        json!({ "colour": "#FFA500" }),
        json!({ "code": "ABCDEFGHIJKLMN_$" }),
        json!({ "retired": true }),
    ];
    for part in sensible {
        let mut die = row("NEW", json!({ "kind": "bank_round" }));
        die.extend(fields(part));
        Shop::default().does(&CatalogueCommand::Add { die });
    }
}

#[test]
fn malformed_effects() {
    let faces = [
        (json!([1, 2, 3, 4, 5]), "length 5"),
        (json!([1, 2, 3, 4, 5, 6, 1]), "length 7"),
        (json!([1, 2, 3, 4, 5, 256]), "256"),
        (json!([1, 2, 3, 4, 5, -1]), "-1"),
        (json!("123456"), "123456"),
    ];
    for (faces, culprit) in faces {
        malformed_die(json!({ "effect": { "kind": "faces", "faces": faces } }), culprit);
    }
    let effects = [
        (json!({ "kind": "faces" }), "`faces`"),
        (json!({ "kind": "multiply_turn" }), "`factor`"),
        (json!({ "kind": "lone_face", "face": 3 }), "`points`"),
        (json!({ "kind": "consolation", "points": 5 }), "`most_saved`"),
        (json!({ "kind": "streak", "points": 5, "most": 3 }), "`most`"),
        (json!({ "kind": "bank_round", "points": 5 }), "`points`"),
        (json!({ "kind": "explode" }), "`explode`"),
        (json!({ "factor": 2 }), "`kind`"),
        (json!({ "kind": "multiply_turn", "factor": 1.5 }), "1.5"),
        (json!({ "kind": "multiply_turn", "factor": "2" }), "\"2\""),
        (json!({ "kind": "keep_turn", "percent": 256 }), "256"),
        (json!({ "kind": "save_money", "dollars": -1 }), "-1"),
        (json!({ "kind": "farkle_money", "dollars": null }), "null"),
        (Value::Null, "null"),
    ];
    for (effect, culprit) in effects {
        malformed_die(json!({ "effect": effect }), culprit);
    }
}

#[test]
fn invalid_texts_and_prices() {
    let line = "it must be a line of 1 to 40 characters";
    for name in ["", " ", " New Die", "New\nDie", "New\u{1b}[2JDie", "\u{7}", &"N".repeat(41)] {
        invalid_field("name", json!(name), line);
    }
    let line = "it must be a line of 1 to 300 characters";
    for text in ["", "Two\nlines.", &"D".repeat(301)] {
        invalid_field("description", json!(text), line);
    }
    for colour in ["", "red", "cc0000", "#cc000", "#cc00000", "#gg0000", "#cc00é", "#+c0000"] {
        invalid_field("colour", json!(colour), "it must look like #cc0000");
    }
    for price in [0, 100_001, u32::MAX] {
        invalid_field("price", json!(price), "it must be from 1 to 100000 dollars");
    }
    malformed_die(json!({ "price": -1 }), "-1");
    malformed_die(json!({ "price": 1.5 }), "1.5");
    malformed_die(json!({ "price": u64::from(u32::MAX) + 1 }), "4294967296");
    malformed_die(json!({ "name": 7 }), "7");
    malformed_die(json!({ "category": "dice" }), "`dice`");
    malformed_die(json!({ "tier": "best" }), "`best`");
    malformed_die(json!({ "tier": null }), "null");
    malformed_die(json!({ "retired": "yes" }), "yes");
    malformed_die(json!({ "weight": 3 }), "`weight`");
}

/// A code has 1 to 16 capital letters, digits, $ and _, and is not that of the standard die.
#[test]
fn invalid_codes() {
    let effect = || json!({ "kind": "bank_round" });
    let long = "X".repeat(17);
    for name in ["", "new", "New", "N-W", "N W", "NÉW", "NEW\n", "NEW\0", &long] {
        let bad = Rejection::BadCode { code: name.to_owned() };
        Shop::default().refuses(&add(name, effect()), bad);
    }
    let standard = Rejection::BadDie {
        code: Code::STANDARD,
        field: "code",
        allowed: "STANDARD is the ordinary die, which is not for sale".to_owned(),
    };
    Shop::default().refuses(&add("STANDARD", effect()), standard);
    for value in [json!(7), Value::Null] {
        let mut die = row("NEW", effect());
        die.insert("code".to_owned(), value);
        let answer = Shop::default().execute(&CatalogueCommand::Add { die });
        assert!(matches!(answer, Err(Rejection::BadDieData { .. })), "{answer:?}");
    }
}

#[test]
fn a_row_without_a_field() {
    let whole = row("NEW", json!({ "kind": "bank_round" }));
    for field in whole.keys() {
        let mut die = whole.clone();
        die.remove(field);
        let why = Shop::default().execute(&CatalogueCommand::Add { die }).unwrap_err();
        let expected = format!("this is not a valid die: missing field `{field}`");
        assert_eq!((why.code(), why.to_string()), (RejectionCode::BadDieData, expected));
    }
}

#[test]
fn a_code_cannot_change_or_be_reused() {
    let effect = || json!({ "kind": "bank_round" });
    let exists = |name| Rejection::DieExists { code: code(name) };
    Shop::default().refuses(&add("PHOENIX", effect()), exists("PHOENIX"));
    let mut shop = Shop::default().does(&add("NEW", effect())).does(&retire("NEW"));
    shop.refuses(&add("NEW", effect()), exists("NEW"));
    let for_ever = |name| Rejection::BadDie {
        code: code(name),
        field: "code",
        allowed: "it names the die for ever; add another die instead".to_owned(),
    };
    for other in [json!("NEWER"), json!("PHOENIX"), json!("new"), json!(7), Value::Null] {
        shop.refuses(&change("NEW", json!({ "code": other })), for_ever("NEW"));
    }
    shop.refuses(&change("DARE", json!({ "code": "STANDARD" })), for_ever("DARE"));
}

#[test]
fn an_unknown_die_cannot_be_changed_or_retired() {
    for name in ["NEW", "STANDARD", "phoenix", "", "a\nb"] {
        for command in [change(name, json!({ "price": 3 })), retire(name)] {
            let mut shop = Shop::default();
            let why = shop.execute(&command).unwrap_err();
            let unknown = matches!(&why, Rejection::UnknownDie { code, .. } if code == name);
            assert!(unknown, "{why:?}");
            shop.refuses(&command, why);
        }
    }
}

/// The maximum is two hundred kinds; a full catalogue can still be changed.
#[test]
fn a_full_catalogue() {
    let effect = || json!({ "kind": "bank_round" });
    let mut shop = Shop::default();
    for number in 17..=200 {
        shop.execute(&add(&format!("NEW_{number}"), effect())).unwrap();
    }
    assert_eq!((shop.now().dice.len(), shop.now().version), (200, 185));
    shop.refuses(&add("NEW_201", effect()), Rejection::CatalogueFull { most: 200, kib: 48 });
    shop.execute(&change("NEW_200", json!({ "price": 9 }))).unwrap();
    shop.execute(&retire("NEW_17")).unwrap();
    shop.refuses(&add("NEW_201", effect()), Rejection::CatalogueFull { most: 200, kib: 48 });
    // The last of them can be played like the first.
    let mut table = started(&shop.now(), &["NEW_200"]);
    scores(&mut table, &[1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5]);
    table.execute(&roll(0), &FARKLE).unwrap();
    assert_eq!(score(&table), 2_000);
}

/// Nor can a game be created with an invalid catalogue.
#[test]
fn a_game_needs_a_valid_catalogue() {
    let challenge = domain::Ruleset::preset("farkle", Some("challenge-standard")).unwrap();
    let refused = |catalogue: &Catalogue| {
        challenge.with(&fields(json!({ "catalogue": catalogue }))).unwrap_err()
    };
    let mut free = Catalogue::builtin();
    free.dice[3].price = 0;
    assert!(matches!(refused(&free), Rejection::BadDie { field: "price", .. }));
    let mut twice = Catalogue::builtin();
    twice.dice.push(twice.dice[0].clone());
    assert_eq!(refused(&twice), Rejection::DieExists { code: code("PHOENIX") });
}

/// Asserts that these dice are rejected for this reason and the previous choice stays.
#[track_caller]
fn refused(table: &mut Match, dice: &[&str], why: Rejection) {
    let before = table.game.clone();
    assert_eq!(table.execute(&choose(0, dice), &[]), Err(why), "{dice:?}");
    assert_eq!(table.game, before);
}

/// A challenge with these limits and one player.
fn limited(limits: Value) -> Match {
    let mut table = Match::open("challenge-standard", json!({ "loadout_limits": limits }));
    table.execute(&join(0), &[]).unwrap();
    table
}

#[test]
fn unknown_dice() {
    let shop = Shop::default().does(&retire("LUCKY"));
    let mut table = seated(&shop.now());
    table.execute(&choose(0, &["HEAVY"]), &[]).unwrap();
    for name in ["NOPE", "heavy", ""] {
        let why = table.decide(&choose(0, &["HEAVY", name]), &[]).unwrap_err();
        let Rejection::UnknownDie { code, known } = &why else { panic!("{why:?}") };
        assert_eq!(code, name);
        assert!(known.starts_with("STANDARD, PHOENIX, ") && !known.contains("LUCKY"), "{known}");
        refused(&mut table, &["HEAVY", name], why);
    }
    let retired = Rejection::RetiredDie { code: code("LUCKY") };
    refused(&mut table, &["STANDARD", "LUCKY"], retired);
    refused(&mut table, &["HEAVY"; 7], Rejection::TooManyDice { dice: 7, slots: 6 });
    refused(&mut table, &["STANDARD"; 7], Rejection::TooManyDice { dice: 7, slots: 6 });
    let mut heavy = vec![Code::STANDARD; 6];
    heavy[0] = code("HEAVY");
    assert_eq!(table.game().loadout(0), heavy);
}

/// A set of fewer dice has fewer slots.
#[test]
fn number_of_slots() {
    let mut table = Match::open("challenge-standard", json!({ "dice": 2 }));
    table.execute(&join(0), &[]).unwrap();
    refused(&mut table, &["HEAVY"; 3], Rejection::TooManyDice { dice: 3, slots: 2 });
    refused(&mut table, &["FIVES"; 2], Rejection::EndlessLoadout);
    table.execute(&choose(0, &["FIVES", "HEAVY"]), &[]).unwrap();
    assert_eq!(table.game().loadout(0), [code("FIVES"), code("HEAVY")]);
}

/// At most two Doubles and two dice of the strongest tier.
#[test]
fn competitive_limits() {
    let mut table = Match::open("competitive", json!({}));
    table.execute(&join(0), &[]).unwrap();
    let doubles = Rejection::TooManyCopies { code: code("DOUBLE"), copies: 3, most: 2 };
    refused(&mut table, &["DOUBLE"; 3], doubles);
    let tier = |dice| Rejection::TooManyOfTier { tier: "amazing", dice, most: 2 };
    refused(&mut table, &["TRIPLE"; 3], tier(3));
    refused(&mut table, &["DOUBLE", "HEAVY", "DOUBLE", "JACKPOT"], tier(3));
    refused(&mut table, &["BADLUCK", "GAMBLE", "CHUTE", "JACKPOT", "TRIPLE", "DOUBLE"], tier(6));
    refused(&mut table, &["FIVES"; 6], Rejection::EndlessLoadout);
    for lawful in [["DOUBLE", "DOUBLE", "HEAVY"], ["TRIPLE", "DARE", "GAMBLE"], ["HEAVY"; 3]] {
        table.execute(&choose(0, &lawful), &[]).unwrap();
    }
}

/// The limits of a tier also apply to dice added later.
#[test]
fn a_new_die_is_limited_by_its_tier() {
    let strong = json!({ "tier": "amazing" });
    let shop = Shop::default()
        .does(&add("NEW", json!({ "kind": "streak", "points": 70 })))
        .does(&change("NEW", strong));
    let mut table = Match::open("competitive", json!({ "catalogue": shop.now() }));
    table.execute(&join(0), &[]).unwrap();
    let tier = Rejection::TooManyOfTier { tier: "amazing", dice: 3, most: 2 };
    refused(&mut table, &["NEW", "DOUBLE", "NEW"], tier);
    table.execute(&choose(0, &["NEW", "NEW"]), &[]).unwrap();
}

#[test]
fn limits_of_copies() {
    let mut table = limited(json!({ "most_of_one": 2, "most_copies": { "HOT": 1, "MIDAS": 0 } }));
    let copies = |name, copies, most| Rejection::TooManyCopies { code: code(name), copies, most };
    refused(&mut table, &["HEAVY"; 3], copies("HEAVY", 3, 2));
    refused(&mut table, &["HOT", "HEAVY", "HOT"], copies("HOT", 2, 1));
    refused(&mut table, &["MIDAS"], copies("MIDAS", 1, 0));
    let lawful = ["HEAVY", "HEAVY", "HOT", "LUCKY", "LUCKY", "STANDARD"];
    table.execute(&choose(0, &lawful), &[]).unwrap();
    // Standard dice are not counted.
    table.execute(&choose(0, &["STANDARD"; 6]), &[]).unwrap();
}

/// A pair is banned in any order and slots; a pair of the same code limits it to one.
#[test]
fn banned_pairs() {
    let mut table = limited(json!({ "banned_pairs": [["PHOENIX", "CUSHION"], ["HOT", "HOT"]] }));
    let pair = |one, other| Rejection::BannedPair { one: code(one), other: code(other) };
    let phoenix = pair("PHOENIX", "CUSHION");
    refused(&mut table, &["PHOENIX", "CUSHION"], phoenix.clone());
    refused(&mut table, &["CUSHION", "STANDARD", "HEAVY", "PHOENIX"], phoenix);
    refused(&mut table, &["HOT", "HEAVY", "HOT"], pair("HOT", "HOT"));
    for lawful in [["PHOENIX", "PHOENIX"], ["CUSHION", "HOT"], ["HOT", "PHOENIX"]] {
        table.execute(&choose(0, &lawful), &[]).unwrap();
    }
}

/// Dice that never farkle are rejected, whatever the cause.
#[test]
fn a_round_must_be_able_to_end() {
    let mut table = seated(&Catalogue::builtin());
    refused(&mut table, &["FIVES"; 6], Rejection::EndlessLoadout);
    table.execute(&choose(0, &["FIVES"; 5]), &[]).unwrap();

    let faces = |faces: [u8; 6]| json!({ "kind": "faces", "faces": faces });
    let lone = |face: u8| json!({ "kind": "lone_face", "face": face, "points": 10 });
    let mut shop = Shop::default()
        .does(&add("ONES", faces([1; 6])))
        .does(&add("ONE_OR_FIVE", faces([1, 5, 1, 5, 1, 5])));
    for face in [2, 3, 4, 6] {
        shop.execute(&add(&format!("LONE_{face}"), lone(face))).unwrap();
    }
    let mut table = seated(&shop.now());
    refused(&mut table, &["ONES"; 6], Rejection::EndlessLoadout);
    refused(&mut table, &["ONE_OR_FIVE"; 6], Rejection::EndlessLoadout);
    let mixed = ["ONES", "FIVES", "ONE_OR_FIVE", "ONES", "FIVES", "FIVES"];
    refused(&mut table, &mixed, Rejection::EndlessLoadout);
    // If every face scores as a single, standard dice never farkle either.
    let every_face = ["LONE_2", "LONE_3", "LONE_4", "LONE_6"];
    refused(&mut table, &every_face, Rejection::EndlessLoadout);
    for lawful in [&["ONES"; 5][..], &every_face[..3], &["LONE_6", "ONES", "ONES"]] {
        table.execute(&choose(0, lawful), &[]).unwrap();
    }
}

#[test]
fn dice_are_chosen_before_the_start() {
    let mut table = started(&Catalogue::builtin(), &["HEAVY"]);
    refused(&mut table, &["LUCKY"], Rejection::AlreadyStarted);
    refused(&mut table, &[], Rejection::AlreadyStarted);
    table.execute(&Command::Leave { seat: 0 }, &[]).unwrap();
    refused(&mut table, &["LUCKY"], Rejection::GameOver);
}

#[test]
fn a_classic_game_has_no_special_dice() {
    for preset in ["classic", "ten-round", "house-750"] {
        let mut table = Match::open(preset, json!({}));
        table.execute(&join(0), &[]).unwrap();
        for dice in [&["LUCKY"][..], &["STANDARD"], &["NOPE"], &[]] {
            refused(&mut table, dice, Rejection::NoSpecialDice);
        }
    }
}

/// The next player of a seat does not get the dice of the previous one.
#[test]
fn dice_are_reset_when_a_player_leaves() {
    let mut table = seated(&Catalogue::builtin());
    table.execute(&join(1), &[]).unwrap();
    table.execute(&choose(0, &["HEAVY"]), &[]).unwrap();
    table.execute(&choose(0, &["LUCKY", "HOT"]), &[]).unwrap();
    let chosen = |table: &Match, seat| table.game().loadout(seat)[..2].to_vec();
    assert_eq!(chosen(&table, 0), [code("LUCKY"), code("HOT")]);
    assert_eq!(chosen(&table, 1), [Code::STANDARD; 2]);
    let nobody = Rejection::NoSuchSeat { seat: 2, seats: 2 };
    assert_eq!(table.execute(&choose(2, &["LUCKY"]), &[]), Err(nobody));
    table.execute(&Command::Leave { seat: 0 }, &[]).unwrap();
    refused(&mut table, &["LUCKY"], Rejection::SeatGone { seat: 0 });
    table.execute(&join(2), &[]).unwrap();
    assert_eq!(chosen(&table, 0), [Code::STANDARD; 2]);
}
