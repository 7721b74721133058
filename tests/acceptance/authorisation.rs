//! Authorization: every operation for every role, on own and others' objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::*;

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Executed, or refused by the rules of the game.
    Allowed,
    /// The object does not exist, as far as the caller can tell.
    Nothing,
    Unauthenticated,
    Forbidden,
}

use Outcome::{Allowed, Forbidden, Nothing, Unauthenticated};

/// The callers: nobody, the owner, another player, an analyst, support, an admin.
const CALLERS: [&str; 6] = ["nobody", "owner", "other", "analyst", "support", "admin"];

/// Operations on an object of the owner: a private game, an account; with the result for each
/// caller.
const MATRIX: &[(&str, &str, [Outcome; 6])] = &[
    // Queries
    (
        "node",
        "{ node(id: $game) { __typename } }",
        [Nothing, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    ("nodes", "{ nodes(ids: [$game]) { __typename } }", [Allowed; 6]),
    ("game", "{ game(id: $game) { id } }", [Nothing, Allowed, Nothing, Nothing, Allowed, Allowed]),
    ("viewer", "{ viewer { id } }", [Nothing, Allowed, Allowed, Allowed, Allowed, Allowed]),
    (
        "myGames",
        "{ myGames { nodes { id } } }",
        [Unauthenticated, Allowed, Allowed, Forbidden, Forbidden, Forbidden],
    ),
    ("lobby", "{ lobby { nodes { id } } }", [Allowed, Allowed, Allowed, Allowed, Allowed, Allowed]),
    (
        "leaderboard",
        "{ leaderboard(kind: FARKLE, by: WINS) { page { nodes { rank } } } }",
        [Allowed, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "verifyGame",
        "{ verifyGame(gameId: $game) { proven } }",
        [Nothing, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "replay",
        "{ replay(gameId: $game) { length } }",
        [Nothing, Allowed, Nothing, Nothing, Allowed, Allowed],
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
    ("myData", "{ myData { name } }", PLAYERS),
    ("personalData", "{ personalData(playerId: $victim) { name } }", STAFF),
    ("seasons", "{ seasons { code } }", [Allowed, Allowed, Allowed, Allowed, Allowed, Allowed]),
    (
        "balance",
        "{ balance(by: DIE) { total { games } } }",
        [Unauthenticated, Forbidden, Forbidden, Allowed, Forbidden, Allowed],
    ),
    ("gameKinds", "{ gameKinds { kind } }", [Allowed; 6]),
    ("dieEffectKinds", "{ dieEffectKinds { kind } }", [Allowed; 6]),
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
        "mutation { openDispute(input: { gameId: $game, version: 1, text: \"t\" }) { userErrors { code } } }",
        SEATED,
    ),
    (
        "commentDispute",
        "mutation { commentDispute(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", text: \"t\" }) { userErrors { code } } }",
        [Unauthenticated, Allowed, Allowed, Allowed, Allowed, Allowed],
    ),
    (
        "assignDispute",
        "mutation { assignDispute(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\" }) { userErrors { code } } }",
        STAFF,
    ),
    (
        "proposeRemedy",
        "mutation { proposeRemedy(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", remedy: { voidGame: MISTAKE } }) { userErrors { code } } }",
        STAFF,
    ),
    (
        "approveRemedy",
        "mutation { approveRemedy(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1 }) { userErrors { code } } }",
        STAFF,
    ),
    (
        "retryRemedy",
        "mutation { retryRemedy(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1 }) { userErrors { code } } }",
        STAFF,
    ),
    (
        "declineRemedy",
        "mutation { declineRemedy(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", number: 1 }) { userErrors { code } } }",
        STAFF,
    ),
    (
        "resolveDispute",
        "mutation { resolveDispute(input: { disputeId: \"dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5\", reason: EXPLAINED }) { userErrors { code } } }",
        STAFF,
    ),
    ("eraseAccount", "mutation { eraseAccount(input: { playerId: $victim }) { erased } }", STAFF),
    // Tables
    (
        "createGame",
        "mutation { createGame(input: { rules: { farkle: {} } }) { userErrors { code } } }",
        PLAYERS,
    ),
    (
        "quickMatch",
        "mutation { quickMatch(input: { rules: { farkle: {} } }) { userErrors { code } } }",
        PLAYERS,
    ),
    (
        "joinGame",
        "mutation { joinGame(input: { gameId: $game }) { userErrors { code } } }",
        [Unauthenticated, Allowed, Nothing, Forbidden, Forbidden, Forbidden],
    ),
    (
        "chooseSeed",
        "mutation { chooseSeed(input: { gameId: $game, seed: \"s\" }) { userErrors { code } } }",
        SEATED,
    ),
    (
        "chooseLoadout",
        "mutation { chooseLoadout(input: { gameId: $game, dice: [] }) { userErrors { code } } }",
        SEATED,
    ),
    (
        "chooseCharacter",
        "mutation { chooseCharacter(input: { gameId: $game, character: \"ion_wyrm\" }) { userErrors { code } } }",
        SEATED,
    ),
    (
        "startGame",
        "mutation { startGame(input: { gameId: $game }) { userErrors { code } } }",
        SEATED,
    ),
    // Moves
    (
        "play",
        "mutation { play(input: { gameId: $game, move: { roll: {} } }) { userErrors { code } } }",
        SEATED,
    ),
    (
        "leaveGame",
        "mutation { leaveGame(input: { gameId: $game }) { userErrors { code } } }",
        SEATED,
    ),
    // The shop
    ("buyDie", "mutation { buyDie(input: { code: \"LUCKY\" }) { userErrors { code } } }", PLAYERS),
    (
        "sellDie",
        "mutation { sellDie(input: { code: \"LUCKY\" }) { userErrors { code } } }",
        PLAYERS,
    ),
    (
        "saveLoadout",
        "mutation { saveLoadout(input: { name: \"n\", dice: [] }) { userErrors { code } } }",
        PLAYERS,
    ),
    (
        "deleteLoadout",
        "mutation { deleteLoadout(input: { name: \"n\" }) { userErrors { code } } }",
        PLAYERS,
    ),
    (
        "addDie",
        "mutation { addDie(input: { code: \"NEW\", name: \"New\", category: FACE_CHANGERS, tier: SIMPLE, colour: \"#000000\", price: 1, description: \"d\", effect: { kind: FACES } }) { userErrors { code } } }",
        ADMINS,
    ),
    (
        "changeDie",
        "mutation { changeDie(input: { code: \"HOT\" }) { userErrors { code } } }",
        ADMINS,
    ),
    (
        "retireDie",
        "mutation { retireDie(input: { code: \"NONE\" }) { userErrors { code } } }",
        ADMINS,
    ),
    // Sessions
    ("signInAsGuest", "mutation { signInAsGuest { userErrors { code } } }", [Allowed; 6]),
    (
        "register",
        "mutation { register(input: { name: \"\", password: \"\" }) { userErrors { code } } }",
        [Allowed; 6],
    ),
    (
        "signIn",
        "mutation { signIn(input: { name: \"\", password: \"\" }) { userErrors { code } } }",
        [Allowed; 6],
    ),
    (
        "refreshSession",
        "mutation { refreshSession(input: { refreshToken: \"\" }) { userErrors { code } } }",
        [Allowed; 6],
    ),
    (
        "endSessions",
        "mutation { endSessions(input: { playerId: $victim }) { ended } }",
        [Unauthenticated, Forbidden, Forbidden, Forbidden, Allowed, Allowed],
    ),
    (
        "voidGame",
        "mutation { voidGame(input: { gameId: $game, reason: MISTAKE }) { userErrors { code } } }",
        [Unauthenticated, Forbidden, Forbidden, Forbidden, Allowed, Allowed],
    ),
    (
        "nameSeason",
        "mutation { nameSeason(input: { code: \"winter\", title: \"Winter\", from: \"2026-12-01\", to: \"2027-02-28\" }) { userErrors { code } } }",
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
        [Nothing, Allowed, Nothing, Nothing, Allowed, Allowed],
    ),
    (
        "lobby",
        "subscription { lobby { id } }",
        [Allowed, Allowed, Allowed, Allowed, Allowed, Allowed],
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
async fn every_operation_follows_the_matrix() {
    let house = House::new().await;
    let node = house.node(&["--slow-client-seconds", "1"]);
    for (operation, document, expected) in MATRIX {
        for (caller, expected) in CALLERS.into_iter().zip(expected) {
            let found = ask(&house, &node, caller, document).await;
            assert_eq!(found, *expected, "{operation} by {caller}");
        }
    }
}

/// Everybody may watch a public table, but only seated players may move.
#[tokio::test(flavor = "multi_thread")]
async fn public_tables_are_visible_to_all_but_only_seated_players_move() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, eve) = (node.guest("Ann").await, node.guest("Eve").await);
    let game = ann.create(json!({})).await;
    let see = "query($game: ID!) { game(id: $game) { id } }";
    assert_eq!(eve.ask(see, json!({ "game": game })).await["game"]["id"], json!(game));
    for command in ["startGame", "leaveGame", "roll", "bank", "forfeit"] {
        assert_eq!(refusal(&eve.act(command, &game).await), "NOT_SEATED", "{command}");
    }
    // Account details are visible to the owner only.
    let about =
        "query($id: ID!) { node(id: $id) { ... on Player { name isGuest role createdAt } } }";
    let seen = eve.ask(about, json!({ "id": ann.id })).await["node"].take();
    assert_eq!(seen, json!({ "name": "Ann", "isGuest": null, "role": null, "createdAt": null }));
}

/// A new operation needs a row in the matrix.
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

async fn ask(house: &House, node: &Node, caller: &str, document: &str) -> Outcome {
    // Everything is created again each time: some operations end what they are called on.
    let owner = node.guest("Owner").await;
    let private = "mutation { createGame(input: { rules: { farkle: {} }, visibility: PRIVATE }) { game { id } } }";
    let game = owner.ask(private, json!({})).await["createGame"]["game"]["id"].take();
    let victim = node.guest("Victim").await;
    let token = match caller {
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

/// The first message of a subscription; silence means that it was accepted.
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
        // These errors depend on the state, not on the caller.
        (_, Some("GAME_NOT_OVER" | "NO_SUCH_DISPUTE")) => return Allowed,
        (None, None) => {}
        _ => panic!("{answer}"),
    }
    let data = answer["data"].as_object().unwrap().values().next().unwrap();
    match data["userErrors"][0]["code"].as_str() {
        Some("NO_SUCH_GAME") => Nothing,
        _ if data.is_null() => Nothing,
        _ => Allowed,
    }
}
