//! What changed between two states of a game.

use serde_json::Value;

use crate::Game;

/// Something that is not as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where: `board.farkle.players.0.score`.
    pub path: String,
    /// What it was; null where there was nothing.
    pub before: Value,
    /// What it is; null where there is nothing any more.
    pub after: Value,
}

/// Parts of a state that never change, or with every event.
const LEFT_OUT: [&str; 6] = ["id", "version", "ruleset", "ruleset_hash", "commitment", "rules"];

/// A state as a tree of values, without what never changes.
pub fn snapshot(game: &Game) -> Value {
    let mut all = serde_json::to_value(game).unwrap_or_default();
    let mut prune = |part: &mut Value| {
        if let Value::Object(fields) = part {
            fields.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
        }
    };
    prune(&mut all["table"]);
    if let Value::Object(kinds) = &mut all["board"] {
        kinds.values_mut().for_each(&mut prune);
    }
    all
}

/// What changed from one tree of values to another, leaf by leaf, in the order of the fields.
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
    fn leaves_that_changed_are_named() {
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
