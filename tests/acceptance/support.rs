//! Nodes and players for tests.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use client::{Http, Socket};
use cluster::{Cluster, Settings};
use serde_json::{Value, json};
use sqlx::{Connection, Executor};
use tempfile::TempDir;

pub(crate) const CROUPIER: &str = env!("CARGO_BIN_EXE_croupier");

/// One PostgreSQL for all tests of this process.
static POSTGRES: LazyLock<(Cluster, TempDir)> = LazyLock::new(|| {
    let folder = temporary();
    (Cluster::start(&folder.path().join("cluster"), Settings::Throwaway).unwrap(), folder)
});

pub(crate) fn temporary() -> TempDir {
    tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap()
}

/// A database and keys, shared by the nodes of a test.
pub(crate) struct House {
    pub(crate) url: String,
    pub(crate) folder: TempDir,
}

impl House {
    /// A new database in the shared PostgreSQL.
    pub(crate) async fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("house_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let cluster = &POSTGRES.0;
        let mut admin = sqlx::PgConnection::connect(&cluster.url("postgres")).await.unwrap();
        let create = format!("CREATE DATABASE {name}");
        admin.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(create))).await.unwrap();
        Self { url: cluster.url(&name), folder: temporary() }
    }

    /// Starts a node with these settings.
    pub(crate) fn node(&self, settings: &[&str]) -> Node {
        Node::start(Some(&self.url), self.folder.path(), settings)
    }

    /// Runs a subcommand of the binary.
    pub(crate) fn croupier(&self, arguments: &[&str]) -> (i32, String, String) {
        croupier(Some(&self.url), self.folder.path(), arguments)
    }

    /// Exports a game and verifies the file, without a database.
    pub(crate) fn prove(&self, game: &str) -> String {
        let (code, log, said) = self.croupier(&["export", game]);
        assert_eq!(code, 0, "{said}");
        let file = self.folder.path().join("game.ndjson");
        std::fs::write(&file, log).unwrap();
        let (code, proof, _) =
            croupier(None, Path::new("/tmp"), &["verify", file.to_str().unwrap()]);
        assert_eq!(code, 0, "{proof}");
        assert!(proof.contains("✓ commitment, seeds") && proof.contains("✓ chain of"), "{proof}");
        proof
    }

    /// Runs a query that returns one number.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        use sqlx::Row;
        let mut connection = sqlx::PgConnection::connect(&self.url).await.unwrap();
        let row = connection.fetch_one(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))).await;
        row.unwrap().get(0)
    }
}

