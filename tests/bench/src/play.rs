//! A simple player: saves all it can, banks from 300 points on.

use std::sync::Arc;

use domain::{
    Board, Command, Game, GameId, Play, PlayerId, Ruleset, Stage,
    fair::{Secret, commitment, ruleset_hash},
    farkle::Phase,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The secret of a game's dice, made from its id: a benchmark keeps no secrets.
pub(crate) fn secret(stream: Uuid) -> Secret {
    Secret(Sha256::digest(stream.as_bytes()).into())
}

/// The next command of a game of two; `None` when it is over.
pub(crate) fn next_command(stream: Uuid, game: Option<&Game>) -> Option<Command> {
    let Some(game) = game else { return Some(create(stream)) };
    match (&game.table.stage, game.table.seats.len()) {
        (Stage::Ended(_), _) => None,
        (Stage::Gathering, seats @ 0..2) => Some(join(u128::try_from(seats).unwrap_or(0))),
        (Stage::Gathering, _) => Some(Command::Start),
        (Stage::Playing, _) => Some(Command::Play { seat: game.to_move()?, play: play(game) }),
    }
}

fn create(stream: Uuid) -> Command {
    let ruleset = Arc::new(short_game());
    let game = GameId(stream);
    let commitment = commitment(&secret(stream), game, ruleset_hash(&ruleset));
    Command::Create { game, ruleset, commitment }
}

/// To 3,000 points, so that games end while we watch.
fn short_game() -> Ruleset {
    let mut changes = serde_json::Map::new();
    changes.insert("target".to_owned(), 3000.into());
    Ruleset::preset("farkle", None)
        .and_then(|classic| classic.with(&changes))
        .unwrap_or_else(|refused| panic!("a target of 3,000 is lawful: {refused}"))
}

fn join(seat: u128) -> Command {
    let player = PlayerId(Uuid::from_u128(seat + 1));
    Command::Join { player, name: format!("player {seat}"), seed: Some(format!("seed {seat}")) }
}

fn play(game: &Game) -> Play {
    let Board::Farkle(farkle) = &game.board else { return Play::Roll };
    match farkle.round.phase {
        Phase::Rolled => {
            let best = farkle
                .selections(game.table.turn.seat)
                .max_by_key(|(slots, points)| (*points, slots.len()));
            best.map_or(Play::Forfeit, |(slots, _)| Play::Save { slots: slots.to_vec() })
        }
        Phase::Saved if farkle.round.unbanked() >= 300 => Play::Bank { slots: None },
        Phase::Opening | Phase::Saved => Play::Roll,
    }
}
