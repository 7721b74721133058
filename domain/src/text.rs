//! Text entered by players: names and seeds.

use std::{fmt, ops::RangeInclusive, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::Rejection;

/// The name of a seat: 1 to 32 characters, none of them invisible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(Arc<str>);

impl Name {
    /// The maximum length in characters.
    pub const MAX_CHARS: usize = 32;

    /// Parses a name, trimming white space.
    pub fn parse(typed: &str) -> Result<Self, Rejection> {
        let name = typed.trim();
        check(name, name.chars().count(), Self::MAX_CHARS, "characters")
            .map_err(|why| Rejection::BadName { why })?;
        Ok(Self(name.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The client's contribution to the dice: 1 to 64 bytes of text, used exactly as given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientSeed(Arc<str>);

impl ClientSeed {
    /// The maximum length in bytes of UTF-8.
    pub const MAX_BYTES: usize = 64;

    /// Parses a seed as the client sent it.
    pub fn parse(sent: &str) -> Result<Self, Rejection> {
        check(sent, sent.len(), Self::MAX_BYTES, "bytes")
            .map_err(|why| Rejection::BadSeed { why })?;
        Ok(Self(sent.into()))
    }

    /// The seed as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a text is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Empty, or only white space.
    #[error("it is empty")]
    Empty,
    /// Longer than allowed.
    #[error("it has {length} {unit}, at most {most} are allowed")]
    TooLong {
        /// Its length.
        length: usize,
        /// The maximum length.
        most: usize,
        /// The unit of both.
        unit: &'static str,
    },
    /// An invisible character: a control character, or one that changes the direction of text.
    #[error("it has an invisible character (U+{:04X}); use letters, digits and signs", u32::from(*.0))]
    Invisible(char),
}

fn check(text: &str, length: usize, most: usize, unit: &'static str) -> Result<(), BadText> {
    if text.is_empty() {
        return Err(BadText::Empty);
    }
    if length > most {
        return Err(BadText::TooLong { length, most, unit });
    }
    match text.chars().find(|&c| is_invisible(c)) {
        Some(c) => Err(BadText::Invisible(c)),
        None => Ok(()),
    }
}

/// Whether a text is a single line of such a length, without invisible characters.
pub fn is_line(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.chars().count()) && !text.chars().any(is_invisible) && text.trim() == text
}

/// Blank, zero-width and direction marks can make two names look alike, or reverse a line.
pub(crate) fn is_invisible(c: char) -> bool {
    const HIDDEN: [RangeInclusive<char>; 16] = [
        '\u{AD}'..='\u{AD}',
        '\u{34F}'..='\u{34F}',
        '\u{61C}'..='\u{61C}',
        '\u{115F}'..='\u{1160}',
        '\u{17B4}'..='\u{17B5}',
        '\u{180B}'..='\u{180F}',
        '\u{200B}'..='\u{200F}',
        '\u{2028}'..='\u{202E}',
        '\u{2060}'..='\u{206F}',
        '\u{2800}'..='\u{2800}',
        '\u{3164}'..='\u{3164}',
        '\u{FE00}'..='\u{FE0E}',
        '\u{FEFF}'..='\u{FEFF}',
        '\u{FFA0}'..='\u{FFA0}',
        '\u{FFF0}'..='\u{FFFB}',
        '\u{E0000}'..='\u{E0FFF}',
    ];
    c.is_control() || HIDDEN.iter().any(|hidden| hidden.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(typed: &str, why: BadText) {
        assert_eq!(Name::parse(typed), Err(Rejection::BadName { why }));
    }

    #[test]
    fn names() {
        assert_eq!(Name::parse("  Ann Ölund ").unwrap().as_str(), "Ann Ölund");
        assert!(Name::parse(&"é".repeat(32)).is_ok());
        refused("   ", BadText::Empty);
        refused(&"x".repeat(33), BadText::TooLong { length: 33, most: 32, unit: "characters" });
        refused("a\u{7}b", BadText::Invisible('\u{7}'));
        refused("a\nb", BadText::Invisible('\n'));
        for hidden in
            ['\u{202E}', '\u{AD}', '\u{61C}', '\u{3164}', '\u{180E}', '\u{E0041}', '\u{2800}']
        {
            refused(&format!("a{hidden}b"), BadText::Invisible(hidden));
        }
        assert!(Name::parse("🎲\u{FE0F} Ann").is_ok(), "emoji have a mark of their own");
    }

    #[test]
    fn seeds_are_verbatim_and_limited_in_bytes() {
        assert_eq!(ClientSeed::parse(" x ").unwrap().as_str(), " x ");
        assert!(ClientSeed::parse(&"é".repeat(32)).is_ok());
        let why = BadText::TooLong { length: 66, most: 64, unit: "bytes" };
        assert_eq!(ClientSeed::parse(&"é".repeat(33)), Err(Rejection::BadSeed { why }));
        let why = BadText::Invisible('\0');
        assert_eq!(ClientSeed::parse("a\0"), Err(Rejection::BadSeed { why }));
        assert_eq!(ClientSeed::parse(""), Err(Rejection::BadSeed { why: BadText::Empty }));
    }
}