/// Runs a subcommand of the binary; returns its exit code, stdout and stderr.
pub(crate) fn croupier(
    url: Option<&str>,
    folder: &Path,
    arguments: &[&str],
) -> (i32, String, String) {
    let output = command(url, folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn command(url: Option<&str>, folder: &Path) -> Command {
    let mut command = Command::new(CROUPIER);
    for (name, _) in std::env::vars_os() {
        let ours =
            name.to_string_lossy().starts_with("CROUPIER_") && name != "CROUPIER_POSTGRES_BIN";
        if ours || name == "DATABASE_URL" {
            command.env_remove(name);
        }
    }
    command.current_dir(folder);
    if let Some(url) = url {
        command.env("DATABASE_URL", url);
    }
    command
}

/// A running node. Dropping it kills it, like a crash.
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    child: Child,
    log: PathBuf,
    out: BufReader<std::process::ChildStdout>,
}

impl Node {
    pub(crate) fn start(url: Option<&str>, folder: &Path, settings: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let log = folder.join(format!("log-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let mut child = command(url, folder)
            .args(["serve", "--listen", "127.0.0.1:0", "--actor-rate", "0", "--address-rate", "0"])
            .args(["--sign-in-rate", "0", "--guest-rate", "0", "--log-format", "json"])
            .args(settings)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            let read = out.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "{said}{}", std::fs::read_to_string(&log).unwrap());
            said += &line;
            if let Some((_, rest)) = line.split_once("GraphQL   http://") {
                break rest.split('/').next().unwrap().parse().unwrap();
            }
        };
        Self { address, child, log, out }
    }

    pub(crate) async fn http(&self) -> Http {
        Http::connect(self.address).await.unwrap()
    }

    /// Signs in a new guest.
    pub(crate) async fn guest(&self, name: &str) -> Player {
        let query = "mutation($name: String) { signInAsGuest(input: { name: $name }) { accessToken refreshToken player { id } } }";
        let data = self.http().await.ask(query, json!({ "name": name })).await.unwrap();
        let session = &data["signInAsGuest"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Player {
            address: self.address,
            id: text(&session["player"]["id"]),
            token: text(&session["accessToken"]),
            refresh: text(&session["refreshToken"]),
        }
    }

    /// The node's stderr so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The memory of the process, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()));
        let Ok(status) = status else { return 0 };
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Stops it like Ctrl-C; returns its exit code and the rest of its stderr.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.out.read_to_string(&mut said).unwrap();
        (status.code(), said)
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A signed-in player.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    pub(crate) address: SocketAddr,
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) refresh: String,
}

pub(crate) const MOVE: &str = "{ game { id version stage toMove { number } bestSelection { slots points canBank } } \
     events { version type } repeated userErrors { code message field } }";

impl Player {
    /// The same player on another node.
    pub(crate) fn at(&self, node: &Node) -> Self {
        Self { address: node.address, ..self.clone() }
    }

    pub(crate) async fn http(&self) -> Http {
        Http::connect(self.address).await.unwrap().with_token(&self.token)
    }

    pub(crate) async fn socket(&self) -> Socket {
        Socket::connect(self.address, &self.token).await.unwrap()
    }

    pub(crate) async fn ask(&self, query: &str, variables: Value) -> Value {
        self.http().await.ask(query, variables).await.unwrap()
    }

    /// The code of the first error of a request.
    pub(crate) async fn error(&self, query: &str, variables: Value) -> String {
        let answer = self.http().await.post(query, variables).await.unwrap().json().unwrap();
        answer["errors"][0]["extensions"]["code"].as_str().unwrap_or("none").to_owned()
    }

    /// Creates a game of Farkle with these rules and takes a seat.
    pub(crate) async fn create(&self, rules: Value) -> String {
        let query = "mutation($rules: JSON) { createGame(input: { rules: { farkle: { custom: $rules } } }) { game { id } userErrors { code message } } }";
        let data = self.ask(query, json!({ "rules": rules })).await;
        data["createGame"]["game"]["id"].as_str().unwrap_or_else(|| panic!("{data}")).to_owned()
    }

    /// Sends a command to a game; returns the payload.
    pub(crate) async fn act(&self, command: &str, game: &str) -> Value {
        self.act_with(command, game, json!({})).await
    }

    /// Sends a command with more input fields. Moves have the names of `MoveInput`.
    pub(crate) async fn act_with(&self, command: &str, game: &str, more: Value) -> Value {
        let (query, input) = mutation(command, game, more, MOVE);
        let mut data = self.ask(&query, json!({ "input": input })).await;
        data["done"].take()
    }
}

/// The document and input of a command. `commandId` and `expectedVersion` go into `command`.
pub(crate) fn mutation(
    command: &str,
    game: &str,
    mut more: Value,
    fields: &str,
) -> (String, Value) {
    let mut about = json!({});
    for (given, name) in [("commandId", "id"), ("expectedVersion", "expectedVersion")] {
        if let Some(value) = more.as_object_mut().unwrap().remove(given) {
            about[name] = value;
        }
    }
    let table =
        ["joinGame", "startGame", "leaveGame", "chooseSeed", "chooseLoadout", "chooseCharacter"];
    let (mutation, kind, mut input) = if table.contains(&command) {
        let kind = match command {
            "startGame" | "leaveGame" => "GameCommandInput".to_owned(),
            other => format!("{}{}Input", other[..1].to_uppercase(), &other[1..]),
        };
        (command, kind, more)
    } else {
        if let Some(slots) = more.as_object_mut().unwrap().remove("slots") {
            more[if command == "bank" { "saveSlots" } else { "slots" }] = slots;
        }
        ("play", "PlayInput".to_owned(), json!({ "move": { command: more } }))
    };
    input["gameId"] = game.into();
    input["command"] = about;
    (format!("mutation($input: {kind}!) {{ done: {mutation}(input: $input) {fields} }}"), input)
}

/// The code of the first user error of a payload.
#[track_caller]
pub(crate) fn refusal(payload: &Value) -> &str {
    assert_eq!(payload["events"], json!([]), "{payload}");
    payload["userErrors"][0]["code"].as_str().unwrap_or_else(|| panic!("{payload}"))
}

/// Asserts that a command succeeded; returns its payload.
#[track_caller]
pub(crate) fn accepted(payload: Value) -> Value {
    assert_eq!(payload["userErrors"], json!([]), "{payload}");
    payload
}

/// A started game with two players.
pub(crate) async fn begun(players: [&Player; 2], rules: Value) -> (String, Value) {
    let game = players[0].create(rules).await;
    accepted(players[1].act("joinGame", &game).await);
    let started = accepted(players[1].act("startGame", &game).await);
    (game, started["game"].clone())
}

/// Plays the next sensible move: banks what scores, rolls otherwise.
pub(crate) async fn move_on(players: [&Player; 2], game: &str, table: &Value) -> Value {
    let number = usize::try_from(table["toMove"]["number"].as_u64().unwrap()).unwrap();
    let best = &table["bestSelection"];
    let payload = if best["canBank"] == true {
        players[number].act_with("bank", game, json!({ "slots": best["slots"] })).await
    } else {
        players[number].act("roll", game).await
    };
    accepted(payload)["game"].clone()
}

/// Plays to the end.
pub(crate) async fn play_out(players: [&Player; 2], game: &str, mut table: Value) -> Value {
    while table["stage"] != "ENDED" {
        table = move_on(players, game, &table).await;
    }
    table
}

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}: not within 20 s");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) const EVENTS: &str = "subscription($game: ID!, $after: Int!) { gameEvents(gameId: $game, afterVersion: $after) { version type summary } }";

/// Listens to a game until it is over; returns the received versions.
pub(crate) async fn watch(socket: &mut Socket, game: &str, after: i64) -> Vec<i64> {
    socket.subscribe("watch", EVENTS, json!({ "game": game, "after": after })).await.unwrap();
    let mut versions = Vec::new();
    loop {
        let event = socket.next().await.unwrap()["data"]["gameEvents"].take();
        versions.push(event["version"].as_i64().unwrap());
        if event["type"] == "SEED_REVEALED" {
            return versions;
        }
    }
}
