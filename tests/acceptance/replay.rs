//! Replays, what-if games and proofs.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::*;

pub(crate) fn staff(house: &House, role: &str, name: &str, at: &Player) -> Player {
    let (code, token, said) = house.croupier(&["token", "issue", "--role", role, "--name", name]);
    assert_eq!(code, 0, "{said}");
    Player { token: token.trim().to_owned(), ..at.clone() }
}

const REPLAY: &str = "query($game: ID!, $first: Int, $after: String) { replay(gameId: $game) { length
    entries(first: $first, after: $after) { nodes { number kind at versionBefore versionAfter seat clockLeft command commandId
        actor { name } source { session address client } events { version type summary scoreBreakdown } before { version toMove { number } }
        after { version seats { score } } differences { path before after } draws { purpose number sides raw }
        refusal { asked code message } } pageInfo { hasNextPage endCursor } } } }";

/// The whole timeline, page by page.
async fn timeline(who: &Player, game: &str) -> Vec<Value> {
    let (mut lines, mut after) = (Vec::new(), Value::Null);
    loop {
        let asked = json!({ "game": game, "first": 100, "after": after });
        let mut page = who.ask(REPLAY, asked).await["replay"]["entries"].take();
        lines.extend(page["nodes"].as_array().unwrap().iter().cloned());
        if page["pageInfo"]["hasNextPage"] == false {
            return lines;
        }
        after = page["pageInfo"]["endCursor"].take();
    }
}

/// Support sees a running game, with rejections and connections; its players see it when it is
/// over; nobody else does.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_shows_everything_that_happened() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let sue = staff(&house, "support", "Sue", &ann);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1500 })).await;
    let mut socket = ann.socket().await;
    socket.subscribe("1", EVENTS, json!({ "game": game, "after": 0 })).await.unwrap();
    socket.next().await.unwrap();
    assert_eq!(refusal(&bob.act("roll", &game).await), "NOT_YOUR_TURN");
    let id = "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5";
    let wrong = ann.act_with("save", &game, json!({ "slots": [0], "commandId": id })).await;
    assert_eq!(refusal(&wrong), "NOTHING_ROLLED");
    assert_eq!(ann.error(REPLAY, json!({ "game": game })).await, "BAD_USER_INPUT", "not over yet");
    assert_eq!(eve.error(REPLAY, json!({ "game": game })).await, "BAD_USER_INPUT", "not hers");
    // Evidence is written asynchronously.
    eventually("evidence is kept", async || {
        let lines = timeline(&sue, &game).await;
        lines.iter().filter(|line| line["kind"] != "ACTION").count() == 3
    })
    .await;
    let seen = timeline(&sue, &game).await;
    let refused = seen.iter().find(|line| line["refusal"]["code"] == "NOTHING_ROLLED").unwrap();
    assert_eq!(refused["refusal"]["asked"], "save", "{refused}");
    assert_eq!((&refused["commandId"], &refused["actor"]["name"]), (&json!(id), &json!("Ann")));
    assert_eq!(refused["versionBefore"], refused["versionAfter"]);
    assert_eq!(refused["source"]["address"], "127.0.*.*", "{refused}");
    assert_eq!(refused["source"]["client"], "croupier-tests/1", "{refused}");
    assert!(seen.iter().any(|line| line["kind"] == "CONNECTED"), "{seen:?}");

    drop(socket);
    let end = play_out([&ann, &bob], &game, table).await;
    let last = end["version"].as_i64().unwrap();
    // Lines are numbered, so pending evidence must be written first.
    eventually("her disconnect is recorded", async || {
        timeline(&ann, &game).await.iter().any(|line| line["kind"] == "DISCONNECTED")
    })
    .await;
    let lines = timeline(&ann, &game).await;
    let actions: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "ACTION").collect();
    // Versions have no gaps, and every state is the previous one plus the changes.
    let mut version = 0;
    for line in &actions {
        assert_eq!(line["versionBefore"], version, "{line}");
        version = line["versionAfter"].as_i64().unwrap();
        assert_eq!(line["after"]["version"], version, "{line}");
        let events = line["events"].as_array().unwrap();
        assert_eq!(
            i64::try_from(events.len()).unwrap(),
            version - line["versionBefore"].as_i64().unwrap()
        );
        assert!(line["command"].is_string(), "{line}");
        assert!(!line["differences"].as_array().unwrap().is_empty() || version == 1, "{line}");
    }
    assert_eq!(version, last);
    let roll =
        actions.iter().find(|line| line["command"].as_str().unwrap().contains("roll")).unwrap();
    assert_eq!(roll["draws"][0]["purpose"], "DICE", "{roll}");
    assert_eq!(roll["draws"][0]["raw"].as_array().unwrap().len(), 6, "{roll}");
    assert!(roll["clockLeft"].as_i64().unwrap() > 100_000, "{roll}");
    // A player sees neither rejections nor addresses of others.
    assert!(lines.iter().all(|line| line["refusal"]["code"] != "NOT_YOUR_TURN"));
    for line in &lines {
        assert_eq!(line["source"].is_null(), line["actor"]["name"] != "Ann", "{line}");
    }
    jumps(&ann, &game, &lines).await;
    exports(&house, &ann, &game).await;
}

