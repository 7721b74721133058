//! Commands for tests.

use std::sync::Arc;

use domain::{
    Command, GameId, Play, PlayerId, Ruleset, SeatNo,
    fair::{Secret, commitment, ruleset_hash},
};
use uuid::Uuid;

use crate::SECRET;

/// Creates a game with these rules, always with the same id and secret.
pub fn create(ruleset: Ruleset) -> Command {
    let game = GameId(Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001));
    create_as(game, &SECRET, ruleset)
}

/// Creates a game with these rules, id and secret.
pub fn create_as(game: GameId, secret: &Secret, ruleset: Ruleset) -> Command {
    let commitment = commitment(secret, game, ruleset_hash(&ruleset));
    Command::Create { game, ruleset: Arc::new(ruleset), commitment }
}

/// A player takes a seat; every second one gives a seed.
pub fn join(number: u8) -> Command {
    Command::Join {
        player: player(number),
        name: format!("player {number}"),
        seed: number.is_multiple_of(2).then(|| format!("seed of {number}")),
    }
}

/// A player by number.
pub fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(0xA000 + u128::from(number)))
}

/// A move of a seat.
pub fn play(seat: SeatNo, play: Play) -> Command {
    Command::Play { seat, play }
}

/// A roll.
pub fn roll(seat: SeatNo) -> Command {
    play(seat, Play::Roll)
}

/// Saves these dice.
pub fn save(seat: SeatNo, slots: &[u8]) -> Command {
    play(seat, Play::Save { slots: slots.to_vec() })
}

/// Banks, after saving these dice.
pub fn bank(seat: SeatNo, slots: Option<&[u8]>) -> Command {
    play(seat, Play::Bank { slots: slots.map(<[u8]>::to_vec) })
}
