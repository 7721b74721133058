//! The timeline of a game: commands with their events, refused commands, and connections of
//! players.

mod board;
mod cli;
mod recording;
pub(crate) mod source;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, OnceLock},
};

use domain::{Difference, Event, Game, Moment, Points, Rules, SeatNo, TurnEnd, evolve};
use store::{Recorded, Store, StoreError};
use uuid::Uuid;

pub(crate) use cli::{Options, run};
use recording::by_command;
pub(crate) use recording::{Recording, Recordings};

use crate::play::evidence::{Kind, Note};

/// A game with its log and its timeline.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) game: Uuid,
    pub(crate) log: Arc<Vec<Recorded>>,
    /// The timeline, in order.
    pub(crate) entries: Vec<Entry>,
    differences: Arc<[OnceLock<Vec<Difference>>]>,
}

/// An entry of the timeline.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Moment,
    /// The number of events before it.
    pub(crate) before: usize,
    pub(crate) kind: EntryKind,
    /// The session, address and client it came from, if known.
    pub(crate) origin: Option<ClientOrigin>,
}

/// The kind of an entry.
#[derive(Clone, Debug)]
pub(crate) enum EntryKind {
    /// A command with its events.
    Action {
        events: Range<usize>,
        /// The command in words, reconstructed from its events.
        words: String,
    },
    /// A refused command, or a player who connected or disconnected.
    Noted(Note),
}

/// The session, address and client of a player.
#[derive(Clone, Debug)]
pub(crate) struct ClientOrigin {
    pub(crate) session: Uuid,
    pub(crate) address: String,
    pub(crate) client: String,
}

/// A mark of an entry in a replay, to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, async_graphql::Enum)]
#[graphql(name = "ReplayMark")]
pub(crate) enum Mark {
    /// A farkle.
    Farkle,
    /// Points were banked.
    Bank,
    /// An effect of a rule, a die or an item.
    Effect,
    /// Hot dice: all dice were scored and can be rolled again.
    HotDice,
    /// Another seat took the lead.
    LeadChange,
    /// A turn timed out.
    TimeOut,
    /// A command was rejected.
    Refused,
}

/// A turn and its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) round: u32,
    pub(crate) seat: SeatNo,
    pub(crate) entries: Range<usize>,
    /// How it ended, if it has.
    pub(crate) end: Option<TurnEnd>,
    pub(crate) points: Points,
}

/// Why a replay cannot be loaded.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("event {version} cannot be read: {why}")]
    Unreadable { version: i64, why: String },
}

impl Replay {
    /// Loads a game. Without notes the timeline has only its events.
    pub(crate) async fn load(
        store: &Store,
        game: Uuid,
        notes: Vec<Note>,
    ) -> Result<Self, ReplayError> {
        Ok(Self::new(game, Recording::load(store, game).await?, notes))
    }

    pub(crate) fn of(game: Uuid, log: Vec<Recorded>) -> Self {
        Self::new(game, Recording::of(log), Vec::new())
    }

    /// A recording, with the notes on its timeline.
    pub(crate) fn new(game: Uuid, recording: Recording, notes: Vec<Note>) -> Self {
        let entries = timeline(&recording, notes);
        Self { game, log: recording.log, entries, differences: recording.differences }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.log.iter().map(|recorded| recorded.event.clone()).collect()
    }

    /// The states after each of these numbers of events, which must be ascending.
    pub(crate) fn states(&self, counts: impl IntoIterator<Item = usize>) -> Vec<Option<Game>> {
        let (mut game, mut done, mut states) = (None, 0, Vec::new());
        for count in counts {
            for recorded in &self.log[done.min(count)..count.min(self.log.len())] {
                game = evolve(game, &recorded.event);
            }
            done = done.max(count);
            states.push(game.clone());
        }
        states
    }

    /// What an entry changed. They are compared only once for all replays of the game.
    pub(crate) fn differences(
        &self,
        entry: &Entry,
        compare: impl FnOnce() -> Vec<Difference>,
    ) -> &[Difference] {
        match (&entry.kind, self.differences.get(entry.before)) {
            (EntryKind::Action { .. }, Some(known)) => known.get_or_init(compare),
            (EntryKind::Action { .. }, None) | (EntryKind::Noted(_), _) => &[],
        }
    }

