//! Parses scenario files.

use domain::{RejectionCode, Slug};
use serde_json::{Map, Value as Json};

use super::{
    Broken,
    expect::Expectation,
    verb::Verb,
    yaml::{self, Node, Value},
};

/// A scenario: set-up, actions and expectations.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) game: String,
    pub(super) preset: Option<String>,
    /// The version of the preset; the newest by default.
    pub(super) version: Option<u32>,
    pub(super) rules: Map<String, Json>,
    pub(super) seats: Vec<Seat>,
    /// The results of random draws other than dice, in order.
    pub(super) draws: Vec<Slug>,
    /// The set-up is expected to be refused.
    pub(super) rejected: Option<ExpectedRejection>,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) struct Seat {
    pub(super) name: String,
    /// The client's seed.
    pub(super) seed: Option<String>,
    /// The dice, one per slot; ordinary dice by default.
    pub(super) dice: Option<Vec<String>>,
    pub(super) character: Option<String>,
    /// The balance before the game.
    pub(super) money: i64,
}

/// The initial balance of an account.
const FIRST_MONEY: i64 = 10;

#[derive(Debug)]
pub(super) enum Step {
    /// An action; `seat` is an index into the scenario's list of seats.
    Act {
        line: usize,
        seat: usize,
        verb: Verb,
        rejected: Option<ExpectedRejection>,
    },
    Expect {
        line: usize,
        expected: Vec<Expectation>,
    },
}

/// An expected rejection.
#[derive(Debug)]
pub(super) enum ExpectedRejection {
    Any,
    Code(RejectionCode),
}

/// All scenarios of a file; an invalid one does not affect the others.
pub(super) fn scenarios(text: &str) -> Result<Vec<Result<Scenario, Broken>>, Broken> {
    let documents = yaml::documents(text)?;
    let scenarios: Vec<_> =
        documents.iter().filter(|d| d.value != Value::Null).map(scenario).collect();
    if scenarios.is_empty() {
        return Err(Broken::at(1, "the file contains no scenario"));
    }
    Ok(scenarios)
}

fn scenario(document: &Node) -> Result<Scenario, Broken> {
    let mut scenario = Scenario {
        line: document.line,
        name: String::new(),
        game: String::new(),
        preset: None,
        version: None,
        rules: Map::new(),
        seats: Vec::new(),
        draws: Vec::new(),
        rejected: None,
        steps: Vec::new(),
    };
    let mut steps: &[Node] = &[];
    for (key, node) in document.entries("a scenario")? {
        match key.as_str() {
            "name" => scenario.name = node.text("name")?,
            "game" => scenario.game = node.text("game")?,
            "preset" => scenario.preset = Some(node.text("preset")?),
            "version" => {
                let Value::Number(version) = node.value else {
                    return Err(node.error("version must be the number of a preset's version"));
                };
                scenario.version = Some(u32::try_from(version).unwrap_or(u32::MAX));
            }
            "rules" => scenario.rules = node.to_json_map()?,
            "seats" => {
                scenario.seats = node.list("seats")?.iter().map(seat).collect::<Result<_, _>>()?;
            }
            "draws" => {
                scenario.draws =
                    node.list("draws")?.iter().map(draw_code).collect::<Result<_, _>>()?;
            }
            "rejected" => scenario.rejected = expected_rejection(node)?,
            "steps" => steps = node.list("steps")?,
            "about" => {}
            other => {
                return Err(node.error(&format!(
                    "unknown key '{other}' in a scenario; expected one of: name, about, game, \
                     preset, version, rules, seats, draws, rejected, steps"
                )));
            }
        }
    }
    for (part, missing) in [
        ("name", scenario.name.is_empty()),
        ("game", scenario.game.is_empty()),
        ("seats", scenario.seats.is_empty()),
    ] {
        if missing {
            return Err(document.error(&format!("the scenario has no '{part}'")));
        }
    }
    if scenario.rejected.is_some() && !steps.is_empty() {
        return Err(document.error("a scenario whose set-up is rejected has no steps"));
    }
    let names: Vec<&str> = scenario.seats.iter().map(|seat| seat.name.as_str()).collect();
    scenario.steps = steps.iter().map(|node| step(node, &names)).collect::<Result<_, _>>()?;
    Ok(scenario)
}

