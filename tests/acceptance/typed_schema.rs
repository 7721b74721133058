//! The schema as seen by a generated client: typed events, the state after each event, invalid
//! inputs.

use serde_json::{Value, json};

use crate::support::*;

/// The part of a game that a board shows.
const BOARD: &str =
    "{ version stage round toMove { number } seats { number score } dice { slot face place } }";

/// `gameAfter` is the game right after each event, however it is requested.
#[tokio::test(flavor = "multi_thread")]
async fn every_event_has_the_state_right_after_it() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1500 })).await;
    let mut socket = node.guest("Eve").await.socket().await;
    let listen = format!(
        "subscription($game: ID!) {{ gameEvents(gameId: $game) {{ version type gameAfter {BOARD} }} }}"
    );
    socket.subscribe("1", &listen, json!({ "game": game })).await.unwrap();
    let fields = format!("{{ game {{ stage }} events {{ id version gameAfter {BOARD} }} }}");
    let mut shown = Vec::new();
    let (query, input) = mutation("roll", &game, json!({}), &fields);
    let seat = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
    let rolled = [&ann, &bob][seat].ask(&query, json!({ "input": input })).await["done"].take();
    shown.extend(rolled["events"].as_array().unwrap().clone());
    let look = "query($game: ID!) { game(id: $game) { stage toMove { number } bestSelection { slots canBank } } }";
    let now = ann.ask(look, json!({ "game": game })).await["game"].take();
    play_out([&ann, &bob], &game, now).await;
    // The state at a version, folded from the log in another way.
    let then = format!(
        "query($game: ID!, $version: Int!) {{ game(id: $game) {{ at(version: $version) {BOARD} }} }}"
    );
    let at = async |version: &Value| {
        ann.ask(&then, json!({ "game": game, "version": version })).await["game"]["at"].take()
    };
    for event in &shown {
        assert_eq!(event["gameAfter"], at(&event["version"]).await, "{event}");
    }
    loop {
        let event = socket.next().await.unwrap()["data"]["gameEvents"].take();
        assert_eq!(event["gameAfter"], at(&event["version"]).await, "{event}");
        if event["type"] == "SEED_REVEALED" {
            break;
        }
    }
    let node = "query($id: ID!) { node(id: $id) { id ... on RolledEvent { version dice { slot face } maxPoints } } }";
    let found = ann.ask(node, json!({ "id": shown[0]["id"] })).await["node"].take();
    assert_eq!((&found["id"], &found["version"]), (&shown[0]["id"], &shown[0]["version"]));
    assert_eq!(found["dice"].as_array().unwrap().len(), 6, "{found}");
}

/// One command saves and rolls on: its events have one command id, and a retry rolls nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_save_rolls_on_in_the_same_command() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let game = ann.create(json!({ "minSeats": 1 })).await;
    accepted(ann.act("startGame", &game).await);
    let slots = loop {
        let rolled = accepted(ann.act("roll", &game).await);
        let best = &rolled["game"]["bestSelection"]["slots"];
        if best.is_array() {
            break best.clone();
        }
    };
    let id = "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5";
    let save = json!({ "slots": slots, "andRoll": true, "commandId": id });
    let done = accepted(ann.act_with("save", &game, save.clone()).await);
    let types: Vec<&Value> =
        done["events"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert_eq!(types[..2], [&json!("SAVED"), &json!("ROLLED")], "{done}");
    let again = ann.act_with("save", &game, save).await;
    assert_eq!((&again["repeated"], &again["events"]), (&json!(true), &done["events"]));
}

/// Every move can also be written as text, so that a move without a type of its own is playable.
#[tokio::test(flavor = "multi_thread")]
async fn moves_can_be_written_as_text() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    let write = async |player: &Player, text: &str| {
        player.act_with("written", &game, json!({ "text": text })).await
    };
    for (text, reason) in [
        ("jump", "'jump' is not a move; moves are: ability"),
        ("save 1", "'save 1' is not a move: "),
        ("save [0] quickly", "'save [0] quickly' is not a move: "),
        ("roll [6,6,6,6,6,6]", "'roll [6,6,6,6,6,6]' has values of dice; the server rolls them"),
    ] {
        let payload = write(&ann, text).await;
        assert_eq!(refusal(&payload), "BAD_MOVES");
        let error = &payload["userErrors"][0];
        assert!(error["message"].as_str().unwrap().starts_with(reason), "{error}");
        assert_eq!(error["field"], json!(["input", "move", "written", "text"]));
        assert_eq!(payload["game"]["id"], game, "the object is returned also on an error");
    }
    let rolled = accepted(write(&ann, "roll").await);
    assert_eq!(rolled["events"][0]["type"], "ROLLED", "{rolled}");
    // The rules of the game decide about it like about any other move.
    assert_eq!(refusal(&write(&bob, "roll").await), "NOT_YOUR_TURN");
    assert_eq!(refusal(&write(&ann, "attack -> 1").await), "NO_SUCH_MOVE");
}

