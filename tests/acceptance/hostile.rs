//! Malformed input: clear errors, an unaffected server, bounded memory.

use std::time::{Duration, Instant};

use client::{Heard, Socket};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::Message;

use crate::support::*;

async fn post(node: &Node, body: &[u8]) -> (u16, String) {
    let answer = node.http().await.post_body(body).await.unwrap();
    let error = answer.json().unwrap()["errors"][0].take();
    assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    (answer.status, error["extensions"]["code"].as_str().unwrap_or("none").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_get_clear_errors() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ask = |query: &str| json!({ "query": query }).to_string().into_bytes();
    let aliases: Vec<String> = (0..10_000).map(|n| format!("a{n}: viewer {{ id }}")).collect();
    let deep = |levels: usize| format!("{}id{}", "{ a ".repeat(levels), "}".repeat(levels));
    let fragment = |n| format!("fragment f{n} on Query {{ ...f{m} ...f{m} }}", m = n + 1);
    let bomb = format!("{{ ...f0 }} {}", (0..45).map(fragment).collect::<Vec<_>>().join(" "));
    let nested = format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000));
    let cases: Vec<(Vec<u8>, u16, &str)> = vec![
        (b"".to_vec(), 400, "BAD_USER_INPUT"),
        (b"{".to_vec(), 400, "BAD_USER_INPUT"),
        (b"null".to_vec(), 400, "BAD_USER_INPUT"),
        (b"[]".to_vec(), 400, "BAD_USER_INPUT"),
        (b"{}".to_vec(), 400, "BAD_USER_INPUT"),
        (vec![0xff, 0xfe, 0x00], 400, "BAD_USER_INPUT"),
        (br#"{"query":7}"#.to_vec(), 400, "BAD_USER_INPUT"),
        (br#"{"query":"{ viewer { id } }","variables":[]}"#.to_vec(), 400, "BAD_USER_INPUT"),
        (br#"{"query":"{ viewer { id } }","variables":"x"}"#.to_vec(), 400, "BAD_USER_INPUT"),
        (br#"{"query":"{ viewer { id } }","operationName":7}"#.to_vec(), 400, "BAD_USER_INPUT"),
        (
            br#"{"query":"{ viewer { id } }","operationName":"other"}"#.to_vec(),
            400,
            "BAD_USER_INPUT",
        ),
        (
            format!(r#"{{"query":"{{ viewer {{ id }} }}","variables":{{"x":{nested}}}}}"#)
                .into_bytes(),
            400,
            "BAD_USER_INPUT",
        ),
        (ask(""), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("{"), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("}{"), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("{ me(id: \"unclosed) { id } }"), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("{ 💥 }"), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("{ \u{0}viewer { id } }"), 400, "GRAPHQL_PARSE_FAILED"),
        (ask("{ nonsense }"), 400, "GRAPHQL_VALIDATION_FAILED"),
        (ask("{ me }"), 400, "GRAPHQL_VALIDATION_FAILED"),
        (ask("{ game(id: {}) { id } }"), 400, "GRAPHQL_VALIDATION_FAILED"),
        (
            ask("{ lobby(first: 99999999999999999999) { nodes { id } } }"),
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (ask("query($x: Nope) { viewer { id } }"), 400, "GRAPHQL_VALIDATION_FAILED"),
        (ask("{ ...f } fragment f on Query { ...f }"), 400, "TOO_COMPLEX"),
        (ask("subscription { lobby { id } }"), 400, "BAD_USER_INPUT"),
        (ask(&format!("{{ {} }}", aliases[..40].join(" "))), 400, "TOO_COMPLEX"),
        (ask("{ ...nowhere }"), 400, "GRAPHQL_VALIDATION_FAILED"),
        (ask(&bomb), 400, "TOO_COMPLEX"),
        (ask(&format!("#\r{}", deep(1000))), 400, "TOO_COMPLEX"),
        (ask(&deep(21)), 400, "TOO_COMPLEX"),
        (ask(&deep(1000)), 400, "TOO_COMPLEX"),
        (ask(&"{".repeat(60_000)), 400, "TOO_COMPLEX"),
        (ask(&"[".repeat(60_000)), 400, "TOO_COMPLEX"),
        (ask(&format!("{{ {} }}", aliases.join(" "))), 413, "BAD_USER_INPUT"),
        (vec![b' '; 70_000], 413, "BAD_USER_INPUT"),
    ];
    for (body, status, code) in cases {
        let shown = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        assert_eq!(post(&node, &body).await, (status, code.to_owned()), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_are_named() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let game = "query($id: ID!, $first: Int) { game(id: $id) { events(first: $first) { nodes { version } } } }";
    let table = ann.create(json!({})).await;
    for (id, first) in [
        (json!("nonsense"), json!(1)),
        (json!("game:nonsense"), json!(1)),
        (json!("player:0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5"), json!(1)),
        (json!("\u{202e}\u{0}💥"), json!(1)),
        (json!("x".repeat(20_000)), json!(1)),
        (json!(table), json!(0)),
        (json!(table), json!(-5)),
        (json!(table), json!(101)),
    ] {
        let shown = id.to_string().chars().take(50).collect::<String>();
        assert_eq!(
            ann.error(game, json!({ "id": id, "first": first })).await,
            "BAD_USER_INPUT",
            "{shown} {first}"
        );
    }
    for first in [json!("1"), json!(1.5), json!(3_000_000_000_i64), json!({}), json!(true)] {
        let asked = json!({ "id": table, "first": first });
        let code = ann.error(game, asked.clone()).await;
        assert!(
            ["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED", "TOO_COMPLEX"].contains(&code.as_str()),
            "{asked}: {code}"
        );
    }
}

/// Ten thousand aliases are refused as such, if the body limit allows them.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_aliases_are_refused() {
    let house = House::new().await;
    let node = house.node(&["--max-body", "1024", "--max-tokens", "1000000"]);
    let aliases: Vec<String> = (0..10_000).map(|n| format!("a{n}: viewer {{ id }}")).collect();
    let query = json!({ "query": format!("{{ {} }}", aliases.join(" ")) }).to_string();
    assert_eq!(post(&node, query.as_bytes()).await, (400, "TOO_COMPLEX".to_owned()));
}

/// A short introspection query with a huge answer is refused; that of common tools is answered.
#[tokio::test(flavor = "multi_thread")]
async fn introspection_is_metered() {
    let house = House::new().await;
    let node = house.node(&[]);
    let deep = "fragment c on __Type { fields { name type { name ofType { name fields { name type { name fields { name type { name } } } } } } } }";
    let aliases: Vec<String> = (0..30).map(|n| format!("a{n}: types {{ ...c }}")).collect();
    let many = format!("{{ __schema {{ {} }} }} {deep}", aliases.join(" "));
    let level = |inner: &str| {
        let alias =
            |n| format!("a{n}: fields {{ name type {{ name ofType {{ name {inner} }} }} }}");
        (0..5).map(alias).collect::<Vec<_>>().join(" ")
    };
    let nested = format!(
        "{{ __schema {{ types {{ ...a }} }} }} fragment a on __Type {{ {} }} fragment b on __Type {{ {} }} fragment c on __Type {{ {} }}",
        level("...b"),
        level("...c"),
        level("")
    );
    for attack in [many, nested] {
        let body = json!({ "query": attack }).to_string();
        assert_eq!(post(&node, body.as_bytes()).await, (400, "TOO_COMPLEX".to_owned()), "{attack}");
    }
    let by_default = "query($n: Int = 100) { lobby(first: $n) { nodes { events(first: $n) { nodes { id } } } } }";
    let body = json!({ "query": by_default }).to_string();
    assert_eq!(post(&node, body.as_bytes()).await, (400, "TOO_COMPLEX".to_owned()));

    // As deep as the tools ask: a type in nine wrappers.
    let types = format!("name kind {}{}", "ofType { name kind ".repeat(9), "} ".repeat(9));
    let common = format!(
        "{{ __schema {{ queryType {{ name }} directives {{ name locations args {{ ...v }} }} types {{ kind name description
            fields(includeDeprecated: true) {{ name description args {{ ...v }} type {{ {types} }} isDeprecated deprecationReason }}
            inputFields {{ ...v }} interfaces {{ {types} }} possibleTypes {{ {types} }}
            enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }} }} }} }}
         fragment v on __InputValue {{ name description type {{ {types} }} defaultValue }}"
    );
    let schema = node.http().await.ask(&common, json!({})).await.unwrap();
    assert!(schema["__schema"]["types"].as_array().unwrap().len() > 100);
}

