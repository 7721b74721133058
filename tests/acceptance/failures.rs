//! The database goes away and comes back.

use std::time::{Duration, Instant};

use cluster::{Cluster, Settings};
use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_requests_fail_fast_and_recover() {
    let folder = temporary();
    let place = folder.path().join("cluster");
    let cluster = Cluster::start(&place, Settings::Durable).unwrap();
    let house = House { url: cluster.url("postgres"), folder: temporary() };
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 2000 })).await;
    let mut socket = ann.socket().await;
    socket.subscribe("1", EVENTS, json!({ "game": game, "after": 5 })).await.unwrap();
    socket.say(&json!({ "type": "ping" })).await.unwrap();
    assert_eq!(socket.hear().await.unwrap(), client::Heard::Message(json!({ "type": "pong" })));
    tokio::time::sleep(Duration::from_millis(200)).await;
    cluster.kill();

    let read = "query($game: ID!) { game(id: $game) { version } }";
    let write = "mutation($game: ID!) { roll: play(input: { gameId: $game, move: { roll: {} } }) { userErrors { code } } }";
    eventually("the node reports it", async || {
        ann.error(read, json!({ "game": game })).await == "UNAVAILABLE"
    })
    .await;
    for query in
        [read, write, "mutation { signInAsGuest { accessToken } }", "{ lobby { nodes { id } } }"]
    {
        let began = Instant::now();
        let variables = if query.contains("$game") { json!({ "game": game }) } else { json!({}) };
        assert_eq!(ann.error(query, variables).await, "UNAVAILABLE", "{query}");
        assert!(began.elapsed() < Duration::from_secs(1), "{query} took {:?}", began.elapsed());
    }
    let mut http = node.http().await;
    let ready = http.get("/readyz").await.unwrap();
    assert_eq!(ready.status, 503, "{}", String::from_utf8_lossy(&ready.body));
    assert_eq!(http.get("/livez").await.unwrap().status, 200);

    let _cluster = Cluster::start(&place, Settings::Durable).unwrap();
    eventually("it recovers", async || ann.error(read, json!({ "game": game })).await == "none")
        .await;
    let end = play_out([&ann, &bob], &game, table).await;
    let last = end["version"].as_i64().unwrap();
    // Subscribers missed nothing.
    for version in 6..=last {
        let event = socket.next().await.unwrap()["data"]["gameEvents"].take();
        assert_eq!(event["version"], version);
    }
    eventually("it is ready again", async || http.get("/readyz").await.unwrap().status == 200)
        .await;
    house.prove(&game);
}