async fn jumps(ann: &Player, game: &str, lines: &[Value]) {
    let next = "query($game: ID!, $mark: ReplayMark!, $after: Int) { replay(gameId: $game) { next(mark: $mark, after: $after) { number } } }";
    for (mark, kind) in [
        ("BANK", "BANKED"),
        ("FARKLE", "FARKLED"),
        ("TIME_OUT", "TIMED_OUT"),
        ("EFFECT", "EffectApplied"),
    ] {
        let expected: Vec<i64> = lines
            .iter()
            .filter(|line| {
                line["events"].as_array().unwrap().iter().any(|event| event["type"] == kind)
            })
            .map(|line| line["number"].as_i64().unwrap())
            .collect();
        let (mut found, mut after) = (Vec::new(), Value::Null);
        loop {
            let asked = json!({ "game": game, "mark": mark, "after": after });
            let mut line = ann.ask(next, asked).await["replay"]["next"].take();
            let Some(number) = line["number"].as_i64() else { break };
            found.push(number);
            after = line["number"].take();
        }
        assert_eq!(found, expected, "{mark}");
    }
    let refused = ann.ask(next, json!({ "game": game, "mark": "REFUSED" })).await;
    assert!(refused["replay"]["next"]["number"].is_number(), "{refused}");
    for after in [0, -1] {
        let asked = json!({ "game": game, "mark": "BANK", "after": after });
        assert_eq!(ann.error(next, asked).await, "BAD_USER_INPUT");
    }
    for (first, after) in
        [(0, Value::Null), (-1, Value::Null), (5, json!("99999")), (5, json!("x"))]
    {
        let asked = json!({ "game": game, "first": first, "after": after });
        assert_eq!(ann.error(REPLAY, asked.clone()).await, "BAD_USER_INPUT", "{asked}");
    }
    let many =
        "query($game: ID!) { replay(gameId: $game) { entries(first: 501) { nodes { number } } } }";
    assert_eq!(ann.error(many, json!({ "game": game })).await, "BAD_USER_INPUT");
    let unknown = json!({ "game": "game:0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5" });
    assert_eq!(ann.ask(REPLAY, unknown).await["replay"], Value::Null);
    let at = "query($game: ID!, $version: Int!) { game(id: $game) { at(version: $version) { version } } }";
    for version in [0, -3, 100_000] {
        let asked = json!({ "game": game, "version": version });
        assert_eq!(ann.error(at, asked).await, "BAD_USER_INPUT", "{version}");
    }
}

