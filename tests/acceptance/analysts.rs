//! Staff queries and actions beyond single games: balance, seasons, exports, void games.

use serde_json::{Value, json};
use sqlx::{Connection, Executor};

use crate::{read_models::last_line, support::*};

fn staff(house: &House, role: &str, at: &Player) -> Player {
    let (code, token, said) =
        house.croupier(&["token", "issue", "--role", role, "--name", "Staff"]);
    assert_eq!(code, 0, "{said}");
    Player { token: token.trim().to_owned(), ..at.clone() }
}

const ME: &str = "{ viewer { wallet { balance ledger(first: 3) { nodes { reason change } } } ratings { value deviation }
    statistics(kind: LAST_LINE) { games wins money streak } } }";
const BOARD: &str = "{ leaderboard(kind: LAST_LINE, by: WINS) { page { nodes { rank value games player { id } } } } }";
const VOID: &str = "mutation($game: ID!, $reason: VoidReason!, $id: UUID) { voidGame(input: { command: { id: $id }, gameId: $game, reason: $reason }) {
    game { voided stage } events { type summary } repeated userErrors { code } } }";

/// A void game leaves wallets, statistics, boards and ratings as if it had not been played; it can
/// still be verified.
#[tokio::test(flavor = "multi_thread")]
async fn a_void_game_leaves_no_trace() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let sue = staff(&house, "support", &ann);
    let seen = async || {
        let [a, b] = [ann.ask(ME, json!({})).await, bob.ask(ME, json!({})).await];
        let board = ann.ask(BOARD, json!({})).await;
        [a, b, board]
    };
    last_line([&ann, &bob]).await;
    let counted = async |games: i64| {
        let paid = house.count("SELECT count(*) FROM event WHERE type = 'MoneyCredited'").await;
        let credited =
            paid == house.count("SELECT count(*) FROM event WHERE type = 'MoneyAwarded'").await;
        let [a, _, board] = seen().await;
        let rated = house.count("SELECT count(*) FROM rating_result JOIN processor p USING (generation) WHERE p.name = 'ratings' AND p.state = 'live'").await;
        credited
            && a["viewer"]["statistics"][0]["games"] == games
            && board["leaderboard"]["page"]["nodes"][0]["games"] == games
            && rated == 2 * games
    };
    eventually("the first game is counted", async || counted(1).await).await;
    let mut before = seen().await;
    last_line([&ann, &bob]).await;
    eventually("the second game is counted", async || counted(2).await).await;
    assert_ne!(seen().await, before);
    let mine = "{ myGames { nodes { id } } }";
    let games = ann.ask(mine, json!({})).await;
    let game = games["myGames"]["nodes"][0]["id"].as_str().unwrap().to_owned();

    let id = uuid::Uuid::now_v7();
    let ask = json!({ "game": game, "reason": "MALFUNCTION", "id": id });
    for player in [&ann, &bob, &staff(&house, "analyst", &ann)] {
        assert_eq!(player.error(VOID, ask.clone()).await, "FORBIDDEN");
    }
    let done = sue.ask(VOID, ask.clone()).await["voidGame"].take();
    assert_eq!(done["userErrors"], json!([]), "{done}");
    assert_eq!(done["game"], json!({ "voided": "MALFUNCTION", "stage": "ENDED" }));
    let expected = json!([{ "type": "VOIDED", "summary": "the game is void: something did not work as it should" }]);
    assert_eq!(done["events"], expected);
    assert_eq!(sue.ask(VOID, ask).await["voidGame"]["repeated"], true);
    let again = sue.ask(VOID, json!({ "game": game, "reason": "MISTAKE" })).await;
    assert_eq!(again["voidGame"]["userErrors"][0]["code"], "ALREADY_VOID");

    // Everything is as it was, except for the ledger, which shows what happened.
    let mut after = seen().await;
    eventually("nothing is left of the game", async || {
        after = seen().await;
        let ledgers =
            after[..2].iter().map(|me| &me["viewer"]["wallet"]["ledger"]["nodes"][0]["reason"]);
        let reversed = ledgers.filter(|reason| **reason == "REVERSAL").count() == 2;
        for seen in [&mut before, &mut after] {
            seen[..2].iter_mut().for_each(|me| me["viewer"]["wallet"]["ledger"] = Value::Null);
        }
        reversed && after == before
    })
    .await;
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("awards of 2 players in voided games are taken back"), "{said}");
    assert_eq!(house.croupier(&["processors", "verify", "all"]).0, 0);
    let proof = house.prove(&game);
    assert!(proof.contains('✓'), "{proof}");
    assert_eq!(house.croupier(&["verify", "--all"]).0, 0);
    // Later listeners get the event, and the stream ends.
    let mut socket = ann.socket().await;
    let heard = watch(&mut socket, &game, 0).await;
    let id = game.trim_start_matches("game:");
    let events = house.count(&format!("SELECT count(*) FROM event WHERE stream = '{id}'")).await;
    assert_eq!(i64::try_from(heard.len()).unwrap(), events - 1);
    let last = socket.next().await.unwrap();
    assert_eq!(last["data"]["gameEvents"]["type"], "VOIDED", "{last}");
}

