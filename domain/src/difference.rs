//! What changed between two states of a game.

use serde_json::{Value, json};

use crate::{Game, Table};

/// A changed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path: `board.farkle.players.0.score`.
    pub path: String,
    /// The old value; null if there was none.
    pub before: Value,
    /// The new value; null if it was removed.
    pub after: Value,
}

/// The state as a tree of values, without what never changes or changes with every event, and
/// without records of earlier rounds, which the events have.
pub fn snapshot(game: &Game) -> Value {
    let Table { seats, stage, turn, rolls, voided, .. } = &game.table;
    let table =
        json!({ "seats": seats, "stage": stage, "turn": turn, "rolls": rolls, "voided": voided });
    let mut board = serde_json::to_value(game.board.without_history()).unwrap_or_default();
    if let Value::Object(kinds) = &mut board {
        for kind in kinds.values_mut().filter_map(Value::as_object_mut) {
            kind.remove("rules");
        }
    }
    json!({ "board": board, "table": table })
}

/// The changed leaves of two trees of values, in the order of the fields.
pub fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&mut String::new(), before, after, &mut found);
    found
}

fn compare(path: &mut String, before: &Value, after: &Value, found: &mut Vec<Difference>) {
    if before == after {
        return;
    }
    let end = path.len();
    let mut below = |name: &str, before: &Value, after: &Value| {
        if end > 0 {
            path.push('.');
        }
        path.push_str(name);
        compare(path, before, after, found);
        path.truncate(end);
    };
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                below(name, value, new.get(name).unwrap_or(&Value::Null));
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                below(name, &Value::Null, value);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for place in 0..old.len().max(new.len()) {
                let at = |list: &[Value]| list.get(place).cloned().unwrap_or_default();
                below(&place.to_string(), &at(old), &at(new));
            }
        }
        _ => found.push(Difference {
            path: path.clone(),
            before: before.clone(),
            after: after.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_changed_leaves() {
        let before = json!({ "a": 1, "b": { "c": [1, 2], "gone": true }, "same": [1] });
        let after = json!({ "a": 2, "b": { "c": [1, 3, 4], "new": "x" }, "same": [1] });
        let told: Vec<String> = differences(&before, &after)
            .into_iter()
            .map(|d| format!("{} {} {}", d.path, d.before, d.after))
            .collect();
        let expected =
            ["a 1 2", "b.c.1 2 3", "b.c.2 null 4", "b.gone true null", "b.new null \"x\""];
        assert_eq!(told, expected);
        assert!(differences(&after, &after).is_empty());
    }
}
