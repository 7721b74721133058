//! The dice of a fork: those of the original, or others.

use std::collections::VecDeque;

use crate::{
    Dice, Draw, Event, Game, Purpose,
    fair::{DiceKey, FairDice, Secret, seeds_hash, sha256},
    infer_commands::draws_of,
};

/// The source of dice for the moves of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherDice {
    /// The dice of the original game, if it is over: earlier they would reveal its future.
    Same,
    /// Other dice, derived from this text: the same text gives the same dice.
    Seed(String),
    /// These raw values, roll by roll. Draws other than dice are derived from the game.
    Script(Vec<Vec<u32>>),
}

/// The dice of a fork: a step of the original repeats its draws, as far as they fit.
#[derive(Clone, Debug)]
pub(crate) struct ForkDice {
    /// The dice of the original, if its secret is revealed.
    own: Option<FairDice>,
    other: Source,
    /// The remaining draws of the step of the original that is being replayed.
    recorded: Option<VecDeque<(Draw, Vec<u32>)>>,
    secret: Secret,
    starved: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Same,
    Key(DiceKey),
    Script(VecDeque<Vec<u32>>, DiceKey),
}

impl ForkDice {
    /// The dice of a fork of this game; `revealed` is the original's secret, if it is over.
    pub(crate) fn new(
        dice: &OtherDice,
        original: &Game,
        revealed: Option<Secret>,
        secret: Secret,
    ) -> Self {
        let other = match dice {
            OtherDice::Same => Source::Same,
            OtherDice::Seed(text) => Source::Key(key_of(text, original)),
            OtherDice::Script(rolls) => {
                Source::Script(rolls.iter().cloned().collect(), key_of("", original))
            }
        };
        let own = revealed.map(|revealed| FairDice::new(revealed, original));
        Self { own, other, recorded: None, secret, starved: false }
    }

    /// Switches to a step of the original with these events.
    pub(crate) fn replay(&mut self, events: &[Event]) {
        self.recorded = Some(events.iter().flat_map(draws_of).collect());
    }

    /// Switches to new moves.
    pub(crate) fn play_on(&mut self) {
        self.recorded = None;
    }

    /// Whether a draw was requested that only the secret dice of a running game can give.
    pub(crate) const fn starved(&self) -> bool {
        self.starved
    }

    fn draw_new(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let same = matches!(self.other, Source::Same);
        if let Some(own) = self.own.as_mut().filter(|_| same || self.recorded.is_some()) {
            return own.draw(draw, count);
        }
        match &mut self.other {
            Source::Same => {
                self.starved = true;
                Vec::new()
            }
            Source::Script(rolls, _) if draw.purpose == Purpose::Dice => {
                rolls.pop_front().unwrap_or_default()
            }
            Source::Key(key) | Source::Script(_, key) => key.draw(draw, count.into()),
        }
    }
}

impl Dice for ForkDice {
    /// A draw keeps the number it had in the original, and its values if it is the same draw; with
    /// fewer dice it takes the first of them.
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let recorded = self.recorded.as_mut().and_then(|recorded| {
            let next =
                recorded.iter().position(|(original, _)| original.purpose == draw.purpose)?;
            recorded.remove(next)
        });
        let Some((original, raw)) = recorded else { return self.draw_new(draw, count) };
        match raw.get(..usize::from(count)) {
            Some(values) if original.sides == draw.sides => values.to_vec(),
            _ => self.draw_new(Draw { number: original.number, ..draw }, count),
        }
    }

    fn secret(&self) -> Option<Secret> {
        Some(self.secret)
    }
}

/// A key that is independent of the game's secret.
fn key_of(text: &str, game: &Game) -> DiceKey {
    let secret = Secret(sha256("croupier/what-if-dice/1", &[text.as_bytes()]));
    DiceKey::derive(&secret, &seeds_hash([]), game.table.id, &game.table.ruleset_hash)
}
