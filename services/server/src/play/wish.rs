//! What a player wants at a table, and what came of it.

use std::sync::Arc;

use domain::{Event, Moment, Play, Ruleset};
use store::{Executed, Loaded};
use uuid::Uuid;

/// What a player wants at a table.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    /// Sit down, perhaps with a seed and the code of a private table.
    Join { seed: Option<String>, invite: Option<String> },
    /// Give or change the seed.
    ChooseSeed(String),
    /// Choose whom to play.
    ChooseCharacter(String),
    /// Get up.
    Leave,
    /// Begin.
    Start,
    /// Move.
    Play(Play),
}

/// What makes asking twice the same as asking once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Once {
    /// The client's own id of the command.
    pub(crate) id: Option<Uuid>,
    /// The version the game must have.
    pub(crate) expected: Option<i64>,
}

/// A game that somebody opens.
#[derive(Clone, Debug)]
pub(crate) struct NewGame {
    pub(crate) ruleset: Arc<Ruleset>,
    pub(crate) private: bool,
    /// Whether the creator sits down at once.
    pub(crate) seated: bool,
}

/// What came of a wish.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) game: Uuid,
    pub(crate) made: Vec<Made>,
    /// Whether all of it had happened before.
    pub(crate) repeated: bool,
    /// The game as it is now.
    pub(crate) state: Arc<Loaded>,
    pub(crate) actor: Uuid,
}

/// An event that a wish made happen.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) version: i64,
    pub(crate) at: Moment,
    pub(crate) command: Uuid,
    pub(crate) event: Event,
}

impl Done {
    pub(super) fn new(game: Uuid, executed: Executed, command: Uuid, actor: Uuid) -> Self {
        let Executed { events, first_version, at, repeated, state } = executed;
        let made = (first_version..).zip(events);
        let made = made.map(|(version, event)| Made { version, at, command, event }).collect();
        Self { game, made, repeated, state, actor }
    }

    /// Two commands of one wish, told as one.
    pub(super) fn and(mut self, next: Self) -> Self {
        self.made.extend(next.made);
        Self { made: self.made, repeated: self.repeated && next.repeated, ..next }
    }
}
