//! Events as (type, schema, payload), and back.
//!
//! The payload is the JSON of the event's fields. When the fields of a type change in a way that a
//! default cannot express, its schema number is incremented and a step in [`UPCASTS`] converts old
//! payloads when they are read. Stored events are never modified.

use domain::{AccountEvent, DisputeEvent, Event, StaffEvent, special_dice::CatalogueEvent};
use serde::{
    Deserialize,
    de::{
        self, DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::{Error, Value};

/// Converts payloads from one schema to the next.
struct Upcast {
    kind: &'static str,
    /// The schema it converts from, to the next one.
    from: i16,
    step: fn(Value) -> Value,
}

/// Upcasts of all types. Every type still has its first schema.
const UPCASTS: &[Upcast] = &[];

/// The schema number that a type is written with.
pub fn schema_of(kind: &str) -> i16 {
    current(UPCASTS, kind)
}

fn current(upcasts: &[Upcast], kind: &str) -> i16 {
    upcasts.iter().filter(|step| step.kind == kind).map(|step| step.from).max().unwrap_or(0) + 1
}

/// Serializes the payload of an event.
pub fn encode(event: &Event) -> Result<String, Error> {
    let mut tagged = if let Event::Account(event) = event {
        serde_json::to_string(event)?
    } else if let Event::Catalogue(event) = event {
        serde_json::to_string(event)?
    } else if let Event::Dispute(event) = event {
        serde_json::to_string(event)?
    } else if let Event::Staff(event) = event {
        serde_json::to_string(event)?
    } else {
        serde_json::to_string(event)?
    };
    // {"Name":payload}
    tagged.pop();
    tagged.drain(..event.name().len() + 4);
    Ok(tagged)
}

/// Deserializes an event, upcast to its current schema.
pub fn decode(kind: &str, schema: i16, payload: &str) -> Result<Event, Undecodable> {
    decode_with(UPCASTS, kind, schema, payload)
}

fn decode_with(
    upcasts: &[Upcast],
    kind: &str,
    schema: i16,
    payload: &str,
) -> Result<Event, Undecodable> {
    let now = current(upcasts, kind);
    let broken = |error: Error| {
        let kind = kind.to_owned();
        if names().any(|name| name == kind) {
            Undecodable::Broken { kind, schema, error: error.to_string() }
        } else {
            Undecodable::UnknownType { kind }
        }
    };
    if schema == now {
        return read(kind, payload).map_err(broken);
    }
    if schema > now || schema < 1 {
        return Err(Undecodable::NewerSchema { kind: kind.to_owned(), schema, known: now });
    }
    let mut value: Value = serde_json::from_str(payload).map_err(broken)?;
    for from in schema..now {
        let step = upcasts.iter().find(|step| step.kind == kind && step.from == from);
        value = step.map_or_else(|| value.clone(), |step| (step.step)(value.clone()));
    }
    let payload = value.to_string();
    read(kind, &payload).map_err(broken)
}

/// The names of all event types.
fn names() -> impl Iterator<Item = &'static str> {
    let games = Event::NAMES.into_iter().chain(AccountEvent::NAMES).chain(CatalogueEvent::NAMES);
    games.chain(DisputeEvent::NAMES).chain(StaffEvent::NAMES)
}

fn read(kind: &str, payload: &str) -> Result<Event, Error> {
    let tagged = Tagged { kind, payload };
    if AccountEvent::NAMES.contains(&kind) {
        AccountEvent::deserialize(tagged).map(Event::Account)
    } else if CatalogueEvent::NAMES.contains(&kind) {
        CatalogueEvent::deserialize(tagged).map(Event::Catalogue)
    } else if DisputeEvent::NAMES.contains(&kind) {
        DisputeEvent::deserialize(tagged).map(Event::Dispute)
    } else if StaffEvent::NAMES.contains(&kind) {
        StaffEvent::deserialize(tagged).map(Event::Staff)
    } else {
        Event::deserialize(tagged)
    }
}

/// Why a stored event cannot be decoded. Such events are never skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// Written by a newer croupier.
    #[error("events of type {kind} are unknown; update this croupier")]
    UnknownType {
        /// The type.
        kind: String,
    },
    /// Written by a newer croupier.
    #[error(
        "schema {schema} of {kind} is newer than {known}, the latest known; update this croupier"
    )]
    NewerSchema {
        /// The type.
        kind: String,
        /// Its schema.
        schema: i16,
        /// The latest known schema.
        known: i16,
    },
    /// The payload does not match its type.
    #[error("the payload is not a {kind} of schema {schema}: {error}")]
    Broken {
        /// The type.
        kind: String,
        /// Its schema.
        schema: i16,
        /// What is wrong.
        error: String,
    },
}

