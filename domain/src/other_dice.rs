//! The dice of a game that is played otherwise: those that fell, those that would have fallen, or others.

use std::collections::VecDeque;

use crate::{
    Dice, Draw, Event, Game, Purpose,
    fair::{DiceKey, FairDice, Secret, seeds_hash, sha256},
    recount::draws_of,
};

/// Which dice the moves of a fork are played with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherDice {
    /// Those of the original game, if it is over: before that they would tell its future.
    Same,
    /// Others, made from this text: the same text gives the same dice.
    Seed(String),
    /// These raw values, roll by roll. What is drawn beside dice is made from the game.
    Script(Vec<Vec<u32>>),
}

/// The dice of a fork: in a step of the original those that fell in it, as long as they fit.
#[derive(Clone, Debug)]
pub(crate) struct ForkDice {
    /// The dice of the original, if its secret is revealed.
    own: Option<FairDice>,
    other: Source,
    /// What fell in the step of the original that is played again.
    fell: Option<VecDeque<(Draw, Vec<u32>)>>,
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
    /// The dice of a fork of this game; `revealed` is its secret, if it is over.
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
        Self { own, other, fell: None, secret, starved: false }
    }

    /// From now on a step of the original is played, in which these events happened.
    pub(crate) fn replay(&mut self, events: &[Event]) {
        self.fell = Some(events.iter().flat_map(draws_of).collect());
    }

    /// From now on new moves are played.
    pub(crate) fn play_on(&mut self) {
        self.fell = None;
    }

    /// Whether a draw was asked for that only the dice of a running game know.
    pub(crate) const fn starved(&self) -> bool {
        self.starved
    }

    fn drawn(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let same = matches!(self.other, Source::Same);
        if let Some(own) = self.own.as_mut().filter(|_| same || self.fell.is_some()) {
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
    /// A draw keeps its number of the original, and gives the values it gave there if it is the same
    /// draw: fewer dice are the first ones of more.
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let fell = self.fell.as_mut().and_then(|fell| {
            let next = fell.iter().position(|(was, _)| was.purpose == draw.purpose)?;
            fell.remove(next)
        });
        let Some((was, raw)) = fell else { return self.drawn(draw, count) };
        match raw.get(..usize::from(count)) {
            Some(values) if was.sides == draw.sides => values.to_vec(),
            _ => self.drawn(Draw { number: was.number, ..draw }, count),
        }
    }

    fn secret(&self) -> Option<Secret> {
        Some(self.secret)
    }
}

/// Dice of the game that have nothing to do with its secret.
fn key_of(text: &str, game: &Game) -> DiceKey {
    let secret = Secret(sha256("croupier/what-if-dice/1", &[text.as_bytes()]));
    DiceKey::derive(&secret, &seeds_hash([]), game.table.id, &game.table.ruleset_hash)
}
