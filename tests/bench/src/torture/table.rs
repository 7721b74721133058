//! Moves at a table, for all games of the torture test.

use client::ClientError;
use serde_json::{Value, json};

use super::{
    caller::{Caller, Request},
    journal::About,
};

/// The query about a game in progress.
const LOOK: &str = "query($game: ID!) { game(id: $game) { id version stage toMove { number } mySeat { number } \
     bestSelection { slots canBank } } }";

/// A command to a game.
pub(super) fn at(game: &str, mutation: &'static str) -> Request {
    Request::new(mutation, About::Game).with("gameId", json!(game))
}

/// A move in a game.
pub(super) fn moves(game: &str, play: Value) -> Request {
    at(game, "play").with("move", play)
}

/// The game as the player sees it.
pub(super) async fn look(player: &mut Caller, game: &str) -> Result<Value, ClientError> {
    let table = player.ask(LOOK, json!({ "game": game })).await?["game"].take();
    if table.is_null() { Err(format!("{game} is gone").into()) } else { Ok(table) }
}

pub(super) fn is_over(table: &Value) -> bool {
    table["stage"] == "ENDED"
}

/// The seat that has the turn.
pub(super) fn to_move(table: &Value) -> Option<usize> {
    table["toMove"]["number"].as_u64().and_then(|number| usize::try_from(number).ok())
}

/// Makes the next move, sometimes a bold one. In games without dice to choose from it is a roll.
pub(super) async fn make_move(
    player: &mut Caller,
    game: &str,
    table: &Value,
) -> Result<Value, ClientError> {
    let best = &table["bestSelection"];
    let request = match best["slots"].as_array() {
        None => moves(game, json!({ "roll": {} })),
        Some(slots) if best["canBank"] == true && !player.chance.one_in(4) => {
            moves(game, json!({ "bank": { "saveSlots": slots } }))
        }
        // Sometimes one command saves and rolls on.
        Some(slots) => {
            let roll = player.chance.one_in(2);
            moves(game, json!({ "save": { "slots": slots, "andRoll": roll } }))
        }
    };
    Ok(player.send(request).await?.done()?["game"].take())
}
