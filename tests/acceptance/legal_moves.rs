//! Games with categories, characters and cards, played by clients that only use what the game
//! lists: legal moves, previews, offers.

use serde_json::{Value, json};

use crate::support::*;

const GAME: &str = "{ id kind stage version round turnOf { number } toMove { number }
    seats { number score money state { __typename ... on NeonPolisSeat { character { code } }
        ... on DiceRogueSeat { diceRolled { colour count } categories { category scored } } } }
    dice { slot code face faceName place } offers { item { code name description } price affordable }
    bestSelection { points scoreBreakdown combinations { kind } }
    legalMoves { __typename label ... on LegalRoll { keepableSlots }
        ... on LegalScoreCategory { category selection { points } } ... on LegalAttack { targets { number } }
        ... on LegalConvertHearts { max } ... on LegalCopyDie { fromSlots toSlots } ... on LegalExchange { directions }
        ... on LegalStoreDie { storeSlots: slots } ... on LegalPlaceStored { placeSlots: slots }
        ... on LegalBuyItem { offer { item { code } affordable } targets { number } }
        ... on LegalUseItem { item { code } } ... on LegalTakeEvolution { item { code } }
        ... on LegalWritten { text } }
    outcome { reason winners { number } } }";

/// The input of a listed move: `(name, arguments)`.
fn as_move(listed: &Value) -> (&'static str, Value) {
    let target = listed["targets"][0]["number"].clone();
    let first = |of: &str| listed[of][0].clone();
    match listed["__typename"].as_str().unwrap() {
        "LegalRoll" => ("roll", json!({})),
        "LegalScoreCategory" => ("scoreCategory", json!({ "category": listed["category"] })),
        "LegalResolveDice" => ("resolveDice", json!({})),
        "LegalAttack" => ("attack", json!({ "targetSeat": target })),
        "LegalDecideStay" => ("decideStay", json!({ "stay": false })),
        "LegalConvertHearts" => ("useAbility", json!({ "convertHearts": listed["max"] })),
        "LegalCopyDie" => {
            let to = listed["toSlots"].as_array().unwrap();
            let other = to.iter().find(|slot| **slot != listed["fromSlots"][0]).unwrap();
            (
                "useAbility",
                json!({ "copyDie": { "fromSlot": first("fromSlots"), "toSlot": other } }),
            )
        }
        "LegalExchange" => ("useAbility", json!({ "exchange": first("directions") })),
        "LegalStoreDie" => ("useAbility", json!({ "storeDie": first("storeSlots") })),
        "LegalPlaceStored" => ("useAbility", json!({ "placeStored": first("placeSlots") })),
        "LegalBuyItem" => {
            ("buyItem", json!({ "code": listed["offer"]["item"]["code"], "targetSeat": target }))
        }
        "LegalRenewMarket" => ("renewMarket", json!({})),
        "LegalUseItem" => ("useItem", json!({ "code": listed["item"]["code"] })),
        "LegalTakeEvolution" => ("takeEvolution", json!({ "code": listed["item"]["code"] })),
        "LegalEndTurn" => ("endTurn", json!({})),
        "LegalWritten" => ("written", json!({ "text": listed["text"] })),
        other => panic!("an unknown move: {other}"),
    }
}

/// Sends a command.
async fn send(player: &Player, game: &str, command: &str, arguments: Value) -> Value {
    let fields = format!(
        "{{ game {GAME} events {{ type summary scoreBreakdown }} userErrors {{ code message field }} }}"
    );
    let (query, input) = mutation(command, game, arguments, &fields);
    player.ask(&query, json!({ "input": input })).await["done"].take()
}

async fn bare(player: &Player, game: &str, command: &str) -> Value {
    send(player, game, command, json!({})).await
}

/// A new game with all players seated.
async fn seated(players: &[Player], kind: &str, rules: Value) -> String {
    let create = "mutation($game: GameKind!, $rules: JSON) { createGame(input: { rules: { other: { kind: $game, custom: $rules } } }) { game { id kind } userErrors { code message } } }";
    let created = players[0].ask(create, json!({ "game": kind, "rules": rules })).await;
    assert_eq!(created["createGame"]["game"]["kind"], kind, "{created}");
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    for player in &players[1..] {
        accepted(player.act("joinGame", &game).await);
    }
    game
}

