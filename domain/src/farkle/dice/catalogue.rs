//! The catalogue: all kinds of special dice, under a version.

use serde::{Deserialize, Serialize};

use super::{Code, DieKind};
use crate::Rejection;

/// The most kinds a catalogue has: a loadout counts them in a byte.
const MOST: usize = 200;

/// All kinds of special dice. A game has its own copy in its first event, so no later change reaches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Goes up by one with every change.
    pub version: u32,
    /// The kinds, in the order of the shop.
    pub dice: Vec<DieKind>,
}

impl Catalogue {
    /// The kind of a code.
    pub fn find(&self, code: Code) -> Option<&DieKind> {
        self.dice.iter().find(|die| die.code == code)
    }

    /// The kind of a code that somebody wrote.
    pub fn named(&self, code: &str) -> Result<&DieKind, Rejection> {
        let known = code.parse().ok().and_then(|code| self.find(code));
        known.ok_or_else(|| self.unknown(code))
    }

    /// There is no such die.
    pub(crate) fn unknown(&self, code: &str) -> Rejection {
        let offered = self.dice.iter().filter(|die| !die.retired).map(|die| die.code.to_string());
        let known: Vec<String> = offered.collect();
        Rejection::UnknownDie {
            code: code.chars().take(40).collect(),
            known: format!("STANDARD, {}", known.join(", ")),
        }
    }

    /// Refuses a catalogue that makes no sense.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if self.dice.len() > MOST {
            return Err(Rejection::CatalogueFull { most: MOST });
        }
        for (number, die) in self.dice.iter().enumerate() {
            die.check()?;
            if self.dice[..number].iter().any(|other| other.code == die.code) {
                return Err(Rejection::DieExists { code: die.code });
            }
        }
        Ok(())
    }
}