/// Invalid input is refused before anything happens, with the path of the error.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_inputs_are_reported_with_their_path() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let game = ann.create(json!({})).await;
    let play = "mutation($input: PlayInput!) { play(input: $input) { userErrors { code } } }";
    let moves = [
        (json!({ "roll": {}, "bank": {} }), "input.move"),
        (json!({}), "input.move"),
        (json!({ "roll": null }), "input.move"),
        (json!({ "jump": {} }), "input.move"),
        (json!({ "scoreCategory": { "category": "SEVENS" } }), "input.move.scoreCategory"),
        (json!({ "save": { "slots": "all" } }), "input.move.save.slots"),
    ];
    // Twice: validation of documents is cached, errors are reported every time.
    for (wrong, place) in moves.iter().chain(&moves) {
        let asked = json!({ "input": { "gameId": game, "move": wrong } });
        let answer = ann.http().await.post(play, asked).await.unwrap().json().unwrap();
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{wrong}: {answer}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(place), "{wrong}: {message}");
    }
    let create = "mutation($input: CreateGameInput!) { createGame(input: $input) { userErrors { code field } } }";
    let large = json!({ "rules": { "farkle": { "target": 9_007_199_254_740_993_i64 } } });
    assert_eq!(ann.error(create, json!({ "input": large })).await, "BAD_USER_INPUT");
    let unlawful = json!({ "rules": { "farkle": { "target": -5 } } });
    let refused = ann.ask(create, json!({ "input": unlawful })).await["createGame"].take();
    let place = json!(["input", "rules", "farkle"]);
    assert_eq!(refused["userErrors"], json!([{ "code": "BAD_RULE", "field": place }]));
    let unknown = json!({ "rules": { "other": { "kind": "LUDO" } } });
    assert_eq!(ann.error(create, json!({ "input": unknown })).await, "GRAPHQL_VALIDATION_FAILED");
}

/// Large responses are compressed for clients that accept it; introspection can be disabled.
#[tokio::test(flavor = "multi_thread")]
async fn responses_are_compressed_and_introspection_can_be_disabled() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ask = |encoding: &str| {
        let body = r#"{"query":"{ presets { kind preset parameters } }"}"#;
        format!(
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\naccept-encoding: {encoding}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let plain = node.http().await.exchange(ask("identity").as_bytes()).await.unwrap();
    let packed = node.http().await.exchange(ask("gzip").as_bytes()).await.unwrap();
    assert!(packed.head.to_lowercase().contains("content-encoding: gzip"), "{}", packed.head);
    assert!(packed.body.len() * 3 < plain.body.len(), "{} {}", packed.body.len(), plain.body.len());
    let schema = "{ __schema { queryType { name } } }";
    let shown = node.http().await.ask(schema, json!({})).await.unwrap();
    assert_eq!(shown["__schema"]["queryType"]["name"], "Query");
    let closed = house.node(&["--no-introspection"]);
    let kept = closed.http().await.post(schema, json!({})).await.unwrap().json().unwrap();
    assert!(kept["data"]["__schema"].is_null(), "{kept}");
}

/// Every connection pages forward and backward to the same items, and counts them.
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_in_both_directions() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    for _ in 0..5 {
        ann.create(json!({})).await;
    }
    let list = "query($first: Int, $after: String, $last: Int, $before: String) {
        myGames(first: $first, after: $after, last: $last, before: $before) {
            totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }";
    eventually("all games are listed", async || {
        ann.ask(list, json!({})).await["myGames"]["totalCount"] == 5
    })
    .await;
    let page = async |wanted: Value| ann.ask(list, wanted).await["myGames"].take();
    let all = page(json!({})).await["nodes"].as_array().unwrap().clone();
    let two = page(json!({ "first": 2 })).await;
    assert_eq!(two["nodes"].as_array().unwrap()[..], all[..2]);
    assert_eq!(two["pageInfo"]["hasNextPage"], true);
    let next = page(json!({ "first": 2, "after": two["pageInfo"]["endCursor"] })).await;
    assert_eq!(next["nodes"].as_array().unwrap()[..], all[2..4]);
    let back = page(json!({ "last": 2, "before": next["pageInfo"]["startCursor"] })).await;
    assert_eq!(back["nodes"], two["nodes"]);
    assert_eq!(back["pageInfo"]["hasPreviousPage"], false);
    assert_eq!(back["pageInfo"]["hasNextPage"], true);
    let end = page(json!({ "last": 3 })).await;
    assert_eq!(end["nodes"].as_array().unwrap()[..], all[2..]);
    assert_eq!(end["pageInfo"]["hasPreviousPage"], true);
    for both in [json!({ "first": 1, "last": 1 }), json!({ "first": 1, "before": "x" })] {
        assert_eq!(ann.error(list, both).await, "BAD_USER_INPUT");
    }
    // Events of a game, of some types only.
    let game = ann.create(json!({ "minSeats": 1 })).await;
    accepted(ann.act("startGame", &game).await);
    let events = "query($game: ID!) { game(id: $game) { version
        all: events(first: 100) { totalCount nodes { type } }
        end: events(last: 2) { nodes { version } }
        some: events(types: [CREATED, STARTED]) { totalCount nodes { type } } } }";
    let found = ann.ask(events, json!({ "game": game })).await["game"].take();
    let version = found["version"].as_i64().unwrap();
    assert_eq!(found["all"]["totalCount"], version);
    let versions: Vec<i64> = found["end"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["version"].as_i64().unwrap())
        .collect();
    assert_eq!(versions, [version - 1, version]);
    assert_eq!(
        found["some"],
        json!({ "totalCount": 2, "nodes": [{ "type": "CREATED" }, { "type": "STARTED" }] })
    );
}

