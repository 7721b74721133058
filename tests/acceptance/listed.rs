//! Games with categories, characters and cards, played by clients that know nothing but what the game lists: the legal
//! commands, the previews, the offers.

use serde_json::{Map, Value, json};

use crate::support::*;

const GAME: &str =
    "{ id kind stage version round toMove { number isToMove } seats { number score money facts }
    dice { slot code face faceName place } offers { code name text price buyable }
    bestSelection { points lines combinations { name } }
    legalCommands(mine: true) { command seat slots keep name target stay ability }
    outcome { decidedBy winners { number } } }";

/// Sends a command as it was listed.
async fn send(player: &Player, game: &str, listed: &Value) -> Value {
    let mut variables = Map::from_iter([("game".to_owned(), json!(game))]);
    let (mut types, mut given) = (Vec::new(), Vec::new());
    let command = listed["command"].as_str().unwrap();
    let code = match command {
        "score" => ("category", "String!"),
        "chooseCharacter" => ("character", "String!"),
        _ => ("code", "String!"),
    };
    let arguments = [
        ("keep", "keep", "[Int!]"),
        ("slots", "slots", "[Int!]"),
        ("name", code.0, code.1),
        ("target", "target", "Int"),
        ("stay", "stay", "Boolean!"),
        ("ability", "ability", "AbilityInput!"),
    ];
    for (field, argument, kind) in arguments {
        if !listed[field].is_null() {
            types.push(format!(", ${argument}: {kind}"));
            given.push(format!(", {argument}: ${argument}"));
            variables.insert(argument.to_owned(), listed[field].clone());
        }
    }
    let (types, given) = (types.concat(), given.concat());
    let query = format!(
        "mutation($game: ID!{types}) {{ {command}(gameId: $game{given}) {{ game {GAME}
            events {{ type seat text lines }} errors {{ code message path }} }} }}"
    );
    player.ask(&query, Value::Object(variables)).await[command].take()
}

async fn bare(player: &Player, game: &str, command: &str) -> Value {
    send(player, game, &json!({ "command": command })).await
}

/// A new game, with everybody seated.
async fn seated(players: &[Player], kind: &str, rules: Value) -> String {
    let create = "mutation($game: String!, $rules: JSON) { createGame(game: $game, rules: $rules) { game { id kind } errors { code message } } }";
    let created = players[0].ask(create, json!({ "game": kind, "rules": rules })).await;
    assert_eq!(created["createGame"]["game"]["kind"], kind, "{created}");
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    for player in &players[1..] {
        accepted(player.act("joinGame", &game).await);
    }
    game
}

fn listed<'a>(table: &'a Value, command: &str) -> Option<&'a Value> {
    table["legalCommands"].as_array().unwrap().iter().find(|legal| legal["command"] == command)
}

/// Plays a game to its end: `choose` picks one of the listed commands. Somebody watches, and the log is proven.
async fn play(
    house: &House,
    node: &Node,
    players: &[Player],
    game: &str,
    choose: impl Fn(&Value) -> Value,
) -> Value {
    let mut socket = node.guest("Watcher").await.socket().await;
    let watched = {
        let game = game.to_owned();
        tokio::spawn(async move { watch(&mut socket, &game, 0).await })
    };
    let look = format!("query($game: ID!) {{ game(id: $game) {GAME} }}");
    let mut table = bare(&players[0], game, "startGame").await["game"].take();
    while table["stage"] != "ENDED" {
        let mover = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
        let seen = players[mover].ask(&look, json!({ "game": game })).await["game"].take();
        let payload = send(&players[mover], game, &choose(&seen)).await;
        assert_eq!(payload["errors"], json!([]), "{payload}\n{seen}");
        let explained = payload["events"].as_array().unwrap().iter();
        let silent = ["TurnEnded", "SeedRevealed"];
        for event in explained.filter(|event| !silent.contains(&event["type"].as_str().unwrap())) {
            assert!(event["text"].is_string(), "{event}");
        }
        table = payload["game"].clone();
    }
    let versions = watched.await.unwrap();
    assert_eq!(versions, (1..=table["version"].as_i64().unwrap()).collect::<Vec<_>>());
    house.prove(game);
    table
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_dice_rogue_is_played_watched_and_proven() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await];
    let goals = json!([{ "target": 60, "reward": 400 }, { "target": 0, "reward": 10 }]);
    let rules = json!({ "rounds": goals, "openingShop": true, "startMoney": 500 });
    let game = seated(&players, "dice_rogue", rules).await;
    let table = play(&house, &node, &players, &game, |table| {
        // In the shop whatever can be bought, then on; in a turn one roll and the best category.
        if let Some(buy) = listed(table, "buyItem") {
            let offer = table["offers"].as_array().unwrap().iter();
            let offer = offer.clone().find(|offer| offer["code"] == buy["name"]).unwrap();
            assert_eq!(offer["buyable"], true, "{offer}");
            return buy.clone();
        }
        if let Some(end) = listed(table, "endTurn") {
            return end.clone();
        }
        let best = &table["bestSelection"]["combinations"][0]["name"];
        match best.as_str() {
            Some(best) => json!({ "command": "score", "name": best }),
            None => listed(table, "roll").unwrap().clone(),
        }
    })
    .await;
    let facts = &table["seats"][0]["facts"];
    assert!(facts["diceRolled"]["none"].as_u64().unwrap() > 0, "{facts}");
    assert_eq!(facts["categories"].as_object().unwrap().len(), 13, "{facts}");
    let over = table["outcome"]["decidedBy"].as_str().unwrap();
    assert!(["goal", "missed"].contains(&over), "{over}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_of_neonpolis_is_played_watched_and_proven() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await, node.guest("Cid").await];
    let game = seated(&players, "neonpolis", json!({})).await;
    let choose = |name: &str| json!({ "command": "chooseCharacter", "name": name });
    let chosen = send(&players[1], &game, &choose("halo_cyclops")).await;
    assert_eq!(chosen["events"][0]["text"], "Bob plays Halo Cyclops", "{chosen}");
    let taken = send(&players[0], &game, &choose("halo_cyclops")).await;
    assert_eq!(taken["errors"][0]["code"], "CHARACTER_TAKEN", "{taken}");
    assert_eq!(taken["errors"][0]["path"], json!(["character"]));
    let table = play(&house, &node, &players, &game, |table| {
        // One roll, whatever it is; whoever is hit gives way; what can be bought is bought.
        let order = ["resolve", "evolve", "useAbility", "buyItem", "endTurn", "roll"];
        if listed(table, "answer").is_some() {
            return json!({ "command": "answer", "stay": false });
        }
        let found = order.iter().find_map(|command| listed(table, command));
        found.unwrap().clone()
    })
    .await;
    let over = table["outcome"]["decidedBy"].as_str().unwrap();
    assert!(["goal", "last_alive"].contains(&over), "{table}");
    assert_eq!(table["outcome"]["winners"].as_array().unwrap().len(), 1, "{table}");
}

