//! Numbers that rules and effects of dice are made of: their meaning, range and value.

use std::ops::RangeInclusive;

/// A number of a ruleset or of an effect. Forms are built from it, and it is checked by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The name of the parameter: `target`.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub text: &'static str,
    /// The values it can have.
    pub range: RangeInclusive<i64>,
    /// Its value; `None` where it is switched off.
    pub value: Option<i64>,
    /// Whether it can be switched off.
    pub optional: bool,
}

impl Number {
    /// A number that always has a value. What does not fit the type is out of every range.
    pub(crate) fn new(
        name: &'static str,
        value: impl TryInto<i64>,
        range: RangeInclusive<i64>,
        text: &'static str,
    ) -> Self {
        let value = Some(value.try_into().unwrap_or(i64::MAX));
        Self { name, text, range, value, optional: false }
    }

    /// A number that can be switched off.
    pub(crate) fn optional(
        name: &'static str,
        value: Option<impl TryInto<i64>>,
        range: RangeInclusive<i64>,
        text: &'static str,
    ) -> Self {
        let value = value.map(|value| value.try_into().unwrap_or(i64::MAX));
        Self { name, text, range, value, optional: true }
    }

    /// The value, if it is out of range.
    pub(crate) fn outside(&self) -> Option<i64> {
        self.value.filter(|value| !self.range.contains(value))
    }
}