/// Without a token: running games are listed and watched, finished ones replayed, verified and
/// downloaded; private ones do not exist.
#[tokio::test(flavor = "multi_thread")]
async fn strangers_watch_replay_and_verify_public_games() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    let lobby = "query($stage: GameStage!) { lobby(stage: $stage) { nodes { id spectators seats { connected } } } }";
    let listed = async |stage: &str| {
        let mut nobody = node.http().await;
        nobody.ask(lobby, json!({ "stage": stage })).await.unwrap()["lobby"]["nodes"].take()
    };
    eventually("the running game is listed", async || listed("PLAYING").await[0]["id"] == game)
        .await;
    let replay = "query($game: ID!) { replay(gameId: $game) { length turns { round seat firstEntry lastEntry reason points }
        first: entry(number: 1) { number kind } none: entry(number: 9999) { number }
        bank: next(mark: BANK) { number } lastBank: previous(mark: BANK) { number }
        lead: next(mark: LEAD_CHANGE) { number } export(format: PROOF) entries(last: 1) { nodes { source { address } } } }
        verifyGame(gameId: $game) { proven checks { step passed detail } } }";
    let early =
        node.http().await.post(replay, json!({ "game": game })).await.unwrap().json().unwrap();
    assert_eq!(early["errors"][0]["extensions"]["refusal"], "GAME_NOT_OVER", "{early}");

    let watch = "subscription($game: ID!) { gameEvents(gameId: $game) { version } }";
    let mut watcher = node.http().await;
    watcher.begin_stream(watch, json!({ "game": game })).await.unwrap();
    assert!(watcher.chunk().await.unwrap().is_some());
    let mut socket = ann.socket().await;
    socket.subscribe("1", watch, json!({ "game": game })).await.unwrap();
    eventually("one watches, one plays", async || {
        let shown = listed("PLAYING").await[0].take();
        let seats = [&shown["seats"][0]["connected"], &shown["seats"][1]["connected"]];
        shown["spectators"] == 1 && seats.iter().filter(|seat| ***seat == true).count() == 1
    })
    .await;
    drop(watcher);
    eventually("nobody watches any more", async || listed("PLAYING").await[0]["spectators"] == 0)
        .await;

    play_out([&ann, &bob], &game, table).await;
    let mut nobody = node.http().await;
    let seen = nobody.ask(replay, json!({ "game": game })).await.unwrap();
    assert_eq!(seen["verifyGame"]["proven"], true, "{seen}");
    let replay = &seen["replay"];
    assert_eq!(replay["first"], json!({ "number": 1, "kind": "ACTION" }));
    assert_eq!(replay["none"], Value::Null);
    assert!(replay["bank"]["number"].as_i64() <= replay["lastBank"]["number"].as_i64(), "{replay}");
    assert!(replay["export"].as_str().unwrap().contains("croupier_proof"));
    assert_eq!(replay["entries"]["nodes"][0]["source"], Value::Null, "origins are personal");
    let turns = replay["turns"].as_array().unwrap();
    assert_eq!((&turns[0]["round"], &turns[0]["seat"]), (&json!(1), &json!(0)), "{replay}");
    for pair in turns.windows(2) {
        assert!(pair[0]["lastEntry"].as_i64() < pair[1]["firstEntry"].as_i64(), "{replay}");
    }
    assert!(turns.iter().any(|turn| turn["reason"] == "BANKED" && turn["points"] != 0), "{replay}");
    eventually("it is listed as ended", async || listed("ENDED").await[0]["id"] == game).await;

    let private = "mutation { createGame(input: { rules: { farkle: {} }, visibility: PRIVATE }) { game { id } } }";
    let hidden = ann.ask(private, json!({})).await["createGame"]["game"]["id"].take();
    let look = "query($game: ID!) { game(id: $game) { id } replay(gameId: $game) { length } verifyGame(gameId: $game) { proven } }";
    let nothing = nobody.ask(look, json!({ "game": hidden })).await.unwrap();
    assert_eq!(nothing, json!({ "game": null, "replay": null, "verifyGame": null }));
    // A player's page lists public games only, for others.
    let page = "query($player: ID!) { node(id: $player) { ... on Player { games { totalCount nodes { id } } ratingHistory(kind: FARKLE) { date rating } } } }";
    eventually("the owner sees both", async || {
        ann.ask(page, json!({ "player": ann.id })).await["node"]["games"]["totalCount"] == 2
    })
    .await;
    let shown = nobody.ask(page, json!({ "player": ann.id })).await.unwrap();
    assert_eq!(shown["node"]["games"], json!({ "totalCount": 1, "nodes": [{ "id": game }] }));
}