fn listed<'a>(table: &'a Value, kind: &str) -> Option<&'a Value> {
    table["legalMoves"].as_array().unwrap().iter().find(|legal| legal["__typename"] == kind)
}

/// Plays a game to its end: `choose` picks one of the listed moves. A spectator watches, and the
/// log is verified.
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
        let (command, arguments) = as_move(&choose(&seen));
        let payload = send(&players[mover], game, command, arguments).await;
        assert_eq!(payload["userErrors"], json!([]), "{payload}\n{seen}");
        let explained = payload["events"].as_array().unwrap().iter();
        let silent = ["TURN_ENDED", "SEED_REVEALED"];
        for event in explained.filter(|event| !silent.contains(&event["type"].as_str().unwrap())) {
            assert!(event["summary"].is_string(), "{event}");
        }
        table = payload["game"].clone();
    }
    let versions = watched.await.unwrap();
    assert_eq!(versions, (1..=table["version"].as_i64().unwrap()).collect::<Vec<_>>());
    house.prove(game);
    table
}

#[tokio::test(flavor = "multi_thread")]
async fn dice_rogue_is_played_watched_and_verified() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await];
    let goals = json!([{ "target": 60, "reward": 400 }, { "target": 0, "reward": 10 }]);
    let rules = json!({ "rounds": goals, "openingShop": true, "startMoney": 500 });
    let game = seated(&players, "DICE_ROGUE", rules).await;
    let table = play(&house, &node, &players, &game, |table| {
        // In the shop, buys everything possible and continues; in a turn, rolls once and takes the
        // best category.
        if let Some(buy) = listed(table, "LegalBuyItem") {
            assert_eq!(buy["offer"]["affordable"], true, "{buy}");
            return buy.clone();
        }
        if let Some(end) = listed(table, "LegalEndTurn") {
            return end.clone();
        }
        let moves = table["legalMoves"].as_array().unwrap();
        let points = |legal: &&Value| legal["selection"]["points"].as_i64();
        let best = moves.iter().filter(|legal| points(legal).is_some()).max_by_key(points);
        if let Some(best) = best {
            assert_eq!(best["selection"]["points"], table["bestSelection"]["points"]);
        }
        best.or_else(|| listed(table, "LegalRoll")).unwrap().clone()
    })
    .await;
    let state = &table["seats"][0]["state"];
    let rolled = state["diceRolled"].as_array().unwrap();
    let plain = rolled.iter().find(|count| count["colour"] == "none").unwrap();
    assert!(plain["count"].as_u64().unwrap() > 0, "{state}");
    assert_eq!(state["categories"].as_array().unwrap().len(), 13, "{state}");
    let over = table["outcome"]["reason"].as_str().unwrap();
    assert!(["GOAL", "MISSED"].contains(&over), "{over}");
}

#[tokio::test(flavor = "multi_thread")]
async fn neonpolis_is_played_watched_and_verified() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await, node.guest("Cid").await];
    let game = seated(&players, "NEONPOLIS", json!({})).await;
    let cyclops = || json!({ "character": "halo_cyclops" });
    let chosen = send(&players[1], &game, "chooseCharacter", cyclops()).await;
    assert_eq!(chosen["events"][0]["summary"], "Bob plays Halo Cyclops", "{chosen}");
    let taken = send(&players[0], &game, "chooseCharacter", cyclops()).await;
    assert_eq!(taken["userErrors"][0]["code"], "CHARACTER_TAKEN", "{taken}");
    assert_eq!(taken["userErrors"][0]["field"], json!(["input", "character"]));
    let table = play(&house, &node, &players, &game, |table| {
        // Rolls once; gives way when hit; buys everything possible.
        let order = [
            "LegalDecideStay",
            "LegalResolveDice",
            "LegalTakeEvolution",
            "LegalConvertHearts",
            "LegalExchange",
            "LegalAttack",
            "LegalBuyItem",
            "LegalEndTurn",
            "LegalRoll",
        ];
        let found = order.iter().find_map(|kind| listed(table, kind));
        found.unwrap_or_else(|| panic!("{table}")).clone()
    })
    .await;
    let over = table["outcome"]["reason"].as_str().unwrap();
    assert!(["GOAL", "LAST_ALIVE"].contains(&over), "{table}");
    assert_eq!(table["outcome"]["winners"].as_array().unwrap().len(), 1, "{table}");
}

