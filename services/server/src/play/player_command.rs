//! Commands of players, and their outcome.

use std::sync::Arc;

use domain::{Event, Moment, Play, Ruleset};
use store::{Executed, Loaded};
use uuid::Uuid;

/// A command of a player to a game.
#[derive(Clone, Debug)]
pub(crate) enum PlayerCommand {
    /// Take a seat, optionally with a seed; a private table needs its invite code.
    Join {
        seed: Option<String>,
        invite: Option<String>,
    },
    /// Set or replace the player's seed.
    ChooseSeed(String),
    ChooseCharacter(String),
    Leave,
    Start,
    Play(Play),
}

/// Makes a command safe to retry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idempotency {
    /// The client's command id: a retry with the same id returns the first result.
    pub(crate) id: Option<Uuid>,
    /// The version the game must have for the command to be executed.
    pub(crate) expected: Option<i64>,
}

/// A game to be created.
#[derive(Clone, Debug)]
pub(crate) struct NewGame {
    pub(crate) ruleset: Arc<Ruleset>,
    pub(crate) private: bool,
    /// Whether the creator takes a seat immediately.
    pub(crate) seated: bool,
}

/// The result of a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandOutcome {
    pub(crate) game: Uuid,
    pub(crate) new_events: Vec<NewEvent>,
    /// Whether this was a retry of a command that was executed before.
    pub(crate) repeated: bool,
    /// The current state of the game.
    pub(crate) state: Arc<Loaded>,
    /// The game before the command; `None` if it had been executed before.
    pub(crate) before: Option<Arc<Loaded>>,
    pub(crate) actor: Uuid,
}

/// An event that a command produced.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) version: i64,
    pub(crate) at: Moment,
    pub(crate) command: Uuid,
    pub(crate) event: Event,
}

impl CommandOutcome {
    pub(super) fn new(game: Uuid, executed: Executed, command: Uuid, actor: Uuid) -> Self {
        let Executed { events, first_version, at, repeated, before, state } = executed;
        let new_events = (first_version..).zip(events);
        let new_events =
            new_events.map(|(version, event)| NewEvent { version, at, command, event }).collect();
        Self { game, new_events, repeated, state, before, actor }
    }

    /// Combines the outcomes of two commands of one request.
    pub(super) fn and(mut self, next: Self) -> Self {
        self.new_events.extend(next.new_events);
        let (new_events, before) = (self.new_events, self.before);
        Self { new_events, before, repeated: self.repeated && next.repeated, ..next }
    }

    /// Whether no event of another command is between its events.
    pub(crate) fn is_consecutive(&self) -> bool {
        self.new_events.windows(2).all(|pair| pair[1].version == pair[0].version + 1)
    }
}
