//! Finding games and opponents.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::*;

const LOBBY: &str = "query($first: Int, $after: String) { lobby(first: $first, after: $after) {
    nodes { id seats { player { name } } } pageInfo { hasNextPage endCursor } } }";

async fn lobby(player: &Player) -> Vec<String> {
    let mut data = player.ask(LOBBY, json!({ "first": 100 })).await;
    ids(&data["lobby"]["nodes"].take())
}

fn ids(nodes: &Value) -> Vec<String> {
    nodes.as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn open_tables_are_listed_until_they_are_full_or_started() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let mut games = Vec::new();
    for _ in 0..5 {
        games.push(ann.create(json!({ "maxSeats": 2 })).await);
    }
    games.reverse();
    eventually("five tables are listed, the newest first", async || lobby(&bob).await == games)
        .await;
    let mut paged = Vec::new();
    let mut after = json!(null);
    loop {
        let page = bob.ask(LOBBY, json!({ "first": 2, "after": after })).await["lobby"].take();
        paged.extend(ids(&page["nodes"]));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(paged, games);
    accepted(bob.act("joinGame", &games[0]).await);
    accepted(ann.act("startGame", &games[1]).await);
    accepted(ann.act("leaveGame", &games[2]).await);
    eventually("full and started tables are not listed", async || lobby(&bob).await == games[2..])
        .await;
    accepted(bob.act("leaveGame", &games[0]).await);
    eventually("a seat given up is free", async || lobby(&bob).await.contains(&games[0])).await;

    let mine = "query($stage: GameStage) { myGames(stage: $stage) { nodes { id stage } } }";
    let count = async |player: &Player, stage: Value| {
        let data = player.ask(mine, json!({ "stage": stage })).await;
        data["myGames"]["nodes"].as_array().unwrap().len()
    };
    eventually("Ann left one table", async || count(&ann, json!(null)).await == 4).await;
    assert_eq!(count(&ann, json!("PLAYING")).await, 1);
    assert_eq!(count(&ann, json!("GATHERING")).await, 3);
    assert_eq!(count(&bob, json!(null)).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_table_needs_the_invite_code() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let create = "mutation { createGame(input: { rules: { farkle: {} }, visibility: PRIVATE }) { game { id inviteCode visibility } } }";
    let created = ann.ask(create, json!({})).await["createGame"]["game"].take();
    let (game, code) = (created["id"].as_str().unwrap(), created["inviteCode"].as_str().unwrap());
    let see =
        "query($game: ID!, $code: String) { game(id: $game, inviteCode: $code) { id inviteCode } }";
    assert_eq!(eve.ask(see, json!({ "game": game })).await["game"], json!(null));
    assert_eq!(eve.ask(see, json!({ "game": game, "code": "WRONG" })).await["game"], json!(null));
    let seen = bob.ask(see, json!({ "game": game, "code": code.to_lowercase() })).await;
    assert_eq!(
        seen["game"],
        json!({ "id": game, "inviteCode": null }),
        "visible, but without the invite code"
    );
    assert_eq!(refusal(&eve.act("joinGame", game).await), "NO_SUCH_GAME");
    let mut socket = eve.socket().await;
    socket.subscribe("1", EVENTS, json!({ "game": game, "after": 0 })).await.unwrap();
    assert!(socket.next().await.unwrap_err().to_string().contains("NO_SUCH_GAME"));

    let join = "mutation($code: String) { joinGame(input: { inviteCode: $code }) { game { seats { number } } userErrors { code field } } }";
    for wrong in ["WRONGCODE2", "", "\0k{屢䝲ëQZ", "a code that is far too long to be one"] {
        let refused = eve.ask(join, json!({ "code": wrong })).await["joinGame"].take();
        let expected = json!([{ "code": "NO_SUCH_INVITE", "field": ["input", "inviteCode"] }]);
        assert_eq!(refused["userErrors"], expected, "{wrong:?}");
    }
    let joined = bob.ask(join, json!({ "code": code })).await["joinGame"].take();
    assert_eq!(joined["game"]["seats"].as_array().unwrap().len(), 2, "{joined}");
    assert_eq!(bob.ask(see, json!({ "game": game })).await["game"]["inviteCode"], code);
    assert!(lobby(&eve).await.is_empty());
    assert_eq!(eve.error(join, json!({})).await, "BAD_USER_INPUT");
}

/// Twenty players on two nodes at once: ten games with two players each, all started.
#[tokio::test(flavor = "multi_thread")]
async fn quick_match_pairs_everybody() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let quick =
        "mutation($rules: JSON, $players: Int!) { quickMatch(input: { rules: { farkle: { custom: $rules } }, players: $players }) {
        game { id stage } userErrors { code message field } } }";
    let mut players = Vec::new();
    for number in 0..20 {
        players.push(nodes[number % 2].guest(&format!("p{number}")).await);
    }
    let asked = players.iter().cloned().map(|player| {
        tokio::spawn(async move {
            let data = player.ask(quick, json!({ "players": 2 })).await;
            data["quickMatch"]["game"]["id"].as_str().unwrap_or_else(|| panic!("{data}")).to_owned()
        })
    });
    let mut games: HashMap<String, u32> = HashMap::new();
    for found in asked.collect::<Vec<_>>() {
        *games.entry(found.await.unwrap()).or_default() += 1;
    }
    assert!(games.len() == 10 && games.values().all(|&seats| seats == 2), "{games:?}");
    for game in games.keys() {
        let query = "query($game: ID!) { game(id: $game) { stage seats { number } } }";
        let view = players[0].ask(query, json!({ "game": game })).await["game"].take();
        assert_eq!(view["stage"], "PLAYING");
        assert_eq!(view["seats"].as_array().unwrap().len(), 2);
    }

    // Other rules are another queue, and queueing twice is idempotent.
    let (one, other) = (nodes[0].guest("one").await, nodes[1].guest("other").await);
    let wait = async |player: &Player, target: i64| {
        let asked = json!({ "rules": { "target": target }, "players": 2 });
        player.ask(quick, asked).await["quickMatch"]["game"].take()
    };
    let first = wait(&one, 2000).await;
    assert_eq!(first["stage"], "GATHERING");
    assert_eq!(wait(&one, 2000).await["id"], first["id"]);
    assert_eq!(wait(&other, 3000).await["stage"], "GATHERING");
    let found = wait(&other, 2000).await;
    assert_eq!((&found["id"], &found["stage"]), (&first["id"], &json!("PLAYING")));
    let refused = one.ask(quick, json!({ "players": 99 })).await;
    assert_eq!(refused["quickMatch"]["userErrors"][0]["code"], "BAD_PLAYERS");
}

