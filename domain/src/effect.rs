//! What a rule, a die or a card changes: every value before and after.
//!
//! What can change, and why, is named by each game in its own folder; the names that several games
//! share stand here. Events carry the names as they are.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};

use crate::{SeatNo, Word, special_dice::DieAt};

/// A rule or a die changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectApplied {
    /// Whose values changed.
    pub seat: SeatNo,
    /// What caused it.
    pub source: EffectSource,
    /// What changed.
    pub changes: Vec<Change>,
}

/// What causes an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectSource {
    /// A rule of the game: `"farkle_penalty"`.
    Rule(Word),
    /// Something that the rules name, and what was done with it: `{"bought":"aegis"}`.
    Thing(Word, Word),
    /// A special die: `{"die":{"slot":0,"code":"HOT"}}`.
    Die(DieAt),
}

/// One value before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which value.
    pub what: Measure,
    /// What it was.
    pub before: i64,
    /// What it is now.
    pub after: i64,
}

/// A value that effects change. Yes and no are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A value of a seat or of its turn: `"game_score"`.
    Value(Word),
    /// A value of something that the rules name: `{"held":"any_score"}`.
    OfThing(Word, Word),
    /// A value of the die in a slot: `{"face":3}`.
    OfDie(Word, u8),
}

impl Change {
    /// A value that changes.
    pub(crate) const fn of(what: Measure, before: i64, after: i64) -> Self {
        Self { what, before, after }
    }
}

/// Something was bought.
pub(crate) const BOUGHT: Word = Word::of("bought");
/// Something one holds was used.
pub(crate) const USED: Word = Word::of("used");
/// Something one holds does what it does.
pub(crate) const ITEM: Word = Word::of("item");
const DIE: &str = "die";

/// How many of a thing one holds.
pub(crate) const HELD: Word = Word::of("held");
/// Whether a thing that was used is still to take effect.
pub(crate) const ACTIVE: Word = Word::of("active");

impl EffectSource {
    /// A rule, by its name.
    pub(crate) const fn rule(name: &str) -> Self {
        Self::Rule(Word::of(name))
    }
}

impl EffectSource {
    /// Whether something was bought.
    pub(crate) const fn is_purchase(self) -> bool {
        matches!(self, Self::Thing(BOUGHT, _))
    }
}

impl Measure {
    /// The banked points.
    pub(crate) const GAME_SCORE: Self = Self::value("game_score");
    /// Points of the completed hands of the round, or of all its turns.
    pub(crate) const ROUND_SCORE: Self = Self::value("round_score");
    /// What later rolls of the turn are multiplied by.
    pub(crate) const MULTIPLIER: Self = Self::value("multiplier");

    /// A value of a seat or of its turn.
    pub const fn value(name: &str) -> Self {
        Self::Value(Word::of(name))
    }
}

impl Serialize for EffectSource {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Rule(name) => name.serialize(to),
            Self::Thing(done, thing) => entry(to, done, thing),
            Self::Die(die) => entry(to, DIE, die),
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(name) => name.serialize(to),
            Self::OfThing(name, thing) => entry(to, name, thing),
            Self::OfDie(name, slot) => entry(to, name, slot),
        }
    }
}

fn entry<S: Serializer>(
    to: S,
    name: impl Serialize,
    value: impl Serialize,
) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry(&name, &value)?;
    map.end()
}

impl<'de> Deserialize<'de> for EffectSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ReadSource)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ReadMeasure)
    }
}

struct ReadSource;

impl<'de> Visitor<'de> for ReadSource {
    type Value = EffectSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a rule, or a thing or die by what was done with it")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<EffectSource, E> {
        name.parse().map(EffectSource::Rule).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EffectSource, A::Error> {
        let done: Word = map.next_key()?.ok_or_else(|| A::Error::custom("it is empty"))?;
        if done.as_str() == DIE {
            return map.next_value().map(EffectSource::Die);
        }
        map.next_value().map(|thing| EffectSource::Thing(done, thing))
    }
}

struct ReadMeasure;

/// What a value is of: a thing by its code, or a die by its slot.
#[derive(Deserialize)]
#[serde(untagged)]
enum Owner {
    Thing(Word),
    Slot(u8),
}

impl<'de> Visitor<'de> for ReadMeasure {
    type Value = Measure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a value, or the thing or die it is of by that name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Measure, E> {
        name.parse().map(Measure::Value).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measure, A::Error> {
        let name = map.next_key()?.ok_or_else(|| A::Error::custom("it is empty"))?;
        Ok(match map.next_value()? {
            Owner::Thing(thing) => Measure::OfThing(name, thing),
            Owner::Slot(slot) => Measure::OfDie(name, slot),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_plainly_and_read_back() {
        let die = DieAt { slot: 0, code: "HOT".parse().unwrap() };
        let sources = [
            (EffectSource::rule("farkle_penalty"), r#""farkle_penalty""#),
            (EffectSource::Thing(BOUGHT, Word::of("aegis")), r#"{"bought":"aegis"}"#),
            (EffectSource::Die(die), r#"{"die":{"slot":0,"code":"HOT"}}"#),
        ];
        for (source, written) in sources {
            assert_eq!(serde_json::to_string(&source).unwrap(), written);
            assert_eq!(serde_json::from_str::<EffectSource>(written).unwrap(), source);
        }
        let measures = [
            (Measure::GAME_SCORE, r#""game_score""#),
            (Measure::OfThing(HELD, Word::of("loaded_dice")), r#"{"held":"loaded_dice"}"#),
            (Measure::OfDie(Word::of("face"), 3), r#"{"face":3}"#),
        ];
        for (measure, written) in measures {
            assert_eq!(serde_json::to_string(&measure).unwrap(), written);
            assert_eq!(serde_json::from_str::<Measure>(written).unwrap(), measure);
        }
        for bad in ["7", "{}", r#""Game Score""#, r#"{"held":[]}"#] {
            assert!(serde_json::from_str::<Measure>(bad).is_err(), "{bad}");
        }
    }
}
