//! Moves at a table, of any game that torture plays.

use client::Trouble;
use serde_json::{Value, json};

use super::{
    caller::{Caller, Wish},
    journal::About,
};

/// What is asked about a game that somebody plays.
const LOOK: &str = "query($game: ID!) { game(id: $game) { id version stage toMove { number } mySeat { number } \
     bestSelection { slots canBank } } }";

/// A wish about a game.
pub(super) fn at(game: &str, mutation: &'static str) -> Wish {
    Wish::new(mutation, About::Game).with("gameId", "ID!", json!(game))
}

/// The game as a player sees it.
pub(super) async fn look(player: &mut Caller, game: &str) -> Result<Value, Trouble> {
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

/// The next move, now and then a bold one. In games without dice to choose from it is a roll.
pub(super) async fn make_move(
    player: &mut Caller,
    game: &str,
    table: &Value,
) -> Result<Value, Trouble> {
    let best = &table["bestSelection"];
    let wish = match best["slots"].as_array() {
        None => at(game, "roll"),
        Some(slots) if best["canBank"] == true && !player.chance.one_in(4) => {
            at(game, "bank").with("slots", "[Int!]", json!(slots))
        }
        Some(slots) => at(game, "save").with("slots", "[Int!]!", json!(slots)),
    };
    Ok(player.tell(wish).await?.done()?["game"].take())
}
