//! Rules as data. The first event of a game contains them in full, so it always replays by its own
//! rules.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Dollars, Number, Rejection,
    games::Rules,
    text::{is_invisible, is_line},
};

/// The rules of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruleset {
    /// The name of the preset, or `custom`.
    pub preset: String,
    /// The version of the preset. A change of a preset is a new version; existing games keep
    /// theirs.
    pub version: u32,
    /// The parameters common to all games.
    pub table: TableRules,
    /// The kind of game and its parameters.
    #[serde(flatten)]
    pub rules: Rules,
}

/// The parameters common to all games: seats, time limits, awards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRules {
    /// The minimum number of seats.
    pub min_seats: u8,
    /// The maximum number of seats.
    pub max_seats: u8,
    /// The time limit of a turn; 0 for none.
    pub turn_seconds: u32,
    /// The time limit of a turn in a game with one seat; 0 for none.
    pub solo_turn_seconds: u32,
    /// This many consecutive time-outs forfeit the seat.
    pub time_outs_to_forfeit: u32,
    /// A game without activity for this long is abandoned.
    pub expiry_hours: u32,
    /// The award for every player still seated at the end.
    pub finish_award: Dollars,
    /// The additional award for a winner.
    pub win_award: Dollars,
    /// A practice game: no money is earned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub practice: bool,
}

impl TableRules {
    /// The common values.
    pub(crate) const fn usual() -> Self {
        Self {
            min_seats: 1,
            max_seats: 8,
            turn_seconds: 120,
            solo_turn_seconds: 0,
            time_outs_to_forfeit: 3,
            expiry_hours: 72,
            finish_award: 3,
            win_award: 5,
            practice: false,
        }
    }
}

impl Ruleset {
    /// The preset `standard` of a game for two or more players.
    pub(crate) fn standard(version: u32, rules: Rules) -> Self {
        let (min_seats, max_seats) = (rules.fewest_seats(), rules.most_seats());
        let table = TableRules { min_seats, max_seats, ..TableRules::usual() };
        Self { preset: "standard".to_owned(), version, table, rules }
    }

    /// A preset of a game; the game's default if no name is given.
    pub fn preset(game: &str, name: Option<&str>) -> Result<Self, Rejection> {
        let presets = Rules::presets(game)?;
        let known = || presets.iter().map(|p| p.preset.as_str()).collect::<Vec<_>>().join(", ");
        let found = match name {
            Some(name) => presets.iter().find(|preset| preset.preset == name),
            None => presets.first(),
        };
        found.cloned().ok_or_else(|| Rejection::UnknownPreset {
            game: game.to_owned(),
            preset: name.unwrap_or_default().to_owned(),
            known: known(),
        })
    }

    /// An earlier version of these rules. Games that started under it still use it.
    pub fn in_version(&self, version: u32) -> Result<Self, Rejection> {
        let mut versions = Rules::versions(self.rules.game())?;
        versions.retain(|known| known.preset == self.preset);
        let known =
            || versions.iter().map(|p| p.version.to_string()).collect::<Vec<_>>().join(", ");
        versions.iter().find(|known| known.version == version).cloned().ok_or_else(|| {
            Rejection::UnknownVersion { preset: self.preset.clone(), version, known: known() }
        })
    }

    /// These rules with some parameters changed. Tables of numbers can be changed in part.
    pub fn with(&self, changes: &Map<String, Value>) -> Result<Self, Rejection> {
        let mut ruleset = self.clone();
        for (parameter, value) in changes {
            ruleset = ruleset.with_one(parameter, value)?;
        }
        if ruleset != *self {
            "custom".clone_into(&mut ruleset.preset);
        }
        ruleset.check()?;
        Ok(ruleset)
    }

    fn with_one(&self, parameter: &str, value: &Value) -> Result<Self, Rejection> {
        let mut json = self.to_json();
        // It is omitted from JSON when it is off.
        json["table"]["practice"] = self.table.practice.into();
        let known = ["table", "parameters"].map(|part| json[part].as_object().cloned());
        let names = known.iter().flatten().flat_map(Map::keys);
        let part = if json["table"].get(parameter).is_some() { "table" } else { "parameters" };
        let Some(current) = json[part].get_mut(parameter) else {
            let known = names.map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(Rejection::UnknownRule { parameter: parameter.to_owned(), known });
        };
        merge(current, &self.rules.named_value(parameter, value)?);
        serde_json::from_value(json).map_err(|error| bad(parameter, value, readable_error(&error)))
    }

