//! Whole games.

use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_game_with_a_spectator_is_played_and_verified() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let game = ann.create(json!({ "target": 2000 })).await;
    let seeded = ann.act_with("chooseSeed", &game, json!({ "seed": "seventeen" })).await;
    accepted(seeded);
    accepted(bob.act_with("joinGame", &game, json!({ "seed": "näht" })).await);
    let watching = {
        let (mut socket, game) = (eve.socket().await, game.clone());
        tokio::spawn(async move { watch(&mut socket, &game, 0).await })
    };
    let started = accepted(ann.act("startGame", &game).await);
    let end = play_out([&ann, &bob], &game, started["game"].clone()).await;
    let last = end["version"].as_i64().unwrap();
    assert_eq!(watching.await.unwrap(), (1..=last).collect::<Vec<_>>());

    let query = "query($game: ID!) { game(id: $game) { outcome { reason winners { number score player { name } } scores }
        fairness { commitment seedsHash secret } lastAction { summary } seats { state { __typename } player { name } hasSeed } dice { slot } } }";
    let view = eve.ask(query, json!({ "game": game })).await["game"].take();
    assert_eq!(view["outcome"]["reason"], "SCORE");
    assert!(view["outcome"]["winners"][0]["score"].as_i64().unwrap() >= 2000, "{view}");
    assert_eq!(view["fairness"]["secret"].as_str().unwrap().len(), 64);
    assert_eq!(view["seats"][1]["player"]["name"], "Bob");
    assert!(view["lastAction"]["summary"][0].as_str().unwrap().contains("saves"), "{view}");
    assert_eq!(refusal(&ann.act("roll", &game).await), "GAME_OVER");
    house.prove(&game);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_executed_once_and_only_at_the_expected_version() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 5000 })).await;
    let version = table["version"].as_i64().unwrap();

    assert_eq!(refusal(&bob.act("roll", &game).await), "NOT_YOUR_TURN");
    let stale = ann.act_with("roll", &game, json!({ "expectedVersion": version - 1 })).await;
    assert_eq!(refusal(&stale), "STALE_VERSION");
    assert_eq!(stale["userErrors"][0]["field"], json!(["input", "command", "expectedVersion"]));

    let id = "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5";
    let once = json!({ "commandId": id, "expectedVersion": version });
    let first = accepted(ann.act_with("roll", &game, once.clone()).await);
    assert_eq!(first["repeated"], false);
    let again = accepted(ann.act_with("roll", &game, once).await);
    assert_eq!(again["repeated"], true);
    assert_eq!(again["events"], first["events"]);
    let other = ann.act_with("forfeit", &game, json!({ "commandId": id })).await;
    assert_eq!(refusal(&other), "COMMAND_ID_REUSED");
    // A command id is scoped to a game and an actor; another player's result is not returned.
    let stolen = bob.act_with("roll", &game, json!({ "commandId": id })).await;
    assert_eq!(refusal(&stolen), "COMMAND_ID_REUSED");

    // Creating a game is idempotent.
    let create = "mutation($id: UUID!) { createGame(input: { rules: { farkle: {} }, command: { id: $id } }) { game { id version } repeated userErrors { code } } }";
    let created =
        [ann.ask(create, json!({ "id": id })).await, ann.ask(create, json!({ "id": id })).await];
    assert_eq!(created[0]["createGame"]["game"], created[1]["createGame"]["game"]);
    assert_eq!(created[1]["createGame"]["repeated"], true);
    let bobs = bob.ask(create, json!({ "id": id })).await;
    assert_ne!(bobs["createGame"]["game"]["id"], created[0]["createGame"]["game"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_moves_are_refused_and_change_nothing() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "breakIn": 500 })).await;
    let save = async |slots| ann.act_with("save", &game, json!({ "slots": slots })).await;
    assert_eq!(refusal(&save(json!([0])).await), "NOTHING_ROLLED");
    assert_eq!(refusal(&ann.act("bank", &game).await), "NOTHING_TO_BANK");
    assert_eq!(refusal(&ann.act("startGame", &game).await), "ALREADY_STARTED");
    assert_eq!(refusal(&ann.act("joinGame", &game).await), "ALREADY_STARTED");
    let now = "query($game: ID!) { game(id: $game) { version } }";
    let version = ann.ask(now, json!({ "game": game })).await["game"]["version"].clone();
    assert_eq!(version, table["version"]);

    accepted(ann.act("roll", &game).await);
    for (slots, code) in [
        (json!([]), "EMPTY_SELECTION"),
        (json!([0, 0]), "REPEATED_SLOT"),
        (json!([6]), "NO_SUCH_SLOT"),
        (json!([-1]), "NO_SUCH_SLOT"),
        (json!([2_147_483_647]), "NO_SUCH_SLOT"),
    ] {
        let payload = save(slots).await;
        // A roll may be a farkle; then it is Bob's turn.
        if payload["userErrors"][0]["code"] != "NOT_YOUR_TURN" {
            assert_eq!(refusal(&payload), code);
            assert_eq!(
                payload["userErrors"][0]["field"],
                json!(["input", "move", "save", "slots"])
            );
        }
    }
    let nowhere = "game:0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5";
    assert_eq!(refusal(&ann.act("roll", nowhere).await), "NO_SUCH_GAME");
    let eve = node.guest("Eve").await;
    assert_eq!(refusal(&eve.act("roll", &game).await), "NOT_SEATED");
    let query = "mutation($rules: JSON, $preset: PresetName, $game: GameKind!) {
        createGame(input: { rules: { other: { kind: $game, preset: $preset, custom: $rules } } }) { userErrors { code field } } }";
    for (game, preset, rules, code) in [
        ("FARKLE", Some("wild"), json!({}), "UNKNOWN_PRESET"),
        ("FARKLE", None, json!({ "targets": 1 }), "UNKNOWN_RULE"),
        ("FARKLE", None, json!({ "turnSeconds": -1 }), "BAD_RULE"),
        ("FARKLE", None, json!([1, 2]), "BAD_RULE"),
        ("FARKLE", None, json!({ "scoring": { "single": [1] } }), "BAD_RULE"),
    ] {
        let asked = json!({ "game": game, "preset": preset, "rules": rules });
        let data = ann.ask(query, asked.clone()).await;
        assert_eq!(data["createGame"]["userErrors"][0]["code"], code, "{asked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_serve_one_game() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let (ann, bob) = (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await);
    let (game, mut table) = begun([&ann, &bob], json!({ "target": 3000 })).await;
    let watching = nodes.iter().map(|node| {
        let (eve, game) = (ann.at(node), game.clone());
        tokio::spawn(async move { watch(&mut eve.socket().await, &game, 0).await })
    });
    let watching: Vec<_> = watching.collect();
    // Each move is sent to both nodes at once: one executes it, the other refuses or repeats it.
    let mut moves = 0;
    while table["stage"] != "ENDED" {
        let at = |player: &Player| [player.at(&nodes[0]), player.at(&nodes[1])];
        let (anns, bobs) = (at(&ann), at(&bob));
        let asked = json!({ "commandId": format!("0193f3a2-91b0-7c11-9e5a-{moves:012}") });
        let number = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
        let seated = [&anns, &bobs][number];
        let best = &table["bestSelection"];
        let (command, asked) = if best["canBank"] == true {
            ("bank", json!({ "commandId": asked["commandId"], "slots": best["slots"] }))
        } else {
            ("roll", asked)
        };
        let (one, other) = tokio::join!(
            seated[0].act_with(command, &game, asked.clone()),
            seated[1].act_with(command, &game, asked.clone()),
        );
        let (one, other) = (accepted(one), accepted(other));
        assert_eq!(one["events"], other["events"], "the same command has one result");
        assert_ne!(one["repeated"], other["repeated"]);
        let newer = one["game"]["version"].as_i64() >= other["game"]["version"].as_i64();
        table = if newer { one["game"].clone() } else { other["game"].clone() };
        moves += 1;
    }
    let last = table["version"].as_i64().unwrap();
    for versions in watching {
        assert_eq!(versions.await.unwrap(), (1..=last).collect::<Vec<_>>());
    }
    house.prove(&game);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_survives_its_node() {
    let house = House::new().await;
    let mut node = house.node(&[]);
    let (mut ann, mut bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, mut table) = begun([&ann, &bob], json!({ "target": 3000 })).await;
    let (mut moves, mut heard) = (0, 0);
    while table["stage"] != "ENDED" {
        table = move_on([&ann, &bob], &game, &table).await;
        moves += 1;
        if moves % 5 == 0 && moves <= 15 {
            // After the crash, listening resumes after the last received event.
            let mut socket = ann.socket().await;
            socket.subscribe("1", EVENTS, json!({ "game": game, "after": heard })).await.unwrap();
            let event = socket.next().await.unwrap()["data"]["gameEvents"].take();
            assert_eq!(event["version"], heard + 1, "{event}");
            heard += 1;
            node.kill();
            node = house.node(&[]);
            (ann, bob) = (ann.at(&node), bob.at(&node));
        }
    }
    let versions = watch(&mut bob.socket().await, &game, heard).await;
    assert_eq!(versions, (heard + 1..=table["version"].as_i64().unwrap()).collect::<Vec<_>>());
    house.prove(&game);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_can_render_everything_from_one_query() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    // Until a roll scores: a farkle clears the table.
    loop {
        let query =
            "query($game: ID!) { game(id: $game) { toMove { number } selections { slots } } }";
        let view = ann.ask(query, json!({ "game": game })).await["game"].take();
        if view["selections"] != json!([]) {
            break;
        }
        let mover = if view["toMove"]["number"] == 0 { &ann } else { &bob };
        accepted(mover.act("roll", &game).await);
    }
    let query = "query($game: ID!) { node(id: $game) { ... on Game { id version kind stage visibility round
        ruleset { kind preset version table { minSeats turnSeconds } parameters } mySeat { number }
        seats { number score money isToMove hasLeft timeOutsInARow hasSeed state { ... on FarkleSeat { turnScore unbankedPoints } } player { id name pseudonym } }
        toMove { number } clock { deadline now millisecondsLeft } dice { slot face place }
        selections { slots points canBank combinations { kind slots faces points } } bestSelection { points }
        legalMoves { __typename label ... on LegalSave { selections { slots } } } viewerCan createdAt startedAt endedAt
        lastAction { summary events { type payload } } events(first: 2) { nodes { version type actor { name } commandId recordedAt } 
        edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
        outcome { reason } fairness { commitment rulesetHash seedsHash secret receipt } } } }";
    let view = ann.ask(query, json!({ "game": game })).await["node"].take();
    assert_eq!(view["id"], json!(game));
    assert_eq!(view["stage"], "PLAYING");
    assert_eq!(view["fairness"]["secret"], json!(null), "the secret is revealed at the end only");
    assert_eq!(view["dice"].as_array().unwrap().len(), 6);
    let left = view["clock"]["millisecondsLeft"].as_i64().unwrap();
    assert!((100_000..=120_000).contains(&left), "{left}");
    for selection in view["selections"].as_array().unwrap() {
        let parts = selection["combinations"].as_array().unwrap().iter();
        let sum: i64 = parts.map(|part| part["points"].as_i64().unwrap()).sum();
        assert_eq!(selection["points"], sum, "{selection}");
    }
    assert_eq!(view["selections"][0]["points"], view["bestSelection"]["points"]);
    let moves = view["legalMoves"].as_array().unwrap();
    let save = moves.iter().find(|legal| legal["__typename"] == "LegalSave").unwrap();
    let (saves, all) = (&save["selections"], &view["selections"]);
    assert_eq!(saves.as_array().unwrap().len(), all.as_array().unwrap().len());
    assert_eq!(view["viewerCan"], json!(["LEAVE"]));
    assert!(view["createdAt"].as_str() <= view["startedAt"].as_str(), "{view}");
    assert_eq!(view["endedAt"], json!(null));
    assert_eq!(view["events"]["pageInfo"]["endCursor"], "2");
    // All events, page by page.
    let page = "query($game: ID!, $after: String) { game(id: $game) { version events(first: 3, after: $after) {
        nodes { version } pageInfo { hasNextPage endCursor } } } }";
    let (mut after, mut versions) = (json!(null), Vec::new());
    loop {
        let view = ann.ask(page, json!({ "game": game, "after": after })).await["game"].take();
        let nodes = view["events"]["nodes"].as_array().unwrap();
        versions.extend(nodes.iter().map(|event| event["version"].as_i64().unwrap()));
        if view["events"]["pageInfo"]["hasNextPage"] == false {
            assert_eq!(versions, (1..=view["version"].as_i64().unwrap()).collect::<Vec<_>>());
            break;
        }
        after = view["events"]["pageInfo"]["endCursor"].clone();
    }
}

