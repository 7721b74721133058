//! Checking the dice of a finished game from its events alone.

use super::{DiceKey, commitment, ruleset_hash, seeds_hash};
use crate::{Draw, Event, Game, evolve};

/// Draws every roll again from the revealed secret; gives the number of rolls checked.
pub fn verify<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<u64, Unfair> {
    let mut game: Option<Game> = None;
    let mut secret = None;
    let mut sealed = None;
    let mut rolls = Vec::new();
    for event in events {
        game = evolve(game, event);
        if let Event::Started { seeds } = event {
            sealed = Some(*seeds);
        } else if let Event::Rolled(roll) = event {
            rolls.push(roll);
        } else if let Event::SeedRevealed { secret: revealed } = event {
            secret = Some(*revealed);
        }
    }
    let table = game.ok_or(Unfair::NoGame)?.table;
    let secret = secret.ok_or(Unfair::NotRevealed)?;
    let ruleset = ruleset_hash(&table.ruleset);
    if commitment(&secret, table.id, ruleset) != table.commitment {
        return Err(Unfair::Commitment);
    }
    let seeds = seeds_hash(table.seats.iter().map(|seat| seat.seed.as_ref()));
    if sealed.is_some_and(|sealed| sealed != seeds) {
        return Err(Unfair::Seeds);
    }
    let key = DiceKey::derive(&secret, &seeds, table.id, &ruleset);
    let mut checked = 0;
    for roll in rolls {
        checked += 1;
        // A draw used twice would be a choice between two rolls.
        let due = Draw { number: checked, ..roll.draw };
        let expected = key.draw(due, roll.raw.len());
        if roll.draw != due || roll.raw != expected {
            return Err(Unfair::Roll { number: checked, expected, found: roll.raw.clone() });
        }
    }
    Ok(checked)
}

/// What is wrong with the dice of a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfair {
    /// The events do not begin with a game.
    #[error("these events do not begin with Created")]
    NoGame,
    /// The game is not over.
    #[error("the secret is not revealed yet; it is when the game is over")]
    NotRevealed,
    /// Another secret than the promised one.
    #[error("the revealed secret is not the one that was committed to")]
    Commitment,
    /// Other seeds than the sealed ones.
    #[error("the seeds of the seats are not the ones that were sealed")]
    Seeds,
    /// A roll that the key does not give.
    #[error("roll {number} is {found:?}, but the seeds give {expected:?}")]
    Roll {
        /// The first wrong roll, from 1.
        number: u64,
        /// What the seeds give.
        expected: Vec<u32>,
        /// What the event says.
        found: Vec<u32>,
    },
}
