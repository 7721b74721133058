//! The catalogue: all kinds of special dice, under a version.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Deserializer, Serialize};

use super::{Code, DieKind};
use crate::Rejection;

/// The most kinds a catalogue has: a loadout counts them in a byte.
const MOST: usize = 200;
/// The longest a catalogue is when it is written: it is a part of an event.
const MOST_BYTES: usize = 48 * 1024;

/// All kinds of special dice. A game has its own copy in its first event, so no later change reaches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Goes up by one with every change.
    pub version: u32,
    /// The kinds, in the order of the shop.
    pub dice: Vec<DieKind>,
}

/// The catalogues read last. Games of one catalogue share it; sharing is never seen, except in memory.
static RECENT: Mutex<VecDeque<Arc<Catalogue>>> = Mutex::new(VecDeque::new());
const RECENT_MOST: usize = 8;

impl Catalogue {
    /// Reads the catalogue of a game, or finds it where another game has it already.
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