/// A node that still has Ann cached on a seat does not let her act for the player who sits there
/// now.
#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_changed_hands_accepts_its_new_owner_only() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let host = nodes[0].guest("Host").await;
    let (ann, carl) = (nodes[0].guest("Ann").await, nodes[0].guest("Carl").await);
    let game = host.create(json!({ "maxSeats": 2 })).await;
    accepted(ann.act("joinGame", &game).await);
    // The other node has Ann on seat 1 in its cache, and does not follow the game.
    let there = ann.at(&nodes[1]);
    let seats =
        "query($game: ID!) { game(id: $game) { seats { player { id } } mySeat { number } } }";
    assert_eq!(there.ask(seats, json!({ "game": game })).await["game"]["mySeat"]["number"], 1);
    accepted(ann.act("leaveGame", &game).await);
    accepted(carl.act("joinGame", &game).await);
    for command in ["leaveGame", "startGame"] {
        assert_eq!(refusal(&there.act(command, &game).await), "NOT_SEATED", "{command}");
    }
    let seeded = there.act_with("chooseSeed", &game, json!({ "seed": "mine" })).await;
    assert_eq!(refusal(&seeded), "NOT_SEATED");
    let view = there.ask(seats, json!({ "game": game })).await["game"].take();
    assert_eq!(view["seats"][1]["player"]["id"], json!(carl.id));
}

