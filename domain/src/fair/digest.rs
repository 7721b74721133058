//! The 32-byte values of the protocol, serialized as hexadecimal text.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use sha2::{Digest, Sha256};

/// SHA-256 over a tag, a zero byte, and the concatenated parts.
pub(crate) fn sha256(tag: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(tag.as_bytes());
    hash.update([0]);
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

macro_rules! bytes32 {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub [u8; 32]);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&to_hex(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                from_hex(&text).map(Self).ok_or_else(|| {
                    D::Error::custom(concat!(stringify!($name), " is not 64 hexadecimal digits"))
                })
            }
        }
    };
}

bytes32! {
    /// The secret of the house until the end of a game: 32 bytes of the operating system's
    /// randomness.
    Secret
}
bytes32! {
    /// The hash that binds the house to its secret.
    Commitment
}
bytes32! {
    /// The hash of a ruleset.
    RulesetHash
}
bytes32! {
    /// The hash of the sealed list of seeds.
    SeedsHash
}

/// Keeps secrets out of log output.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Commitment({})", to_hex(&self.0))
    }
}

impl fmt::Debug for RulesetHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RulesetHash({})", to_hex(&self.0))
    }
}

impl fmt::Debug for SeedsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeedsHash({})", to_hex(&self.0))
    }
}

/// 32 bytes as 64 hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8; 32]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut hex, byte| {
        for digit in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(digit.into(), 16).unwrap_or('?'));
        }
        hex
    })
}

/// 64 hexadecimal digits as 32 bytes.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let text = text.as_bytes();
    if text.len() != 64 {
        return None;
    }
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trip_and_invalid_input() {
        let secret = Secret(std::array::from_fn(|n| u8::try_from(n * 8).unwrap()));
        let json = serde_json::to_string(&secret).unwrap();
        assert_eq!(serde_json::from_str::<Secret>(&json).unwrap(), secret);
        assert!(serde_json::from_str::<Secret>("\"00\"").is_err());
        assert!(serde_json::from_str::<Secret>(&format!("\"{}\"", "g".repeat(64))).is_err());
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
    }
}
