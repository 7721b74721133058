//! What clients were told. It is kept in memory: they are not killed.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// An event, as clients are told and as the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) version: i64,
    pub(super) kind: String,
    pub(super) command: Uuid,
}

/// A command that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Acknowledged {
    pub(super) mutation: &'static str,
    pub(super) stream: Uuid,
    /// The ids under which the log may have it.
    pub(super) commands: Vec<Uuid>,
    /// What it was said to have made happen; nothing if that is not said.
    pub(super) told: Vec<Told>,
}

/// A command that was refused, with its id in the log, if it were there.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) mutation: &'static str,
    pub(super) code: String,
    pub(super) command: Uuid,
}

/// What a listener heard of a game: versions and types.
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
    /// How often an acknowledged command was asked again.
    pub(super) again: AtomicU64,
    /// How often an answer did not come.
    pub(super) lost: AtomicU64,
    /// How often a listener went on after a loss.
    pub(super) resumed: AtomicU64,
}

/// Adds to a list.
pub(super) fn note<T>(list: &Mutex<Vec<T>>, entry: T) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
}

/// A list as it is now.
pub(super) fn noted<T: Clone>(list: &Mutex<Vec<T>>) -> Vec<T> {
    list.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(super) fn counted(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// What a command is about, which says how its answer reads and under which id the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Game,
    Wallet,
    Dispute,
}

impl About {
    /// What is asked of the answer.
    pub(super) const fn selection(self) -> &'static str {
        match self {
            Self::Game => {
                "{ game { id version stage toMove { number } mySeat { number } bestSelection { slots canBank } } \
                 events { version type commandId } repeated errors { code message } }"
            }
            Self::Wallet => "{ player { id } repeated errors { code message } }",
            Self::Dispute => {
                "{ dispute { id remedies { number status needsSecond } } errors { code message } }"
            }
        }
    }

    /// Where in the answer the thing itself is.
    pub(super) const fn thing(self) -> &'static str {
        match self {
            Self::Game => "game",
            Self::Wallet => "player",
            Self::Dispute => "dispute",
        }
    }

    /// The id in the log of a command that a client sent. It is a client's own only at a table; elsewhere it follows from it, so
    /// that nobody can use up an id of the house.
    pub(super) fn id_in_log(self, id: Uuid) -> Uuid {
        match self {
            Self::Game => id,
            Self::Wallet => derived(id, b"asked by the owner"),
            Self::Dispute => derived(id, b"asked about a dispute"),
        }
    }
}

/// The id that follows from another one, as nodes derive it.
pub(super) fn derived(from: Uuid, what: &[u8]) -> Uuid {
    let hash = Sha256::new().chain_update(from.as_bytes()).chain_update(what).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// The id of a stream in an id of the API, which has the kind of thing in front.
pub(super) fn stream_of(id: &Value) -> Option<Uuid> {
    Uuid::try_parse(id.as_str()?.rsplit(':').next()?).ok()
}

/// The events in an answer.
pub(super) fn told(payload: &Value) -> Vec<Told> {
    let events = payload["events"].as_array().into_iter().flatten();
    let told = events.filter_map(|event| {
        Some(Told {
            version: event["version"].as_i64()?,
            kind: event["type"].as_str()?.to_owned(),
            command: Uuid::try_parse(event["commandId"].as_str()?).ok()?,
        })
    });
    told.collect()
}
