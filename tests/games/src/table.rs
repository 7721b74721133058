//! A game in memory, for tests.

use domain::{
    Command, Dice, Draw, Event, Game, Moment, Rejection, Ruleset, decide, evolve,
    fair::{FairDice, Secret},
};
use serde_json::Value;

use crate::{create, join, ruleset};

/// Scripted dice.
#[derive(Debug)]
pub struct Script<'a>(
    /// The next values.
    pub &'a [u32],
);

impl Dice for Script<'_> {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.0.to_vec()
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// The dice secret of all tables.
pub const SECRET: Secret = Secret([42; 32]);
/// When tables are created.
pub const NOW: Moment = Moment(1_800_000_000_000);

/// A game with its log and its clock.
#[derive(Clone, Debug)]
pub struct Match {
    /// All events.
    pub log: Vec<Event>,
    /// The current state.
    pub game: Option<Game>,
    /// The current time.
    pub now: Moment,
    /// The dice secret.
    pub secret: Secret,
}

impl Match {
    /// An empty log.
    pub fn empty() -> Self {
        Self { log: Vec::new(), game: None, now: NOW, secret: SECRET }
    }

    /// A game with a preset and changed rules, without players.
    pub fn open(preset: &str, changes: Value) -> Self {
        let mut table = Self::empty();
        table.execute(&create(ruleset(preset, changes)), &[]).unwrap();
        table
    }

    /// A game with these rules, without players.
    pub fn under(ruleset: &Ruleset) -> Self {
        let mut table = Self::empty();
        table.execute(&create(ruleset.clone()), &[]).unwrap();
        table
    }

    /// A running game with this many seats.
    pub fn running(preset: &str, changes: Value, seats: u8) -> Self {
        let mut table = Self::open(preset, changes);
        for seat in 0..seats {
            table.execute(&join(seat), &[]).unwrap();
        }
        table.execute(&Command::Start, &[]).unwrap();
        table
    }

    /// The current state.
    pub fn game(&self) -> &Game {
        self.game.as_ref().unwrap()
    }

    /// Decides with scripted dice, without recording the events.
    pub fn decide(&self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        decide(self.game.as_ref(), command, self.now, &mut Script(raw))
    }

    /// Decides with scripted dice and records the events.
    pub fn execute(&mut self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        let events = self.decide(command, raw)?;
        self.record(&events);
        Ok(events)
    }

    /// Decides with the fair dice of the game and records the events.
    pub fn execute_fairly(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let mut dice = FairDice::new(self.secret, self.game());
        let events = decide(self.game.as_ref(), command, self.now, &mut dice)?;
        self.record(&events);
        Ok(events)
    }

    fn record(&mut self, events: &[Event]) {
        for event in events {
            self.game = evolve(self.game.take(), event);
        }
        self.log.extend_from_slice(events);
    }
}
