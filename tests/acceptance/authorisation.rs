//! Who may do what: every operation, every role, one's own things and others'.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::*;

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It was done, or refused by the rules of the game.
    Allowed,
    /// There is nothing there, as far as this one is told.
    Nothing,
    Unauthenticated,
    Forbidden,
}

use Outcome::{Allowed, Forbidden, Nothing, Unauthenticated};

/// Who asks: nobody, the owner, another player, an analyst, support, an admin.
const ASKERS: [&str; 6] = ["nobody", "owner", "other", "analyst", "support", "admin"];

/// An operation on something of the owner's: a private game, an account. What each of the askers gets.
const MATRIX: &[(&str, &str, [Outcome; 6])] = &[
    // Queries
    (
        "node",
        "{ node(id: $game) { __typename } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "game",
        "{ game(id: $game) { id } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    ("me", "{ me { id } }", [Nothing, Allowed, Allowed, Allowed, Allowed, Allowed]),
    (
        "myGames",
        "{ myGames { nodes { id } } }",
        [Unauthenticated, Allowed, Allowed, Forbidden, Forbidden, Forbidden],
    ),
    (
        "lobby",
        "{ lobby { nodes { id } } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "leaderboard",
        "{ leaderboard(game: \"farkle\", by: WINS) { page { nodes { rank } } } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "verifyGame",
        "{ verifyGame(gameId: $game) { proven } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "replay",
        "{ replay(gameId: $game) { length } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "whatIf",
        "{ whatIf(gameId: $game, input: {}) { refused } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "dispute",
        "{ dispute(id: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\") { id } }",
        [Unauthenticated, Nothing, Nothing, Nothing, Nothing, Nothing],
    ),
    ("myDisputes", "{ myDisputes { nodes { id } } }", PLAYERS),
    ("disputes", "{ disputes { nodes { id } } }", STAFF),
    ("auditLog", "{ auditLog { nodes { number } } }", ADMINS),
    ("myData", "{ myData }", PLAYERS),
    ("personalData", "{ personalData(playerId: $victim) }", STAFF),
    (
        "seasons",
        "{ seasons { code } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "balance",
        "{ balance(by: DIE) { total { games } } }",
        [Unauthenticated, Forbidden, Forbidden, Allowed, Forbidden, Allowed],
    ),
    ("presets", "{ presets { preset } }", [Allowed; 6]),
    ("diceCatalogue", "{ diceCatalogue { code } }", [Allowed; 6]),
    ("shop", "{ shop { version } }", [Allowed; 6]),
    // Disputes
    (
        "previewRemedy",
        "{ previewRemedy(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", remedy: { voidGame: MISTAKE }) { amount } }",
        STAFF,
    ),
    (
        "openDispute",
        "mutation { openDispute(gameId: $game, version: 1, text: \"t\") { errors { code } } }",
        SEATED,
    ),
    (
        "commentDispute",
        "mutation { commentDispute(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", text: \"t\") { errors { code } } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "assignDispute",
        "mutation { assignDispute(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\") { errors { code } } }",
        STAFF,
    ),
    (
        "proposeRemedy",
        "mutation { proposeRemedy(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", remedy: { voidGame: MISTAKE }) { errors { code } } }",
        STAFF,
    ),
    (
        "approveRemedy",
        "mutation { approveRemedy(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1) { errors { code } } }",
        STAFF,
    ),
    (
        "retryRemedy",
        "mutation { retryRemedy(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1) { errors { code } } }",
        STAFF,
    ),
    (
        "declineRemedy",
        "mutation { declineRemedy(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1) { errors { code } } }",
        STAFF,
    ),
    (
        "resolveDispute",
        "mutation { resolveDispute(disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", reason: EXPLAINED) { errors { code } } }",
        STAFF,
    ),
    ("eraseAccount", "mutation { eraseAccount(playerId: $victim) { erased } }", STAFF),
    // Tables
    ("createGame", "mutation { createGame { errors { code } } }", PLAYERS),
    ("quickMatch", "mutation { quickMatch { errors { code } } }", PLAYERS),
    (
        "joinGame",
        "mutation { joinGame(gameId: $game) { errors { code } } }",
        [Unauthenticated, Allowed, Nothing, Forbidden, Forbidden, Forbidden],
    ),
    (
        "chooseSeed",
        "mutation { chooseSeed(gameId: $game, seed: \"s\") { errors { code } } }",
        SEATED,
    ),
    (
        "chooseLoadout",
        "mutation { chooseLoadout(gameId: $game, dice: []) { errors { code } } }",
        SEATED,
    ),
    (
        "chooseCharacter",
        "mutation { chooseCharacter(gameId: $game, character: \"ion_wyrm\") { errors { code } } }",
        SEATED,
    ),
    ("startGame", "mutation { startGame(gameId: $game) { errors { code } } }", SEATED),
    // Moves
    ("roll", "mutation { roll(gameId: $game) { errors { code } } }", SEATED),
    ("save", "mutation { save(gameId: $game, slots: [0]) { errors { code } } }", SEATED),
    ("bank", "mutation { bank(gameId: $game) { errors { code } } }", SEATED),
    ("forfeit", "mutation { forfeit(gameId: $game) { errors { code } } }", SEATED),
    ("score", "mutation { score(gameId: $game, category: \"ones\") { errors { code } } }", SEATED),
    ("resolve", "mutation { resolve(gameId: $game) { errors { code } } }", SEATED),
    ("attack", "mutation { attack(gameId: $game) { errors { code } } }", SEATED),
    (
        "useAbility",
        "mutation { useAbility(gameId: $game, ability: { store: 0 }) { errors { code } } }",
        SEATED,
    ),
    ("answer", "mutation { answer(gameId: $game, stay: true) { errors { code } } }", SEATED),
    ("buyItem", "mutation { buyItem(gameId: $game, code: \"green\") { errors { code } } }", SEATED),
    ("renewMarket", "mutation { renewMarket(gameId: $game) { errors { code } } }", SEATED),
    ("useItem", "mutation { useItem(gameId: $game, code: \"aegis\") { errors { code } } }", SEATED),
    ("evolve", "mutation { evolve(gameId: $game, code: \"aegis\") { errors { code } } }", SEATED),
    ("endTurn", "mutation { endTurn(gameId: $game) { errors { code } } }", SEATED),
    ("leaveGame", "mutation { leaveGame(gameId: $game) { errors { code } } }", SEATED),
    // The shop
    ("buyDie", "mutation { buyDie(code: \"LUCKY\") { errors { code } } }", PLAYERS),
    ("sellDie", "mutation { sellDie(code: \"LUCKY\") { errors { code } } }", PLAYERS),
    ("saveLoadout", "mutation { saveLoadout(name: \"n\", dice: []) { errors { code } } }", PLAYERS),
    ("deleteLoadout", "mutation { deleteLoadout(name: \"n\") { errors { code } } }", PLAYERS),
    ("addDie", "mutation { addDie(die: {}) { errors { code } } }", ADMINS),
    ("changeDie", "mutation { changeDie(code: \"HOT\", die: {}) { errors { code } } }", ADMINS),
    ("retireDie", "mutation { retireDie(code: \"NONE\") { errors { code } } }", ADMINS),
    // Sessions
    ("signInAsGuest", "mutation { signInAsGuest { errors { code } } }", [Allowed; 6]),
    (
        "register",
        "mutation { register(name: \"\", password: \"\") { errors { code } } }",
        [Allowed; 6],
    ),
    ("signIn", "mutation { signIn(name: \"\", password: \"\") { errors { code } } }", [Allowed; 6]),
    (
        "refreshSession",
        "mutation { refreshSession(refreshToken: \"\") { errors { code } } }",
        [Allowed; 6],
    ),
    (
        "endSessions",
        "mutation { endSessions(playerId: $victim) { ended } }",
        [Unauthenticated, Forbidden, Forbidden, Forbidden, Allowed, Allowed],
    ),
    (
        "voidGame",
        "mutation { voidGame(gameId: $game, reason: MISTAKE) { errors { code } } }",
        [Unauthenticated, Forbidden, Forbidden, Forbidden, Allowed, Allowed],
    ),
    (
        "nameSeason",
        "mutation { nameSeason(code: \"winter\", title: \"Winter\", from: \"2026-12-01\", to: \"2027-02-28\") { errors { code } } }",
        [Unauthenticated, Forbidden, Forbidden, Forbidden, Forbidden, Allowed],
    ),
    (
        "signOut",
        "mutation { signOut { ended } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    // Subscriptions
    (
        "gameEvents",
        "subscription { gameEvents(gameId: $game) { version } }",
        [Unauthenticated, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "lobby",
        "subscription { lobby { id } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "myTurn",
        "subscription { myTurn { id } }",
        [Unauthenticated, Allowed, Allowed, Forbidden, Forbidden, Forbidden],
    ),
];

const PLAYERS: [Outcome; 6] = [Unauthenticated, Allowed, Allowed, Forbidden, Forbidden, Forbidden];
const STAFF: [Outcome; 6] = [Unauthenticated, Forbidden, Forbidden, Forbidden, Allowed, Allowed];
const ADMINS: [Outcome; 6] = [Unauthenticated, Forbidden, Forbidden, Forbidden, Forbidden, Allowed];
const SEATED: [Outcome; 6] = [Unauthenticated, Allowed, Nothing, Forbidden, Forbidden, Forbidden];

#[tokio::test(flavor = "multi_thread")]
async fn everybody_may_do_what_the_matrix_says() {
    let house = House::new().await;
    let node = house.node(&["--slow-client-seconds", "1"]);
    for (operation, document, expected) in MATRIX {
        for (asker, expected) in ASKERS.into_iter().zip(expected) {
            let found = ask(&house, &node, asker, document).await;
            assert_eq!(found, *expected, "{operation} by {asker}");
        }
    }
}

/// A public table is there for everybody who is signed in, but only who sits there moves.
#[tokio::test(flavor = "multi_thread")]
async fn public_tables_are_watched_by_everybody_and_moved_by_who_sits_there() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, eve) = (node.guest("Ann").await, node.guest("Eve").await);
    let game = ann.create(json!({})).await;
    let see = "query($game: ID!) { game(id: $game) { id } }";
    assert_eq!(eve.ask(see, json!({ "game": game })).await["game"]["id"], json!(game));
    for command in ["startGame", "leaveGame", "roll", "bank", "forfeit"] {
        assert_eq!(refusal(&eve.act(command, &game).await), "NOT_SEATED", "{command}");
    }
    // What is told about an account is told to its owner.
    let about =
        "query($id: ID!) { node(id: $id) { ... on Player { name isGuest role createdAt } } }";
    let seen = eve.ask(about, json!({ "id": ann.id })).await["node"].take();
    assert_eq!(seen, json!({ "name": "Ann", "isGuest": null, "role": null, "createdAt": null }));
}