/// Voiding a running game ends it and frees its players.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_game_is_voided() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let sue = staff(&house, "support", &ann);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    accepted(ann.act("roll", &game).await);
    let done =
        sue.ask(VOID, json!({ "game": game, "reason": "CHEATING" })).await["voidGame"].take();
    let types: Vec<&str> = done["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["VOIDED", "ENDED", "SEED_REVEALED"], "{done}");
    let payload = ann.act("roll", &game).await;
    assert_eq!(refusal(&payload), "GAME_OVER");
    house.prove(&game);
    is_verified_through_the_api(&house, &ann, &game).await;
    assert_eq!(house.count("SELECT count(*) FROM event WHERE type = 'MoneyAwarded'").await, 0);
    let nothing = json!({ "game": format!("game:{}", uuid::Uuid::now_v7()), "reason": "MISTAKE" });
    let unknown = sue.ask(VOID, nothing).await;
    assert_eq!(unknown["voidGame"]["userErrors"][0]["code"], "NO_SUCH_GAME");
}

const VERIFY: &str = "query($game: ID!) { verifyGame(gameId: $game) { proven rolls events problem checks { step passed } } }";
const THEN: &str = "query($game: ID!, $version: Int!) { game(id: $game) { version
    then: at(version: $version) { version stage voided seats { score } outcome { reason } } } }";

/// A game can be viewed at a version and verified; changes in the database are detected.
async fn is_verified_through_the_api(house: &House, ann: &Player, game: &str) {
    let proof = ann.ask(VERIFY, json!({ "game": game })).await["verifyGame"].take();
    assert_eq!(
        (&proof["proven"], &proof["checks"][0]["passed"], &proof["rolls"]),
        (&json!(true), &json!(true), &json!(1)),
        "{proof}"
    );
    let look = async |version: i64| {
        ann.ask(THEN, json!({ "game": game, "version": version })).await["game"].take()
    };
    let last = look(1).await["version"].as_i64().unwrap();
    let stages = [(1, "GATHERING"), (last - 3, "PLAYING"), (last - 2, "PLAYING"), (last, "ENDED")];
    for (version, stage) in stages {
        let then = look(version).await["then"].take();
        assert_eq!((&then["version"], &then["stage"]), (&json!(version), &json!(stage)), "{then}");
        assert_eq!(then["voided"].is_null(), version < last - 2, "{then}");
    }
    for version in [0, -1, last + 1] {
        let wrong = json!({ "game": game, "version": version });
        assert_eq!(ann.error(THEN, wrong).await, "BAD_USER_INPUT");
    }
    let id = game.trim_start_matches("game:");
    let mut database = sqlx::PgConnection::connect(&house.url).await.unwrap();
    let change = format!(
        "UPDATE event SET payload = replace(payload::text, 'cheating', 'mistake')::json WHERE stream = '{id}' AND type = 'Voided'"
    );
    database.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(change))).await.unwrap();
    let found = ann.ask(VERIFY, json!({ "game": game })).await["verifyGame"].take();
    let broken = json!([{ "step": "CHAIN", "passed": false }]);
    assert_eq!((&found["proven"], &found["checks"]), (&json!(false), &broken), "{found}");
    let problem = found["problem"].as_str().unwrap();
    assert!(problem.starts_with(&format!("event {}: the chain is broken", last - 2)), "{problem}");
    let back = format!(
        "UPDATE event SET payload = replace(payload::text, 'mistake', 'cheating')::json WHERE stream = '{id}' AND type = 'Voided'"
    );
    database.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(back))).await.unwrap();
    assert_eq!(ann.ask(VERIFY, json!({ "game": game })).await["verifyGame"]["proven"], true);
}

