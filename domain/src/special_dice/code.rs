//! The code of a kind of die: `PHOENIX`, `FARK$`.

use std::str::FromStr;

use crate::{Rejection, short::short_text};

/// The maximum length.
const MOST: usize = 16;

/// The code of a kind of die: 1 to 16 capital letters, digits, `$` and `_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code([u8; MOST]);

short_text!(Code, MOST);

impl Code {
    /// A standard die: six sides, no effect. It is not in any catalogue and costs nothing.
    pub const STANDARD: Self = Self::of("STANDARD");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_short_uppercase_codes() {
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
