//! The draws of a command: written after it, by purpose, in the order of drawing.

use std::collections::VecDeque;

use super::{
    BadRecord,
    lex::{Position, Reader, Token, list, value},
};
use crate::{Dice, Draw, Event, Purpose, fair::Secret, infer_commands::draws_of};

/// The names of purposes, ordered by their numbers in the protocol.
const PURPOSES: [(Purpose, &str); 4] = [
    (Purpose::Dice, "dice"),
    (Purpose::Colours, "colours"),
    (Purpose::Market, "market"),
    (Purpose::Grants, "grants"),
];

/// The draws of one command, as a source of dice.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// The draws left, by purpose.
    left: [VecDeque<Vec<u32>>; PURPOSES.len()],
    /// A draw that was requested but is not in the record.
    missing: Option<(Draw, u8)>,
    secret: Option<Secret>,
}

impl Draws {
    /// The draws of these events.
    pub(super) fn of(events: &[Event]) -> Self {
        let mut draws = Self::default();
        for (draw, raw) in events.iter().flat_map(draws_of) {
            draws.add(draw.purpose, raw);
        }
        draws
    }

    /// The dice of a roll, which are written in the list of the move itself.
    pub(super) fn take_roll(&mut self) -> Option<Vec<u32>> {
        self.left[index_of(Purpose::Dice)].pop_front()
    }

    /// Adds a draw of a purpose.
    pub(super) fn add(&mut self, purpose: Purpose, raw: Vec<u32>) {
        self.left[index_of(purpose)].push_back(raw);
    }

    /// Sets the secret.
    pub(super) fn with_secret(self, secret: Option<Secret>) -> Self {
        Self { secret, ..self }
    }

    /// The text that follows a command.
    pub(super) fn written(&self) -> String {
        let shown = |&(purpose, name): &(Purpose, &str), raw: &[u32]| {
            let values: Vec<String> = raw.iter().map(u32::to_string).collect();
            match purpose {
                Purpose::Dice | Purpose::Colours => format!(" {name} [{}]", values.join(",")),
                Purpose::Market | Purpose::Grants => format!(" {name} {}", values.join(",")),
            }
        };
        let all = PURPOSES.iter().zip(&self.left);
        all.flat_map(|(purpose, draws)| draws.iter().map(move |raw| shown(purpose, raw))).collect()
    }

    /// Reads the draws that follow a command.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), BadRecord> {
        while let (Token::Word(word), position) = reader.peek()? {
            let Some(&(purpose, name)) = PURPOSES.iter().find(|(_, name)| *name == word) else {
                let problem = format!(
                    "'{word}' stands behind a command; there should be ';', '|', the end of the line, a stamp, \
                     or what was drawn: dice [..], colours [..], market N, grants N"
                );
                return Err(position.bad(problem));
            };
            reader.next()?;
            let raw = match purpose {
                Purpose::Dice | Purpose::Colours => list(reader, name, "values that were drawn")?,
                Purpose::Market | Purpose::Grants => {
                    vec![value(reader, "the value that was drawn")?]
                }
            };
            self.add(purpose, raw);
        }
        Ok(())
    }

    /// Rejects a command that draws more or less than the record says.
    pub(super) fn check(&self, position: Position) -> Result<(), BadRecord> {
        if let Some((draw, count)) = self.missing {
            let name = PURPOSES[index_of(draw.purpose)].1;
            let problem = format!(
                "too little is drawn: {name} is missing, with {count} value(s) from 1 to {}",
                draw.sides
            );
            return Err(position.bad(problem));
        }
        let more = PURPOSES.iter().zip(&self.left).find(|(_, draws)| !draws.is_empty());
        match more {
            None => Ok(()),
            Some(((_, name), draws)) => {
                let problem = format!("too much is drawn: {name} {:?} is not asked for", draws[0]);
                Err(position.bad(problem))
            }
        }
    }
}

fn index_of(purpose: Purpose) -> usize {
    PURPOSES.iter().position(|(known, _)| *known == purpose).unwrap_or_default()
}

impl Dice for Draws {
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let next = self.left[index_of(draw.purpose)].pop_front();
        if next.is_none() {
            self.missing.get_or_insert((draw, count));
        }
        next.unwrap_or_default()
    }

    fn secret(&self) -> Option<Secret> {
        self.secret
    }
}
