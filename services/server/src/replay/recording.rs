//! The events of a game with their commands in words: what a replay is made from. Reconstructing the
//! commands decides the whole game again, so recordings are cached. They never change.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
    sync::{Arc, OnceLock},
};

use domain::{Command, Difference, Event, in_words, infer_commands};
use quick_cache::{Weighter, sync::Cache};
use store::{Recorded, Store, StoreError};
use uuid::Uuid;

use super::ReplayError;

/// The events of a game, and its commands in words by the index of their first event.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(super) log: Arc<Vec<Recorded>>,
    pub(super) words: Arc<HashMap<usize, String>>,
    /// What each command changed, by the index of its first event, computed on demand.
    pub(super) differences: Arc<[OnceLock<Vec<Difference>>]>,
}

/// How many events are kept in memory. With its differences an event takes about a kilobyte.
const CAPACITY: u64 = 50_000;

/// Cache of recordings, by game and version.
#[derive(Debug)]
pub(crate) struct Recordings(Cache<(Uuid, i64), Recording, ByEvents>);

#[derive(Clone, Debug)]
struct ByEvents;

impl Weighter<(Uuid, i64), Recording> for ByEvents {
    fn weight(&self, _: &(Uuid, i64), recording: &Recording) -> u64 {
        recording.log.len() as u64 + 1
    }
}

impl Default for Recordings {
    fn default() -> Self {
        Self(Cache::with_weighter(1_000, CAPACITY, ByEvents))
    }
}

impl Recordings {
    /// The recording of a game at this version or a later one.
    pub(crate) async fn load(
        &self,
        store: &Store,
        game: Uuid,
        version: i64,
    ) -> Result<Recording, ReplayError> {
        if let Some(recording) = self.0.get(&(game, version)) {
            return Ok(recording);
        }
        let recording = Recording::load(store, game).await?;
        let version = recording.log.last().map_or(0, |last| last.version);
        self.0.insert((game, version), recording.clone());
        Ok(recording)
    }
}

impl Recording {
    pub(super) async fn load(store: &Store, game: Uuid) -> Result<Self, ReplayError> {
        let envelopes = store.envelopes(&[game]).await?;
        // Reconstructing the commands of a long game takes CPU time.
        let read = tokio::task::spawn_blocking(move || {
            let mut log = Vec::with_capacity(envelopes.len());
            for envelope in envelopes {
                let version = envelope.version;
                let unreadable = |why: store::Undecodable| ReplayError::Unreadable {
                    version,
                    why: why.to_string(),
                };
                log.push(envelope.decode().map_err(unreadable)?);
            }
            Ok(Self::of(log))
        });
        read.await.map_err(|error| StoreError::Fault(error.to_string()))?
    }

    pub(super) fn of(log: Vec<Recorded>) -> Self {
        let words = Arc::new(words(&log));
        let differences = log.iter().map(|_| OnceLock::new()).collect();
        Self { log: Arc::new(log), words, differences }
    }
}

/// The range of events of each command.
pub(super) fn by_command(log: &[Recorded]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, recorded) in log.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if log[last.start].command == recorded.command => last.end = index + 1,
            _ => ranges.push(index..index + 1),
        }
    }
    ranges
}

/// The commands in words, by the index of their first event. A command may be reconstructed as two:
/// joining and choosing a seed.
fn words(log: &[Recorded]) -> HashMap<usize, String> {
    let events: Vec<Event> = log.iter().map(|recorded| recorded.event.clone()).collect();
    let Ok(steps) = infer_commands(&events) else { return HashMap::new() };
    let starts: BTreeSet<usize> = by_command(log).iter().map(|range| range.start).collect();
    let mut words: HashMap<usize, String> = HashMap::new();
    for step in steps {
        let start = starts.range(..=step.events.start).next_back().copied().unwrap_or(0);
        let text = in_words(&step.command, &events[step.events.clone()]);
        let text = match &step.command {
            Command::Play { seat, .. }
            | Command::Leave { seat }
            | Command::ChooseSeed { seat, .. }
            | Command::ChooseLoadout { seat, .. }
            | Command::ChooseCharacter { seat, .. } => format!("{seat}: {text}"),
            Command::TimeOut { .. }
            | Command::Abandon { .. }
            | Command::Void { .. }
            | Command::Rule { .. } => format!("house: {text}"),
            Command::Create { .. } | Command::Join { .. } | Command::Start => text,
        };
        let entry = words.entry(start).or_default();
        if !entry.is_empty() {
            entry.push_str("; ");
        }
        entry.push_str(&text);
    }
    words
}
