//! The code of a kind of die: `PHOENIX`, `FARK$`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::Rejection;

/// The most characters a code has.
const MOST: usize = 16;

/// The code of a kind of die: 1 to 16 capital letters, digits, `$` and `_`.
///
/// Kept in place, so an event that names a die is copied without asking for memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code([u8; MOST]);

impl Code {
    /// An ordinary die: six sides, nothing special. It is in no catalogue and costs nothing.
    pub const STANDARD: Self = Self::of("STANDARD");

    /// A code of the rules themselves; what does not fit is cut off, which a test would see.
    pub(crate) const fn of(text: &str) -> Self {
        let (bytes, mut code, mut n) = (text.as_bytes(), [0; MOST], 0);
        while n < bytes.len() && n < MOST {
            code[n] = bytes[n];
            n += 1;
        }
        Self(code)
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(MOST);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

impl FromStr for Code {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let lawful = |byte: u8| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'$' || byte == b'_'
        };
        if text.is_empty() || text.len() > MOST || !text.bytes().all(lawful) {
            return Err(Rejection::BadCode { code: text.chars().take(40).collect() });
        }
        Ok(Self::of(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_short_and_plain() {
        for good in ["A", "FARK$", "DOUBLE_2", "ABCDEFGHIJKLMNOP"] {
            assert_eq!(good.parse::<Code>().unwrap().as_str(), good);
        }
        for bad in ["", "phoenix", "A B", "ABCDEFGHIJKLMNOPQ", "É", "A\0"] {
            assert!(matches!(bad.parse::<Code>(), Err(Rejection::BadCode { .. })), "{bad}");
        }
        assert_eq!("STANDARD".parse::<Code>(), Ok(Code::STANDARD));
        assert!(serde_json::from_str::<Code>("\"no\"").is_err());
    }
}
