//! A scenario as it is written.

use domain::{RejectionCode, Word};
use serde_json::{Map, Value as Json};

use super::{
    Broken,
    expect::Wanted,
    verb::Verb,
    yaml::{self, Node, Value},
};

/// Given, when, then.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) game: String,
    pub(super) preset: Option<String>,
    /// The version of the preset; without it, the newest one.
    pub(super) version: Option<u32>,
    pub(super) rules: Map<String, Json>,
    pub(super) seats: Vec<Seat>,
    /// What comes up at random, beside dice, in this order.
    pub(super) draws: Vec<Word>,
    /// The set-up is to be refused.
    pub(super) rejected: Option<Refusal>,
    pub(super) steps: Vec<Step>,
}

/// Who sits down.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) name: String,
    /// The client's seed.
    pub(super) seed: Option<String>,
    /// The dice, one a slot; nothing is ordinary dice.
    pub(super) dice: Option<Vec<String>>,
    /// Whom they play.
    pub(super) character: Option<String>,
    /// The wallet before the game.
    pub(super) money: i64,
}

/// What an account starts with.
const FIRST_MONEY: i64 = 10;

/// One line of the game.
#[derive(Debug)]
pub(super) enum Step {
    /// Somebody does something; `seat` counts the scenario's list of seats.
    Act { line: usize, seat: usize, verb: Verb, rejected: Option<Refusal> },
    /// Something is as expected.
    Expect { line: usize, wanted: Vec<Wanted> },
}

/// A refusal that is expected.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Whatever it is called.
    Any,
    /// This one.
    Code(RejectionCode),
}

/// All scenarios of a file; one that is broken leaves the others.
pub(super) fn scenarios(text: &str) -> Result<Vec<Result<Scenario, Broken>>, Broken> {
    let documents = yaml::documents(text)?;
    let scenarios: Vec<_> =
        documents.iter().filter(|d| d.value != Value::Null).map(scenario).collect();
    if scenarios.is_empty() {
        return Err(Broken::at(1, "the file holds no scenario"));
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
                    return Err(node.is_not("version must be the number of a preset's version"));
                };
                scenario.version = Some(u32::try_from(version).unwrap_or(u32::MAX));
            }
            "rules" => scenario.rules = node.to_json_map()?,
            "seats" => {
                scenario.seats = node.list("seats")?.iter().map(seat).collect::<Result<_, _>>()?;
            }
            "draws" => {
                scenario.draws = node.list("draws")?.iter().map(word).collect::<Result<_, _>>()?;
            }
            "rejected" => scenario.rejected = refusal(node)?,
            "steps" => steps = node.list("steps")?,
            "about" => {}
            other => {
                return Err(node.is_not(&format!(
                    "'{other}' is no part of a scenario; there are: name, about, game, preset, \
                     version, rules, seats, draws, rejected, steps"
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
            return Err(document.is_not(&format!("the scenario has no '{part}'")));
        }
    }
    if scenario.rejected.is_some() && !steps.is_empty() {
        return Err(document.is_not("a scenario whose set-up is rejected has no steps"));
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
                        return Err(value.is_not("money must be a number of dollars, 0 or more"));
                    };
                    seat.money = money;
                }
                "dice" => seat.dice = Some(dice(value)?),
                "character" => seat.character = Some(value.text("character")?),
                other => {
                    return Err(value.is_not(&format!(
                        "'{other}' is no part of a seat; there are: name, seed, money, dice, \
                         character"
                    )));
                }
            }
        }
    }
    if RESERVED.contains(&seat.name.as_str()) {
        return Err(node.is_not(&format!("a seat cannot be called '{}'", seat.name)));
    }
    Ok(seat)
}

/// Words that mean something else in a step or an expectation.
const RESERVED: [&str; 8] =
    ["expect", "rejected", "house", "to_move", "winner", "round", "decided_by", "events"];

/// The codes of a loadout. Whether there are such dice is for the rules to say.
fn dice(list: &Node) -> Result<Vec<String>, Broken> {
    list.list("dice")?.iter().map(|die| die.text("a die")).collect()
}

/// The code of a thing.
fn word(node: &Node) -> Result<Word, Broken> {
    let text = node.text("a thing that comes up")?;
    text.parse().map_err(|why| node.is_not(&format!("'{text}' is no code: {why}")))
}

fn step(node: &Node, seats: &[&str]) -> Result<Step, Broken> {
    let (mut act, mut expected, mut rejected) = (None, None, None);
    for (key, value) in node.entries("a step")? {
        if key == "expect" {
            expected = Some(Wanted::parse(value, seats)?);
        } else if key == "rejected" {
            rejected = refusal(value)?;
        } else {
            let by_house = key == "house";
            let seat = seats.iter().position(|&name| name == key);
            let Some(seat) = seat.or_else(|| by_house.then_some(0)) else {
                let known = seats.join(", ");
                return Err(value.is_not(&format!("nobody is called '{key}'; there are: {known}")));
            };
            if act.is_some() {
                return Err(value.is_not("a step is one action; begin the next with '-'"));
            }
            let verb = Verb::parse(&value.text("a step")?, by_house, seats);
            act = Some((seat, verb.map_err(|problem| value.is_not(&problem))?));
        }
    }
    let line = node.line;
    match (act, expected) {
        (Some((seat, verb)), None) => Ok(Step::Act { line, seat, verb, rejected }),
        (None, Some(wanted)) if rejected.is_none() => Ok(Step::Expect { line, wanted }),
        _ => {
            Err(node.is_not("a step is either one action, maybe with 'rejected', or one 'expect'"))
        }
    }
}

/// `true` is any refusal, a name that one, `false` none.
fn refusal(node: &Node) -> Result<Option<Refusal>, Broken> {
    match &node.value {
        Value::Flag(true) => Ok(Some(Refusal::Any)),
        Value::Flag(false) => Ok(None),
        Value::Text(name) => match name.parse() {
            Ok(code) => Ok(Some(Refusal::Code(code))),
            Err(_) => Err(node.is_not(&format!("no rejection is called '{name}'"))),
        },
        Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => {
            Err(node.is_not("rejected must be true or the name of a rejection"))
        }
    }
}
