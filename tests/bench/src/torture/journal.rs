//! The results that clients got. Kept in memory: clients are not killed.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// An event, as clients get it and as it is in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) version: i64,
    pub(super) kind: String,
    pub(super) command: Uuid,
}

/// An acknowledged command.
#[derive(Clone, Debug)]
pub(super) struct Acknowledged {
    pub(super) mutation: &'static str,
    pub(super) stream: Uuid,
    /// The ids it may have in the log.
    pub(super) commands: Vec<Uuid>,
    /// The events in its payload; empty if the payload has none.
    pub(super) told: Vec<Told>,
}

/// A refused command, with the id it would have in the log.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) mutation: &'static str,
    pub(super) code: String,
    pub(super) command: Uuid,
}

/// The versions and types that a listener received of a game.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) game: Uuid,
    pub(super) events: Vec<(i64, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) acknowledged: Mutex<Vec<Acknowledged>>,
    pub(super) refused: Mutex<Vec<Refused>>,
    pub(super) heard: Mutex<Vec<Heard>>,
    /// Number of retries of acknowledged commands.
    pub(super) again: AtomicU64,
    /// Number of lost responses.
    pub(super) lost: AtomicU64,
    /// Number of times a listener resumed after a disconnect.
    pub(super) resumed: AtomicU64,
}

/// Adds to a list.
pub(super) fn note<T>(list: &Mutex<Vec<T>>, entry: T) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
}

/// A copy of a list.
pub(super) fn noted<T: Clone>(list: &Mutex<Vec<T>>) -> Vec<T> {
    list.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn counted(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// The kind of a command, which determines its payload and its id in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Game,
    Wallet,
    Dispute,
}

impl About {
    /// The selection set of the payload.
    pub(super) const fn selection(self) -> &'static str {
        match self {
            Self::Game => {
                "{ game { id version stage toMove { number } mySeat { number } bestSelection { slots canBank } } \
                 events { version type commandId } repeated userErrors { code message } }"
            }
            Self::Wallet => "{ player { id } repeated userErrors { code message } }",
            Self::Dispute => {
                "{ dispute { id remedies { number status needsSecond } } userErrors { code message } }"
            }
        }
    }

    /// The field of the payload that contains the object.
    pub(super) const fn thing(self) -> &'static str {
        match self {
            Self::Game => "game",
            Self::Wallet => "player",
            Self::Dispute => "dispute",
        }
    }

    /// The id of a client's command in the log. It is the client's own only for games; elsewhere it
    /// is derived from it, so that nobody can use up an id of the house.
    pub(super) fn id_in_log(self, id: Uuid) -> Uuid {
        match self {
            Self::Game => id,
            Self::Wallet => derived(id, b"asked by the owner"),
            Self::Dispute => derived(id, b"asked about a dispute"),
        }
    }
}

/// An id derived from another one, as nodes do it.
pub(super) fn derived(from: Uuid, what: &[u8]) -> Uuid {
    let hash = Sha256::new().chain_update(from.as_bytes()).chain_update(what).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The stream id in a global id of the API, which is prefixed by its kind.
pub(super) fn stream_of(id: &Value) -> Option<Uuid> {
    Uuid::try_parse(id.as_str()?.rsplit(':').next()?).ok()
}

/// The event type in the log: `SeedRevealed` for `SEED_REVEALED`.
pub(super) fn log_name(kind: &str) -> String {
    let word = |word: &str| word[..1].to_owned() + &word[1..].to_ascii_lowercase();
    kind.split('_').filter(|part| !part.is_empty()).map(word).collect()
}

/// The events in a payload.
pub(super) fn told(payload: &Value) -> Vec<Told> {
    let events = payload["events"].as_array().into_iter().flatten();
    let told = events.filter_map(|event| {
        Some(Told {
            version: event["version"].as_i64()?,
            kind: log_name(event["type"].as_str()?),
            command: Uuid::try_parse(event["commandId"].as_str()?).ok()?,
        })
    });
    told.collect()
}