    /// The index of the next entry with this mark after an index.
    pub(crate) fn next(&self, after: Option<usize>, mark: Mark) -> Option<usize> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        self.marked(mark).into_iter().find(|index| *index >= from)
    }

    /// The index of the last entry with this mark before an index.
    pub(crate) fn previous(&self, before: Option<usize>, mark: Mark) -> Option<usize> {
        let to = before.unwrap_or(self.entries.len());
        self.marked(mark).into_iter().rev().find(|index| *index < to)
    }

    /// The indices of the entries with a mark, in order.
    fn marked(&self, mark: Mark) -> Vec<usize> {
        if mark == Mark::LeadChange {
            return self.lead_changes();
        }
        let rules = self.rules();
        let is_marked = |entry: &Entry| match mark {
            Mark::Refused => {
                matches!(&entry.kind, EntryKind::Noted(note) if note.kind == Kind::Refused)
            }
            Mark::Farkle
            | Mark::Bank
            | Mark::Effect
            | Mark::HotDice
            | Mark::LeadChange
            | Mark::TimeOut => {
                self.events_of(entry).iter().any(|recorded| shows(mark, &recorded.event, rules))
            }
        };
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, entry)| is_marked(entry)).map(|(index, _)| index).collect()
    }

    fn rules(&self) -> Option<&Rules> {
        let Event::Created { ruleset, .. } = &self.log.first()?.event else { return None };
        Some(&ruleset.rules)
    }

    /// The entries after which a different seat has the sole lead.
    fn lead_changes(&self) -> Vec<usize> {
        let ends: Vec<usize> =
            self.entries.iter().map(|entry| entry.before + self.events_of(entry).len()).collect();
        let (mut leads, mut found) = (None, Vec::new());
        for (index, game) in self.states(ends).into_iter().enumerate() {
            let Some(leader) = game.as_ref().and_then(leader) else { continue };
            if leads.replace(leader).is_some_and(|before| before != leader) {
                found.push(index);
            }
        }
        found
    }

    /// The turns, in order.
    pub(crate) fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            for recorded in self.events_of(entry) {
                if let Event::TurnEnded(ended) = &recorded.event
                    && let Some(turn) = turns.last_mut()
                {
                    (turn.end, turn.points) = (Some(ended.how), ended.points);
                    turn.entries.end = index + 1;
                }
                if let Event::TurnStarted { seat, round, .. } = &recorded.event {
                    let entries = index + 1..index + 1;
                    turns.push(Turn { round: *round, seat: *seat, entries, end: None, points: 0 });
                }
            }
        }
        if let Some(turn) = turns.last_mut().filter(|turn| turn.end.is_none()) {
            turn.entries.end = self.entries.len();
        }
        turns
    }

    /// The events of an entry.
    pub(crate) fn events_of(&self, entry: &Entry) -> &[Recorded] {
        match &entry.kind {
            EntryKind::Action { events, .. } => self.log.get(events.clone()).unwrap_or_default(),
            EntryKind::Noted(_) => &[],
        }
    }
}

/// Whether an event carries a mark.
fn shows(mark: Mark, event: &Event, rules: Option<&Rules>) -> bool {
    match mark {
        Mark::HotDice => {
            matches!((event, rules), (Event::Saved(saved), Some(rules)) if rules.is_hot(saved))
        }
        Mark::Farkle => event.name() == "Farkled",
        Mark::Bank => event.name() == "Banked",
        Mark::Effect => event.name() == "EffectApplied",
        Mark::TimeOut => event.name() == "TimedOut",
        Mark::LeadChange | Mark::Refused => false,
    }
}

/// The seat with the highest score, if there is just one.
fn leader(game: &Game) -> Option<usize> {
    let down = Rules::counts_down(game.table.ruleset.rules.game());
    let scores = game.board.scores().into_iter();
    let scores: Vec<Points> = scores.map(|score| if down { -score } else { score }).collect();
    let best = scores.iter().max()?;
    let mut leading = scores.iter().enumerate().filter(|(_, score)| *score == best);
    leading.next().filter(|_| leading.next().is_none()).map(|(seat, _)| seat)
}

/// Merges actions and notes by time. A note at the time of an action comes before it.
fn timeline(Recording { log, words, .. }: &Recording, notes: Vec<Note>) -> Vec<Entry> {
    let mut origins: HashMap<Uuid, ClientOrigin> = HashMap::new();
    let mut notes = notes.into_iter().peekable();
    let mut entries = Vec::new();
    for events in by_command(log) {
        let first = &log[events.start];
        while let Some(note) = notes.next_if(|note| note.at <= first.at) {
            add_note(note, events.start, &mut origins, &mut entries);
        }
        let words = words.get(&events.start).cloned().unwrap_or_default();
        entries.push(Entry {
            at: first.at,
            before: events.start,
            origin: origins.get(&first.actor).cloned(),
            kind: EntryKind::Action { events, words },
        });
    }
    for note in notes {
        add_note(note, log.len(), &mut origins, &mut entries);
    }
    entries
}

fn add_note(
    note: Note,
    before: usize,
    origins: &mut HashMap<Uuid, ClientOrigin>,
    entries: &mut Vec<Entry>,
) {
    let origin = ClientOrigin {
        session: note.session,
        address: note.address.clone(),
        client: note.client.clone(),
    };
    if note.kind == Kind::Seen {
        origins.insert(note.actor, origin);
        return;
    }
    entries.push(Entry { at: note.at, before, origin: Some(origin), kind: EntryKind::Noted(note) });
}