/// What forms are made of: games, presets, numbers with their ranges, kinds of effects.
#[tokio::test(flavor = "multi_thread")]
async fn rules_and_effects_are_listed_for_forms() {
    let house = House::new().await;
    let node = house.node(&[]);
    let forms = "{ gameKinds { kind name presets { preset practice numbers { name description min max value optional ofTable }
            ... on FarkleRuleset { target scoring { straight } loadoutLimits { maxOfOne } }
            ... on ZeroHourRuleset { start doubles { face bonus multiplier } }
            ... on DiceRogueRuleset { rounds { target } colours { colour oneIn } }
            ... on NeonPolisRuleset { goal combatPhase } ... on TrueGritRuleset { singleOneWeight } } }
        dieEffectKinds { kind takesFaces parameters { name description min max } } }";
    let listed = node.http().await.ask(forms, json!({})).await.unwrap();
    let kinds = listed["gameKinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 7);
    assert_eq!((&kinds[1]["kind"], &kinds[1]["name"]), (&json!("ZERO_HOUR"), &json!("Zero Hour")));
    let classic = &kinds[0]["presets"][0];
    assert_eq!(
        (&classic["target"], &classic["scoring"]["straight"]),
        (&json!(10_000), &json!(2000))
    );
    let numbers = classic["numbers"].as_array().unwrap();
    let target = numbers.iter().find(|number| number["name"] == "target").unwrap();
    assert_eq!(
        (&target["min"], &target["max"], &target["value"], &target["optional"]),
        (&json!(1), &json!(1_000_000), &json!(10_000), &json!(true))
    );
    // Every number has a sentence, and its value is within its range.
    for kind in kinds {
        for number in kind["presets"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|p| p["numbers"].as_array().unwrap())
        {
            assert!(number["description"].as_str().unwrap().ends_with('.'), "{number}");
            let value = number["value"].as_i64().unwrap_or(number["min"].as_i64().unwrap());
            assert!(
                (number["min"].as_i64().unwrap()..=number["max"].as_i64().unwrap())
                    .contains(&value),
                "{number}"
            );
        }
    }
    let effects = listed["dieEffectKinds"].as_array().unwrap();
    assert_eq!(effects.len(), 13);
    let faces = effects.iter().find(|effect| effect["takesFaces"] == true).unwrap();
    assert_eq!(faces["kind"], "FACES");
}