/// Each event of a subscription costs what it asks for: a greedy subscriber uses up its own budget
/// and nobody else's.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_subscriptions_are_charged() {
    let house = House::new().await;
    // The budget does not grow during the test.
    let node = house.node(&["--actor-rate", "1", "--actor-burst", "20000"]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let cid = node.guest("Cid").await;
    let (game, _) = begun([&players[0], &players[1]], json!({})).await;
    let aliases: Vec<String> =
        (0..30).map(|n| format!("a{n}: gameAfter {{ legalMoves {{ label }} }}")).collect();
    let greedy = format!(
        "subscription($game: ID!) {{ gameEvents(gameId: $game) {{ version {} }} }}",
        aliases.join(" ")
    );
    let mut socket = cid.socket().await;
    // Together they have more events than the budget pays for.
    for id in ["1", "2", "3", "4", "5"] {
        socket.subscribe(id, &greedy, json!({ "game": game })).await.unwrap();
    }
    let mut received = 0;
    let silence = Duration::from_secs(2);
    while let Ok(event) = tokio::time::timeout(silence, socket.next()).await {
        assert!(event.unwrap()["data"]["gameEvents"]["version"].is_i64());
        received += 1;
    }
    assert!((2..15).contains(&received), "{received}");
    let me = "{ viewer { name } }";
    let mut http = cid.http().await;
    let mut refused = 0;
    for _ in 0..30 {
        refused += u32::from(http.post(me, json!({})).await.unwrap().status == 429);
    }
    assert!(refused > 0, "the budget is used up");
    assert_eq!(players[0].ask(me, json!({})).await["viewer"]["name"], "Ann");
}