/// A seat is a name, or a map with more.
fn seat(node: &Node) -> Result<Seat, Broken> {
    let mut seat =
        Seat { name: String::new(), seed: None, dice: None, character: None, money: FIRST_MONEY };
    if let Ok(name) = node.text("a seat") {
        seat.name = name;
    } else {
        for (key, value) in node.entries("a seat")? {
            match key.as_str() {
                "name" => seat.name = value.text("name")?,
                "seed" => seat.seed = Some(value.text("seed")?),
                "money" => {
                    let Value::Number(money @ 0..=1_000_000_000) = value.value else {
                        return Err(value.error("money must be a number of dollars, 0 or more"));
                    };
                    seat.money = money;
                }
                "dice" => seat.dice = Some(dice(value)?),
                "character" => seat.character = Some(value.text("character")?),
                other => {
                    return Err(value.error(&format!(
                        "unknown key '{other}' in a seat; expected one of: name, seed, money, \
                         dice, character"
                    )));
                }
            }
        }
    }
    if RESERVED.contains(&seat.name.as_str()) {
        return Err(node.error(&format!("a seat cannot be called '{}'", seat.name)));
    }
    Ok(seat)
}

/// Names with another meaning in steps and expectations.
const RESERVED: [&str; 8] =
    ["expect", "rejected", "house", "to_move", "winner", "round", "decided_by", "events"];

/// The codes of a loadout. The rules check whether these dice exist.
fn dice(list: &Node) -> Result<Vec<String>, Broken> {
    list.list("dice")?.iter().map(|die| die.text("a die")).collect()
}

fn draw_code(node: &Node) -> Result<Slug, Broken> {
    let text = node.text("a draw")?;
    text.parse().map_err(|why| node.error(&format!("'{text}' is not a code: {why}")))
}

fn step(node: &Node, seats: &[&str]) -> Result<Step, Broken> {
    let (mut act, mut expected, mut rejected) = (None, None, None);
    for (key, value) in node.entries("a step")? {
        if key == "expect" {
            expected = Some(Expectation::parse(value, seats)?);
        } else if key == "rejected" {
            rejected = expected_rejection(value)?;
        } else {
            let by_house = key == "house";
            let seat = seats.iter().position(|&name| name == key);
            let Some(seat) = seat.or_else(|| by_house.then_some(0)) else {
                let known = seats.join(", ");
                return Err(
                    value.error(&format!("there is no seat '{key}'; the seats are: {known}"))
                );
            };
            if act.is_some() {
                return Err(value.error("a step is one action; begin the next with '-'"));
            }
            let verb = Verb::parse(&value.text("a step")?, by_house, seats);
            act = Some((seat, verb.map_err(|problem| value.error(&problem))?));
        }
    }
    let line = node.line;
    match (act, expected) {
        (Some((seat, verb)), None) => Ok(Step::Act { line, seat, verb, rejected }),
        (None, Some(expected)) if rejected.is_none() => Ok(Step::Expect { line, expected }),
        _ => Err(node.error("a step is either one action, maybe with 'rejected', or one 'expect'")),
    }
}

/// `true` is any rejection, a name is that one, `false` is none.
fn expected_rejection(node: &Node) -> Result<Option<ExpectedRejection>, Broken> {
    match &node.value {
        Value::Flag(true) => Ok(Some(ExpectedRejection::Any)),
        Value::Flag(false) => Ok(None),
        Value::Text(name) => match name.parse() {
            Ok(code) => Ok(Some(ExpectedRejection::Code(code))),
            Err(_) => Err(node.error(&format!("there is no rejection '{name}'"))),
        },
        Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => {
            Err(node.error("rejected must be true or the name of a rejection"))
        }
    }
}
