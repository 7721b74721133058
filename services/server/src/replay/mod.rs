//! What happened in a game, step by step: commands with their events, refusals, and from where players played.

mod board;
mod cli;
pub(crate) mod source;

use std::ops::Range;

use domain::{Command, Event, Game, Moment, evolve, in_words, recount};
use store::{Recorded, Store, StoreError};
use uuid::Uuid;

pub(crate) use cli::{Options, run};

use crate::play::evidence::{Kind, Note};

/// A game with everything that is known about it.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) game: Uuid,
    pub(crate) log: Vec<Recorded>,
    /// What happened, in order.
    pub(crate) entries: Vec<Entry>,
}

/// A line of the timeline.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Moment,
    /// How many events there were before it.
    pub(crate) before: usize,
    pub(crate) what: What,
    /// From where it came, if that is known.
    pub(crate) place: Option<Place>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A command that made events.
    Action {
        events: Range<usize>,
        /// In words, as far as it can be read off its events.
        words: String,
    },
    /// A command that was refused, or somebody who came or went.
    Noted(Note),
}

/// From where somebody plays.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) session: Uuid,
    pub(crate) address: String,
    pub(crate) client: String,
}

/// Where to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, async_graphql::Enum)]
#[graphql(name = "ReplayMark")]
pub(crate) enum Mark {
    /// A round that ended without points.
    Farkle,
    /// Points that were put on the score.
    Bank,
    /// Something that a rule, a die or a card did.
    Effect,
    /// A turn whose time ran out.
    TimeOut,
    /// A command that was refused.
    Refused,
}

/// Why there is no replay.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NoReplay {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("event {version} cannot be read: {why}")]
    Unreadable { version: i64, why: String },
}

impl Replay {
    /// Reads a game. Without notes there are only its events.
    pub(crate) async fn load(
        store: &Store,
        game: Uuid,
        notes: Vec<Note>,
    ) -> Result<Self, NoReplay> {
        let envelopes = store.envelopes(&[game]).await?;
        // A long game is decided again for its words: others need not wait for it.
        let read = tokio::task::spawn_blocking(move || {
            let mut log = Vec::with_capacity(envelopes.len());
            for envelope in envelopes {
                let version = envelope.version;
                let recorded = envelope.decode();
                log.push(
                    recorded
                        .map_err(|why| NoReplay::Unreadable { version, why: why.to_string() })?,
                );
            }
            Ok(Self::of(game, log, notes))
        });
        read.await.map_err(|error| StoreError::Fault(error.to_string()))?
    }

    pub(crate) fn of(game: Uuid, log: Vec<Recorded>, notes: Vec<Note>) -> Self {
        let entries = timeline(&log, notes);
        Self { game, log, entries }
    }

    /// The events alone.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.log.iter().map(|recorded| recorded.event.clone()).collect()
    }

    /// The states behind so many events each, which must come in order.
    pub(crate) fn states(&self, behind: impl IntoIterator<Item = usize>) -> Vec<Option<Game>> {
        let (mut game, mut done, mut states) = (None, 0, Vec::new());
        for wanted in behind {
            for recorded in &self.log[done.min(wanted)..wanted.min(self.log.len())] {
                game = evolve(game, &recorded.event);
            }
            done = done.max(wanted);
            states.push(game.clone());
        }
        states
    }

    /// The place of the next line like this behind a place; places count from 0.
    pub(crate) fn next(&self, after: Option<usize>, mark: Mark) -> Option<usize> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        let found = self.entries.get(from..)?.iter().position(|entry| self.is_marked(entry, mark));
        Some(from + found?)
    }

    fn is_marked(&self, entry: &Entry, mark: Mark) -> bool {
        let name = match mark {
            Mark::Farkle => "Farkled",
            Mark::Bank => "Banked",
            Mark::Effect => "EffectApplied",
            Mark::TimeOut => "TimedOut",
            Mark::Refused => {
                return matches!(&entry.what, What::Noted(note) if note.kind == Kind::Refused);
            }
        };
        self.events_of(entry).iter().any(|recorded| recorded.event.name() == name)
    }

    /// The events of a line.
    pub(crate) fn events_of(&self, entry: &Entry) -> &[Recorded] {
        match &entry.what {
            What::Action { events, .. } => self.log.get(events.clone()).unwrap_or_default(),
            What::Noted(_) => &[],
        }
    }
}

/// Actions and notes by time. A note of the moment of an action stands before it if the action came of it.
fn timeline(log: &[Recorded], notes: Vec<Note>) -> Vec<Entry> {
    let words = words(log);
    let mut places: std::collections::HashMap<Uuid, Place> = std::collections::HashMap::new();
    let mut notes = notes.into_iter().peekable();
    let mut entries = Vec::new();
    for events in by_command(log) {
        let first = &log[events.start];
        while let Some(note) = notes.next_if(|note| note.at <= first.at) {
            noted(note, events.start, &mut places, &mut entries);
        }
        let words = words.get(&events.start).cloned().unwrap_or_default();
        entries.push(Entry {
            at: first.at,
            before: events.start,
            place: places.get(&first.actor).cloned(),
            what: What::Action { events, words },
        });
    }
    for note in notes {
        noted(note, log.len(), &mut places, &mut entries);
    }
    entries
}

fn noted(
    note: Note,
    before: usize,
    places: &mut std::collections::HashMap<Uuid, Place>,
    entries: &mut Vec<Entry>,
) {
    let place =
        Place { session: note.session, address: note.address.clone(), client: note.client.clone() };
    if note.kind == Kind::Seen {
        places.insert(note.actor, place);
        return;
    }
    entries.push(Entry { at: note.at, before, place: Some(place), what: What::Noted(note) });
}

/// The events of each command, which stand together.
fn by_command(log: &[Recorded]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (place, recorded) in log.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if log[last.start].command == recorded.command => last.end = place + 1,
            _ => ranges.push(place..place + 1),
        }
    }
    ranges
}

/// What was asked, in words, by the place of its first event. A command may be told as two: to sit down, and to give a seed.
fn words(log: &[Recorded]) -> std::collections::HashMap<usize, String> {
    let events: Vec<Event> = log.iter().map(|recorded| recorded.event.clone()).collect();
    let Ok(steps) = recount(&events) else { return std::collections::HashMap::new() };
    let starts: std::collections::BTreeSet<usize> =
        by_command(log).iter().map(|range| range.start).collect();
    let mut words: std::collections::HashMap<usize, String> = std::collections::HashMap::new();
    for step in steps {
        let start = starts.range(..=step.events.start).next_back().copied().unwrap_or(0);
        let told = in_words(&step.command, &events[step.events.clone()]);
        let told = match &step.command {
            Command::Play { seat, .. }
            | Command::Leave { seat }
            | Command::ChooseSeed { seat, .. }
            | Command::ChooseLoadout { seat, .. }
            | Command::ChooseCharacter { seat, .. } => format!("{seat}: {told}"),
            Command::TimeOut { .. }
            | Command::Abandon { .. }
            | Command::Void { .. }
            | Command::Rule { .. } => format!("house: {told}"),
            Command::Create { .. } | Command::Join { .. } | Command::Start => told,
        };
        let entry = words.entry(start).or_default();
        if !entry.is_empty() {
            entry.push_str("; ");
        }
        entry.push_str(&told);
    }
    words
}