/// A response over the limit is an error, over HTTP and on a WebSocket.
#[tokio::test(flavor = "multi_thread")]
async fn large_responses_are_refused() {
    let house = House::new().await;
    let node = house.node(&["--max-response", "64"]);
    let ann = node.guest("Ann").await;
    let large = "{ __schema { types { name description fields { name description } } } }";
    assert_eq!(ann.error(large, json!({})).await, "TOO_COMPLEX");
    let mut socket = ann.socket().await;
    socket.subscribe("1", large, json!({})).await.unwrap();
    let Heard::Message(refused) = socket.hear().await.unwrap() else { panic!() };
    assert_eq!(refused["type"], "error", "{refused}");
    assert_eq!(refused["payload"][0]["extensions"]["code"], "TOO_COMPLEX");
    assert_eq!(ann.ask("{ viewer { name } }", json!({})).await["viewer"]["name"], "Ann");
}

/// One address cannot take all connections.
#[tokio::test(flavor = "multi_thread")]
async fn connections_are_limited_per_address() {
    let house = House::new().await;
    let node = house.node(&["--max-address-clients", "3"]);
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut http = node.http().await;
        assert_eq!(http.get("/livez").await.unwrap().status, 200);
        open.push(http);
    }
    let mut over = TcpStream::connect(node.address).await.unwrap();
    over.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.ok();
    let mut answer = Vec::new();
    // Closed at once: nothing is read, or the connection is reset.
    let read = tokio::time::timeout(Duration::from_secs(10), over.read_to_end(&mut answer)).await;
    assert!(read.is_ok() && answer.is_empty(), "{answer:?}");
    drop(open);
    eventually("there is room again", async || match client::Http::connect(node.address).await {
        Ok(mut http) => http.get("/livez").await.is_ok_and(|answer| answer.status == 200),
        Err(_) => false,
    })
    .await;
}

