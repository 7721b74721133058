//! Games with categories, characters and cards, played by clients that know nothing but what the game lists: the legal
//! commands, the previews, the offers.

use serde_json::{Map, Value, json};

use crate::support::*;

const GAME: &str =
    "{ id kind stage version round turnOf { number } toMove { number } seats { number score money facts }
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
        let order = ["resolve", "evolve", "useAbility", "attack", "buyItem", "endTurn", "roll"];
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

/// Whoever was hit inside has a clock of their own; the house answers for who does not, and the turn goes on.
#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_who_is_asked_runs_out() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let rules = json!({ "turnSeconds": 3, "hp": 500, "goal": 900 });
    let game = seated(&players, "neonpolis", rules).await;
    bare(&players[0], &game, "startGame").await;
    let look = format!("query($game: ID!) {{ game(id: $game) {GAME} }}");
    let see = async || players[0].ask(&look, json!({ "game": game })).await["game"].take();
    // Everybody plays quickly until somebody is hit inside.
    let asked = loop {
        let table = see().await;
        let (turn, to_move) = (&table["turnOf"]["number"], &table["toMove"]["number"]);
        if turn != to_move {
            break to_move.as_u64().unwrap();
        }
        let mover = usize::try_from(turn.as_u64().unwrap()).unwrap();
        for command in ["roll", "resolve", "attack", "endTurn"] {
            bare(&players[mover], &game, command).await;
        }
    };
    let offers = see().await["offers"].take();
    assert!(offers.as_array().unwrap().iter().all(|offer| offer["buyable"] == false), "{offers}");
    let log = "query($game: ID!) { game(id: $game) { lastAction { events { type seat } } } }";
    eventually("the house answers", async || {
        let mut action = players[0].ask(log, json!({ "game": game })).await;
        let events = action["game"]["lastAction"]["events"].take();
        events[0] == json!({ "type": "TimedOut", "seat": asked })
            && events[1] == json!({ "type": "Answered", "seat": asked })
    })
    .await;
    let table = see().await;
    assert_eq!(table["turnOf"], table["toMove"], "the turn goes on");
    assert_ne!(table["toMove"]["number"], json!(asked));
}

/// The parameters of every preset can be sent back as they are shown; games of two or more are not played alone.
#[tokio::test(flavor = "multi_thread")]
async fn rules_survive_the_way_there_and_back() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let all = ann
        .ask(
            "{ presets { game preset parameters things { kind code name text price } } }",
            json!({}),
        )
        .await;
    let create = "mutation($game: String!, $preset: String, $rules: JSON) { createGame(game: $game, preset: $preset, rules: $rules) {
        game { ruleset { parameters } } errors { code message } } }";
    for preset in all["presets"].as_array().unwrap() {
        let mut rules = preset["parameters"].clone();
        // The special dice are the house's.
        rules.as_object_mut().unwrap().remove("catalogue");
        let asked = json!({ "game": preset["game"], "preset": preset["preset"], "rules": rules });
        let made = ann.ask(create, asked).await["createGame"].take();
        let parameters = &made["game"]["ruleset"]["parameters"];
        assert_eq!(parameters, &preset["parameters"], "{made}");
    }
    for game in ["zero_hour", "last_line", "true_grit", "neonpolis"] {
        let alone = json!({ "game": game, "rules": { "minSeats": 1 } });
        let refused = ann.ask(create, alone).await["createGame"].take();
        assert_eq!(refused["errors"][0]["code"], "BAD_RULE", "{game}: {refused}");
    }
}

/// Who is in a hurry still plays whom they like.
#[tokio::test(flavor = "multi_thread")]
async fn quick_match_brings_a_character() {
    let house = House::new().await;
    let node = house.node(&[]);
    let quick = "mutation($game: String!, $character: String) { quickMatch(game: $game, character: $character) {
        game { stage seats { facts } } errors { code message } } }";
    let asked = |game: &str, character: &str| json!({ "game": game, "character": character });
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let wrong = ann.ask(quick, asked("neonpolis", "nobody")).await["quickMatch"].take();
    assert_eq!(wrong["errors"][0]["code"], "UNKNOWN_CHARACTER", "{wrong}");
    let alone = ann.ask(quick, json!({ "game": "dice_rogue" })).await["quickMatch"].take();
    assert_eq!(alone["errors"][0]["message"], "this game is played alone: open it with createGame");
    ann.ask(quick, asked("neonpolis", "halo_cyclops")).await;
    let begun = bob.ask(quick, asked("neonpolis", "ion_wyrm")).await["quickMatch"].take();
    assert_eq!(begun["game"]["stage"], "PLAYING", "{begun}");
    let played: Vec<&Value> = begun["game"]["seats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["facts"]["character"])
        .collect();
    assert_eq!(played, [&json!("halo_cyclops"), &json!("ion_wyrm")]);
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
        (json!({ "command": "roll", "keep": [9] }), "NO_SUCH_SLOT", json!(["keep"])),
        (json!({ "command": "roll", "keep": [-1] }), "NO_SUCH_SLOT", json!(["keep"])),
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