async fn exports(house: &House, ann: &Player, game: &str) {
    let export = "query($game: ID!, $format: ReplayFormat!) { replay(gameId: $game) { export(format: $format) } }";
    let file = async |format: &str| -> String {
        let asked = json!({ "game": game, "format": format });
        ann.ask(export, asked).await["replay"]["export"].as_str().unwrap().to_owned()
    };
    let record = file("RECORD").await;
    let events = domain::parse_record(&record).unwrap();
    let lines: Vec<Value> = serde_json::from_str(&file("JSON").await).unwrap();
    assert_eq!(lines.len(), events.len());
    let ndjson = file("NDJSON").await;
    assert_eq!(ndjson.lines().count(), events.len());
    for (line, event) in ndjson.lines().zip(&events) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["type"], event.name());
    }
    let (code, written, _) = house.croupier(&["export", game, "--record"]);
    assert_eq!((code, written), (0, record));
}

/// A bundle is verified by both programs, sealed or not; modified, truncated or mismatched ones are
/// rejected.
#[tokio::test(flavor = "multi_thread")]
async fn anybody_can_verify_a_bundle() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let game = ann.create(json!({ "target": 1000 })).await;
    accepted(ann.act_with("chooseSeed", &game, json!({ "seed": "my lucky 17" })).await);
    accepted(bob.act("joinGame", &game).await);
    let fairness = "query($game: ID!) { game(id: $game) { fairness { commitment } } }";
    let shown = ann.ask(fairness, json!({ "game": game })).await;
    let shown = shown["game"]["fairness"]["commitment"].as_str().unwrap().to_owned();
    let started = accepted(ann.act("startGame", &game).await);
    play_out([&ann, &bob], &game, started["game"].clone()).await;

    let id = game.strip_prefix("game:").unwrap();
    let (code, said, _) = house.croupier(&["verify", id]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("! not sealed yet") && said.contains("decided again under farkle"),
        "{said}"
    );
    let (code, said, _) = house.croupier(&["seal"]);
    assert_eq!(code, 0, "{said}");
    let key = said.trim().rsplit(' ').next().unwrap().to_owned();
    let (code, bundle, said) = house.croupier(&["export", &game, "--proof"]);
    assert_eq!(code, 0, "{said}");
    let path = house.folder.path().join("game.proof");
    let check = |text: &str, options: &[&str]| {
        std::fs::write(&path, text).unwrap();
        let file = path.to_str().unwrap();
        let ours = croupier(None, house.folder.path(), &[&["verify", file], options].concat());
        let theirs = Command::new("python3")
            .args(["-B", concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fair_dice.py"), "proof"])
            .args([&[file], options].concat())
            .output()
            .unwrap();
        let printed = String::from_utf8(theirs.stdout).unwrap();
        assert_eq!(Some(ours.0), theirs.status.code(), "{}\n{printed}", ours.1);
        (ours.0, ours.1)
    };
    let (code, said) =
        check(&bundle, &["--key", &key, "--seed", "0=my lucky 17", "--commitment", &shown]);
    assert_eq!(code, 0, "{said}");
    for right in [
        "commitment, seeds",
        "rolls drawn again",
        "chain of",
        "seal 1 of shard",
        "decided again under",
    ] {
        assert!(said.contains(right), "{right}: {said}");
    }
    assert!(check(&bundle, &[]).1.contains("give --seal-key to be sure whose seal it is"));
    wrong_bundles(&bundle, &key, &check);
    let (code, said, _) = house.croupier(&["verify", "--games"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✓ 1 games"), "{said}");
    let (code, said, _) = house.croupier(&["verify", "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5"]);
    assert_eq!((code, said.contains("there is no game")), (2, true), "{said}");
    let verified = ann
        .ask("query($game: ID!) { verifyGame(gameId: $game) { proven problem sealed sealKey checks { step passed } } }", json!({ "game": game }))
        .await;
    let expected = json!({ "proven": true, "problem": null, "sealed": true, "sealKey": key, "checks": [
            { "step": "CHAIN", "passed": true }, { "step": "SEAL", "passed": true },
            { "step": "COMMITMENT", "passed": true }, { "step": "EVENTS", "passed": true } ] });
    assert_eq!(verified["verifyGame"], expected);
}

/// Modified, truncated or mismatched bundles are rejected by both programs.
fn wrong_bundles(bundle: &str, key: &str, check: &impl Fn(&str, &[&str]) -> (i32, String)) {
    // Values that the user knows from elsewhere are compared.
    for wrong in [
        ["--key", &"00".repeat(32)],
        ["--seed", "0=other"],
        ["--seed", "1=mine"],
        ["--commitment", &"ab".repeat(32)],
    ] {
        let (code, said) = check(bundle, &wrong);
        assert_eq!(code, 1, "{wrong:?}: {said}");
    }
    let lines: Vec<&str> = bundle.lines().collect();
    let unsealed = [&lines[..lines.len() - 1], &["{\"seal\":null}"]].concat().join("\n") + "\n";
    assert_eq!(check(&unsealed, &[]).0, 0);
    assert_eq!(check(&unsealed, &["--key", key]).0, 1, "a seal that was taken off");
    for (cut, code) in [
        (bundle[..bundle.len() / 2].to_owned(), 2),
        (bundle.trim_end().to_owned(), 2),
        (bundle.replacen("\"croupier_proof\":1", "\"croupier_proof\":2", 1), 2),
        (bundle.replacen("\"croupier_proof\":1", "\"croupier_proof\": 1", 1), 2),
        ([&lines[..3], &lines[4..]].concat().join("\n") + "\n", 2),
        (bundle.replacen("\"recorded_at\":1", "\"recorded_at\":2", 1), 1),
    ] {
        assert_eq!(check(&cut, &[]).0, code);
    }
}

const WHAT_IF: &str = "query($game: ID!, $input: WhatIfInput!) { whatIf(gameId: $game, input: $input) { refused
    game { version stage seats { score money } } steps(first: 500) { command differs refusal { code } original { type } events { type summary } game { version } } } }";

/// A what-if game runs beside the original and stores nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_what_if_game_is_played() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1500 })).await;
    let what_if = async |input: Value| {
        let asked = json!({ "game": game, "input": input });
        ann.ask(WHAT_IF, asked).await["whatIf"].take()
    };
    let not_over = ann.error(WHAT_IF, json!({ "game": game, "input": {} })).await;
    assert_eq!(not_over, "BAD_USER_INPUT");
    let sue = staff(&house, "support", "Sue", &ann);
    let asked = json!({ "game": game, "input": { "moves": "0: roll" } });
    let other = sue.ask(WHAT_IF, asked).await["whatIf"].take();
    assert_eq!(
        other["steps"].as_array().unwrap().last().unwrap()["refusal"],
        Value::Null,
        "{other}"
    );
    let end = play_out([&ann, &bob], &game, table).await;
    let events = house.count("SELECT count(*) FROM event").await;

    // No changes: the same game, without money.
    let same = what_if(json!({})).await;
    assert_eq!((&same["refused"], &same["game"]["stage"]), (&json!(0), &json!("ENDED")), "{same}");
    assert_eq!(same["game"]["seats"][0]["money"], 0);
    let differing =
        same["steps"].as_array().unwrap().iter().filter(|step| step["differs"] == true).count();
    assert!(differing <= 1, "only the end, which pays nobody: {same}");
    // Other rules: the target is out of reach, so the game continues after the original's end.
    let longer = what_if(json!({ "rules": { "target": 9000 } })).await;
    assert_eq!(longer["game"]["stage"], "PLAYING", "{longer}");
    // From the first turn on: given dice, then a bank.
    let version = same["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["command"] == "start")
        .unwrap()["game"]["version"]
        .clone();
    let played =
        what_if(json!({ "version": version, "moves": "0: roll [1,1,1,2,3,4]; bank [0,1,2]" }))
            .await;
    assert_eq!(played["game"]["seats"][0]["score"], 1000, "{played}");
    let steps = played["steps"].as_array().unwrap();
    assert_eq!(steps[steps.len() - 2]["original"], json!([]));
    let wrong =
        what_if(json!({ "version": version, "moves": "0: roll [1,1,1,2,3,4]; save [3]; bank" }))
            .await;
    let last = wrong["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["refusal"]["code"], "NOT_SCORING", "{wrong}");
    wrong_forks(&ann, &game).await;
    // The game is public and over: everybody who is signed in can try it.
    let tried = eve.ask(WHAT_IF, json!({ "game": game, "input": {} })).await;
    assert!(tried["whatIf"]["steps"].is_array(), "{tried}");
    assert_eq!(house.count("SELECT count(*) FROM event").await, events, "nothing is stored");
    let (code, said, wrong) = house.croupier(&["what-if", &game, "--rules", "{\"target\":9000}"]);
    assert_eq!(code, 0, "{said}{wrong}");
    assert!(said.contains("the original"), "{said}");
    let (code, _, said) = house.croupier(&["what-if", &game, "0: dance"]);
    assert_eq!((code, said.contains("line 1, column 4")), (2, true), "{said}");
    let (code, said, wrong) = house.croupier(&["replay", &game, "--json"]);
    assert_eq!(code, 0, "{wrong}");
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["versionAfter"], end["version"]);
    let (code, said, _) = house.croupier(&["replay", &game]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("rolls"), "{said}");
}

async fn wrong_forks(ann: &Player, game: &str) {
    for (input, code) in [
        (json!({ "moves": "0: dance" }), "BAD_USER_INPUT"),
        (json!({ "version": 100_000 }), "BAD_USER_INPUT"),
        (json!({ "version": -1 }), "BAD_USER_INPUT"),
        (json!({ "preset": "nonsense" }), "BAD_USER_INPUT"),
        (json!({ "rules": { "nonsense": 1 } }), "BAD_USER_INPUT"),
        (json!({ "rules": 7 }), "BAD_USER_INPUT"),
        (json!({ "loadouts": [{ "seat": 0, "dice": ["LUCKY"] }] }), "BAD_USER_INPUT"),
        (json!({ "moves": "0: roll; ".repeat(2000) }), "BAD_USER_INPUT"),
    ] {
        assert_eq!(
            ann.error(WHAT_IF, json!({ "game": game, "input": input })).await,
            code,
            "{input}"
        );
    }
}

/// Evidence is limited per game and expires.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_bounded_and_expires() {
    let house = House::new().await;
    let node = house.node(&["--evidence-days", "1"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    let id = game.strip_prefix("game:").unwrap().to_owned();
    // The maximum for a game, and old evidence of another one.
    let fill = format!(
        "WITH f AS (INSERT INTO evidence (game, at, kind, actor, session, address, client, version)
            SELECT '{id}', 4102444800000 + n, 'refused', '{bob}', '{id}', '', '', 0 FROM generate_series(1, 500) n RETURNING 1),
         o AS (INSERT INTO evidence (game, at, kind, actor, session, address, client, version)
            SELECT '{other}', n, 'refused', '{id}', '{id}', '', '', 0 FROM generate_series(1, 30) n RETURNING 1)
         SELECT (SELECT count(*) FROM f) + (SELECT count(*) FROM o)",
        other = "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5",
        bob = bob.id.strip_prefix("player:").unwrap()
    );
    house.count(&fill).await;
    for _ in 0..5 {
        refusal(&bob.act("roll", &game).await);
    }
    let second = house.node(&["--evidence-days", "1"]);
    eventually("old evidence is deleted", async || {
        house.count("SELECT count(*) FROM evidence WHERE at < 1000").await == 0
    })
    .await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let kept = format!("SELECT count(*) FROM evidence WHERE game = '{id}' AND kind = 'refused'");
    assert_eq!(house.count(&kept).await, 500);
    // Text that cannot be stored does not block other evidence, and outsiders leave none.
    let eve = node.guest("Eve").await;
    let nonsense = "mutation($game: ID!) { chooseLoadout(input: { gameId: $game, loadout: \"\\u0000\" }) { userErrors { code } } }";
    ann.ask(nonsense, json!({ "game": game })).await;
    eve.ask(nonsense, json!({ "game": game })).await;
    eventually("it is recorded without the characters that cannot be stored", async || {
        house.count("SELECT count(*) FROM evidence WHERE asked = 'chooseLoadout'").await == 1
    })
    .await;
    drop(second);
}