const BALANCE: &str = "query($by: BalanceBy!, $filter: BalanceFilter, $names: [String!]) { balance(by: $by, filter: $filter, names: $names) {
    asOf { events behind positions } total { games wins }
    lines { name games wins smallSample winRate { value low high } pickRate uplift { value low high } price pricePerPoint farkleRate
        averageScore secondsPerTurn rollsPerTurn scores { from to count } turnSeconds { count } turnRolls { count } weeks { week games winRate { value } } } } }";

#[tokio::test(flavor = "multi_thread")]
async fn analysts_query_and_export_balance() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let ada = staff(&house, "analyst", &ann);
    for _ in 0..3 {
        last_line([&ann, &bob]).await;
    }
    let ask = async |question: Value| ada.ask(BALANCE, question).await["balance"].take();
    let positions = json!({ "by": "SEAT_POSITION", "filter": { "kind": "LAST_LINE" } });
    eventually("three games are counted", async || {
        ask(positions.clone()).await["total"]["games"] == 6
    })
    .await;
    let found = ask(positions).await;
    let lines = found["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{found}");
    assert_eq!(
        (&found["total"]["wins"], &found["asOf"]["positions"].as_array().unwrap().len()),
        (&json!(3), &64)
    );
    assert!(found["asOf"]["events"].as_i64().unwrap() > 20, "{found}");
    let sum = |field: &str| lines.iter().map(|line| line[field].as_f64().unwrap()).sum::<f64>();
    assert!((sum("wins") - 3.0).abs() < 1e-9 && (sum("pickRate") - 1.0).abs() < 1e-9, "{found}");
    for line in lines {
        assert_eq!((&line["games"], &line["smallSample"]), (&json!(3), &json!(true)));
        let rate = |end: &str| line["winRate"][end].as_f64().unwrap();
        assert!(
            rate("low") < rate("value").max(0.01) && rate("value").min(0.99) < rate("high"),
            "{line}"
        );
        let counted = |field: &str| {
            line[field]
                .as_array()
                .unwrap()
                .iter()
                .map(|bar| bar["count"].as_i64().unwrap())
                .sum::<i64>()
        };
        assert_eq!(counted("scores"), 3);
        assert!(counted("turnSeconds") >= 3 && counted("turnRolls") == counted("turnSeconds"));
        assert_eq!(line["weeks"][0]["games"], 3);
        assert_eq!(line["price"], Value::Null);
    }
    // A die that nobody played is shown with zero games.
    let die = ask(json!({ "by": "DIE", "names": ["MIDAS"] })).await;
    let midas = &die["lines"][0];
    assert_eq!(
        (&midas["games"], &midas["smallSample"], &midas["winRate"]),
        (&json!(0), &json!(true), &Value::Null)
    );
    assert!(midas["price"].as_i64().unwrap() > 0 && midas["pricePerPoint"].is_null(), "{midas}");
    let bands =
        ask(json!({ "by": "RATING_BAND", "filter": { "ratingBand": "PROVISIONAL" } })).await;
    assert_eq!(bands["lines"][0]["name"], "provisional");
    let long_ago =
        ask(json!({ "by": "GAME", "filter": { "from": "2020-01-01", "to": "2020-12-31" } })).await;
    assert_eq!((&long_ago["lines"], &long_ago["total"]["games"]), (&json!([]), &json!(0)));

    wrong_questions(&ada, &ann).await;
    exports(&house);
    is_read_only(&house).await;
}

