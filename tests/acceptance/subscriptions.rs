//! Subscriptions.

use std::time::Duration;

use client::{Heard, Socket};
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_work_over_websockets_and_sse() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let mut socket = eve.socket().await;
    socket.subscribe("lobby", "subscription { lobby { id stage } }", json!({})).await.unwrap();
    let mut turns = bob.socket().await;
    turns
        .subscribe("turn", "subscription { myTurn { id toMove { player { name } } } }", json!({}))
        .await
        .unwrap();
    // Once the lobby subscription is active, it receives every table.
    let heard = async |socket: &mut Socket| {
        let wait = Duration::from_millis(300);
        tokio::time::timeout(wait, socket.next())
            .await
            .map(|news| news.unwrap()["data"]["lobby"].take())
    };
    loop {
        ann.create(json!({})).await;
        if heard(&mut socket).await.is_ok() {
            break;
        }
    }
    let (game, mut table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    eventually("the new table is received", async || {
        heard(&mut socket).await.is_ok_and(|news| news["id"] == json!(game))
    })
    .await;
    while table["toMove"]["number"] != 1 {
        table = move_on([&ann, &bob], &game, &table).await;
    }
    let turn = tokio::time::timeout(Duration::from_secs(20), turns.next()).await;
    let turn = turn.unwrap().unwrap()["data"]["myTurn"].take();
    assert_eq!((&turn["id"], &turn["toMove"]["player"]["name"]), (&json!(game), &json!("Bob")));
    let mut stream = eve.http().await;
    let query = "subscription($game: ID!) { gameEvents(gameId: $game) { version type gameAfter { version } } }";
    let began = stream.begin_stream(query, json!({ "game": game })).await.unwrap();
    assert!(began.contains("text/event-stream"), "{began}");
    let end = play_out([&ann, &bob], &game, table).await;
    let last = end["version"].as_i64().unwrap();
    let mut said = String::new();
    while !said.contains("SEED_REVEALED") {
        said += &String::from_utf8(stream.chunk().await.unwrap().unwrap()).unwrap();
    }
    let events: Vec<Value> = said
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("event: next\ndata: "))
        .map(|json| serde_json::from_str::<Value>(json).unwrap()["data"]["gameEvents"].take())
        .collect();
    let versions: Vec<i64> =
        events.iter().map(|event| event["version"].as_i64().unwrap()).collect();
    assert_eq!(versions, (1..=last).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event["gameAfter"]["version"] == event["version"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_websocket_protocol_is_followed() {
    let house = House::new().await;
    let node = house.node(&["--max-operations", "3"]);
    let ann = node.guest("Ann").await;
    let open = async || Socket::open(node.address, Some("graphql-transport-ws")).await.unwrap();
    let init = json!({ "type": "connection_init" });
    let subscribe = |id: &str, query: &str| json!({ "id": id, "type": "subscribe", "payload": { "query": query } });
    let silent = "subscription { lobby { id } }";

    // Messages, and the resulting close code.
    for (said, code) in [
        (vec![json!({ "type": "ping" })], 4401),
        (vec![subscribe("1", "{ viewer { id } }")], 4401),
        (vec![json!("nonsense")], 4400),
        (vec![json!({ "type": "nonsense" })], 4400),
        (vec![json!({ "type": "subscribe", "payload": {} })], 4400),
        (vec![init.clone(), init.clone()], 4429),
        (vec![init.clone(), subscribe("", silent)], 4400),
        (vec![init.clone(), subscribe(&"x".repeat(200), silent)], 4400),
        (
            vec![json!({ "type": "connection_init", "payload": { "authorization": "Bearer x" } })],
            4403,
        ),
    ] {
        let mut socket = open().await;
        for message in &said {
            socket.say(message).await.unwrap();
        }
        let end = loop {
            if let Heard::Closed(code, _) = socket.hear().await.unwrap() {
                break code;
            }
        };
        assert_eq!(end, code, "{said:?}");
    }
    let mut raw = open().await;
    raw.send(tokio_tungstenite::tungstenite::Message::binary(vec![1, 2, 3])).await.unwrap();
    assert!(matches!(raw.hear().await.unwrap(), Heard::Closed(4400, _)));
    let mut wrong = Socket::open(node.address, None).await.unwrap();
    assert!(matches!(wrong.hear().await.unwrap(), Heard::Closed(4406, _)));

    // A close frame is answered.
    let mut polite = ann.socket().await;
    polite.send(tokio_tungstenite::tungstenite::Message::Close(None)).await.unwrap();
    assert!(matches!(polite.hear().await.unwrap(), Heard::Closed(..)));

    let mut twice = ann.socket().await;
    twice.subscribe("1", silent, json!({})).await.unwrap();
    twice.subscribe("1", silent, json!({})).await.unwrap();
    assert!(matches!(twice.hear().await.unwrap(), Heard::Closed(4409, _)));
    let mut many = ann.socket().await;
    for id in ["1", "2", "3", "4"] {
        many.subscribe(id, silent, json!({})).await.unwrap();
    }
    assert!(matches!(many.hear().await.unwrap(), Heard::Closed(4429, _)));

    // Completing a subscription frees its slot; a refused one says why and ends.
    let table = ann.create(json!({})).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut socket = ann.socket().await;
    for id in ["1", "2", "3"] {
        socket.subscribe(id, silent, json!({})).await.unwrap();
    }
    socket.say(&json!({ "id": "1", "type": "complete" })).await.unwrap();
    socket.subscribe("1", "{ nonsense }", json!({})).await.unwrap();
    let Heard::Message(refused) = socket.hear().await.unwrap() else { panic!() };
    assert_eq!((&refused["type"], &refused["id"]), (&json!("error"), &json!("1")));
    assert_eq!(refused["payload"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    socket.say(&json!({ "type": "ping" })).await.unwrap();
    assert_eq!(socket.hear().await.unwrap(), Heard::Message(json!({ "type": "pong" })));
    let ahead = json!({ "game": table, "after": 99 });
    socket.subscribe("5", EVENTS, ahead).await.unwrap();
    let Heard::Message(refused) = socket.hear().await.unwrap() else { panic!() };
    assert!(refused.to_string().contains("current version 2"), "{refused}");
}

/// A client does not read. Others receive everything in time; the slow one is disconnected with a
/// code that says how to resume, and resumes.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_subscriber_is_disconnected_without_affecting_others() {
    let house = House::new().await;
    let node = house.node(&["--slow-client-seconds", "1"]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 4000 })).await;
    // Enough data to fill the connection at once: hundreds of subscriptions to a game with a long
    // history.
    let mut slow = eve.socket().await;
    let fat = "subscription($game: ID!) { gameEvents(gameId: $game) { gameAfter { legalMoves { label ... on LegalSave { selections { slots } } }
        selections { slots combinations { kind slots faces points } } ruleset { parameters } seats { state { ... on FarkleSeat { turnScore unbankedPoints } } } } payload summary } }";
    let quick = {
        let (mut socket, game) = (eve.socket().await, game.clone());
        tokio::spawn(async move { watch(&mut socket, &game, 0).await })
    };
    for number in 0..40 {
        slow.subscribe(&number.to_string(), fat, json!({ "game": game })).await.unwrap();
    }
    let end = play_out([&ann, &bob], &game, table).await;
    let last = end["version"].as_i64().unwrap();
    assert_eq!(quick.await.unwrap(), (1..=last).collect::<Vec<_>>(), "nobody else is affected");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut heard = 0;
    let (code, reason) = loop {
        let said = tokio::time::timeout(Duration::from_secs(30), slow.hear()).await;
        match said.unwrap_or_else(|_| panic!("silence after {heard} messages")) {
            Ok(Heard::Message(_)) => heard += 1,
            Ok(Heard::Closed(code, reason)) => break (code, reason),
            Err(error) => panic!("after {heard} messages: {error}"),
        }
    };
    assert!(heard < 40 * last, "{heard} messages: it was not slow");
    assert_eq!(code, 4008, "{reason}");
    assert!(reason.contains("afterVersion"), "{reason}");
    assert_eq!(watch(&mut eve.socket().await, &game, last - 5).await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_subscribers_receive_the_same() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    let mut watching = Vec::new();
    for _ in 0..1000 {
        let (mut socket, game) = (ann.socket().await, game.clone());
        watching.push(tokio::spawn(async move { watch(&mut socket, &game, 0).await }));
    }
    let end = play_out([&ann, &bob], &game, table).await;
    let last = end["version"].as_i64().unwrap();
    for versions in watching {
        assert_eq!(versions.await.unwrap(), (1..=last).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_ends_subscriptions() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, eve) = (node.guest("Ann").await, node.guest("Eve").await);
    let mut stream = eve.http().await;
    stream.begin_stream("subscription { lobby { id } }", json!({})).await.unwrap();
    // Once the subscription is active, it receives events until the session ends.
    while tokio::time::timeout(Duration::from_millis(300), stream.chunk()).await.is_err() {
        ann.create(json!({})).await;
    }
    eve.ask("mutation { signOut { ended } }", json!({})).await;
    ann.create(json!({})).await;
    let mut said = String::new();
    while !said.contains("UNAUTHENTICATED") {
        let chunk = tokio::time::timeout(Duration::from_secs(20), stream.chunk()).await;
        said +=
            &String::from_utf8(chunk.unwrap().unwrap().expect("the reason comes last")).unwrap();
    }
    // A query as a stream with one result.
    let ask = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n\
               content-length: 32\r\n\r\n{\"query\":\"{ viewer { name } }\"}  ";
    let answer = node.http().await.exchange(ask.as_bytes()).await.unwrap();
    assert_eq!(
        answer.body,
        b"event: next\ndata: {\"data\":{\"viewer\":null}}\n\nevent: complete\ndata:\n\n"
    );
}

/// An idle WebSocket ends with its session, also on another node and without any activity.
#[tokio::test(flavor = "multi_thread")]
async fn sockets_end_with_their_session() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let eve = nodes[0].guest("Eve").await;
    let mut sockets = [eve.socket().await, eve.at(&nodes[1]).socket().await];
    for socket in &mut sockets {
        socket.subscribe("1", "subscription { lobby { id } }", json!({})).await.unwrap();
    }
    eve.ask("mutation { signOut { ended } }", json!({})).await;
    for socket in &mut sockets {
        // Well before the next ping.
        let end = tokio::time::timeout(Duration::from_secs(15), socket.hear()).await;
        assert!(matches!(end.unwrap().unwrap(), client::Heard::Closed(4403, _)));
    }
}

/// A client does not read server-sent events: the connection is closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_event_stream_is_disconnected() {
    let house = House::new().await;
    let node = house.node(&["--slow-client-seconds", "1"]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 10_000 })).await;
    play_out([&ann, &bob], &game, table).await;
    let fat: Vec<String> = (0..20)
        .map(|n| format!("p{n}: gameAfter {{ ruleset {{ parameters table {{ minSeats }} }} seats {{ state {{ ... on FarkleSeat {{ turnScore }} }} }} }}"))
        .collect();
    let query = format!(
        "subscription($game: ID!) {{ gameEvents(gameId: $game) {{ {} type }} }}",
        fat.join(" ")
    );
    let mut slow = eve.http().await;
    slow.begin_stream(&query, json!({ "game": game })).await.unwrap();
    tokio::time::sleep(Duration::from_secs(8)).await;
    let mut end = Ok(Some(Vec::new()));
    let mut said = String::new();
    while let Ok(Some(chunk)) = end {
        said += &String::from_utf8_lossy(&chunk);
        end = slow.chunk().await;
    }
    assert!(end.is_err() || said.contains("TOO_SLOW"), "it was not slow: {} bytes", said.len());
    assert!(!said.contains("SEED_REVEALED"));
}
