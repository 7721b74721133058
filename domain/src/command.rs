//! Commands to a game.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{GameId, Moment, PlayerId, Ruleset, SeatNo, VoidedFor, fair::Commitment};

/// A command as the client sent it; [`crate::decide`] validates it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Opens a table under a ruleset and commits the house to its dice.
    Create {
        /// The game's id, an input of its dice.
        game: GameId,
        /// The rules the game is played and replayed by.
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
    /// Sets or replaces the seed of a seat; possible until the start.
    ChooseSeed {
        /// The seat.
        seat: SeatNo,
        /// The seed.
        seed: String,
    },
    /// Chooses the dice of a seat, one per slot; possible until the start.
    ChooseLoadout {
        /// The seat.
        seat: SeatNo,
        /// The codes of the dice; remaining slots get standard dice.
        dice: Vec<String>,
    },
    /// Chooses the character of a seat; possible until the start.
    ChooseCharacter {
        /// The seat.
        seat: SeatNo,
        /// The code of the character.
        character: String,
    },
    /// Leaves the seat; in a running game this forfeits.
    Leave {
        /// The seat.
        seat: SeatNo,
    },
    /// Seals the seeds and starts the game.
    Start,
    /// A move of the seat whose turn it is.
    Play {
        /// The seat that moves.
        seat: SeatNo,
        /// The move.
        play: Play,
    },
    /// The house ends a turn whose time is up.
    TimeOut {
        /// The seat whose time is up.
        seat: SeatNo,
    },
    /// The house closes a game without activity for its expiry time.
    Abandon {
        /// When its last event was recorded. The log knows it, the state does not.
        touched: Moment,
    },
    /// The house ends a running game and decides who wins.
    Rule {
        /// The winning seats; may be empty.
        winners: Vec<SeatNo>,
        /// The dispute that was the reason, if any.
        dispute: Option<Uuid>,
    },
    /// The house voids a game, whether it is over or not.
    Void {
        /// The reason.
        why: VoidedFor,
        /// The dispute that was the reason, if any.
        dispute: Option<Uuid>,
    },
}

/// A move within a turn. Other crates handle moves that they do not know by their text form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Play {
    /// Roll the dice in hand.
    Roll,
    /// Score some of the dice just rolled.
    Save {
        /// Their slots.
        slots: Vec<u8>,
    },
    /// Score some of the dice just rolled, then roll the rest.
    SaveAndRoll {
        /// Their slots.
        slots: Vec<u8>,
    },
    /// Add the points of the round to the score, after saving the given dice, if any.
    Bank {
        /// The slots to save first.
        slots: Option<Vec<u8>>,
    },
    /// Give up the roll: a voluntary farkle.
    Forfeit,
    /// Roll all dice but these.
    Reroll {
        /// The slots of the dice to keep.
        keep: Vec<u8>,
    },
    /// Score the dice in a category.
    Score {
        /// The name of the category.
        category: String,
    },
    /// Apply what the dice show.
    Resolve,
    /// Attack with the swords among the dice.
    Attack {
        /// The target, where there is a choice.
        target: Option<SeatNo>,
    },
    /// Use an ability of one's character.
    Ability(Ability),
    /// Answer whether to stay, when asked.
    Answer {
        /// Whether to stay.
        stay: bool,
    },
    /// Buy something on offer.
    Buy {
        /// Its code.
        code: String,
        /// The target, if it needs one.
        target: Option<SeatNo>,
    },
    /// Replace all offers.
    Renew,
    /// Use an item one holds.
    Use {
        /// Its code.
        code: String,
    },
    /// Take an unlocked evolution.
    Evolve {
        /// Its code.
        code: String,
    },
    /// End one's turn.
    End,
}

/// Abilities of characters that a player uses as a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// Copy the face of one die onto another.
    Copy {
        /// The die to copy.
        from: u8,
        /// The die to change.
        onto: u8,
    },
    /// Store the face of a die for later.
    Store(u8),
    /// Replace the face of a die by the stored one.
    Place(u8),
    /// Turn this number of unused hearts into energy.
    Convert(u8),
    /// Exchange energy and health.
    Exchange(Exchange),
}

/// The direction of an exchange of energy and health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// Energy for health.
    Heal,
    /// Health for energy.
    Charge,
}