/// The events in a mutation's payload equal those in the log, also if another command came in
/// between.
#[tokio::test(flavor = "multi_thread")]
async fn payloads_match_the_log() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let fields = "version type commandId recordedAt";
    let create = format!(
        "mutation {{ createGame(input: {{ rules: {{ farkle: {{}} }} }}) {{ game {{ id }} events {{ {fields} }} }} }}"
    );
    let created = ann.ask(&create, json!({})).await["createGame"].take();
    let read =
        format!("query($game: ID!) {{ game(id: $game) {{ events {{ nodes {{ {fields} }} }} }} }}");
    let logged = ann.ask(&read, json!({ "game": created["game"]["id"] })).await;
    assert_eq!(created["events"], logged["game"]["events"]["nodes"]);
    let private = json!({ "id": "0193f3a2-91b0-7c11-9e5a-000000000001" });
    let ask = "mutation($id: UUID!) { createGame(input: { rules: { farkle: {} }, command: { id: $id }, visibility: PRIVATE }) { game { id } userErrors { code } } }";
    assert_eq!(ann.ask(ask, private.clone()).await["createGame"]["userErrors"], json!([]));
    let public = ask.replace("PRIVATE", "PUBLIC");
    assert_eq!(
        ann.ask(&public, private).await["createGame"]["userErrors"][0]["code"],
        "COMMAND_ID_REUSED"
    );
}
