//! Effects of rules, dice and cards: every changed value before and after.
//!
//! Each game defines the names of its effects and values in its own folder; the shared ones are
//! here. Events store the names as they are.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};

use crate::{SeatNo, Slug, special_dice::DieAt};

/// A rule, die or card changed values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectApplied {
    /// The seat whose values changed.
    pub seat: SeatNo,
    /// What caused it.
    pub source: EffectSource,
    /// What changed.
    pub changes: Vec<Change>,
}

/// The source of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectSource {
    /// A rule of the game: `"farkle_penalty"`.
    Rule(Slug),
    /// An item of the rules, and what was done with it: `{"bought":"aegis"}`.
    Item(Slug, Slug),
    /// A special die: `{"die":{"slot":0,"code":"HOT"}}`.
    Die(DieAt),
}

/// The change of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The value.
    pub what: Measure,
    /// The old value.
    pub before: i64,
    /// The new value.
    pub after: i64,
}

/// A value that effects change. Booleans are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A value of a seat or of its turn: `"game_score"`.
    Value(Slug),
    /// A value of an item of the rules: `{"held":"any_score"}`.
    OfItem(Slug, Slug),
    /// A value of the die in a slot: `{"face":3}`.
    OfDie(Slug, u8),
}

impl Change {
    pub(crate) const fn of(what: Measure, before: i64, after: i64) -> Self {
        Self { what, before, after }
    }
}

/// An item was bought.
pub(crate) const BOUGHT: Slug = Slug::of("bought");
/// An item was used.
pub(crate) const USED: Slug = Slug::of("used");
/// An item took effect.
pub(crate) const ITEM: Slug = Slug::of("item");
const DIE: &str = "die";

/// The number of items held.
pub(crate) const HELD: Slug = Slug::of("held");
/// Whether an item that was used has yet to take effect.
pub(crate) const ACTIVE: Slug = Slug::of("active");

impl EffectSource {
    /// A rule by name.
    pub(crate) const fn rule(name: &str) -> Self {
        Self::Rule(Slug::of(name))
    }
}

impl EffectSource {
    /// Whether it is a purchase.
    pub(crate) const fn is_purchase(self) -> bool {
        matches!(self, Self::Item(BOUGHT, _))
    }
}

impl Measure {
    /// The banked points.
    pub(crate) const GAME_SCORE: Self = Self::value("game_score");
    /// Points of the completed hands of the round, or of all its turns.
    pub(crate) const ROUND_SCORE: Self = Self::value("round_score");
    /// The factor of later rolls of the turn.
    pub(crate) const MULTIPLIER: Self = Self::value("multiplier");

    /// A value of a seat or of its turn.
    pub const fn value(name: &str) -> Self {
        Self::Value(Slug::of(name))
    }
}

impl Serialize for EffectSource {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Rule(name) => name.serialize(to),
            Self::Item(done, thing) => entry(to, done, thing),
            Self::Die(die) => entry(to, DIE, die),
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(name) => name.serialize(to),
            Self::OfItem(name, thing) => entry(to, name, thing),
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
        let done: Slug = map.next_key()?.ok_or_else(|| A::Error::custom("it is empty"))?;
        if done.as_str() == DIE {
            return map.next_value().map(EffectSource::Die);
        }
        map.next_value().map(|thing| EffectSource::Item(done, thing))
    }
}

struct ReadMeasure;

/// The owner of a value: an item by its code, or a die by its slot.
#[derive(Deserialize)]
#[serde(untagged)]
enum Owner {
    Item(Slug),
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
            Owner::Item(thing) => Measure::OfItem(name, thing),
            Owner::Slot(slot) => Measure::OfDie(name, slot),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip() {
        let die = DieAt { slot: 0, code: "HOT".parse().unwrap() };
        let sources = [
            (EffectSource::rule("farkle_penalty"), r#""farkle_penalty""#),
            (EffectSource::Item(BOUGHT, Slug::of("aegis")), r#"{"bought":"aegis"}"#),
            (EffectSource::Die(die), r#"{"die":{"slot":0,"code":"HOT"}}"#),
        ];
        for (source, written) in sources {
            assert_eq!(serde_json::to_string(&source).unwrap(), written);
            assert_eq!(serde_json::from_str::<EffectSource>(written).unwrap(), source);
        }
        let measures = [
            (Measure::GAME_SCORE, r#""game_score""#),
            (Measure::OfItem(HELD, Slug::of("loaded_dice")), r#"{"held":"loaded_dice"}"#),
            (Measure::OfDie(Slug::of("face"), 3), r#"{"face":3}"#),
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
