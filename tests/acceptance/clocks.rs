//! Timeouts.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::support::*;

async fn events(player: &Player, game: &str) -> Vec<Value> {
    let query = "query($game: ID!) { game(id: $game) { events(first: 100) { nodes { version type ... on TurnTimedOutEvent { seat { number } } ... on TurnStartedEvent { seat { number } } actor { id } } } } }";
    let data = player.ask(query, json!({ "game": game })).await;
    data["game"]["events"]["nodes"].as_array().unwrap().clone()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

/// Three nodes run; each turn times out once, by the house, and three in a row lose the seat.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_times_out_once_with_several_nodes() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[]), house.node(&[])];
    let (ann, bob) = (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({ "turnSeconds": 1, "timeOutsToForfeit": 2 })).await;
    eventually("the game ends by itself", async || count(&events(&ann, &game).await, "ENDED") == 1)
        .await;
    let events = events(&ann, &game).await;
    let seats: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "TIMED_OUT")
        .map(|event| &event["seat"]["number"])
        .collect();
    assert_eq!(seats, [0, 1, 0], "each turn once, and then Ann's seat is lost");
    let ended = events.iter().find(|event| event["type"] == "TIMED_OUT").unwrap();
    assert_eq!(ended["actor"], json!(null), "by the house");
    house.prove(&game);
}

/// The turn times out while no node runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_passes_during_a_restart() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({ "turnSeconds": 2 })).await;
    // Immediately: the index may not contain the game yet.
    node.kill();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    let node = house.node(&[]);
    let ann = ann.at(&node);
    eventually("the turn is Bob's", async || count(&events(&ann, &game).await, "TIMED_OUT") >= 1)
        .await;
    let events = events(&ann, &game).await;
    let first = events.iter().position(|event| event["type"] == "TIMED_OUT").unwrap();
    assert_eq!(events[first]["seat"]["number"], 0);
    let next = events[first..].iter().find(|event| event["type"] == "TURN_STARTED").unwrap();
    assert_eq!(next["seat"]["number"], 1);
}

/// The node with the scheduler lease is killed; another one takes over.
#[tokio::test(flavor = "multi_thread")]
async fn another_node_takes_over_the_scheduler() {
    let house = House::new().await;
    let first = house.node(&[]);
    let second = house.node(&[]);
    let (ann, bob) = (second.guest("Ann").await, second.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({ "turnSeconds": 2, "timeOutsToForfeit": 1 })).await;
    first.kill();
    eventually("the turn is ended", async || count(&events(&ann, &game).await, "ENDED") == 1).await;
    assert_eq!(count(&events(&ann, &game).await, "TIMED_OUT"), 1);
    house.prove(&game);
}

/// Command ids of clients and of the house share a namespace. Using an id that the house might
/// derive does not stop a clock.
#[tokio::test(flavor = "multi_thread")]
async fn command_ids_of_the_house_cannot_be_guessed() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "turnSeconds": 1 })).await;
    let id = Uuid::try_parse(game.strip_prefix("game:").unwrap()).unwrap();
    // A roll is one event: the house would time out at the next version.
    let next = table["version"].as_i64().unwrap() + 1;
    let hash =
        Sha256::new().chain_update(id.as_bytes()).chain_update(next.to_le_bytes()).finalize();
    let guess = uuid::Builder::from_custom_bytes(hash[..16].try_into().unwrap()).into_uuid();
    accepted(ann.act_with("roll", &game, json!({ "commandId": guess })).await);
    eventually("the turn is ended", async || count(&events(&ann, &game).await, "TIMED_OUT") >= 1)
        .await;
}
