//! A remedy whose node is killed at each of its steps: it is finished by itself, once.

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::{replay::staff, support::*};

const OPEN: &str = "mutation($game: ID!) { openDispute(gameId: $game, version: 3, text: \"Bob is rude\") { dispute { id } errors { code } } }";
const PROPOSE: &str = "mutation($dispute: ID!, $remedy: RemedyInput!) { proposeRemedy(disputeId: $dispute, remedy: $remedy) { errors { code message } } }";
const RETRY: &str = "mutation($dispute: ID!) { retryRemedy(disputeId: $dispute, number: 1) { errors { code message } } }";
const SEEN: &str = "query($dispute: ID!) { dispute(id: $dispute) { remedies { status failure } } }";

/// The rows that a step writes: as long as another transaction has them locked, the step does not get through.
const DEED: &str = "SELECT 1 FROM stream_head WHERE stream = $stream FOR UPDATE";
const ENDED: &str = "SELECT 1 FROM stream_head WHERE stream = $dispute FOR UPDATE";
const SESSIONS: &str = "SELECT 1 FROM session WHERE account = $stream FOR UPDATE";

/// What a node that was killed had sent to the database and was not answered: it may still go through, or not.
const ORPHANS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'croupier' AND datname = current_database()";

struct Scene {
    house: House,
    node: Option<Node>,
    ann: Player,
    bob: Player,
    sue: Player,
    game: String,
    dispute: String,
}

impl Scene {
    async fn new() -> Self {
        let house = House::new().await;
        let node = house.node(&[]);
        let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
        let sue = staff(&house, "support", "Sue", &ann);
        let (game, _) = begun([&ann, &bob], json!({})).await;
        let opened = ann.ask(OPEN, json!({ "game": game })).await["openDispute"].take();
        let dispute =
            opened["dispute"]["id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
        Self { house, node: Some(node), ann, bob, sue, game, dispute }
    }

    async fn database(&self) -> PgConnection {
        PgConnection::connect(&self.house.url).await.unwrap()
    }

    /// Locks the rows of a step until the connection ends.
    async fn lock(&self, rows: &str) -> PgConnection {
        let mut connection = self.database().await;
        connection.execute("BEGIN").await.unwrap();
        let rows =
            rows.replace("$stream", &format!("'{}'", self.bob.id.trim_start_matches("player:")));
        let rows =
            rows.replace("$dispute", &format!("'{}'", self.dispute.trim_start_matches("dispute:")));
        connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(rows))).await.unwrap();
        connection
    }

    /// Waits until a step of the node waits for our lock.
    async fn is_waited_for(&self) {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        eventually("a step waits", async || self.house.count(waiting).await > 0).await;
    }

    async fn propose(&self, remedy: Value) {
        let asked = json!({ "dispute": self.dispute, "remedy": remedy });
        let done = self.sue.ask(PROPOSE, asked).await["proposeRemedy"].take();
        assert_eq!(done["errors"], json!([]), "{done}");
    }

    async fn remedy(&self) -> Value {
        let seen = self.sue.ask(SEEN, json!({ "dispute": self.dispute })).await;
        seen["dispute"]["remedies"][0].clone()
    }

    /// Kills the node; what it had sent goes through, or is undone. Then another node comes.
    async fn kill(&mut self, lock: PgConnection, goes_through: bool) {
        self.node.take().unwrap().kill();
        if !goes_through {
            self.database().await.execute(ORPHANS).await.unwrap();
        }
        lock.close().await.unwrap();
        let node = self.house.node(&[]);
        for player in [&mut self.ann, &mut self.bob, &mut self.sue] {
            *player = player.at(&node);
        }
        self.node = Some(node);
    }

    /// It ended right: applied, once, in the log and in the wallet.
    async fn is_applied_once(&self, deeds: &str) {
        eventually("the remedy ended", async || self.remedy().await["status"] == "APPLIED").await;
        // Whatever is done again is done by now.
        let behind = "SELECT count(*) FROM processor_parked";
        assert_eq!(self.house.count(behind).await, 0);
        for (kind, expected) in [(deeds, 1), ("RemedyApplied", 1), ("RemedyFailed", 0)] {
            let count = format!("SELECT count(*) FROM event WHERE type = '{kind}'");
            assert_eq!(self.house.count(&count).await, expected, "{kind}");
        }
        assert_eq!(self.house.croupier(&["verify", "--wallets"]).0, 0);
        assert_eq!(self.house.croupier(&["verify", "--all"]).0, 0);
    }
}

