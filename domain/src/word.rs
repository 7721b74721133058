//! The code of a thing that rules name: `any_score`, `ion_wyrm`, `full_house`.

use std::str::FromStr;

use crate::short::short_text;

/// The most letters a word has.
const MOST: usize = 24;

/// The code of a card, a consumable, a character: 1 to 24 small letters, digits and `_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word([u8; MOST]);

short_text!(Word, MOST);

impl Word {
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
