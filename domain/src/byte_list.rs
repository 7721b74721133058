//! JSON of small packed sets and lists: plain arrays of numbers.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, SeqAccess, Visitor},
};

/// Reads a list of numbers into a packed value; `add` returns `None` for a number that does not
/// fit.
pub(crate) fn read<'de, D, T, F>(
    from: D,
    expected: &'static str,
    empty: T,
    add: F,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Copy,
    F: Fn(T, u8) -> Option<T>,
{
    from.deserialize_seq(List { expected, empty, add, of: PhantomData })
}

struct List<T, F> {
    expected: &'static str,
    empty: T,
    add: F,
    of: PhantomData<T>,
}

impl<'de, T: Copy, F: Fn(T, u8) -> Option<T>> Visitor<'de> for List<T, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut packed = self.empty;
        while let Some(item) = items.next_element::<u8>()? {
            packed = (self.add)(packed, item).ok_or_else(|| {
                A::Error::custom(format_args!("{item} does not fit a list of {}", self.expected))
            })?;
        }
        Ok(packed)
    }
}