/// Repeated requests do not grow memory.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_do_not_grow_memory() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let mut http = ann.http().await;
    let fields = "id ".repeat(2_600);
    let mut nonsense = async |round: u32| {
        for n in 0..400 {
            // Each one is different, so that none is cached.
            let padding = "x".repeat(6_000);
            for query in [
                format!("{{ a{round}_{n}: viewer {{ id }} # {padding}\n }}"),
                format!("{{ nonsense{round}_{n}(x: \"{padding}\") }}"),
                // Many fields: a document that needs much more memory than its text.
                format!("{{ b{round}_{n}: viewer {{ {} }} }}", &fields[..150 * 3]),
                format!(
                    "query q{round}_{n} {{ game(id: \"game:{round}-{n}\") {{ id }} }} # {padding}"
                ),
            ] {
                http.post(&query, json!({})).await.unwrap();
            }
            http.post_body(format!("{{ {padding} {n}").as_bytes()).await.unwrap();
        }
    };
    nonsense(0).await;
    let before = node.memory();
    for round in 1..4 {
        nonsense(round).await;
    }
    let grown = node.memory().saturating_sub(before);
    // The document cache is bounded: a thousand of at most 8 KiB, and their parsed form.
    assert!(grown < 40_000, "{grown} KiB more than {before} KiB");
    let figures = String::from_utf8(node.http().await.get("/metrics").await.unwrap().body).unwrap();
    assert!(!figures.contains("nonsense"), "names from clients are not labels");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_http_is_refused_or_disconnected() {
    let house = House::new().await;
    let node = house.node(&["--request-seconds", "2"]);
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 307),
        ("DELETE /graphql HTTP/1.1\r\nhost: x\r\n\r\n", 405),
        ("GET /graphql HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        ("GET /graphql?query=%7Bme%7Bid%7D%7D HTTP/1.1\r\nhost: x\r\n\r\n", 200),
        ("GET /graphql?query=mutation%7BsignOut%7Bended%7D%7D HTTP/1.1\r\nhost: x\r\n\r\n", 405),
        ("GET /graphql?query=%7Bme%7Bid%7D%7D&variables=nonsense HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        ("GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n", 404),
        ("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", 415),
        (
            "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
            415,
        ),
        ("GET /graphql HTTP/1.1\r\nhost: x\r\naccept: image/png\r\n\r\n", 406),
        (
            "GET /graphql HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
            400,
        ),
    ] {
        let answer = node.http().await.exchange(request.as_bytes()).await.unwrap();
        assert_eq!(answer.status, status, "{request}");
    }
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\r\n\r\n\r\n\r\nnonsense\r\n\r\n",
        &[0; 4096],
    ] {
        let mut stream = TcpStream::connect(node.address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let read =
            tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        read.unwrap().ok();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"));
    }
    let mut huge = TcpStream::connect(node.address).await.unwrap();
    let head = format!("GET /livez HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(100_000));
    huge.write_all(head.as_bytes()).await.ok();
    let mut answer = Vec::new();
    huge.read_to_end(&mut answer).await.ok();
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"),
        "{}",
        String::from_utf8_lossy(&answer)
    );

    // A missing body times out.
    let began = Instant::now();
    let mut slow = TcpStream::connect(node.address).await.unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{";
    slow.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    slow.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(node.http().await.get("/livez").await.unwrap().status, 200);
}

/// Hundreds of connections that send a byte now and then do not slow down players.
#[tokio::test(flavor = "multi_thread")]
async fn slow_connections_do_not_affect_others() {
    let house = House::new().await;
    let node = house.node(&["--head-seconds", "2"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let mut slow = Vec::new();
    for _ in 0..500 {
        let mut stream = TcpStream::connect(node.address).await.unwrap();
        stream.write_all(b"POST /graphql HT").await.unwrap();
        slow.push(stream);
    }
    let before = node.memory();
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    play_out([&ann, &bob], &game, table).await;
    for stream in &mut slow {
        stream.write_all(b"T").await.ok();
    }
    assert!(node.memory().saturating_sub(before) < 20_000);
    // A missing head times out.
    let mut cut = 0;
    for mut stream in slow {
        let mut rest = Vec::new();
        let read =
            tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
        cut += u32::from(read.is_ok());
    }
    assert_eq!(cut, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_frames_close_only_their_socket() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let mut other = ann.socket().await;
    let before = node.memory();
    for _ in 0..20 {
        let mut socket = ann.socket().await;
        socket.send(Message::text("x".repeat(10_000_000))).await.ok();
        let end = tokio::time::timeout(Duration::from_secs(10), async {
            loop {
                match socket.hear().await {
                    Ok(Heard::Closed(code, _)) => break code,
                    Ok(Heard::Message(_)) => {}
                    Err(_) => break 0,
                }
            }
        });
        assert!([0, 4400].contains(&end.await.unwrap()));
    }
    assert!(node.memory().saturating_sub(before) < 30_000);
    let mut socket = Socket::open(node.address, Some("graphql-transport-ws")).await.unwrap();
    socket
        .say(&json!({ "type": "connection_init", "payload": { "x": "y".repeat(60_000) } }))
        .await
        .unwrap();
    assert_eq!(socket.hear().await.unwrap(), Heard::Message(json!({ "type": "connection_ack" })));
    assert_eq!(other.ask("{ viewer { name } }", json!({})).await.unwrap()["viewer"]["name"], "Ann");
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limited_clients_are_told_when_to_retry() {
    let house = House::new().await;
    let limits =
        ["--actor-rate", "100", "--actor-burst", "500", "--sign-in-rate", "3", "--guest-rate", "2"];
    let node = house.node(&limits);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let me = "{ viewer { name } }";
    let mut http = ann.http().await;
    let mut statuses = Vec::new();
    let mut last = None;
    for _ in 0..8 {
        let answer = http.post(me, json!({})).await.unwrap();
        statuses.push(answer.status);
        last = Some(answer);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    let last = last.unwrap();
    let wait: u64 = last.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    let error = last.json().unwrap()["errors"][0]["extensions"].take();
    assert_eq!(error["code"], "RATE_LIMITED");
    assert_eq!(bob.ask(me, json!({})).await["viewer"]["name"], "Bob", "others are not affected");
    let mut socket = ann.socket().await;
    socket.subscribe("1", me, json!({})).await.unwrap();
    let Heard::Message(refused) = socket.hear().await.unwrap() else { panic!() };
    assert_eq!(refused["payload"][0]["extensions"]["code"], "RATE_LIMITED");
    // Pings count like requests.
    socket.say(&json!({ "type": "ping" })).await.unwrap();
    assert!(matches!(socket.hear().await.unwrap(), Heard::Closed(4429, _)));

    // Password attempts are limited, also when one request has several.
    let guess = "mutation { a: signIn(input: { name: \"x\", password: \"y\" }) { userErrors { code } } b: signIn(input: { name: \"x\", password: \"z\" }) { userErrors { code } } }";
    let mut http = node.http().await;
    assert_eq!(http.post(guess, json!({})).await.unwrap().status, 200);
    assert_eq!(http.post(guess, json!({})).await.unwrap().status, 429);
    let dozen = "mutation { a: signInAsGuest { userErrors { code } } b: signInAsGuest { userErrors { code } } c: signInAsGuest { userErrors { code } } }";
    assert_eq!(
        http.post(dozen, json!({})).await.unwrap().status,
        429,
        "and the number of new guests is limited"
    );
    let cors = "OPTIONS /graphql HTTP/1.1\r\nhost: x\r\norigin: http://game.example\r\naccess-control-request-method: POST\r\n\
                access-control-request-headers: authorization\r\n\r\n";
    let answer = http.exchange(cors.as_bytes()).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}
