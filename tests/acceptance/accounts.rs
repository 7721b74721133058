//! Signing in and out.

use serde_json::{Value, json};

use crate::support::*;

const REGISTER: &str =
    "mutation($name: String!, $password: String!) { register(input: { name: $name, password: $password }) {
    accessToken player { id name isGuest } userErrors { code field message } } }";
const SIGN_IN: &str =
    "mutation($name: String!, $password: String!) { signIn(input: { name: $name, password: $password }) {
    accessToken refreshToken player { id name } userErrors { code message } } }";
const REFRESH: &str =
    "mutation($token: String!) { refreshSession(input: { refreshToken: $token }) {
    accessToken refreshToken player { id } userErrors { code } } }";
const ME: &str = "{ viewer { id name isGuest role createdAt } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_who_registers_keeps_everything() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let game = ann.create(json!({})).await;
    let me = ann.ask(ME, json!({})).await["viewer"].take();
    assert_eq!(
        (&me["name"], &me["isGuest"], &me["role"]),
        (&json!("Ann"), &json!(true), &json!("PLAYER"))
    );

    let named = json!({ "name": "Ännchen", "password": "correct horse" });
    let registered = ann.ask(REGISTER, named).await["register"].take();
    assert_eq!(registered["player"], json!({ "id": ann.id, "name": "Ännchen", "isGuest": false }));
    let again = ann.ask(REGISTER, json!({ "name": "Other", "password": "correct horse" })).await;
    assert_eq!(again["register"]["userErrors"][0]["code"], "NOT_A_GUEST");

    let mut anonymous = node.http().await;
    let signed =
        anonymous.ask(SIGN_IN, json!({ "name": "ÄNNCHEN", "password": "correct horse" })).await;
    let signed = signed.unwrap()["signIn"].take();
    assert_eq!(signed["player"]["id"], json!(ann.id));
    let at_table = "query($game: ID!) { game(id: $game) { seats { player { name } } } }";
    let view = ann.ask(at_table, json!({ "game": game })).await;
    assert_eq!(
        view["game"]["seats"][0]["player"]["name"], "Ännchen",
        "the table shows the new name"
    );

    // A wrong password and an unknown name cannot be distinguished.
    let mut answers = Vec::new();
    for (name, password) in
        [("Ännchen", "wrong horse"), ("Nobody", "correct horse"), ("", ""), ("Ann", "x")]
    {
        let asked = json!({ "name": name, "password": password });
        answers.push(anonymous.ask(SIGN_IN, asked).await.unwrap()["signIn"].take());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(answers[0]["userErrors"][0]["code"], "WRONG_CREDENTIALS");

    for (name, password, code) in [
        ("änncHEN", "long enough", "NAME_TAKEN"),
        ("Bob", "short", "BAD_PASSWORD"),
        ("Bob", &"long ".repeat(30), "BAD_PASSWORD"),
        ("", "long enough", "BAD_NAME"),
        ("tab\there", "long enough", "BAD_NAME"),
        (&"x".repeat(33), "long enough", "BAD_NAME"),
    ] {
        let asked = json!({ "name": name, "password": password });
        let refused = anonymous.ask(REGISTER, asked).await.unwrap()["register"].take();
        assert_eq!(refused["userErrors"][0]["code"], code, "{name}: {refused}");
        assert_eq!(refused["accessToken"], json!(null));
    }
    let log = node.log();
    for secret in ["correct horse", ann.token.as_str(), ann.refresh.as_str(), "wrong horse"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refresh_tokens_are_single_use_and_reuse_ends_the_session() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let mut http = node.http().await;
    let mut refresh = async |token: &Value| {
        http.ask(REFRESH, json!({ "token": token })).await.unwrap()["refreshSession"].take()
    };
    let first = json!(ann.refresh);
    let second = refresh(&first).await;
    assert_eq!(second["player"]["id"], json!(ann.id));
    assert_ne!(second["refreshToken"], first);
    // A lost response may be requested again within seconds.
    let third = refresh(&first).await;
    assert_eq!(third["userErrors"], json!([]), "{third}");
    let fourth = refresh(&third["refreshToken"]).await;
    assert_eq!(fourth["userErrors"], json!([]), "{fourth}");
    for bad in ["", "x", &"A".repeat(64), "ÄÖÜ", &"A".repeat(10_000)] {
        assert_eq!(
            refresh(&json!(bad)).await["userErrors"][0]["code"],
            "BAD_REFRESH_TOKEN",
            "{bad}"
        );
    }
    // Reuse of an older token means that it was copied: the session ends for everybody.
    assert_eq!(refresh(&first).await["userErrors"][0]["code"], "BAD_REFRESH_TOKEN");
    assert_eq!(
        refresh(&fourth["refreshToken"]).await["userErrors"][0]["code"],
        "BAD_REFRESH_TOKEN"
    );
    let access = fourth["accessToken"].as_str().unwrap();
    let mut http = node.http().await.with_token(access);
    assert_eq!(http.post(ME, json!({})).await.unwrap().status, 401);
}

/// Nobody poses as the operator or as a member of staff.
#[tokio::test(flavor = "multi_thread")]
async fn reserved_names_are_refused() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (code, _, said) = house.croupier(&["token", "issue", "--role", "support", "--name", "Sue"]);
    assert_eq!(code, 0, "{said}");
    let guest = "mutation($name: String) { done: signInAsGuest(input: { name: $name }) { userErrors { code field } } }";
    let register = "mutation($name: String!) { done: register(input: { name: $name, password: \"correct horse\" }) { userErrors { code field } } }";
    let mut http = node.http().await;
    for name in ["The House", "ADMIN", "croupier", "sue"] {
        for document in [guest, register] {
            let payload = http.ask(document, json!({ "name": name })).await.unwrap();
            let error = &payload["done"]["userErrors"][0];
            assert_eq!(error["code"], "RESERVED_NAME", "{name}: {payload}");
            assert_eq!(error["field"], json!(["input", "name"]), "{payload}");
        }
    }
    let payload = http.ask(guest, json!({ "name": "Susan" })).await.unwrap();
    assert_eq!(payload["done"]["userErrors"], json!([]));
}

