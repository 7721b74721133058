//! A remedy whose node is killed at each of its steps: it is completed automatically, once.

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::{replay::staff, support::*};

const OPEN: &str = "mutation($game: ID!) { openDispute(input: { gameId: $game, version: 3, text: \"Bob is rude\" }) { dispute { id } userErrors { code } } }";
const PROPOSE: &str = "mutation($dispute: ID!, $remedy: RemedyInput!) { proposeRemedy(input: { disputeId: $dispute, remedy: $remedy }) { userErrors { code message } } }";
const RETRY: &str = "mutation($dispute: ID!) { retryRemedy(input: { disputeId: $dispute, number: 1 }) { userErrors { code message } } }";
const SEEN: &str = "query($dispute: ID!) { dispute(id: $dispute) { remedies { status failure } } }";

/// The rows that a step writes: while another transaction has them locked, the step is blocked.
const EFFECT: &str = "SELECT 1 FROM stream_head WHERE stream = $stream FOR UPDATE";
const ENDED: &str = "SELECT 1 FROM stream_head WHERE stream = $dispute FOR UPDATE";
const SESSIONS: &str = "SELECT 1 FROM session WHERE account = $stream FOR UPDATE";

/// Statements that a killed node had sent: they may still be committed, or not.
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

    /// Locks the rows of a step until the connection is closed.
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
        assert_eq!(done["userErrors"], json!([]), "{done}");
    }

    async fn remedy(&self) -> Value {
        let seen = self.sue.ask(SEEN, json!({ "dispute": self.dispute })).await;
        seen["dispute"]["remedies"][0].clone()
    }

    /// Kills the node; its pending statements are committed, or cancelled. Then starts another
    /// node.
    async fn kill(&mut self, lock: PgConnection, commits: bool) {
        self.node.take().unwrap().kill();
        if !commits {
            self.database().await.execute(ORPHANS).await.unwrap();
        }
        lock.close().await.unwrap();
        let node = self.house.node(&[]);
        for player in [&mut self.ann, &mut self.bob, &mut self.sue] {
            *player = player.at(&node);
        }
        self.node = Some(node);
    }

    /// The remedy was applied once, in the log and in the wallet.
    async fn is_applied_once(&self, effects: &str) {
        eventually("the remedy ended", async || self.remedy().await["status"] == "APPLIED").await;
        // Everything that is repeated is done by now.
        let behind = "SELECT count(*) FROM processor_parked";
        assert_eq!(self.house.count(behind).await, 0);
        for (kind, expected) in [(effects, 1), ("RemedyApplied", 1), ("RemedyFailed", 0)] {
            let count = format!("SELECT count(*) FROM event WHERE type = '{kind}'");
            assert_eq!(self.house.count(&count).await, expected, "{kind}");
        }
        assert_eq!(self.house.croupier(&["verify", "--wallets"]).0, 0);
        assert_eq!(self.house.croupier(&["verify", "--all"]).0, 0);
    }
}

/// Killed after the decision, while the effect is being written, which is committed or not.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_killed_during_its_effect_is_completed_once() {
    for commits in [false, true] {
        let mut scene = Scene::new().await;
        let lock = scene.lock(EFFECT).await;
        let change = json!({ "adjustBalance": { "playerId": scene.bob.id, "change": 7 } });
        scene.propose(change).await;
        scene.is_waited_for().await;
        let decided = "SELECT count(*) FROM event WHERE type = 'RemedyProposed'";
        assert_eq!(
            scene.house.count(decided).await,
            1,
            "the decision is recorded before it takes effect"
        );
        scene.kill(lock, commits).await;
        scene.is_applied_once("MoneyAdjusted").await;
        let wallet = scene.bob.ask("{ viewer { wallet { balance } } }", json!({})).await;
        assert_eq!(wallet["viewer"]["wallet"]["balance"], 17);
    }
}

/// Killed between the effect and the record of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_remedy_killed_after_its_effect_is_completed_once() {
    for commits in [false, true] {
        let mut scene = Scene::new().await;
        let first = scene.lock(EFFECT).await;
        let change = json!({ "adjustBalance": { "playerId": scene.bob.id, "change": 7 } });
        scene.propose(change).await;
        scene.is_waited_for().await;
        let second = scene.lock(ENDED).await;
        first.close().await.unwrap();
        let effects = "SELECT count(*) FROM event WHERE type = 'MoneyAdjusted'";
        eventually("the effect is written", async || scene.house.count(effects).await == 1).await;
        scene.is_waited_for().await;
        scene.kill(second, commits).await;
        scene.is_applied_once("MoneyAdjusted").await;
    }
}

/// Killed while sessions are revoked, which is a separate step of a ban.
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

/// Killed after it was completed, before the checkpoint: nothing is repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_completed_remedy_is_not_repeated() {
    let mut scene = Scene::new().await;
    scene.propose(json!({ "voidGame": "MALFUNCTION" })).await;
    eventually("it is applied", async || scene.remedy().await["status"] == "APPLIED").await;
    let nothing = scene.database().await;
    scene.kill(nothing, true).await;
    scene.is_applied_once("Voided").await;
}

/// A remedy that is no longer possible fails with a reason, and succeeds on a retry once something
/// has changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_remedy_gives_a_reason_and_can_be_retried() {
    let scene = Scene::new().await;
    // Nobody applies remedies for now: an idle fake node holds the range.
    let away = "UPDATE processor_range SET owner = '00000000-0000-0000-0000-000000000001', fence = fence + 1 WHERE name = 'remedies';
        INSERT INTO processor_node (node, works, seen_at) VALUES ('00000000-0000-0000-0000-000000000001', false, now() + interval '1 hour')";
    scene.database().await.execute(sqlx::raw_sql(away)).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    scene.propose(json!({ "adjustBalance": { "playerId": scene.bob.id, "change": -9 } })).await;
    let bought = scene
        .bob
        .ask("mutation { buyDie(input: { code: \"LUCKY\" }) { userErrors { code } } }", json!({}))
        .await;
    assert_eq!(bought["buyDie"]["userErrors"], json!([]), "{bought}");
    assert_eq!(scene.remedy().await["status"], "APPROVED");
    scene.database().await.execute("DELETE FROM processor_node WHERE NOT works").await.unwrap();
    eventually("it fails", async || scene.remedy().await["status"] == "FAILED").await;
    let remedy = scene.remedy().await;
    assert!(remedy["failure"].as_str().is_some_and(|why| why.contains('$')), "{remedy}");
    // A retry without a change fails again; with money in the wallet it succeeds.
    let retry = async || {
        let done = scene.sue.ask(RETRY, json!({ "dispute": scene.dispute })).await;
        assert_eq!(done["retryRemedy"]["userErrors"], json!([]), "{done}");
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
