//! What can be asked of a game.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{GameId, Moment, PlayerId, Ruleset, SeatNo, fair::Commitment};

/// A wish, checked by [`crate::decide`]: it holds what a client sent, right or wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Opens a table under a ruleset, with the promise of its dice.
    Create {
        /// The game's id, part of everything its dice are made from.
        game: GameId,
        /// The rules it will be played and replayed under.
        ruleset: Arc<Ruleset>,
        /// The hash that binds the house to its secret.
        commitment: Commitment,
    },
    /// Takes the lowest free seat.
    Join {
        /// The account that sits down.
        player: PlayerId,
        /// The name shown at the table.
        name: String,
        /// The client's seed, if it already has one.
        seed: Option<String>,
    },
    /// Gives or replaces the seed of a seat; possible until the start.
    ChooseSeed {
        /// The seat whose client speaks.
        seat: SeatNo,
        /// The seed.
        seed: String,
    },
    /// Chooses the dice of a seat, one a slot; possible until the start.
    ChooseLoadout {
        /// The seat whose dice they are.
        seat: SeatNo,
        /// The codes of the dice; slots that are not named have ordinary dice.
        dice: Vec<String>,
    },
    /// Gives the seat up; in a running game this forfeits.
    Leave {
        /// The seat.
        seat: SeatNo,
    },
    /// Seals the seeds and begins.
    Start,
    /// A move of the seat whose turn it is.
    Play {
        /// The seat that wants to move.
        seat: SeatNo,
        /// Its move.
        play: Play,
    },
    /// The house ends a turn whose time is up.
    TimeOut {
        /// The seat whose time is up.
        seat: SeatNo,
    },
    /// The house closes a game nobody has touched for its expiry time.
    Abandon {
        /// When its last event was recorded: a fact of the log, like the time itself.
        touched: Moment,
    },
}

/// A move within a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Play {
    /// Roll the dice in hand.
    Roll,
    /// Score some of the dice just rolled.
    Save {
        /// Their slots.
        slots: Vec<u8>,
    },
    /// Put the points of the round on the score, saving some dice first if named.
    Bank {
        /// The slots to save first.
        slots: Option<Vec<u8>>,
    },
    /// Give the roll up: a farkle by choice.
    Forfeit,
}
