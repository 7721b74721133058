//! Starting, stopping, configuration and monitoring.

use client::Heard;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::*;

/// Without any configuration: a private PostgreSQL, keys, and all data after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_runs_without_configuration_and_shuts_down_gracefully() {
    let folder = temporary();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let node = Node::start(None, folder.path(), &[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    let (code, token, said) =
        croupier(None, folder.path(), &["token", "issue", "--role", "admin", "--name", "Ada"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(token.matches('.').count(), 2);
    let mut socket = ann.socket().await;
    socket.subscribe("1", "subscription { lobby { id } }", json!({})).await.unwrap();
    let mut stream = bob.http().await;
    stream.begin_stream("subscription { lobby { id } }", json!({})).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;

    // Requests in flight are completed during shutdown.
    let mut busy = ann.socket().await;
    let slow = "mutation { register(input: { name: \"Annabel\", password: \"a long one\" }) { player { name } userErrors { code } } }";
    busy.subscribe("1", slow, json!({})).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let stopping = tokio::task::spawn_blocking(|| node.stop());
    assert_eq!(busy.next().await.unwrap()["data"]["register"]["player"]["name"], "Annabel");
    let Heard::Closed(code, reason) = socket.hear().await.unwrap() else { panic!() };
    assert_eq!(code, 1001);
    assert!(reason.contains("afterVersion"), "{reason}");
    let goodbye = String::from_utf8(stream.chunk().await.unwrap().unwrap()).unwrap();
    assert!(goodbye.contains("STOPPING") && goodbye.contains("event: complete"), "{goodbye}");
    let (code, said) = stopping.await.unwrap();
    assert_eq!(code, Some(0));
    assert!(said.contains("curl") && said.contains("stopped"), "{said}");

    let node = Node::start(None, folder.path(), &[]);
    play_out([&ann.at(&node), &bob.at(&node)], &game, table).await;
    node.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_documented_and_invalid_ones_refused() {
    let folder = temporary();
    let run = |arguments: &[&str]| croupier(None, folder.path(), &[&["serve"], arguments].concat());
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, 0);
    for setting in [
        "--listen",
        "CROUPIER_LISTEN",
        "127.0.0.1:8080",
        "DATABASE_URL",
        "--max-depth",
        "--actor-rate",
    ] {
        assert!(help.contains(setting), "{setting} in {help}");
    }
    let options = help.lines().filter(|line| line.trim_start().starts_with("--")).count();
    assert_eq!(help.matches("[env: ").count(), options, "every setting is a variable too");
    for (arguments, sentence) in [
        (&["--listen", "here"][..], "invalid value 'here' for '--listen"),
        (&["--max-depth", "0"], "0 is not in 1..=100"),
        (&["--connections", "1000000"], "is not in 6..=1000"),
        (&["--log", "=nonsense="], "--log '=nonsense='"),
        (&["--database-url", "nonsense"], "the database's address is wrong"),
        (&["--database-url", "postgres://nobody@127.0.0.1:1/x"], "the database is unavailable"),
        (
            &["--listen", "203.0.113.1:80", "--database-url", "postgres://x@127.0.0.1:1/x"],
            "unavailable",
        ),
    ] {
        let (code, out, said) = run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {out}{said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_exposes_health_and_metrics() {
    let house = House::new().await;
    let node = house.node(&["--log", "debug"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    let mut socket = ann.socket().await;
    socket.subscribe("1", "subscription { lobby { id } }", json!({})).await.unwrap();
    play_out([&ann, &bob], &game, table).await;
    let mut http = node.http().await;
    assert_eq!(http.get("/livez").await.unwrap().body, b"alive\n");
    let ready = http.get("/readyz").await.unwrap();
    assert_eq!(ready.status, 200);
    assert_eq!(ready.json().unwrap()["checks"]["migrations"], "ok");
    // Gauges of processors and the tailer are set when their next round ends.
    let expected = [
        "croupier_requests{operation=\"play\",outcome=\"ok\"}",
        "croupier_request_seconds_bucket{operation=\"play\"",
        "croupier_command_seconds_bucket",
        "croupier_batch_commands_bucket",
        "croupier_conflicts",
        "croupier_subscribers{over=\"websocket\"} 1",
        "croupier_tail_lag_events 0",
        "croupier_pool_connections",
        "croupier_games_in_memory 1",
        "croupier_processor_ranges",
    ];
    eventually("every metric is exposed", async || {
        let metrics = String::from_utf8(http.get("/metrics").await.unwrap().body).unwrap();
        expected.iter().all(|metric| metrics.contains(metric))
    })
    .await;
    // The request id is in the response, its header and the log.
    let failed = node.http().await.post("{ nonsense }", json!({})).await.unwrap();
    let id = failed.json().unwrap()["errors"][0]["extensions"]["requestId"].take();
    let id = id.as_str().unwrap();
    assert_eq!(failed.header("x-request-id"), Some(id));
    assert_eq!(failed.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(failed.header("cache-control"), Some("no-store"));
    eventually("it is logged", async || node.log().contains(id)).await;
    let log = node.log();
    let line = log.lines().find(|line| line.contains(id)).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
}

/// Traces are exported to a collector as OTLP over HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn traces_are_exported_when_configured() {
    let collector = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1/traces", collector.local_addr().unwrap());
    let house = House::new().await;
    let node = house.node(&["--otlp-endpoint", &endpoint]);
    node.guest("Ann").await;
    let collected = tokio::spawn(async move {
        let (mut stream, _) = collector.accept().await.unwrap();
        let mut read = Vec::new();
        while !read.windows(7).any(|window| window == b"request") {
            assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8_lossy(&read).into_owned()
    });
    let stopped = tokio::task::spawn_blocking(|| node.stop());
    let said = collected.await.unwrap();
    assert!(said.starts_with("POST /v1/traces"), "{said}");
    assert!(said.contains("application/x-protobuf") && said.contains("croupier"), "{said}");
    assert_eq!(stopped.await.unwrap().0, Some(0));
}

/// Signs in a guest with these headers; returns the status and the response head.
async fn guest_with(node: &Node, headers: &str) -> (u16, String) {
    let body = r#"{"query":"mutation { signInAsGuest { accessToken } }"}"#;
    let request = format!(
        "POST /graphql HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        node.address,
        body.len()
    );
    let answer = node.http().await.exchange(request.as_bytes()).await.unwrap();
    (answer.status, answer.head.to_lowercase())
}

/// Clients behind a trusted proxy are distinguished by its header; without a trusted proxy the
/// header is ignored.
#[tokio::test(flavor = "multi_thread")]
async fn addresses_behind_a_trusted_proxy_are_distinguished() {
    let house = House::new().await;
    let from = |address: &str| format!("x-forwarded-for: {address}\r\n");
    let node = house.node(&["--guest-rate", "1", "--trusted-proxies", "1"]);
    assert_eq!(guest_with(&node, &from("203.0.113.1")).await.0, 200);
    assert_eq!(guest_with(&node, &from("203.0.113.1")).await.0, 429);
    assert_eq!(guest_with(&node, &from("203.0.113.2")).await.0, 200);
    // Addresses claimed by the client come before the one added by the proxy.
    assert_eq!(guest_with(&node, &from("198.51.100.7, 203.0.113.2")).await.0, 429);
    let node = house.node(&["--guest-rate", "1"]);
    assert_eq!(guest_with(&node, &from("203.0.113.1")).await.0, 200);
    assert_eq!(guest_with(&node, &from("203.0.113.2")).await.0, 429);
}

/// Allowed origins may call the API; browsers withhold the response from others.
#[tokio::test(flavor = "multi_thread")]
async fn only_allowed_origins_pass_cors() {
    let house = House::new().await;
    let node = house.node(&["--cors-origin", "https://play.example,https://desk.example"]);
    let origin = |name: &str| format!("origin: https://{name}\r\n");
    for (name, allowed) in [("play.example", true), ("desk.example", true), ("evil.example", false)]
    {
        let (_, head) = guest_with(&node, &origin(name)).await;
        let granted = head.contains(&format!("access-control-allow-origin: https://{name}"));
        assert_eq!(granted, allowed, "{head}");
    }
    let node = house.node(&[]);
    let (_, head) = guest_with(&node, &origin("evil.example")).await;
    assert!(head.contains("access-control-allow-origin: *"), "{head}");
}

/// With an address of their own, health and metrics are not on the public one.
#[tokio::test(flavor = "multi_thread")]
async fn health_and_metrics_have_an_address_of_their_own() {
    let house = House::new().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let node = house.node(&["--admin-listen", &free.to_string()]);
    let ann = node.guest("Ann").await;
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(node.http().await.get(path).await.unwrap().status, 404, "{path}");
        let mut admin = client::Http::connect(free).await.unwrap();
        assert_eq!(admin.get(path).await.unwrap().status, 200, "{path}");
    }
    let mut admin = client::Http::connect(free).await.unwrap();
    assert_eq!(admin.get("/graphql").await.unwrap().status, 404);
    assert_eq!(ann.ask("{ viewer { name } }", json!({})).await["viewer"]["name"], "Ann");
}

/// A node whose database was made read-only is not ready until it can write again.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_database_is_not_ready() {
    use sqlx::{Connection, Executor};
    let house = House::new().await;
    let node = house.node(&[]);
    let name = house.url.rsplit('/').next().unwrap().to_owned();
    let mut database = sqlx::PgConnection::connect(&house.url).await.unwrap();
    let mut set = async |value: &str| {
        // New connections of the health check see it: those of the others are ended.
        let change = format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
        database
            .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(
                "SET default_transaction_read_only = off".to_owned(),
            )))
            .await
            .unwrap();
        database.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(change))).await.unwrap();
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        database.execute(end).await.unwrap();
    };
    set("on").await;
    let ready = async || node.http().await.get("/readyz").await.unwrap();
    eventually("it is not ready", async || {
        let answer = ready().await;
        answer.status == 503 && answer.json().unwrap()["checks"]["writes"] == "failing"
    })
    .await;
    set("off").await;
    eventually("it is ready again", async || ready().await.status == 200).await;
}
