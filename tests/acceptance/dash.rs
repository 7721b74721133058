//! Quick games with one or two dice, through GraphQL: played, watched, replayed, exported,
//! verified, rated and counted.

use serde_json::{Value, json};

use crate::support::*;

const TABLE: &str = "{ game { stage version toMove { number } seats { score state { __typename ... on ZeroHourSeat { turnScore } ... on ContestSeat { turnScore } ... on GeneralSeat { facts { name value } } } }
    dice { face place } legalMoves { __typename label } outcome { reason winners { number } } }
    events { type summary scoreBreakdown } userErrors { code message } }";

async fn act(player: &Player, verb: &str, game: &str) -> Value {
    let (query, input) = mutation(verb, game, json!({}), TABLE);
    player.ask(&query, json!({ "input": input })).await["done"].take()
}

/// Plays a game to its end with a spectator, and verifies its log.
async fn play(name: &str) {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let create = "mutation($game: GameKind!) { createGame(input: { rules: { other: { kind: $game } } }) { game { id kind ruleset { preset } } userErrors { code } } }";
    let created =
        players[0].ask(create, json!({ "game": name })).await["createGame"]["game"].take();
    assert_eq!(
        (&created["kind"], &created["ruleset"]["preset"]),
        (&json!(name), &json!("standard"))
    );
    let game = created["id"].as_str().unwrap().to_owned();
    accepted(players[1].act("joinGame", &game).await);
    let mut socket = node.guest("Watcher").await.socket().await;
    let watched = {
        let game = game.clone();
        tokio::spawn(async move { watch(&mut socket, &game, 0).await })
    };
    let mut table = act(&players[0], "startGame", &game).await["game"].take();
    assert_eq!(act(&players[1], "roll", &game).await["userErrors"][0]["code"], "NOT_YOUR_TURN");
    assert_eq!(act(&players[0], "forfeit", &game).await["userErrors"][0]["code"], "NO_SUCH_MOVE");
    while table["stage"] != "ENDED" {
        let number = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
        let seat = &table["seats"][number];
        // A game without its own GraphQL type exposes its facts by name.
        let facts = seat["state"]["facts"].as_array().into_iter().flatten();
        let fact = facts.clone().find(|fact| fact["name"] == "turnScore");
        let turn = fact.map_or(&seat["state"]["turnScore"], |fact| &fact["value"]);
        let (score, turn) = (seat["score"].as_i64().unwrap(), turn.as_i64().unwrap());
        let moves = table["legalMoves"].as_array().unwrap();
        let banks = moves.iter().any(|legal| legal["__typename"] == "LegalBank");
        // A score that no roll fits any more is reset.
        let banks_now = match name {
            "ZERO_HOUR" => turn > 0 && (turn <= score || score < 6),
            "PIG" => turn >= 20 || score + turn >= 100,
            _ => false,
        };
        let verb = if banks_now { "bank" } else { "roll" };
        assert!(verb == "roll" || banks || number == 1, "{table}");
        let payload = act(&players[number], verb, &game).await;
        assert_eq!(payload["userErrors"], json!([]), "{payload}");
        table = payload["game"].clone();
    }
    assert_eq!(table["outcome"]["winners"].as_array().unwrap().len(), 1, "{table}");
    let versions = watched.await.unwrap();
    assert_eq!(versions, (1..=table["version"].as_i64().unwrap()).collect::<Vec<_>>());
    house.prove(&game);
    is_recorded(&players[0], name, &game).await;
}

/// After the game: its record, proof, replay, rating and statistics.
async fn is_recorded(player: &Player, name: &str, game: &str) {
    const KEPT: &str = "query($game: ID!) { verifyGame(gameId: $game) { proven problem }
        replay(gameId: $game) { length record: export(format: RECORD) } }";
    const COUNTED: &str = "query($kind: GameKind!) { viewer { ratings { kind games } statistics(kind: $kind) { games turns } } }";
    let kept = player.ask(KEPT, json!({ "game": game })).await;
    assert_eq!(kept["verifyGame"], json!({ "proven": true, "problem": null }), "{kept}");
    assert!(kept["replay"]["length"].as_i64().unwrap() > 3, "{kept}");
    let record = kept["replay"]["record"].as_str().unwrap();
    assert!(record.starts_with("croupier record 1\n") && record.contains("0: roll ["), "{record}");
    let counted = async || player.ask(COUNTED, json!({ "kind": name })).await["viewer"].take();
    let is_counted = async || {
        let me = counted().await;
        let rated = me["ratings"].as_array().unwrap();
        me["statistics"][0]["games"] == 1
            && rated.iter().any(|rating| rating["kind"] == name && rating["games"] == 1)
    };
    eventually("the game is counted and rated", is_counted).await;
    assert!(counted().await["statistics"][0]["turns"].as_i64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_hour_is_played_watched_and_verified() {
    play("ZERO_HOUR").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn last_line_is_played_watched_and_verified() {
    play("LAST_LINE").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn true_grit_is_played_watched_and_verified() {
    play("TRUE_GRIT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pig_is_played_watched_and_verified() {
    play("PIG").await;
}
