//! The versioned catalogue of all kinds of special dice.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Deserializer, Serialize};

use super::{Code, DieKind};
use crate::Rejection;

/// The maximum number of kinds: a loadout stores them as bytes.
const MOST: usize = 200;
/// The maximum size of the JSON: it is part of an event.
const MOST_BYTES: usize = 48 * 1024;

/// All kinds of special dice. The first event of a game has its own copy, so later changes do not
/// affect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Incremented by every change.
    pub version: u32,
    /// The kinds, in the order of the shop.
    pub dice: Vec<DieKind>,
}

/// Recently read catalogues. Games with the same catalogue share it, to save memory.
static RECENT: Mutex<VecDeque<Arc<Catalogue>>> = Mutex::new(VecDeque::new());
const RECENT_MOST: usize = 8;

impl Catalogue {
    /// Reads the catalogue of a game, sharing a recent equal one.
    pub(crate) fn shared<'de, D>(from: D) -> Result<Option<Arc<Self>>, D::Error>
    where
        D: Deserializer<'de>,
    {
        let Some(read) = Option::<Self>::deserialize(from)? else { return Ok(None) };
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = recent.iter().find(|known| ***known == read) {
            return Ok(Some(Arc::clone(known)));
        }
        let read = Arc::new(read);
        recent.push_front(Arc::clone(&read));
        recent.truncate(RECENT_MOST);
        Ok(Some(read))
    }

    /// The kind with this code.
    pub fn find(&self, code: Code) -> Option<&DieKind> {
        self.dice.iter().find(|die| die.code == code)
    }

    /// The kind with a code entered by a user.
    pub fn named(&self, code: &str) -> Result<&DieKind, Rejection> {
        let known = code.parse().ok().and_then(|code| self.find(code));
        known.ok_or_else(|| self.unknown(code))
    }

    /// The rejection for an unknown code.
    pub(crate) fn unknown(&self, code: &str) -> Rejection {
        let offered = self.dice.iter().filter(|die| !die.retired).map(|die| die.code.to_string());
        let known: Vec<String> = offered.collect();
        Rejection::UnknownDie {
            code: code.chars().take(40).collect(),
            known: format!("STANDARD, {}", known.join(", ")),
        }
    }

    /// Rejects an invalid catalogue.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        let written = serde_json::to_string(self).map_or(usize::MAX, |written| written.len());
        if self.dice.len() > MOST || written > MOST_BYTES {
            return Err(Rejection::CatalogueFull { most: MOST, kib: MOST_BYTES / 1024 });
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