/// An enum whose variant name is stored beside its content instead of around it.
struct Tagged<'a> {
    kind: &'a str,
    payload: &'a str,
}

impl<'de> Deserializer<'de> for Tagged<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Tagged<'de> {
    type Error = Error;
    type Variant = Payload<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Payload<'de>), Error> {
        let kind = seed.deserialize(BorrowedStrDeserializer::<Error>::new(self.kind))?;
        Ok((kind, Payload(self.payload)))
    }
}

struct Payload<'a>(&'a str);

impl<'de> VariantAccess<'de> for Payload<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(de::Error::custom("an event has fields"))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(&mut serde_json::Deserializer::from_str(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("an event has named fields"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        serde_json::Deserializer::from_str(self.0).deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One sample of every event and schema ever written; lines are only added, never changed.
    const FROZEN: &str = include_str!("../tests/frozen/payloads.tsv");

    #[test]
    fn every_frozen_payload_decodes() {
        for line in FROZEN.lines() {
            let (kind, rest) = line.split_once('\t').unwrap();
            let (schema, payload) = rest.split_once('\t').unwrap();
            let schema = schema.parse().unwrap();
            let event = decode(kind, schema, payload).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert_eq!(event.name(), kind);
            if schema == schema_of(kind) {
                assert_eq!(encode(&event).unwrap(), payload);
            }
        }
        for kind in names() {
            for schema in 1..=schema_of(kind) {
                let start = format!("{kind}\t{schema}\t");
                assert!(FROZEN.lines().any(|line| line.starts_with(&start)), "no sample: {start}");
            }
        }
    }

    #[test]
    fn unknown_types_differ_from_broken_payloads() {
        let payload = r#"{"seat":1,"in_a_row":2}"#;
        assert!(decode("TimedOut", 1, payload).is_ok());
        let newer = decode("TimedOut", 2, payload).unwrap_err();
        assert!(matches!(newer, Undecodable::NewerSchema { schema: 2, known: 1, .. }));
        let unknown = decode("Teleported", 1, payload).unwrap_err();
        assert_eq!(unknown, Undecodable::UnknownType { kind: "Teleported".into() });
        for broken in ["{}", "", "[1]", "null", r#"{"seat":1,"in_a_row":2"#] {
            assert!(matches!(decode("TimedOut", 1, broken), Err(Undecodable::Broken { .. })));
        }
    }

    #[test]
    fn old_payloads_are_upcast_step_by_step() {
        let steps = &[
            Upcast {
                kind: "TimedOut",
                from: 1,
                step: |mut value| {
                    value["seat"] = value["player"].take();
                    value
                },
            },
            Upcast {
                kind: "TimedOut",
                from: 2,
                step: |mut value| {
                    value["in_a_row"] = value["seat"].as_i64().map(|n| n + 40).into();
                    value
                },
            },
        ];
        assert_eq!(current(steps, "TimedOut"), 3);
        let expected = Event::TimedOut { seat: 2, in_a_row: 42 };
        assert_eq!(decode_with(steps, "TimedOut", 1, r#"{"player":2}"#).unwrap(), expected);
        assert_eq!(decode_with(steps, "TimedOut", 2, r#"{"seat":2}"#).unwrap(), expected);
        assert!(decode_with(steps, "TimedOut", 4, r#"{"seat":2}"#).is_err());
    }
}