/// A player who was hit inside has a clock of their own; when it runs out, the house answers and
/// the turn continues.
#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_pending_decision_runs_out() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let rules = json!({ "turnSeconds": 3, "hp": 500, "goal": 900 });
    let game = seated(&players, "NEONPOLIS", rules).await;
    bare(&players[0], &game, "startGame").await;
    let look = format!("query($game: ID!) {{ game(id: $game) {GAME} }}");
    let see = async || players[0].ask(&look, json!({ "game": game })).await["game"].take();
    // Everybody plays quickly until a player is hit inside.
    let asked = loop {
        let table = see().await;
        let (turn, to_move) = (&table["turnOf"]["number"], &table["toMove"]["number"]);
        if turn != to_move {
            break to_move.as_u64().unwrap();
        }
        let mover = usize::try_from(turn.as_u64().unwrap()).unwrap();
        for command in ["roll", "resolveDice", "attack", "endTurn"] {
            bare(&players[mover], &game, command).await;
        }
    };
    let offers = see().await["offers"].take();
    assert!(
        offers.as_array().unwrap().iter().all(|offer| offer["affordable"] == false),
        "{offers}"
    );
    let log = "query($game: ID!) { game(id: $game) { lastAction { events { type ... on TurnTimedOutEvent { seat { number } } ... on DecisionMadeEvent { seat { number } } } } } }";
    eventually("the house answers", async || {
        let mut action = players[0].ask(log, json!({ "game": game })).await;
        let events = action["game"]["lastAction"]["events"].take();
        let seat = json!({ "number": asked });
        events[0] == json!({ "type": "TIMED_OUT", "seat": seat })
            && events[1] == json!({ "type": "ANSWERED", "seat": seat })
    })
    .await;
    let table = see().await;
    assert_eq!(table["turnOf"], table["toMove"], "the turn goes on");
    assert_ne!(table["toMove"]["number"], json!(asked));
}

/// The parameters of every preset can be sent back as they are shown; multi-player games cannot be
/// played alone.
#[tokio::test(flavor = "multi_thread")]
async fn rules_survive_a_round_trip() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let all = ann
        .ask(
            "{ presets { kind preset parameters items { kind code name description price } } }",
            json!({}),
        )
        .await;
    let create = "mutation($game: GameKind!, $preset: PresetName, $rules: JSON) { createGame(input: { rules: { other: { kind: $game, preset: $preset, custom: $rules } } }) {
        game { ruleset { parameters } } userErrors { code message } } }";
    for preset in all["presets"].as_array().unwrap() {
        let mut rules = preset["parameters"].clone();
        // The catalogue of special dice is not a parameter.
        rules.as_object_mut().unwrap().remove("catalogue");
        let asked = json!({ "game": preset["kind"], "preset": preset["preset"], "rules": rules });
        let made = ann.ask(create, asked).await["createGame"].take();
        let parameters = &made["game"]["ruleset"]["parameters"];
        assert_eq!(parameters, &preset["parameters"], "{made}");
    }
    for game in ["ZERO_HOUR", "LAST_LINE", "TRUE_GRIT", "NEONPOLIS"] {
        let alone = json!({ "game": game, "rules": { "minSeats": 1 } });
        let refused = ann.ask(create, alone).await["createGame"].take();
        assert_eq!(refused["userErrors"][0]["code"], "BAD_RULE", "{game}: {refused}");
    }
}