/// Killed after it was decided, while the deed is under way: the deed got through, or did not.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_killed_in_its_deed_is_finished_once() {
    for goes_through in [false, true] {
        let mut scene = Scene::new().await;
        let lock = scene.lock(DEED).await;
        let change = json!({ "adjustBalance": { "playerId": scene.bob.id, "change": 7 } });
        scene.propose(change).await;
        scene.is_waited_for().await;
        let decided = "SELECT count(*) FROM event WHERE type = 'RemedyProposed'";
        assert_eq!(scene.house.count(decided).await, 1, "it is an event before it is a deed");
        scene.kill(lock, goes_through).await;
        scene.is_applied_once("MoneyAdjusted").await;
        let wallet = scene.bob.ask("{ me { wallet { balance } } }", json!({})).await;
        assert_eq!(wallet["me"]["wallet"]["balance"], 17);
    }
}

/// Killed between the deed and the record of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_killed_after_its_deed_is_finished_once() {
    for goes_through in [false, true] {
        let mut scene = Scene::new().await;
        let first = scene.lock(DEED).await;
        let change = json!({ "adjustBalance": { "playerId": scene.bob.id, "change": 7 } });
        scene.propose(change).await;
        scene.is_waited_for().await;
        let second = scene.lock(ENDED).await;
        first.close().await.unwrap();
        let deeds = "SELECT count(*) FROM event WHERE type = 'MoneyAdjusted'";
        eventually("the deed is done", async || scene.house.count(deeds).await == 1).await;
        scene.is_waited_for().await;
        scene.kill(second, goes_through).await;
        scene.is_applied_once("MoneyAdjusted").await;
    }
}

/// Killed while sessions are ended, which is a step of its own where a player is kept out.
#[tokio::test(flavor = "multi_thread")]
async fn a_ban_killed_before_sessions_end_still_ends_them() {
    let mut scene = Scene::new().await;
    let lock = scene.lock(SESSIONS).await;
    scene.propose(json!({ "ban": scene.bob.id })).await;
    scene.is_waited_for().await;
    scene.kill(lock, false).await;
    scene.is_applied_once("Sanctioned").await;
    eventually("Bob is out", async || {
        scene.bob.error("{ myGames { nodes { id } } }", json!({})).await == "UNAUTHENTICATED"
    })
    .await;
}

/// Killed right after it ended, before the checkpoint: nothing happens again.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_killed_after_its_end_is_not_repeated() {
    let mut scene = Scene::new().await;
    scene.propose(json!({ "voidGame": "MALFUNCTION" })).await;
    eventually("it is applied", async || scene.remedy().await["status"] == "APPLIED").await;
    let nothing = scene.database().await;
    scene.kill(nothing, true).await;
    scene.is_applied_once("Voided").await;
}

/// What cannot be done any more fails with its reason, and is done when it is tried again and something has changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_that_fails_says_why_and_is_tried_again() {
    let scene = Scene::new().await;
    // Nobody carries remedies out for now: a node that does nothing has them.
    let away = "UPDATE processor_range SET owner = '00000000-0000-0000-0000-000000000001', fence = fence + 1 WHERE name = 'remedies';
        INSERT INTO processor_node (node, works, seen_at) VALUES ('00000000-0000-0000-0000-000000000001', false, now() + interval '1 hour')";
    scene.database().await.execute(sqlx::raw_sql(away)).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    scene.propose(json!({ "adjustBalance": { "playerId": scene.bob.id, "change": -9 } })).await;
    let bought =
        scene.bob.ask("mutation { buyDie(code: \"LUCKY\") { errors { code } } }", json!({})).await;
    assert_eq!(bought["buyDie"]["errors"], json!([]), "{bought}");
    assert_eq!(scene.remedy().await["status"], "APPROVED");
    scene.database().await.execute("DELETE FROM processor_node WHERE NOT works").await.unwrap();
    eventually("it fails", async || scene.remedy().await["status"] == "FAILED").await;
    let remedy = scene.remedy().await;
    assert!(remedy["failure"].as_str().is_some_and(|why| why.contains('$')), "{remedy}");
    // Tried again while nothing has changed, it fails again; with money in the wallet, it is done.
    let retry = async || {
        let done = scene.sue.ask(RETRY, json!({ "dispute": scene.dispute })).await;
        assert_eq!(done["retryRemedy"]["errors"], json!([]), "{done}");
    };
    retry().await;
    let failed = "SELECT count(*) FROM event WHERE type = 'RemedyFailed'";
    eventually("it fails again", async || scene.house.count(failed).await == 2).await;
    accepted(scene.ann.act("leaveGame", &scene.game).await);
    let credited = "SELECT count(*) FROM event WHERE type = 'MoneyCredited'";
    eventually("Bob is paid", async || scene.house.count(credited).await > 0).await;
    retry().await;
    eventually("it is applied", async || scene.remedy().await["status"] == "APPLIED").await;
    assert_eq!(scene.house.croupier(&["verify", "--wallets"]).0, 0);
}
