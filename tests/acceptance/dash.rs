//! Quick games with one or two dice, through GraphQL: played, watched, replayed, written down, verified, rated and counted.

use serde_json::{Value, json};

use crate::support::*;

const TABLE: &str = "{ game { stage version toMove { number } seats { score turn { turnScore multiplier pendingPenalty } }
    dice { face place } legalCommands(mine: true) { command } outcome { decidedBy winners { number } } }
    events { type text lines } errors { code message } }";

async fn act(player: &Player, verb: &str, game: &str) -> Value {
    let query = format!("mutation($game: ID!) {{ {verb}(gameId: $game) {TABLE} }}");
    player.ask(&query, json!({ "game": game })).await[verb].take()
}

/// A game is played to its end while somebody watches, and its log is proven.
async fn play(name: &str) {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let create = "mutation($game: String!) { createGame(game: $game) { game { id kind ruleset { preset } } errors { code } } }";
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
    assert_eq!(act(&players[1], "roll", &game).await["errors"][0]["code"], "NOT_YOUR_TURN");
    assert_eq!(act(&players[0], "forfeit", &game).await["errors"][0]["code"], "NO_SUCH_MOVE");
    while table["stage"] != "ENDED" {
        let number = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
        let seat = &table["seats"][number];
        let (score, turn) =
            (seat["score"].as_i64().unwrap(), seat["turn"]["turnScore"].as_i64().unwrap());
        let banks = table["legalCommands"]
            .as_array()
            .unwrap()
            .iter()
            .any(|legal| legal["command"] == "bank");
        // A score that no roll fits any more begins anew.
        let banks_now = match name {
            "zero_hour" => turn > 0 && (turn <= score || score < 6),
            "pig" => turn >= 20 || score + turn >= 100,
            _ => false,
        };
        let verb = if banks_now { "bank" } else { "roll" };
        assert!(verb == "roll" || banks || number == 1, "{table}");
        let payload = act(&players[number], verb, &game).await;
        assert_eq!(payload["errors"], json!([]), "{payload}");
        table = payload["game"].clone();
    }
    assert_eq!(table["outcome"]["winners"].as_array().unwrap().len(), 1, "{table}");
    let versions = watched.await.unwrap();
    assert_eq!(versions, (1..=table["version"].as_i64().unwrap()).collect::<Vec<_>>());
    house.prove(&game);
    is_kept(&players[0], name, &game).await;
}

/// What is left of a game that is over: its record, its proof, its replay, a rating and figures.
async fn is_kept(player: &Player, name: &str, game: &str) {
    const KEPT: &str = "query($game: ID!) { verifyGame(gameId: $game) { proven problem }
        replay(gameId: $game) { length record: export(format: RECORD) } }";
    const COUNTED: &str = "query($kind: String!) { me { ratings { game games } statistics(game: $kind) { games turns } } }";
    let kept = player.ask(KEPT, json!({ "game": game })).await;
    assert_eq!(kept["verifyGame"], json!({ "proven": true, "problem": null }), "{kept}");
    assert!(kept["replay"]["length"].as_i64().unwrap() > 3, "{kept}");
    let record = kept["replay"]["record"].as_str().unwrap();
    assert!(record.starts_with("croupier record 1\n") && record.contains("0: roll ["), "{record}");
    let counted = async || player.ask(COUNTED, json!({ "kind": name })).await["me"].take();
    let is_counted = async || {
        let me = counted().await;
        let rated = me["ratings"].as_array().unwrap();
        me["statistics"][0]["games"] == 1
            && rated.iter().any(|rating| rating["game"] == name && rating["games"] == 1)
    };
    eventually("the game is counted and rated", is_counted).await;
    assert!(counted().await["statistics"][0]["turns"].as_i64().unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_hour_is_played_watched_and_proven() {
    play("zero_hour").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn last_line_is_played_watched_and_proven() {
    play("last_line").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn true_grit_is_played_watched_and_proven() {
    play("true_grit").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pig_is_played_watched_and_proven() {
    play("pig").await;
}