/// Documents can be sent by their hash, and a house can refuse all others.
#[tokio::test(flavor = "multi_thread")]
async fn trusted_documents_are_sent_by_hash() {
    let house = House::new().await;
    let text = "{ presets { preset } }";
    let hash = "05ae15b4c2b0c2a1d6d5f8b5b7ff1b8cbb9e2b1e4a2e1ae4ac6dd6ba9a0f37c5";
    let file = house.folder.path().join("documents.json");
    std::fs::write(&file, json!({ hash: text }).to_string()).unwrap();
    let path = file.to_str().unwrap();
    let (code, _, said) =
        house.croupier(&["serve", "--listen", "127.0.0.1:0", "--trusted-documents", path]);
    assert_eq!(code, 2, "{said}");
    let real =
        said.rsplit("SHA-256 ").next().unwrap().trim().trim_end_matches("\u{1b}[0m").to_owned();
    std::fs::write(&file, json!({ format!("sha256:{real}"): text }).to_string()).unwrap();

    let open = house.node(&["--trusted-documents", path]);
    let send = async |node: &Node, body: Value| {
        let body = body.to_string();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        node.http().await.exchange(request.as_bytes()).await.unwrap().json().unwrap()
    };
    let by_id = send(&open, json!({ "documentId": format!("sha256:{real}") })).await;
    assert!(by_id["data"]["presets"].is_array(), "{by_id}");
    let apollo =
        json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": real } } });
    assert!(send(&open, apollo).await["data"]["presets"].is_array());
    let unknown = send(&open, json!({ "documentId": format!("sha256:{}", "0".repeat(64)) })).await;
    assert_eq!(
        unknown["errors"][0]["extensions"]["code"], "PERSISTED_QUERY_NOT_FOUND",
        "{unknown}"
    );
    assert!(send(&open, json!({ "query": "{ viewer { id } }" })).await["data"].is_object());
    assert_eq!(send(&open, json!({})).await["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");

    let strict = house.node(&["--trusted-documents", path, "--only-trusted-documents"]);
    assert!(send(&strict, json!({ "query": text })).await["data"]["presets"].is_array());
    let other = send(&strict, json!({ "query": "{ viewer { id } }" })).await;
    assert_eq!(other["errors"][0]["extensions"]["code"], "UNTRUSTED_DOCUMENT", "{other}");
    // The same on a WebSocket.
    let ann = open.guest("Ann").await;
    let mut socket = client::Socket::connect(strict.address, &ann.token).await.unwrap();
    let mut say = async |payload: Value| {
        let id = payload.to_string();
        let message = json!({ "id": id, "type": "subscribe", "payload": payload });
        socket.say(&message).await.unwrap();
        loop {
            if let client::Heard::Message(message) = socket.hear().await.unwrap()
                && message["id"] == id.as_str()
                && message["type"] != "complete"
            {
                return message["payload"].clone();
            }
        }
    };
    let trusted = say(json!({ "documentId": format!("sha256:{real}") })).await;
    assert!(trusted["data"]["presets"].is_array(), "{trusted}");
    let other = say(json!({ "query": "{ viewer { id } }" })).await;
    assert_eq!(other[0]["extensions"]["code"], "UNTRUSTED_DOCUMENT", "{other}");
}

/// A preview of a bank says what it brings, also if it ends the game; banking then does just that.
#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_wins_is_previewed() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let create = "mutation { createGame(input: { rules: { other: { kind: PIG, custom: { target: 2 } } } }) { game { id } } }";
    let created = players[0].ask(create, json!({})).await;
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    accepted(players[1].act("joinGame", &game).await);
    accepted(players[0].act("startGame", &game).await);
    let look = "query($game: ID!) { game(id: $game) { toMove { number }
        legalMoves { __typename ... on LegalBank { preview { points scoreAfter wins } } } } }";
    loop {
        let seen = players[0].ask(look, json!({ "game": game })).await["game"].take();
        let seat = usize::try_from(seen["toMove"]["number"].as_u64().unwrap()).unwrap();
        let moves = seen["legalMoves"].as_array().unwrap();
        let Some(bank) = moves.iter().find(|legal| legal["__typename"] == "LegalBank") else {
            // A 1 passes the turn; anything else can be banked and wins.
            accepted(players[seat].act("roll", &game).await);
            continue;
        };
        assert_eq!(bank["preview"]["wins"], true, "{seen}");
        assert_eq!(bank["preview"]["points"], bank["preview"]["scoreAfter"], "{seen}");
        accepted(players[seat].act("bank", &game).await);
        let over = "query($game: ID!) { game(id: $game) { outcome { winners { number score } } } }";
        let over = players[0].ask(over, json!({ "game": game })).await["game"]["outcome"].take();
        let won = json!([{ "number": seat, "score": bank["preview"]["scoreAfter"] }]);
        assert_eq!(over["winners"], won);
        return;
    }
}
