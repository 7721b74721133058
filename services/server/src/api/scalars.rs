//! Values that GraphQL does not have.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use domain::Moment;

use crate::clock;

/// A whole number of 64 bits, written as a number: points, for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long(pub(super) i64);

/// A whole number of 64 bits, written as a number: points, for one.
#[Scalar]
impl ScalarType for Long {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::Number(number) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        number.as_i64().map(Self).ok_or_else(|| InputValueError::custom("it has more than 64 bits"))
    }

    fn to_value(&self) -> Value {
        Value::Number(self.0.into())
    }
}

/// A moment in UTC as RFC 3339 writes it, with milliseconds: `2026-11-16T05:44:54.120Z`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant(pub(super) Moment);

/// A moment in UTC as RFC 3339 writes it, with milliseconds: `2026-11-16T05:44:54.120Z`.
#[Scalar]
impl ScalarType for Instant {
    fn parse(value: Value) -> InputValueResult<Self> {
        Err(InputValueError::expected_type(value))
    }

    fn to_value(&self) -> Value {
        Value::String(clock::written(self.0))
    }
}

/// A day, as ISO 8601 writes it: `2026-11-16`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Date(pub(super) i32);

/// A day, as ISO 8601 writes it: `2026-11-16`.
#[Scalar]
impl ScalarType for Date {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(written) = &value else {
            return Err(InputValueError::expected_type(value));
        };
        let day = projections::parse_day(written).map(Self);
        day.ok_or_else(|| InputValueError::custom("a day is written as 2026-11-16"))
    }

    fn to_value(&self) -> Value {
        Value::String(projections::write_day(self.0))
    }
}

/// A count as GraphQL's Int has it.
pub(super) fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}
