//! Schema descriptions, and protection of secrets.

use serde_json::{Value, json};

use crate::support::*;

/// Everything in the schema has a description.
#[tokio::test(flavor = "multi_thread")]
async fn everything_in_the_schema_is_described() {
    let house = House::new().await;
    let node = house.node(&[]);
    let query = "{ __schema { types { name kind description fields(includeDeprecated: true) { name description args { name description } }
        inputFields { name description } enumValues { name description } } } }";
    let schema = node.http().await.ask(query, json!({})).await.unwrap();
    let mut silent = Vec::new();
    let is_silent = |thing: &Value| thing["description"].as_str().is_none_or(str::is_empty);
    for kind in schema["__schema"]["types"].as_array().unwrap() {
        let name = kind["name"].as_str().unwrap();
        if name.starts_with("__") {
            continue;
        }
        // Built-in types of GraphQL need no description.
        if is_silent(kind) && name != "ID" {
            silent.push(name.to_owned());
        }
        for part in ["fields", "inputFields", "enumValues"] {
            for item in kind[part].as_array().into_iter().flatten() {
                let place = format!("{name}.{}", item["name"].as_str().unwrap());
                for argument in
                    item["args"].as_array().into_iter().flatten().filter(|a| is_silent(a))
                {
                    silent.push(format!("{place}({})", argument["name"]));
                }
                if is_silent(item) {
                    silent.push(place);
                }
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}

/// The secret of a running game is not exposed: not in events, not unencrypted in tables, not in
/// logs.
#[tokio::test(flavor = "multi_thread")]
async fn the_secret_of_a_running_game_is_not_exposed() {
    let house = House::new().await;
    let node = house.node(&["--log", "trace"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    assert_eq!(
        house.count("SELECT count(*) FROM dice_secret WHERE length(sealed) = 24 + 32 + 16").await,
        1
    );
    let sealed = house.count("SELECT count(*) FROM event WHERE type = 'SeedRevealed'").await;
    assert_eq!(sealed, 0);
    play_out([&ann, &bob], &game, table).await;
    let query = "query($game: ID!) { game(id: $game) { fairness { secret } } }";
    let secret = ann.ask(query, json!({ "game": game })).await["game"]["fairness"]["secret"].take();
    let secret = secret.as_str().unwrap();
    let stored =
        format!("SELECT count(*) FROM dice_secret WHERE encode(sealed, 'hex') LIKE '%{secret}%'");
    assert_eq!(house.count(&stored).await, 0, "encrypted at rest");
    assert!(!node.log().contains(secret), "not even at the most verbose level");
    // The event log contains pseudonyms, not names.
    assert_eq!(house.count("SELECT count(*) FROM event WHERE payload::text LIKE '%Ann%'").await, 0);
}

/// A node does not start without the keys in use. If they are given up, the game cannot be played.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_key_is_named() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let game = ann.create(json!({})).await;
    accepted(ann.act("startGame", &game).await);
    eventually("the game is listed", async || {
        house.count("SELECT count(*) FROM game_index WHERE stage = 'playing'").await == 1
    })
    .await;
    node.kill();
    let keys = house.folder.path().join("croupier-data/keys");
    for file in std::fs::read_dir(&keys).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("dice-") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let (code, _, said) = house.croupier(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("lacks the key dice-") && said.contains("restore the keys"), "{said}");
    let missing = std::fs::read_dir(&keys)
        .unwrap()
        .all(|file| !file.unwrap().file_name().to_str().unwrap().starts_with("dice-"));
    assert!(missing, "no new key is made");
    let node = house.node(&["--accept-lost-keys"]);
    let ann = ann.at(&node);
    let roll = "mutation($game: ID!) { roll: play(input: { gameId: $game, move: { roll: {} } }) { userErrors { code } } }";
    assert_eq!(ann.error(roll, json!({ "game": game })).await, "INTERNAL_SERVER_ERROR");
    assert!(node.log().contains(".key is not in the folder of keys"), "{}", node.log());
}

/// Without the keys of tokens, guests would lose their accounts: the node does not start.
#[tokio::test(flavor = "multi_thread")]
async fn lost_keys_of_tokens_are_not_replaced_in_silence() {
    let house = House::new().await;
    let node = house.node(&[]);
    node.guest("Ann").await;
    node.kill();
    let keys = house.folder.path().join("croupier-data/keys");
    std::fs::remove_dir_all(&keys).unwrap();
    let (code, _, said) = house.croupier(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("lacks every token-*.key"), "{said}");
    assert!(!keys.exists(), "no new key is made");
}
