//! The code of a thing that rules name: `any_score`, `ion_wyrm`, `full_house`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The most letters a word has.
const MOST: usize = 24;

/// The code of a card, a consumable, a character: 1 to 24 small letters, digits and `_`.
///
/// Kept in place, so an event that names a thing is copied without asking for memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word([u8; MOST]);

impl Word {
    /// A word of the rules themselves; what does not fit is cut off, which a test would see.
    pub(crate) const fn of(text: &str) -> Self {
        let (bytes, mut word, mut n) = (text.as_bytes(), [0; MOST], 0);
        while n < bytes.len() && n < MOST {
            word[n] = bytes[n];
            n += 1;
        }
        Self(word)
    }

    /// The word as text.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(MOST);
        std::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }

    /// As people read it: `any score`.
    pub fn spoken(&self) -> String {
        self.as_str().replace('_', " ")
    }
}

/// What is no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be 1 to 24 small letters, digits and _")]
pub struct NoWord;

impl FromStr for Word {
    type Err = NoWord;

    fn from_str(text: &str) -> Result<Self, NoWord> {
        let lawful = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = !text.is_empty() && text.len() <= MOST && text.bytes().all(lawful);
        if fits { Ok(Self::of(text)) } else { Err(NoWord) }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_and_plain() {
        for good in ["a", "double_or_nothing", "die_7", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(good.parse::<Word>().unwrap().as_str(), good);
        }
        for bad in ["", "Any", "a b", "abcdefghijklmnopqrstuvwxy", "é", "a\0"] {
            assert_eq!(bad.parse::<Word>(), Err(NoWord), "{bad}");
        }
        assert_eq!(Word::of("any_score").spoken(), "any score");
    }
}