/// What is wrong is told by name, at the argument it is about; nothing changes.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_moves_are_refused_with_their_reason() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let [ann, bob] = &players;

    let run = seated(&players[..1], "dice_rogue", json!({})).await;
    bare(ann, &run, "startGame").await;
    bare(ann, &run, "roll").await;
    let asked = [
        (
            json!({ "command": "score", "name": "nonsense" }),
            "UNKNOWN_CATEGORY",
            json!(["category"]),
        ),
        (json!({ "command": "roll", "keep": [9] }), "NO_SUCH_SLOT", json!(["slots"])),
        (json!({ "command": "roll", "keep": [-1] }), "NO_SUCH_SLOT", json!(["slots"])),
        (json!({ "command": "roll", "keep": [0, 1, 2, 3, 4] }), "NOTHING_TO_ROLL", json!(["keep"])),
        (json!({ "command": "buyItem", "name": "green" }), "NOT_NOW", json!(null)),
        (json!({ "command": "useItem", "name": "any_score" }), "NOT_HELD", json!(["code"])),
        (json!({ "command": "resolve" }), "NO_SUCH_MOVE", json!(null)),
        (
            json!({ "command": "chooseCharacter", "name": "ion_wyrm" }),
            "ALREADY_STARTED",
            json!(null),
        ),
    ];
    for (wrong, code, path) in asked {
        let refused = send(ann, &run, &wrong).await;
        let found = (&refused["errors"][0]["code"], &refused["errors"][0]["path"]);
        assert_eq!(found, (&json!(code), &path), "{wrong}: {refused}");
    }

    let game = seated(&players, "neonpolis", json!({ "energy": 20 })).await;
    bare(ann, &game, "startGame").await;
    bare(ann, &game, "roll").await;
    let asked = [
        (ann, json!({ "command": "buyItem", "name": "aegis" }), "NOT_NOW"),
        (ann, json!({ "command": "answer", "stay": true }), "NOTHING_ASKED"),
        (ann, json!({ "command": "evolve", "name": "third_eye" }), "NOTHING_UNLOCKED"),
        (
            ann,
            json!({ "command": "useAbility", "ability": { "exchange": "HEAL" } }),
            "NOT_YOUR_ABILITY",
        ),
        (
            ann,
            json!({ "command": "useAbility", "ability": { "copy": { "from": 0, "onto": 99 } } }),
            "NO_SUCH_SLOT",
        ),
        (bob, json!({ "command": "resolve" }), "NOT_YOUR_TURN"),
    ];
    for (player, wrong, code) in asked {
        let refused = send(player, &game, &wrong).await;
        assert_eq!(refused["errors"][0]["code"], code, "{wrong}: {refused}");
    }
    // Not one way of using an ability, or two: the request itself is wrong.
    let two = "mutation($game: ID!) { useAbility(gameId: $game, ability: { store: 0, place: 1 }) { errors { code } } }";
    ann.error(two, json!({ "game": game })).await;
}
