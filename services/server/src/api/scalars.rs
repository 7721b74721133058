//! Custom scalars.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use domain::Moment;
use serde::{Serialize, Serializer};

use crate::clock;

/// The largest integer that every JSON client represents exactly.
const LARGEST: i64 = (1 << 53) - 1;

/// An integer from -(2^53 - 1) to 2^53 - 1, serialized as a number: exact in every JSON client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long(pub(super) i64);

/// An integer from -(2^53 - 1) to 2^53 - 1, serialized as a number: exact in every JSON client.
#[Scalar]
impl ScalarType for Long {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::Number(number) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        let exact = number.as_i64().filter(|number| (-LARGEST..=LARGEST).contains(number));
        exact.map(Self).ok_or_else(|| {
            InputValueError::custom(format!("it must be an integer from -{LARGEST} to {LARGEST}"))
        })
    }

    fn to_value(&self) -> Value {
        Value::Number(self.0.clamp(-LARGEST, LARGEST).into())
    }
}

/// A time in UTC in RFC 3339 format with milliseconds: `2026-11-16T05:44:54.120Z`.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateTime(pub(super) Moment);

/// A time in UTC in RFC 3339 format with milliseconds: `2026-11-16T05:44:54.120Z`.
#[Scalar(specified_by_url = "https://scalars.graphql.org/andimarek/date-time.html")]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        Err(InputValueError::expected_type(value))
    }

    fn to_value(&self) -> Value {
        Value::String(clock::rfc3339(self.0))
    }
}

impl Serialize for DateTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&clock::rfc3339(self.0))
    }
}

/// A date in ISO 8601 format: `2026-11-16`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date(pub(super) i32);

/// A date in ISO 8601 format: `2026-11-16`.
#[Scalar(specified_by_url = "https://scalars.graphql.org/andimarek/local-date.html")]
impl ScalarType for Date {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        let day = projections::parse_day(text).map(Self);
        day.ok_or_else(|| InputValueError::custom("a date must have the format 2026-11-16"))
    }

    fn to_value(&self) -> Value {
        Value::String(projections::write_day(self.0))
    }
}

/// Declares a scalar for a kind of code, so that codes of different kinds cannot be mixed up.
macro_rules! code {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) String);

        $(#[$about])*
        #[Scalar]
        impl ScalarType for $name {
            fn parse(value: Value) -> InputValueResult<Self> {
                match value {
                    Value::String(code) => Ok(Self(code)),
                    other => Err(InputValueError::expected_type(other)),
                }
            }

            fn to_value(&self) -> Value {
                Value::String(self.0.clone())
            }
        }
    };
}

code! {
    /// The code of a kind of die, in capital letters: `MIDAS`; `STANDARD` for an ordinary die.
    DieCode
}

code! {
    /// The code of an item of a game: a card, a character, an evolution, a consumable, a colour.
    ItemCode
}

code! {
    /// The name of a preset: `classic`; `custom` for changed rules.
    PresetName
}

impl From<domain::Slug> for ItemCode {
    fn from(code: domain::Slug) -> Self {
        Self(code.to_string())
    }
}

/// A number as a GraphQL `Int`, clamped to the largest one.
pub(super) fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}
