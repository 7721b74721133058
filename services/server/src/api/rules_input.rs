//! Rules in requests: a preset with changed parameters.

use async_graphql::{InputObject, Json, OneofObject};
use serde_json::{Map, Value, json};

use super::{
    command::input_path,
    game_kind::GameKind,
    rules::snake_keys,
    scalars::{Long, PresetName},
};

/// The game and its rules. Set exactly one field. Changing parameters other than seats and clocks
/// makes it a practice game, in which no money is earned.
#[derive(Clone, Debug, OneofObject)]
pub(super) enum RulesInput {
    /// Farkle.
    Farkle(FarkleRulesInput),
    /// Zero Hour.
    ZeroHour(ZeroHourRulesInput),
    /// Any game.
    Other(OtherRulesInput),
}

/// Parameters of the table. Defaults to those of the preset.
#[derive(Clone, Copy, Debug, Default, InputObject)]
pub(super) struct TableRulesInput {
    /// The minimum number of players to start.
    min_seats: Option<i32>,
    /// The maximum number of players.
    max_seats: Option<i32>,
    /// Seconds per turn; 0 for no limit.
    turn_seconds: Option<i32>,
    /// Seconds per turn in a game with one player; 0 for no limit.
    solo_turn_seconds: Option<i32>,
    /// The number of consecutive time-outs that forfeits the seat.
    time_outs_to_forfeit: Option<i32>,
    /// A game without a command for this many hours is abandoned.
    expiry_hours: Option<i32>,
}

/// The rules of Farkle. Parameters default to those of the preset.
#[derive(Clone, Debug, Default, InputObject)]
pub(super) struct FarkleRulesInput {
    /// The preset. Defaults to the default preset of the game.
    preset: Option<PresetName>,
    /// Parameters of the table.
    table: Option<TableRulesInput>,
    /// The score that ends the game.
    target: Option<Long>,
    /// The number of rounds.
    rounds: Option<i32>,
    /// The maximum number of overtime rounds to break a tie.
    overtime_rounds: Option<i32>,
    /// The minimum points of the first bank of a seat.
    break_in: Option<Long>,
    /// The number of consecutive farkles that costs `penaltyPoints`.
    penalty_farkles: Option<i32>,
    /// The points lost after `penaltyFarkles` consecutive farkles.
    penalty_points: Option<Long>,
    /// Other parameters, in the form of `Ruleset.parameters`.
    custom: Option<Json<Value>>,
}

/// The rules of Zero Hour. Parameters default to those of the preset.
#[derive(Clone, Debug, Default, InputObject)]
pub(super) struct ZeroHourRulesInput {
    /// The preset. Defaults to the default preset of the game.
    preset: Option<PresetName>,
    /// Parameters of the table.
    table: Option<TableRulesInput>,
    /// The score that everyone starts with.
    start: Option<Long>,
    /// The score after a bank that goes below 0.
    overshoot_to: Option<Long>,
    /// Other parameters, in the form of `Ruleset.parameters`.
    custom: Option<Json<Value>>,
}

/// The rules of any game. Parameters default to those of the preset.
#[derive(Clone, Debug, InputObject)]
pub(super) struct OtherRulesInput {
    /// The game.
    kind: GameKind,
    /// The preset. Defaults to the default preset of the game.
    preset: Option<PresetName>,
    /// Parameters of the table.
    table: Option<TableRulesInput>,
    /// Parameters of the game, in the form of `Ruleset.parameters`.
    custom: Option<Json<Value>>,
}

/// The rules of a request.
#[derive(Clone, Debug)]
pub(super) struct RequestedRules {
    /// The field of `RulesInput` that was set.
    field: &'static str,
    pub(super) kind: &'static str,
    pub(super) preset: Option<String>,
    /// The changed parameters, by their names in the domain.
    pub(super) changes: Map<String, Value>,
    /// The value of `custom` if it is not an object.
    pub(super) bad: Option<Value>,
}

impl RequestedRules {
    /// The path of an argument in the input.
    pub(super) fn path(&self, argument: &str) -> Vec<String> {
        let inside = match argument {
            "game" => "kind",
            "preset" => "preset",
            "rules" => return ["input", "rules", self.field].map(str::to_owned).to_vec(),
            other => return input_path(other),
        };
        ["input", "rules", self.field, inside].map(str::to_owned).to_vec()
    }

    fn new(
        (field, kind): (&'static str, &'static str),
        preset: Option<PresetName>,
        table: Option<TableRulesInput>,
        own: Value,
        custom: Option<Json<Value>>,
    ) -> Self {
        let mut changes = Map::new();
        let (custom, bad) = match custom.map(|custom| custom.0) {
            None | Some(Value::Null) => (Map::new(), None),
            Some(Value::Object(custom)) => (snake_keys(&custom), None),
            Some(other) => (Map::new(), Some(other)),
        };
        changes.extend(custom);
        for given in [table.map(TableRulesInput::json).unwrap_or_default(), own] {
            if let Value::Object(given) = given {
                changes.extend(given.into_iter().filter(|(_, value)| !value.is_null()));
            }
        }
        Self { field, kind, preset: preset.map(|preset| preset.0), changes, bad }
    }
}

impl TableRulesInput {
    fn json(self) -> Value {
        json!({
            "min_seats": self.min_seats, "max_seats": self.max_seats,
            "turn_seconds": self.turn_seconds, "solo_turn_seconds": self.solo_turn_seconds,
            "time_outs_to_forfeit": self.time_outs_to_forfeit, "expiry_hours": self.expiry_hours,
        })
    }
}

impl From<RulesInput> for RequestedRules {
    fn from(input: RulesInput) -> Self {
        let number = |number: Option<Long>| number.map(|number| number.0);
        match input {
            RulesInput::Farkle(input) => {
                let own = json!({
                    "target": number(input.target), "rounds": input.rounds,
                    "overtime_rounds": input.overtime_rounds, "break_in": number(input.break_in),
                    "penalty_farkles": input.penalty_farkles,
                    "penalty_points": number(input.penalty_points),
                });
                Self::new(("farkle", "farkle"), input.preset, input.table, own, input.custom)
            }
            RulesInput::ZeroHour(input) => {
                let own = json!({
                    "start": number(input.start), "overshoot_to": number(input.overshoot_to),
                });
                Self::new(("zeroHour", "zero_hour"), input.preset, input.table, own, input.custom)
            }
            RulesInput::Other(input) => {
                let names = ("other", input.kind.0);
                Self::new(names, input.preset, input.table, Value::Null, input.custom)
            }
        }
    }
}
