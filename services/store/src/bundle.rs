//! The proof of a game as one file: its chained events and the seal that covers the last of them.
//!
//! The file consists of lines of JSON in canonical form, so every changed byte is detected; the
//! format is in `docs/proof.md`.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    Envelope, Hash, Recorded, Shard, Store, StoreError, Undecodable, encode,
    merkle::root_of_path,
    schema_of,
    seal::{Seal, Sealed, hex32, sealed},
};

/// The format that is written, and the newest one that is read.
const FORMAT: u32 = 1;

/// A game with its proof.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The game.
    pub game: Uuid,
    /// Its events.
    pub events: Vec<Envelope>,
    /// The seal of the last event, if it is sealed.
    pub sealed: Option<Sealed>,
}

/// Why a bundle is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBundle {
    /// It cannot be parsed.
    #[error("line {line}: {problem}")]
    Unreadable {
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// It was tampered with.
    #[error("{0}")]
    Broken(String),
}

/// An event as one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    stream: Uuid,
    version: i64,
    #[serde(rename = "type")]
    kind: String,
    schema: i16,
    /// Microseconds since the Unix epoch.
    recorded_at: i64,
    command: Uuid,
    actor: Uuid,
    /// The exact bytes that were hashed.
    payload: String,
    hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    croupier_proof: u32,
    game: Uuid,
    events: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Footer {
    seal: Option<Seal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Vec<String>>,
}

impl From<Envelope> for Line {
    fn from(envelope: Envelope) -> Self {
        let Envelope {
            stream, version, kind, schema, recorded_at, command, actor, payload, ..
        } = envelope;
        let hash = envelope.hash.to_string();
        Self { stream, version, kind, schema, recorded_at, command, actor, payload, hash }
    }
}

impl Line {
    /// The stored form of the event; `None` if its hash is malformed.
    pub fn envelope(self) -> Option<Envelope> {
        Some(Envelope {
            shard: Shard::of(self.stream),
            position: 0,
            stream: self.stream,
            version: self.version,
            kind: self.kind,
            schema: self.schema,
            recorded_at: self.recorded_at,
            command: self.command,
            actor: self.actor,
            payload: self.payload,
            hash: hash(&self.hash)?,
        })
    }
}

impl Bundle {
    /// Whether a text starts like a bundle, of any format.
    pub fn looks_like(text: &str) -> bool {
        text.starts_with("{\"croupier_proof\"")
    }

    /// Loads a game and its seal; `None` if the stream does not exist.
    pub async fn load(store: &Store, game: Uuid) -> Result<Option<Self>, StoreError> {
        let events = store.envelopes(&[game]).await?;
        let Some(last) = events.last() else { return Ok(None) };
        let sealed = sealed(store, last.shard, last.position).await?;
        Ok(Some(Self { game, events, sealed }))
    }

    /// The events only, one line per event.
    pub fn ndjson(&self) -> Result<String, serde_json::Error> {
        let lines =
            self.events.iter().map(|event| serde_json::to_string(&Line::from(event.clone())));
        Ok(lines.collect::<Result<Vec<_>, _>>()?.join("\n") + "\n")
    }

