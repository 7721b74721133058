//! What can be asked of a game.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{GameId, Moment, PlayerId, Ruleset, SeatNo, VoidedFor, fair::Commitment};

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
    /// Chooses whom a seat plays; possible until the start.
    ChooseCharacter {
        /// The seat.
        seat: SeatNo,
        /// The code of the character.
        character: String,
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
    /// The house ends a game that is played, and says who wins.
    Rule {
        /// Who; nobody is possible.
        winners: Vec<SeatNo>,
        /// Because of which dispute, if there was one.
        dispute: Option<Uuid>,
    },
    /// The house makes a game void, whether it is over or not.
    Void {
        /// Why.
        why: VoidedFor,
        /// Because of which dispute, if there was one.
        dispute: Option<Uuid>,
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
    /// Roll all dice but these.
    Reroll {
        /// The slots of the dice that stay as they are.
        keep: Vec<u8>,
    },
    /// Score the dice in a category.
    Score {
        /// Its name.
        category: String,
    },
    /// Let the dice do what they show.
    Resolve,
    /// Attack with the swords among the dice.
    Attack {
        /// Whom, where there is a choice.
        target: Option<SeatNo>,
    },
    /// Use what one's character can do.
    Ability(Ability),
    /// Say whether one stays, when asked.
    Answer {
        /// Whether one stays.
        stay: bool,
    },
    /// Buy something that is offered.
    Buy {
        /// Its code.
        code: String,
        /// At whom it is aimed, where it is aimed at somebody.
        target: Option<SeatNo>,
    },
    /// Replace everything that is offered.
    Renew,
    /// Use something one holds.
    Use {
        /// Its code.
        code: String,
    },
    /// Take what was unlocked.
    Evolve {
        /// Its code.
        code: String,
    },
    /// End one's turn.
    End,
}

/// What characters can do at will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// Copy what one die shows onto another.
    Copy {
        /// The die that is copied.
        from: u8,
        /// The die that changes.
        onto: u8,
    },
    /// Put by what a die shows.
    Store(u8),
    /// Replace a die by what was put by.
    Place(u8),
    /// Turn so many hearts that healed nothing into energy.
    Convert(u8),
    /// Exchange energy and health.
    Exchange(Exchange),
}

/// Which way energy and health are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// Energy for health.
    Heal,
    /// Health for energy.
    Charge,
}
