//! Provably fair dice: nobody can cheat with them, not even the house.
//!
//! Before any player gives a seed, the house commits to a [`Secret`]. The dice are derived from
//! that secret and from the seeds of all players, so neither side can choose them. At the end the
//! secret is revealed, and anybody can repeat every roll. `docs/fair-dice.md` specifies the
//! protocol byte by byte; `tests/vectors/fair-dice.json` has test vectors.

mod digest;
mod draws;
mod key;

pub use digest::{Commitment, RulesetHash, Secret, SeedsHash};
pub use draws::{first_ticket, pick};
pub use key::{DiceKey, FairDice};

pub(crate) use digest::{from_hex, sha256, to_hex};

use crate::{GameId, Ruleset, text::ClientSeed};

/// The hash of a ruleset: of its JSON with sorted keys and without white space.
pub fn ruleset_hash(ruleset: &Ruleset) -> RulesetHash {
    let mut canonical = String::new();
    canonical_json(&ruleset.to_json(), &mut canonical);
    RulesetHash(sha256("croupier/ruleset/1", &[canonical.as_bytes()]))
}

/// The commitment of the house to its secret, the game and the rules.
pub fn commitment(secret: &Secret, game: GameId, ruleset: RulesetHash) -> Commitment {
    Commitment(sha256("croupier/commitment/1", &[game.0.as_bytes(), &ruleset.0, &secret.0]))
}

/// The hash of the sealed list of seeds: one entry per seat, in seat order, empty for a seat
/// without a seed.
pub fn seeds_hash<'a>(seeds: impl IntoIterator<Item = Option<&'a ClientSeed>>) -> SeedsHash {
    let mut list = Vec::new();
    for seed in seeds {
        let seed = seed.map_or("", ClientSeed::as_str).as_bytes();
        // A seed has at most 64 bytes.
        list.push(u8::try_from(seed.len()).unwrap_or(u8::MAX));
        list.extend_from_slice(seed);
    }
    SeedsHash(sha256("croupier/seeds/1", &[&list]))
}

/// Sorts explicitly: whether a JSON map keeps its keys sorted depends on a Cargo feature.
fn canonical_json(value: &serde_json::Value, to: &mut String) {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            to.push('{');
            for (n, (key, value)) in entries.into_iter().enumerate() {
                to.push_str(if n == 0 { "" } else { "," });
                to.push_str(&Value::from(key.as_str()).to_string());
                to.push(':');
                canonical_json(value, to);
            }
            to.push('}');
        }
        Value::Array(items) => {
            to.push('[');
            for (n, item) in items.iter().enumerate() {
                to.push_str(if n == 0 { "" } else { "," });
                canonical_json(item, to);
            }
            to.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            to.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_json_sorts_keys() {
        let mut text = String::new();
        let value = serde_json::json!({ "b": [1, null, true], "a": { "z": "é\"\n", "y": -2 } });
        canonical_json(&value, &mut text);
        assert_eq!(text, r#"{"a":{"y":-2,"z":"é\"\n"},"b":[1,null,true]}"#);
    }

    #[test]
    fn seeds_hash_depends_on_the_seat() {
        let (a, b) = (ClientSeed::parse("a").unwrap(), ClientSeed::parse("b").unwrap());
        let ab = ClientSeed::parse("ab").unwrap();
        let lists = [
            seeds_hash([Some(&a), Some(&b)]),
            seeds_hash([Some(&b), Some(&a)]),
            seeds_hash([Some(&ab), None]),
            seeds_hash([None, Some(&ab)]),
            seeds_hash([Some(&ab)]),
        ];
        for (n, list) in lists.iter().enumerate() {
            assert!(!lists[..n].contains(list));
        }
    }
}
