//! Who follows a game, on all nodes.

use serde_json::json;
use sqlx::{Connection, Executor};

use crate::support::*;

/// What a node wrote about its subscribers expires if the node is killed.
#[tokio::test(flavor = "multi_thread")]
async fn spectators_of_a_killed_node_disappear() {
    let house = House::new().await;
    let (first, second) = (house.node(&[]), house.node(&[]));
    let (ann, bob) = (second.guest("Ann").await, second.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    let watch = "subscription($game: ID!) { gameEvents(gameId: $game) { version } }";
    let mut watcher = first.http().await;
    watcher.begin_stream(watch, json!({ "game": game })).await.unwrap();
    let look = "query($game: ID!) { game(id: $game) { spectators } }";
    let spectators =
        async || ann.ask(look, json!({ "game": game })).await["game"]["spectators"].take();
    eventually("the other node counts the spectator", async || spectators().await == 1).await;

    first.kill();
    // A minute passes.
    let mut database = sqlx::PgConnection::connect(&house.url).await.unwrap();
    let age = sqlx::query("UPDATE presence SET seen_at = seen_at - 61000");
    database.execute(age).await.unwrap();
    assert_eq!(spectators().await, 0);
    // The next change on any node removes the row.
    let mut socket = ann.socket().await;
    socket.subscribe("1", watch, json!({ "game": game })).await.unwrap();
    eventually("only the living are listed", async || {
        house.count("SELECT count(*) FROM presence").await == 1
            && house.count("SELECT count(DISTINCT node) FROM presence WHERE account <> '00000000-0000-0000-0000-000000000000'").await == 1
    })
    .await;
    assert_eq!(spectators().await, 0, "a player with a seat is not a spectator");
}
