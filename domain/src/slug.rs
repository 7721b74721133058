//! Codes of items of the rules: `any_score`, `ion_wyrm`, `full_house`.

use std::str::FromStr;

use crate::short::short_text;

/// The maximum length.
const MOST: usize = 24;

/// The code of a card, a consumable, a character: 1 to 24 small letters, digits and `_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug([u8; MOST]);

short_text!(Slug, MOST);

impl Slug {
    /// The text shown to people: `any score`.
    pub fn spoken(&self) -> String {
        self.as_str().replace('_', " ")
    }
}

/// The text is not a valid slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be 1 to 24 small letters, digits and _")]
pub struct InvalidSlug;

impl FromStr for Slug {
    type Err = InvalidSlug;

    fn from_str(text: &str) -> Result<Self, InvalidSlug> {
        let lawful = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = !text.is_empty() && text.len() <= MOST && text.bytes().all(lawful);
        if fits { Ok(Self::of(text)) } else { Err(InvalidSlug) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_short_lowercase_codes() {
        for good in ["a", "double_or_nothing", "die_7", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(good.parse::<Slug>().unwrap().as_str(), good);
        }
        for bad in ["", "Any", "a b", "abcdefghijklmnopqrstuvwxy", "é", "a\0"] {
            assert_eq!(bad.parse::<Slug>(), Err(InvalidSlug), "{bad}");
        }
        assert_eq!(Slug::of("any_score").spoken(), "any score");
    }
}
