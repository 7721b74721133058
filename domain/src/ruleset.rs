//! Rules as data: recorded in full in a game's first event, so a game replays under its own rules.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Dollars, Rejection,
    games::Rules,
    text::{is_invisible, is_line},
};

/// The rules of one game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruleset {
    /// The preset these rules are, or `custom`.
    pub preset: String,
    /// The version of the preset. A changed preset is a new version; old games keep theirs.
    pub version: u32,
    /// The parameters every game has.
    pub table: TableRules,
    /// Which game, and its own parameters.
    #[serde(flatten)]
    pub rules: Rules,
}

/// The parameters every game has: seats, clock, awards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRules {
    /// The fewest seats to start with.
    pub min_seats: u8,
    /// The most seats.
    pub max_seats: u8,
    /// How long a turn may take; 0 is no limit.
    pub turn_seconds: u32,
    /// How long a turn may take in a game of one seat; 0 is no limit.
    pub solo_turn_seconds: u32,
    /// So many time-outs in a row forfeit the seat.
    pub time_outs_to_forfeit: u32,
    /// A game nobody has touched for so long is abandoned.
    pub expiry_hours: u32,
    /// What everybody earns who is still seated at the end.
    pub finish_award: Dollars,
    /// What a winner earns on top.
    pub win_award: Dollars,
    /// A game without money: nobody earns any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub practice: bool,
}

impl TableRules {
    /// What most games have.
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
    /// The preset `standard` of a game of two or more, in a version.
    pub(crate) fn standard(version: u32, rules: Rules) -> Self {
        let (min_seats, max_seats) = (rules.fewest_seats(), rules.most_seats());
        let table = TableRules { min_seats, max_seats, ..TableRules::usual() };
        Self { preset: "standard".to_owned(), version, table, rules }
    }

    /// The preset of a game; without a name, the game's default.
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

    /// An earlier version of these rules, as games are played that were begun under it.
    pub fn in_version(&self, version: u32) -> Result<Self, Rejection> {
        let mut versions = Rules::versions(self.rules.game())?;
        versions.retain(|known| known.preset == self.preset);
        let known =
            || versions.iter().map(|p| p.version.to_string()).collect::<Vec<_>>().join(", ");
        versions.iter().find(|known| known.version == version).cloned().ok_or_else(|| {
            Rejection::UnknownVersion { preset: self.preset.clone(), version, known: known() }
        })
    }

    /// These rules with some parameters changed. A table of numbers may be changed in parts.
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
        // It is not written where it is off.
        json["table"]["practice"] = self.table.practice.into();
        let known = ["table", "parameters"].map(|part| json[part].as_object().cloned());
        let names = known.iter().flatten().flat_map(Map::keys);
        let part = if json["table"].get(parameter).is_some() { "table" } else { "parameters" };
        let Some(current) = json[part].get_mut(parameter) else {
            let known = names.map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(Rejection::UnknownRule { parameter: parameter.to_owned(), known });
        };
        merge(current, &self.rules.named_value(parameter, value)?);
        serde_json::from_value(json).map_err(|error| bad(parameter, value, plainly(&error)))
    }

    /// Refuses rules that make no sense.
    pub fn check(&self) -> Result<(), Rejection> {
        let table = &self.table;
        let fewest = self.rules.fewest_seats();
        within("max_seats", table.max_seats, fewest..=self.rules.most_seats())?;
        within("min_seats", table.min_seats, fewest..=table.max_seats)?;
        within("turn_seconds", table.turn_seconds, 0..=604_800)?;
        within("solo_turn_seconds", table.solo_turn_seconds, 0..=604_800)?;
        within("time_outs_to_forfeit", table.time_outs_to_forfeit, 1..=100)?;
        within("expiry_hours", table.expiry_hours, 1..=8_760)?;
        within("finish_award", table.finish_award, 0..=1_000)?;
        within("win_award", table.win_award, 0..=1_000)?;
        self.rules.check()
    }

    /// The rules as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What a parser expected, in words for people.
fn plainly(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(", expected ") {
        Some((_, "u8")) => "it must be a whole number from 0 to 255".to_owned(),
        Some((_, "u32")) => "it must be a whole number of 0 or more".to_owned(),
        Some((_, "i64")) => "it must be a whole number".to_owned(),
        Some((what, expected)) if what.starts_with("invalid") => format!("it must be {expected}"),
        _ => said,
    }
}

/// Changes objects key by key, everything else as a whole.
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

/// Refuses a parameter outside its range.
pub(crate) fn within<T>(name: &str, value: T, range: RangeInclusive<T>) -> Result<(), Rejection>
where
    T: PartialOrd + std::fmt::Display,
{
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(bad(name, value, format_args!("it must be from {least} to {most}")))
}

/// Refuses a name that is no line of 1 to 60 characters.
pub(crate) fn named(parameter: &str, name: &str) -> Result<(), Rejection> {
    if is_line(name, 1..=60) {
        return Ok(());
    }
    let shown: String =
        name.chars().take(60).map(|c| if is_invisible(c) { '?' } else { c }).collect();
    Err(bad(parameter, shown, "it must be a line of 1 to 60 characters that can be seen"))
}

/// A rule that cannot have this value.
pub(crate) fn bad(name: &str, value: impl ToString, allowed: impl ToString) -> Rejection {
    Rejection::BadRule {
        parameter: name.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    }
}
