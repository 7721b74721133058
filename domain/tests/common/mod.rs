//! A table to play at in tests.

#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use domain::{
    Command, Dice, Draw, Event, Game, GameId, Moment, Play, PlayerId, Rejection, Ruleset, SeatNo,
    decide, evolve,
    fair::{Commitment, FairDice, Secret, commitment, ruleset_hash},
};
use serde_json::Value;
use uuid::Uuid;

/// Dice that fall as written.
#[derive(Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [u32]);

impl Dice for Script<'_> {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.0.to_vec()
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

pub(crate) const SECRET: Secret = Secret([42; 32]);
pub(crate) const NOW: Moment = Moment(1_800_000_000_000);

/// A game, its log and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) log: Vec<Event>,
    pub(crate) game: Option<Game>,
    pub(crate) now: Moment,
}

impl Match {
    pub(crate) fn empty() -> Self {
        Self { log: Vec::new(), game: None, now: NOW }
    }

    /// A table under a preset with changed rules, nobody seated yet.
    pub(crate) fn open(preset: &str, changes: Value) -> Self {
        let mut table = Self::empty();
        table.tell(&create(ruleset(preset, changes)), &[]).unwrap();
        table
    }

    /// A table of any game under one of its presets, nobody seated yet.
    pub(crate) fn of(game: &str, preset: &str) -> Self {
        Self::under(&Ruleset::preset(game, Some(preset)).unwrap())
    }

    /// A table under these rules, nobody seated yet.
    pub(crate) fn under(ruleset: &Ruleset) -> Self {
        let mut table = Self::empty();
        table.tell(&create(ruleset.clone()), &[]).unwrap();
        table
    }

    /// A running game of so many seats.
    pub(crate) fn running(preset: &str, changes: Value, seats: u8) -> Self {
        let mut table = Self::open(preset, changes);
        for seat in 0..seats {
            table.tell(&join(seat), &[]).unwrap();
        }
        table.tell(&Command::Start, &[]).unwrap();
        table
    }

    pub(crate) fn game(&self) -> &Game {
        self.game.as_ref().unwrap()
    }

    pub(crate) fn decide(&self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        decide(self.game.as_ref(), command, self.now, &mut Script(raw))
    }

    /// Decides with scripted dice and records what happened.
    pub(crate) fn tell(&mut self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        let events = self.decide(command, raw)?;
        self.record(&events);
        Ok(events)
    }

    /// Decides with the fair dice of the game and records what happened.
    pub(crate) fn tell_fairly(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let mut dice = FairDice::new(SECRET, self.game());
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

pub(crate) fn ruleset(preset: &str, changes: Value) -> Ruleset {
    let preset = Ruleset::preset("farkle", Some(preset)).unwrap();
    let none = serde_json::Map::new();
    preset.with(changes.as_object().unwrap_or(&none)).unwrap()
}

pub(crate) fn create(ruleset: Ruleset) -> Command {
    let game = GameId(Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001));
    let commitment: Commitment = commitment(&SECRET, game, ruleset_hash(&ruleset));
    Command::Create { game, ruleset: Arc::new(ruleset), commitment }
}

pub(crate) fn join(number: u8) -> Command {
    Command::Join {
        player: player(number),
        name: format!("player {number}"),
        seed: number.is_multiple_of(2).then(|| format!("seed of {number}")),
    }
}

pub(crate) fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(0xA000 + u128::from(number)))
}

pub(crate) fn play(seat: SeatNo, play: Play) -> Command {
    Command::Play { seat, play }
}

pub(crate) fn roll(seat: SeatNo) -> Command {
    play(seat, Play::Roll)
}

pub(crate) fn save(seat: SeatNo, slots: &[u8]) -> Command {
    play(seat, Play::Save { slots: slots.to_vec() })
}

pub(crate) fn bank(seat: SeatNo, slots: Option<&[u8]>) -> Command {
    play(seat, Play::Bank { slots: slots.map(<[u8]>::to_vec) })
}

/// Numbers that look random and are the same every time.
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number from 0 on, below the limit.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 32) % u64::from(limit)).unwrap()
    }

    /// A place in a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap()) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}