/// Quick match accepts a character.
#[tokio::test(flavor = "multi_thread")]
async fn quick_match_accepts_a_character() {
    let house = House::new().await;
    let node = house.node(&[]);
    let quick = "mutation($game: GameKind!, $character: ItemCode) { quickMatch(input: { rules: { other: { kind: $game } }, character: $character }) {
        game { stage seats { state { ... on NeonPolisSeat { character { code } } } } } userErrors { code message } } }";
    let asked = |game: &str, character: &str| json!({ "game": game, "character": character });
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let wrong = ann.ask(quick, asked("NEONPOLIS", "nobody")).await["quickMatch"].take();
    assert_eq!(wrong["userErrors"][0]["code"], "UNKNOWN_CHARACTER", "{wrong}");
    let alone = ann.ask(quick, json!({ "game": "DICE_ROGUE" })).await["quickMatch"].take();
    assert_eq!(alone["userErrors"][0]["message"], "this game is single-player: use createGame");
    ann.ask(quick, asked("NEONPOLIS", "halo_cyclops")).await;
    let begun = bob.ask(quick, asked("NEONPOLIS", "ion_wyrm")).await["quickMatch"].take();
    assert_eq!(begun["game"]["stage"], "PLAYING", "{begun}");
    let played: Vec<&Value> = begun["game"]["seats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["state"]["character"]["code"])
        .collect();
    assert_eq!(played, [&json!("halo_cyclops"), &json!("ion_wyrm")]);
}

/// Invalid moves are refused with a code and the path of the argument; nothing changes.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_moves_are_refused_with_a_reason() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let [ann, bob] = &players;

    let run = seated(&players[..1], "DICE_ROGUE", json!({})).await;
    bare(ann, &run, "startGame").await;
    bare(ann, &run, "roll").await;
    let at = |path: &[&str]| json!([&["input"], path].concat());
    let asked = [
        ("roll", json!({ "keepSlots": [9] }), "NO_SUCH_SLOT", at(&["move", "roll", "keepSlots"])),
        ("roll", json!({ "keepSlots": [-1] }), "NO_SUCH_SLOT", at(&["move", "roll", "keepSlots"])),
        (
            "roll",
            json!({ "keepSlots": [0, 1, 2, 3, 4] }),
            "NOTHING_TO_ROLL",
            at(&["move", "roll", "keepSlots"]),
        ),
        ("buyItem", json!({ "code": "green" }), "NOT_NOW", json!(null)),
        ("useItem", json!({ "code": "any_score" }), "NOT_HELD", at(&["move", "useItem", "code"])),
        ("resolveDice", json!({}), "NO_SUCH_MOVE", json!(null)),
        ("chooseCharacter", json!({ "character": "ion_wyrm" }), "ALREADY_STARTED", json!(null)),
    ];
    for (command, wrong, code, path) in asked {
        let refused = send(ann, &run, command, wrong.clone()).await;
        let found = (&refused["userErrors"][0]["code"], &refused["userErrors"][0]["field"]);
        assert_eq!(found, (&json!(code), &path), "{command} {wrong}: {refused}");
        assert_eq!(refused["game"]["id"], json!(run), "the game comes along");
    }
    // An invalid enum value fails validation, before the game is looked at.
    let (query, input) = mutation(
        "scoreCategory",
        &run,
        json!({ "category": "NONSENSE" }),
        "{ userErrors { code } }",
    );
    let error = ann.error(&query, json!({ "input": input })).await;
    assert_eq!(error, "GRAPHQL_VALIDATION_FAILED");

    let game = seated(&players, "NEONPOLIS", json!({ "energy": 20 })).await;
    bare(ann, &game, "startGame").await;
    bare(ann, &game, "roll").await;
    let copy = json!({ "copyDie": { "fromSlot": 0, "toSlot": 99 } });
    let asked = [
        (ann, "buyItem", json!({ "code": "aegis" }), "NOT_NOW"),
        (ann, "decideStay", json!({ "stay": true }), "NOTHING_ASKED"),
        (ann, "takeEvolution", json!({ "code": "third_eye" }), "NOTHING_UNLOCKED"),
        (ann, "useAbility", json!({ "exchange": "HEAL" }), "NOT_YOUR_ABILITY"),
        (ann, "useAbility", copy, "NO_SUCH_SLOT"),
        (bob, "resolveDice", json!({}), "NOT_YOUR_TURN"),
        (ann, "bank", json!({}), "NO_SUCH_MOVE"),
    ];
    for (player, command, wrong, code) in asked {
        let refused = send(player, &game, command, wrong.clone()).await;
        assert_eq!(refused["userErrors"][0]["code"], code, "{command} {wrong}: {refused}");
    }
    // No ability, or two: the request itself is invalid.
    let two = "mutation($game: ID!) { useAbility: play(input: { gameId: $game, move: { useAbility: { storeDie: 0, placeStored: 1 } } }) { userErrors { code } } }";
    ann.error(two, json!({ "game": game })).await;
}