/// The response of a quick match is lost and requested again: the same table, whatever happened
/// there since.
#[tokio::test(flavor = "multi_thread")]
async fn a_retried_quick_match_returns_the_same_table() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let (ann, bob, eve) =
        (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await, nodes[0].guest("Eve").await);
    let quick = "mutation($id: UUID) { quickMatch(input: { rules: { farkle: {} }, command: { id: $id } }) { game { id stage } repeated userErrors { code message } } }";
    let ask = async |player: &Player, id: &str| {
        let mut data = player.ask(quick, json!({ "id": id })).await;
        assert_eq!(data["quickMatch"]["userErrors"], json!([]), "{data}");
        data["quickMatch"].take()
    };
    let (first, second) =
        ("0193f3a2-91b0-7c11-9e5a-000000000001", "0193f3a2-91b0-7c11-9e5a-000000000002");
    let waits = ask(&ann, first).await;
    assert_eq!(waits["game"]["stage"], "GATHERING");
    let found = ask(&bob, second).await;
    assert_eq!(
        (&found["game"]["id"], &found["game"]["stage"]),
        (&waits["game"]["id"], &json!("PLAYING"))
    );
    // Another player waits now; neither retry joins that table.
    let other = ask(&eve, "0193f3a2-91b0-7c11-9e5a-000000000003").await;
    assert_ne!(other["game"]["id"], found["game"]["id"]);
    for (player, id, node) in [(&ann, first, 1), (&bob, second, 0)] {
        let again = ask(&player.at(&nodes[node]), id).await;
        assert_eq!(
            (&again["game"]["id"], &again["repeated"]),
            (&found["game"]["id"], &json!(true))
        );
    }
    assert_eq!(
        house.count("SELECT count(*) FROM event WHERE type = 'Created'").await,
        2,
        "two tables in all"
    );
}