/// A new operation must say who may do it.
#[tokio::test(flavor = "multi_thread")]
async fn the_matrix_has_every_operation_of_the_schema() {
    let house = House::new().await;
    let node = house.node(&[]);
    let query = "{ __schema { queryType { fields { name } } mutationType { fields { name } } subscriptionType { fields { name } } } }";
    let schema = node.http().await.ask(query, json!({})).await.unwrap()["__schema"].take();
    let fields = |kind: &str| {
        schema[kind]["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["name"].as_str().unwrap().to_owned())
    };
    let all: BTreeSet<String> =
        ["queryType", "mutationType", "subscriptionType"].into_iter().flat_map(fields).collect();
    let known = MATRIX.iter().map(|(operation, ..)| (*operation).to_owned());
    assert_eq!(known.collect::<BTreeSet<_>>(), all);
}

async fn ask(house: &House, node: &Node, asker: &str, document: &str) -> Outcome {
    // Everything anew each time: some operations end what they are asked on.
    let owner = node.guest("Owner").await;
    let private = "mutation { createGame(visibility: PRIVATE) { game { id } } }";
    let game = owner.ask(private, json!({})).await["createGame"]["game"]["id"].take();
    let victim = node.guest("Victim").await;
    let token = match asker {
        "nobody" => None,
        "owner" => Some(owner.token.clone()),
        "other" => Some(node.guest("Other").await.token),
        role => {
            let issued = house.croupier(&["token", "issue", "--role", role, "--name", "Staff"]);
            Some(issued.1.trim().to_owned())
        }
    };
    let text = document
        .replace("$game", &game.to_string())
        .replace("$victim", &json!(victim.id).to_string());
    let answer = if document.starts_with("subscription") {
        listen(node, token.as_deref(), &text).await
    } else {
        let mut http = node.http().await;
        if let Some(token) = &token {
            http = http.with_token(token);
        }
        http.post(&text, json!({})).await.unwrap().json().unwrap()
    };
    outcome(&answer)
}

/// The first answer of a subscription; silence is one that was taken.
async fn listen(node: &Node, token: Option<&str>, text: &str) -> Value {
    let mut http = node.http().await;
    if let Some(token) = token {
        http = http.with_token(token);
    }
    let wait = std::time::Duration::from_millis(300);
    let first = async {
        http.begin_stream(text, json!({})).await.unwrap();
        http.chunk().await.unwrap()
    };
    let Ok(Some(chunk)) = tokio::time::timeout(wait, first).await else {
        return json!({ "data": { "listens": true } });
    };
    let event = String::from_utf8(chunk).unwrap();
    serde_json::from_str(event.split_once("data: ").unwrap().1.trim()).unwrap()
}

fn outcome(answer: &Value) -> Outcome {
    let error = &answer["errors"][0]["extensions"];
    match (error["code"].as_str(), error["refusal"].as_str()) {
        (Some("UNAUTHENTICATED"), _) => return Unauthenticated,
        (Some("FORBIDDEN"), _) => return Forbidden,
        (_, Some("NO_SUCH_GAME")) => return Nothing,
        // The rules say when, not who.
        (_, Some("GAME_NOT_OVER" | "NO_SUCH_DISPUTE")) => return Allowed,
        (None, None) => {}
        _ => panic!("{answer}"),
    }
    let data = answer["data"].as_object().unwrap().values().next().unwrap();
    match data["errors"][0]["code"].as_str() {
        Some("NO_SUCH_GAME") => Nothing,
        _ if data.is_null() => Nothing,
        _ => Allowed,
    }
}