    /// Rejects invalid rules.
    pub fn check(&self) -> Result<(), Rejection> {
        for number in self.numbers() {
            if let Some(value) = number.outside() {
                return Err(out_of_range(number.name, value, &number.range));
            }
        }
        self.rules.check()
    }

    /// The numbers of these rules: those of the table, then those of the game.
    pub fn numbers(&self) -> Vec<Number> {
        let table = &self.table;
        let (fewest, most) = (self.rules.fewest_seats().into(), self.rules.most_seats().into());
        let seats = i64::from(table.max_seats);
        let mut numbers = vec![
            Number::new("max_seats", table.max_seats, fewest..=most, "The most seats."),
            Number::new(
                "min_seats",
                table.min_seats,
                fewest..=seats,
                "The fewest seats to start with.",
            ),
            Number::new(
                "turn_seconds",
                table.turn_seconds,
                0..=604_800,
                "Seconds per turn; 0 for no limit.",
            ),
            Number::new(
                "solo_turn_seconds",
                table.solo_turn_seconds,
                0..=604_800,
                "Seconds per turn in a game of one seat; 0 for no limit.",
            ),
            Number::new(
                "time_outs_to_forfeit",
                table.time_outs_to_forfeit,
                1..=100,
                "This many time-outs in a row forfeit the seat.",
            ),
            Number::new(
                "expiry_hours",
                table.expiry_hours,
                1..=8_760,
                "A game is abandoned after this many hours without a command.",
            ),
            Number::new(
                "finish_award",
                table.finish_award,
                0..=1_000,
                "Dollars for everyone who finishes.",
            ),
            Number::new("win_award", table.win_award, 0..=1_000, "Dollars for a winner on top."),
        ];
        numbers.extend(self.rules.numbers());
        numbers
    }

    /// The rules as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Turns the message of a parser into plain text for users.
fn readable_error(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(", expected ") {
        Some((_, "u8")) => "it must be a whole number from 0 to 255".to_owned(),
        Some((_, "u32")) => "it must be a whole number of 0 or more".to_owned(),
        Some((_, "i64")) => "it must be a whole number".to_owned(),
        Some((what, expected)) if what.starts_with("invalid") => format!("it must be {expected}"),
        _ => said,
    }
}

/// Merges objects key by key, replaces everything else.
fn merge(current: &mut Value, change: &Value) {
    match (current, change) {
        (Value::Object(current), Value::Object(change)) => {
            for (key, value) in change {
                merge(current.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (current, change) => *current = change.clone(),
    }
}

/// Rejects a parameter outside its range.
pub(crate) fn within<T>(name: &str, value: T, range: RangeInclusive<T>) -> Result<(), Rejection>
where
    T: PartialOrd + std::fmt::Display,
{
    if range.contains(&value) {
        return Ok(());
    }
    Err(out_of_range(name, value, &range))
}

fn out_of_range<T>(name: &str, value: T, range: &RangeInclusive<T>) -> Rejection
where
    T: std::fmt::Display,
{
    bad(name, value, format_args!("it must be from {} to {}", range.start(), range.end()))
}

/// Rejects a name that is not a single line of 1 to 60 characters.
pub(crate) fn named(parameter: &str, name: &str) -> Result<(), Rejection> {
    if is_line(name, 1..=60) {
        return Ok(());
    }
    let shown: String =
        name.chars().take(60).map(|c| if is_invisible(c) { '?' } else { c }).collect();
    Err(bad(parameter, shown, "it must be a line of 1 to 60 characters that can be seen"))
}

/// The rejection of a parameter value.
pub(crate) fn bad(name: &str, value: impl ToString, allowed: impl ToString) -> Rejection {
    Rejection::BadRule {
        parameter: name.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    }
}
