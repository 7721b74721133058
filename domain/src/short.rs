//! Short inline strings: events that name a die or a card are copied without allocation.

/// Implements the common part of short strings. The type is a tuple of a byte array, padded with
/// zeros, and implements `FromStr`.
macro_rules! short_text {
    ($name:ident, $most:expr) => {
        impl $name {
            /// A constant of the rules; longer text is truncated, which tests would detect.
            pub(crate) const fn of(text: &str) -> Self {
                let (bytes, mut kept, mut n) = (text.as_bytes(), [0; $most], 0);
                while n < bytes.len() && n < $most {
                    kept[n] = bytes[n];
                    n += 1;
                }
                Self(kept)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                let length = self.0.iter().position(|&byte| byte == 0).unwrap_or($most);
                std::str::from_utf8(&self.0[..length]).unwrap_or_default()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use short_text;