/// Invalid queries are refused, and only analysts and admins may ask.
async fn wrong_questions(ada: &Player, ann: &Player) {
    for wrong in [
        json!({ "by": "DIE", "names": ["NONSENSE"] }),
        json!({ "by": "PAIR", "names": ["MIDAS"] }),
        json!({ "by": "PAIR", "names": ["MIDAS+NONSENSE"] }),
        json!({ "by": "DIE", "names": vec!["MIDAS"; 101] }),
        json!({ "by": "GAME", "filter": { "preset": "none" } }),
        json!({ "by": "GAME", "filter": { "preset": "classic" } }),
        json!({ "by": "GAME", "filter": { "kind": "FARKLE", "preset": "no\0ne" } }),
        json!({ "by": "GAME", "filter": { "tableSize": 0 } }),
        json!({ "by": "GAME", "filter": { "from": "2026-11-16", "to": "2026-11-15" } }),
    ] {
        assert_eq!(ada.error(BALANCE, wrong.clone()).await, "BAD_USER_INPUT", "{wrong}");
    }
    for written in ["2026-02-30", "yesterday", ""] {
        let wrong = json!({ "by": "GAME", "filter": { "from": written } });
        let code = ada.error(BALANCE, wrong).await;
        assert!(["BAD_USER_INPUT", "GRAPHQL_VALIDATION_FAILED"].contains(&&*code), "{code}");
    }
    assert_eq!(ann.error(BALANCE, json!({ "by": "GAME" })).await, "FORBIDDEN");
}

/// Exports: CSV with a header, NDJSON with one object per line.
fn exports(house: &House) {
    for (table, lines) in [("games", 3), ("seats", 6), ("statistics", 2), ("ratings", 2)] {
        let (code, csv, said) = house.croupier(&["export", table]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(csv.lines().count(), lines + 1, "{csv}");
        assert!(said.contains("up to event"), "{said}");
        let (code, json, said) = house.croupier(&["export", table, "--format", "ndjson"]);
        assert_eq!(code, 0, "{said}");
        let rows: Vec<Value> =
            json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), lines);
        assert!(rows.iter().all(|row| row["kind"] == "last_line"), "{json}");
    }
    for table in ["balance", "leaderboards"] {
        let (code, csv, said) = house.croupier(&["export", table, "--output", "table.csv"]);
        assert_eq!((code, csv.as_str()), (0, ""), "{said}");
    }
    let (code, none, _) = house.croupier(&["export", "seats", "--to", "2020-01-01"]);
    assert_eq!((code, none.lines().count()), (0, 1));
    for wrong in [
        &["export", "nonsense"][..],
        &["export", "seats", "--from", "2026-02-30"],
        &["export", "seats", "--from", "2026-11-16", "--to", "2026-11-15"],
        &["export", "statistics", "--from", "2026-11-16"],
        &["export", "seats", "--output", "no/such/folder/file.csv"],
    ] {
        let (code, _, said) = house.croupier(wrong);
        assert!(code == 2 && !said.is_empty(), "{wrong:?}: {said}");
    }
}

/// The analyst role can read every view, and nothing else.
async fn is_read_only(house: &House) {
    let mut connection = sqlx::PgConnection::connect(&house.url).await.unwrap();
    connection.execute("SET ROLE croupier_analyst").await.unwrap();
    for view in [
        "seat",
        "game",
        "balance",
        "player_statistics",
        "leaderboard",
        "rating",
        "season",
        "position",
    ] {
        let select = format!("SELECT * FROM analytics.{view}");
        connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(select))).await.unwrap();
    }
    for sql in [
        "SELECT * FROM event",
        "SELECT * FROM account",
        "DELETE FROM analytics.season",
        "CREATE TABLE analytics.mine ()",
    ] {
        let refused = connection.execute(sql).await.unwrap_err().to_string();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
    }
}