    /// Serializes the bundle.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let header = Header { croupier_proof: FORMAT, game: self.game, events: self.events.len() };
        let mut lines = vec![serde_json::to_string(&header)?];
        for event in &self.events {
            lines.push(serde_json::to_string(&Line::from(event.clone()))?);
        }
        let hex = |path: &[Hash]| path.iter().map(ToString::to_string).collect();
        let footer = match &self.sealed {
            None => Footer { seal: None, position: None, path: None },
            Some(Sealed { seal, position, path }) => Footer {
                seal: Some(seal.clone()),
                position: Some(*position),
                path: Some(hex(path)),
            },
        };
        lines.push(serde_json::to_string(&footer)?);
        Ok(lines.join("\n") + "\n")
    }

    /// Parses a bundle. Anything that differs from what [`Bundle::write`] produces is rejected.
    pub fn parse(text: &str) -> Result<Self, BadBundle> {
        let unreadable = |line, problem: String| BadBundle::Unreadable { line, problem };
        let cut = "the file is cut off: a bundle ends with a line about its seal";
        if text.is_empty() {
            return Err(unreadable(1, cut.to_owned()));
        }
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let newer: Result<serde_json::Value, _> = serde_json::from_str(lines[0]);
        let format = newer.ok().and_then(|header| header["croupier_proof"].as_u64());
        if format.is_some_and(|format| format > u64::from(FORMAT)) {
            let problem =
                format!("the format of this bundle is newer than {FORMAT}; update this croupier");
            return Err(unreadable(1, problem));
        }
        let header: Header = canonical(lines[0], 1)?;
        if header.croupier_proof != FORMAT {
            return Err(unreadable(1, format!("format {} does not exist", header.croupier_proof)));
        }
        if lines.len() < header.events.saturating_add(2) || !text.ends_with('\n') {
            return Err(unreadable(lines.len(), cut.to_owned()));
        }
        if lines.len() > header.events + 2 || header.events == 0 {
            let problem =
                format!("a bundle of {} events has {} lines", header.events, header.events + 2);
            return Err(unreadable(lines.len(), problem));
        }
        let mut events = Vec::with_capacity(header.events);
        for (number, line) in (2..).zip(&lines[1..=header.events]) {
            let line: Line = canonical(line, number)?;
            let envelope = line.envelope();
            events
                .push(envelope.ok_or_else(|| unreadable(number, "this is not a hash".to_owned()))?);
        }
        let footer: Footer = canonical(lines[header.events + 1], lines.len())?;
        let wrong = || unreadable(lines.len(), "this is not a seal with its path".to_owned());
        let sealed = match (footer.seal, footer.position, footer.path) {
            (None, None, None) => None,
            (Some(seal), Some(position), Some(path)) => {
                let path = path.iter().map(|beside| hash(beside));
                let path = path.collect::<Option<Vec<Hash>>>().ok_or_else(wrong)?;
                Some(Sealed { seal, position, path })
            }
            _ => return Err(wrong()),
        };
        Ok(Self { game: header.game, events, sealed })
    }

    /// Checks envelopes, chain and seal, and returns the decoded events.
    pub fn check(&self) -> Result<Vec<Recorded>, BadBundle> {
        let broken =
            |version: i64, what: String| BadBundle::Broken(format!("event {version}: {what}"));
        let (mut previous, mut last_at, mut log) = (Hash::ZERO, i64::MIN, Vec::new());
        for (version, event) in (1..).zip(&self.events) {
            if event.stream != self.game {
                return Err(broken(
                    version,
                    format!("it belongs to {}, not to {}", event.stream, self.game),
                ));
            }
            if event.version != version {
                return Err(broken(version, format!("its version is {}", event.version)));
            }
            if event.recorded_at < last_at {
                return Err(broken(
                    version,
                    "it was recorded earlier than the previous event".to_owned(),
                ));
            }
            let expected = event.expected_hash(&previous);
            if event.hash != expected {
                let what = format!(
                    "the chain is broken: this event, or one before it, was changed; its hash is {}, but must be {expected}",
                    event.hash
                );
                return Err(broken(version, what));
            }
            let line = usize::try_from(version).unwrap_or(usize::MAX).saturating_add(1);
            log.push(
                event
                    .decode_exactly()
                    .map_err(|why| BadBundle::Unreadable { line, problem: why.to_string() })?,
            );
            (previous, last_at) = (event.hash, event.recorded_at);
        }
        self.check_seal(&previous)?;
        Ok(log)
    }

    fn check_seal(&self, last: &Hash) -> Result<(), BadBundle> {
        let Some(Sealed { seal, position, path }) = &self.sealed else { return Ok(()) };
        let broken = |what: &str| Err(BadBundle::Broken(format!("seal {}: {what}", seal.number)));
        if i16::from(seal.shard) != Shard::of(self.game).sql() {
            return broken("it belongs to another shard than the game");
        }
        if seal.number < 1 || seal.first_position < 1 {
            return broken("its numbers are invalid");
        }
        if !(seal.first_position..=seal.last_position).contains(position) {
            return broken("it does not cover the last event");
        }
        let place = |at: i64| u64::try_from(at - seal.first_position).unwrap_or(u64::MAX);
        let root = root_of_path(last, place(*position), place(seal.last_position) + 1, path);
        if root != Some(Hash(seal.root)) {
            return broken("the path does not lead from the last event to its root");
        }
        if !seal.is_signed() {
            return broken("it is not signed by its key");
        }
        Ok(())
    }
}

impl Envelope {
    /// Decodes the event if its payload is in canonical form.
    fn decode_exactly(&self) -> Result<Recorded, Undecodable> {
        let recorded = self.decode()?;
        let current = self.schema == schema_of(&self.kind);
        if current && encode(&recorded.event).is_ok_and(|written| written != self.payload) {
            let error = "it is not in canonical form".to_owned();
            return Err(Undecodable::Broken {
                kind: self.kind.clone(),
                schema: self.schema,
                error,
            });
        }
        Ok(recorded)
    }
}

/// Parses a hash, which is in lower case.
fn hash(text: &str) -> Option<Hash> {
    hex32(text).map(Hash).filter(|hash| hash.to_string() == text)
}

/// Parses a line that must be in canonical form.
fn canonical<T: Serialize + DeserializeOwned>(line: &str, number: usize) -> Result<T, BadBundle> {
    let unreadable = |problem: String| BadBundle::Unreadable { line: number, problem };
    let read: T = serde_json::from_str(line).map_err(|error| unreadable(error.to_string()))?;
    let written = serde_json::to_string(&read).map_err(|error| unreadable(error.to_string()))?;
    if written != line {
        return Err(unreadable("it is not in canonical form".to_owned()));
    }
    Ok(read)
}