/// Guessing at one account is limited, from wherever it comes.
#[tokio::test(flavor = "multi_thread")]
async fn passwords_are_throttled_per_account() {
    let house = House::new().await;
    let node = house.node(&["--sign-in-rate", "3", "--trusted-proxies", "1"]);
    let body = |name: &str, password: &str| {
        let sign_in = "mutation($name: String!, $password: String!) { signIn(input: { name: $name, password: $password }) { userErrors { code } } }";
        let variables = json!({ "name": name, "password": password });
        json!({ "query": sign_in, "variables": variables }).to_string()
    };
    let guess = async |address: u8, name: &str| {
        let body = body(name, "wrong horse");
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 198.51.100.{address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = node.http().await.exchange(request.as_bytes()).await.unwrap();
        answer.json().unwrap()["data"]["signIn"]["userErrors"][0]["code"].take()
    };
    for address in 1..=3 {
        assert_eq!(guess(address, "Ann").await, "WRONG_CREDENTIALS");
    }
    assert_eq!(guess(4, "ANN").await, "TOO_MANY_ATTEMPTS");
    assert_eq!(guess(5, "Bob").await, "WRONG_CREDENTIALS", "others are not affected");
}

/// Tabs of one browser refresh at the same time: all get the same successor and stay signed in.
#[tokio::test(flavor = "multi_thread")]
async fn parallel_refreshes_get_the_same_successor() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let ann = nodes[0].guest("Ann").await;
    let mut token = json!(ann.refresh);
    for _ in 0..3 {
        let refresh = async |node: &Node| {
            let mut http = node.http().await;
            http.ask(REFRESH, json!({ "token": token })).await.unwrap()["refreshSession"].take()
        };
        let [a, b] = &nodes;
        let (one, two, three, four) = tokio::join!(refresh(a), refresh(b), refresh(a), refresh(b));
        let all = [one, two, three, four];
        for answer in &all {
            assert_eq!(answer["userErrors"], json!([]), "{answer}");
            assert_eq!(answer["refreshToken"], all[0]["refreshToken"], "{answer}");
            let access = answer["accessToken"].as_str().unwrap();
            let mut http = a.http().await.with_token(access);
            assert_eq!(http.post(ME, json!({})).await.unwrap().status, 200);
        }
        assert_ne!(all[0]["refreshToken"], token);
        token = all[0]["refreshToken"].clone();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_response_is_distinguished_from_reuse() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let mut http = node.http().await;
    let mut refresh = async |token: &Value| {
        http.ask(REFRESH, json!({ "token": token })).await.unwrap()["refreshSession"].take()
    };
    let second = refresh(&json!(ann.refresh)).await["refreshToken"].take();
    let late =
        "WITH late AS (UPDATE session SET renewed_at = 0 RETURNING 1) SELECT count(*) FROM late";
    assert_eq!(house.count(late).await, 1);
    assert_eq!(refresh(&json!(ann.refresh)).await["userErrors"][0]["code"], "BAD_REFRESH_TOKEN");
    assert_eq!(refresh(&second).await["userErrors"][0]["code"], "BAD_REFRESH_TOKEN");
    // An access token is not a refresh token, and vice versa.
    assert_eq!(refresh(&json!(ann.token)).await["userErrors"][0]["code"], "BAD_REFRESH_TOKEN");
    let mut wrong = node.http().await.with_token(second.as_str().unwrap());
    assert_eq!(wrong.post(ME, json!({})).await.unwrap().status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_on_every_node() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let ann = nodes[0].guest("Ann").await;
    let there = ann.at(&nodes[1]);
    assert_eq!(there.ask(ME, json!({})).await["viewer"]["name"], "Ann");
    let mut socket = there.socket().await;
    let ended = ann.ask("mutation { signOut { ended } }", json!({})).await;
    assert_eq!(ended["signOut"]["ended"], 1);
    assert_eq!(ann.error(ME, json!({})).await, "UNAUTHENTICATED");
    eventually("the other node knows", async || {
        there.error(ME, json!({})).await == "UNAUTHENTICATED"
    })
    .await;
    // The socket is closed at its next message.
    socket.say(&json!({ "type": "ping" })).await.unwrap();
    let mut closed = socket.hear().await.unwrap();
    if matches!(closed, client::Heard::Message(_)) {
        closed = socket.hear().await.unwrap();
    }
    assert!(matches!(closed, client::Heard::Closed(4403, _)), "{closed:?}");

    let bob = nodes[0].guest("Bob").await;
    let everywhere = "mutation { signOut(input: { everywhere: true }) { ended } }";
    assert_eq!(bob.ask(everywhere, json!({})).await["signOut"]["ended"], 1);
    let mut http = nodes[0].http().await;
    let renewed = http.ask(REFRESH, json!({ "token": bob.refresh })).await.unwrap();
    assert_eq!(renewed["refreshSession"]["userErrors"][0]["code"], "BAD_REFRESH_TOKEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_rotated_during_games() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let keys = async || {
        let keys = node.http().await.get("/.well-known/jwks.json").await.unwrap().json().unwrap();
        keys["keys"].as_array().unwrap().len()
    };
    assert_eq!(keys().await, 1);
    let before = ann.create(json!({})).await;
    for extra in [&[][..], &["--dice"]] {
        let (code, said, _) = house.croupier(&[&["token", "rotate-key"], extra].concat());
        assert_eq!(code, 0, "{said}");
    }
    // Tokens of the new key are accepted at once, and those of the old key still are.
    let (code, token, said) =
        house.croupier(&["token", "issue", "--role", "support", "--name", "Sue"]);
    assert_eq!(code, 0, "{said}");
    let mut staff = node.http().await.with_token(token.trim());
    let me = staff.ask(ME, json!({})).await.unwrap()["viewer"].take();
    assert_eq!((&me["name"], &me["role"]), (&json!("Sue"), &json!("SUPPORT")));
    assert_eq!(keys().await, 2);
    assert_eq!(ann.ask(ME, json!({})).await["viewer"]["name"], "Ann");
    // Games with the older key can still be played, also on a new node.
    let other = house.node(&[]);
    accepted(ann.at(&other).act("startGame", &before).await);
    accepted(ann.at(&other).act("roll", &before).await);

    let session = said.split("token revoke ").nth(1).unwrap().trim().trim_end_matches("\u{1b}[0m");
    assert_eq!(house.croupier(&["token", "revoke", session]).0, 0);
    let (code, _, said) = house.croupier(&["token", "revoke", session]);
    assert_eq!(code, 2, "{said}");
    eventually("the token is revoked", async || {
        node.http().await.with_token(token.trim()).post(ME, json!({})).await.unwrap().status == 401
    })
    .await;
    let (code, _, said) = house.croupier(&["token", "issue", "--role", "player", "--name", "Sue"]);
    assert_eq!(code, 2);
    assert!(said.contains("players sign in themselves"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_tokens_are_refused() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let parts: Vec<&str> = ann.token.split('.').collect();
    let [header, claims, signature] = parts[..] else { panic!() };
    // {"alg":"none"}, and claims of an admin.
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
    let flipped = if signature.starts_with('A') { "B" } else { "A" }.to_owned() + &signature[1..];
    let bad = [
        String::new(),
        "x".to_owned(),
        "..".to_owned(),
        format!("{header}.{claims}"),
        format!("{header}.{claims}."),
        format!("{unsigned}.{claims}.{signature}"),
        format!("{unsigned}.{claims}."),
        format!("{header}.{claims}.{flipped}"),
        format!("{header}.{header}.{signature}"),
        format!("{claims}.{header}.{signature}"),
        format!("{}.{claims}.{signature}", header.to_lowercase()),
        "a".repeat(5000),
        format!("{} ", ann.token).repeat(2),
        "ä.ö.ü".to_owned(),
    ];
    for token in bad {
        let mut http = node.http().await.with_token(&token);
        let answer = http.post(ME, json!({})).await.unwrap();
        assert_eq!(answer.status, 401, "{token}: {}", String::from_utf8_lossy(&answer.body));
        let error = answer.json().unwrap()["errors"][0].take();
        assert_eq!(error["extensions"]["code"], "UNAUTHENTICATED");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        let socket = client::Socket::connect(node.address, &token).await;
        assert!(socket.unwrap_err().to_string().contains("4403"), "{token}");
    }
    let basic = "POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Basic QTpC\r\ncontent-type: application/json\r\n\
                 content-length: 2\r\n\r\n{}";
    assert_eq!(node.http().await.exchange(basic.as_bytes()).await.unwrap().status, 401);
}