const NAME: &str = "mutation($code: String!, $title: String!, $from: Date!, $to: Date!) { nameSeason(input: { code: $code, title: $title, from: $from, to: $to }) {
    season { code title from to } userErrors { code field } } }";
const SEASON: &str = "query($season: String, $span: LeaderboardSpan!, $by: LeaderboardMeasure!, $preset: PresetName) {
    leaderboard(kind: LAST_LINE, by: $by, span: $span, season: $season, preset: $preset) { period preset page { nodes { rank games } } } }";

#[tokio::test(flavor = "multi_thread")]
async fn seasons_have_their_own_boards() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let root = staff(&house, "admin", &ann);
    last_line([&ann, &bob]).await;
    let board = async |season: &str, by: &str| {
        let asked = json!({ "season": season, "span": "SEASON", "by": by });
        ann.ask(SEASON, asked).await["leaderboard"].take()
    };
    eventually("the game is counted", async || {
        house.count("SELECT count(*) FROM analytics.leaderboard WHERE period = 'all'").await == 2
    })
    .await;
    // One in which the game was played already, and one that is over.
    let always =
        json!({ "code": "always", "title": "Always", "from": "2020-01-01", "to": "2029-12-31" });
    let named = root.ask(NAME, always.clone()).await["nameSeason"].take();
    assert_eq!((&named["season"], &named["userErrors"]), (&always, &json!([])), "{named}");
    let over = json!({ "code": "over", "title": "Over", "from": "2020-01-01", "to": "2020-12-31" });
    root.ask(NAME, over).await;
    eventually("the season is counted", async || {
        !board("always", "BEST_GAME").await["page"]["nodes"].as_array().unwrap().is_empty()
    })
    .await;
    let found = board("always", "BEST_GAME").await;
    assert_eq!(
        (&found["period"], found["page"]["nodes"].as_array().unwrap().len()),
        (&json!("season/always"), 2)
    );
    assert_eq!(board("over", "BEST_GAME").await["page"]["nodes"], json!([]));
    last_line([&ann, &bob]).await;
    eventually("the next game is counted too", async || {
        board("always", "BEST_GAME").await["page"]["nodes"][0]["games"] == 2
    })
    .await;
    let rated = board("always", "RATING").await;
    assert_eq!(
        (&rated["preset"], &rated["page"]["nodes"]),
        (&Value::Null, &json!([])),
        "all are provisional"
    );
    let all = ann.ask("{ seasons { code title } }", json!({})).await;
    assert_eq!(all["seasons"].as_array().unwrap().len(), 2);

    let again = root.ask(NAME, always.clone()).await;
    assert_eq!(
        again["nameSeason"]["userErrors"],
        json!([{ "code": "SEASON_EXISTS", "field": ["input", "code"] }])
    );
    assert_eq!(ann.error(NAME, always.clone()).await, "FORBIDDEN");
    for (field, value) in [
        ("code", json!("Winter")),
        ("code", json!("")),
        ("code", json!("a\0b")),
        ("title", json!("two\nlines")),
        ("to", json!("2019-12-31")),
        ("to", json!("2099-12-31")),
    ] {
        let mut wrong = always.clone();
        wrong["code"] = json!("another");
        wrong[field] = value;
        assert_eq!(root.error(NAME, wrong.clone()).await, "BAD_USER_INPUT", "{wrong}");
    }
    for wrong in [
        json!({ "span": "SEASON", "by": "WINS" }),
        json!({ "span": "SEASON", "by": "WINS", "season": "nonsense" }),
        json!({ "span": "SEASON", "by": "WINS", "season": "\0" }),
        json!({ "span": "DAILY", "by": "WINS", "season": "always" }),
        json!({ "span": "DAILY", "by": "RATING", "preset": "standard" }),
    ] {
        assert_eq!(ann.error(SEASON, wrong.clone()).await, "BAD_USER_INPUT", "{wrong}");
    }
}
