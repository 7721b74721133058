//! Read models: statistics, leaderboards and ratings.

use serde_json::{Value, json};

use crate::support::*;

const STATISTICS: &str = "{ viewer { statistics(kind: LAST_LINE) { kind preset games wins left streak bestStreak averageGame bestGame turns
    farkleRate secondsPerTurn money mostCommonCombination dice { code } } } }";

/// Plays a game of Last Line to its end.
pub(crate) async fn last_line(players: [&Player; 2]) -> Value {
    let create =
        "mutation { createGame(input: { rules: { other: { kind: LAST_LINE } } }) { game { id } } }";
    let created = players[0].ask(create, json!({})).await;
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    accepted(players[1].act("joinGame", &game).await);
    accepted(players[0].act("startGame", &game).await);
    let look = "query($game: ID!) { game(id: $game) { toMove { number } outcome { winners { number } scores } } }";
    loop {
        let mut table = players[0].ask(look, json!({ "game": game })).await["game"].take();
        match table["toMove"]["number"].as_u64() {
            Some(number) => {
                accepted(players[usize::try_from(number).unwrap()].act("roll", &game).await);
            }
            None => return table["outcome"].take(),
        }
    }
}

/// Games are counted shortly after they end; a rebuild changes nothing, and reads never stop.
#[tokio::test(flavor = "multi_thread")]
async fn statistics_are_updated_and_rebuilt_without_downtime() {
    let house = House::new().await;
    let nodes = [house.node(&[]), house.node(&[])];
    let (ann, bob) = (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await);
    let (mut wins, mut best) = (0, 0);
    for _ in 0..3 {
        let outcome = last_line([&ann, &bob]).await;
        wins += u32::from(outcome["winners"][0]["number"] == 0);
        best = best.max(outcome["scores"][0].as_i64().unwrap());
    }
    let statistics =
        async || ann.ask(STATISTICS, json!({})).await["viewer"]["statistics"][0].clone();
    eventually("three games are counted", async || statistics().await["games"] == 3).await;
    let before = statistics().await;
    assert_eq!((&before["wins"], &before["bestGame"]), (&json!(wins), &json!(best)), "{before}");
    assert_eq!((&before["preset"], &before["left"]), (&json!("standard"), &json!(0)));
    assert_eq!(before["money"], json!(3 * 3 + 5 * wins), "{before}");

    let (code, said, wrong) = house.croupier(&["processors", "rebuild", "player_statistics"]);
    assert_eq!(code, 0, "{said}{wrong}");
    assert!(
        said.contains("all rows equal the live ones") && said.contains("generation 2"),
        "{said}"
    );
    assert_eq!(statistics().await, before);
    // The nodes continue with the new generation.
    last_line([&ann, &bob]).await;
    eventually("the fourth game is counted", async || statistics().await["games"] == 4).await;
    let (code, said, _) = house.croupier(&["processors", "verify", "player_statistics"]);
    assert_eq!(code, 0, "{said}");
    let (code, said, _) = house.croupier(&["processors", "status"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("player_statistics") && said.contains("old"), "{said}");
    let (code, said, _) = house.croupier(&["processors", "rollback", "player_statistics"]);
    assert_eq!((code, said.contains("generation 1")), (0, true), "{said}");
    eventually("the old one catches up", async || statistics().await["games"] == 4).await;
    let (code, said, _) = house.croupier(&["processors", "rebuild", "nonsense"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there are: game_index, payouts, remedies"), "{said}");
}

const BOARD: &str = "query($game: GameKind!, $preset: PresetName, $by: LeaderboardMeasure!, $span: LeaderboardSpan!, $ago: Int!, $first: Int, $after: String) {
    leaderboard(kind: $game, preset: $preset, by: $by, span: $span, ago: $ago) { period
        page(first: $first, after: $after) { nodes { rank value games player { name } } pageInfo { endCursor hasNextPage } }
        aroundMe(each: 1) { rank value player { name } } } }";

fn asked(game: &str, by: &str, span: &str) -> Value {
    json!({ "game": game, "by": by, "span": span, "ago": 0, "first": 1 })
}

/// Boards are updated shortly after a game, and paginated; invalid queries are refused with a
/// reason.
#[tokio::test(flavor = "multi_thread")]
async fn leaderboards_rank_players() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let mut wins = [0, 0];
    for _ in 0..3 {
        let outcome = last_line([&ann, &bob]).await;
        wins[usize::try_from(outcome["winners"][0]["number"].as_u64().unwrap()).unwrap()] += 1;
    }
    let (best, name) = if wins[0] > wins[1] { (wins[0], "Ann") } else { (wins[1], "Bob") };
    let mut question = asked("LAST_LINE", "WINS", "WEEKLY");
    let look =
        async |question: &Value| ann.ask(BOARD, question.clone()).await["leaderboard"].take();
    eventually("three games are counted", async || {
        look(&question).await["page"]["nodes"][0]["games"] == 3
    })
    .await;
    let first = look(&question).await;
    let top =
        json!({ "rank": 1, "value": f64::from(best), "games": 3, "player": { "name": name } });
    assert_eq!(first["page"]["nodes"], json!([top]), "{first}");
    assert!(first["period"].as_str().unwrap().contains("-W"), "{first}");
    let more = best < 3;
    assert_eq!(first["page"]["pageInfo"]["hasNextPage"], more, "{first}");
    question["after"] = first["page"]["pageInfo"]["endCursor"].clone();
    let second = look(&question).await;
    assert_eq!(second["page"]["nodes"].as_array().unwrap().len(), usize::from(more), "{second}");
    assert!(
        look(&asked("LAST_LINE", "AVERAGE", "ALL_TIME")).await["page"]["nodes"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let mut earlier = asked("LAST_LINE", "BEST_GAME", "MONTHLY");
    earlier["ago"] = json!(1);
    assert_eq!(look(&earlier).await["page"]["nodes"], json!([]));

    // The player who won more is rated higher; after a few games ratings are provisional.
    let rated = "{ viewer { ratings { kind value deviation provisional } } }";
    eventually("both are rated", async || {
        let (ann, bob) = (ann.ask(rated, json!({})).await, bob.ask(rated, json!({})).await);
        let [ann, bob] = [ann, bob].map(|me| me["viewer"]["ratings"][0].clone());
        let [a, b] = [&ann, &bob].map(|r| r["value"].as_f64().unwrap_or(0.0));
        ann["kind"] == "LAST_LINE"
            && ann["provisional"] == true
            && (a > b) == (wins[0] > wins[1])
            && (a + b - 3000.0).abs() < 0.001
    })
    .await;

    // A cursor of another board, a forged one, sizes and spans that do not exist, unknown games.
    let mut wrong = vec![asked("LAST_LINE", "WINS", "DAILY")];
    wrong[0]["after"] = question["after"].clone();
    for (field, value) in [
        ("after", json!("bm9uc2Vuc2U")),
        ("after", json!("\0")),
        ("first", json!(0)),
        ("first", json!(101)),
        ("ago", json!(-1)),
        ("ago", json!(100_000)),
        ("preset", json!("nonsense\0")),
    ] {
        let mut question = asked("LAST_LINE", "WINS", "WEEKLY");
        question[field] = value;
        wrong.push(question);
    }
    for question in wrong {
        assert_eq!(ann.error(BOARD, question.clone()).await, "BAD_USER_INPUT", "{question}");
    }
}

/// Ids that are not players, too many of them, a range that is too large, invalid names.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_queries_about_players_are_refused() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let stranger = "query($players: [ID!]!) { leaderboard(kind: LAST_LINE, by: WINS) { among(players: $players) { rank } } }";
    assert_eq!(ann.error(stranger, json!({ "players": ["nobody"] })).await, "BAD_USER_INPUT");
    let crowd = vec![ann.id.as_str(); 101];
    assert_eq!(ann.error(stranger, json!({ "players": crowd })).await, "BAD_USER_INPUT");
    for each in [-1, 51] {
        let around = "query($each: Int!) { leaderboard(kind: LAST_LINE, by: WINS) { aroundMe(each: $each) { rank } } }";
        assert_eq!(ann.error(around, json!({ "each": each })).await, "BAD_USER_INPUT", "{each}");
    }
    let lobby = "query($name: PresetName) { lobby(preset: $name) { nodes { id } } }";
    assert_eq!(ann.ask(lobby, json!({ "name": "\0" })).await["lobby"]["nodes"], json!([]));
}

/// Zero Hour counts down: the lowest score is the best.
#[tokio::test(flavor = "multi_thread")]
async fn lower_scores_rank_higher_in_games_that_count_down() {
    let house = House::new().await;
    let node = house.node(&[]);
    let players = [node.guest("Ann").await, node.guest("Bob").await];
    let created = players[0]
        .ask("mutation { createGame(input: { rules: { other: { kind: ZERO_HOUR } } }) { game { id } } }", json!({}))
        .await;
    let game = created["createGame"]["game"]["id"].as_str().unwrap().to_owned();
    accepted(players[1].act("joinGame", &game).await);
    accepted(players[0].act("startGame", &game).await);
    let look = "query($game: ID!) { game(id: $game) { toMove { number } legalMoves { __typename } outcome { winners { number } scores } } }";
    let outcome = loop {
        let mut table = players[0].ask(look, json!({ "game": game })).await["game"].take();
        let Some(number) = table["toMove"]["number"].as_u64() else {
            break table["outcome"].take();
        };
        let legal = table["legalMoves"].as_array().unwrap();
        let bank = legal.iter().any(|legal| legal["__typename"] == "LegalBank");
        let player = &players[usize::try_from(number).unwrap()];
        accepted(player.act(if bank { "bank" } else { "roll" }, &game).await);
    };
    let winner = usize::try_from(outcome["winners"][0]["number"].as_u64().unwrap()).unwrap();
    let board = "{ leaderboard(kind: ZERO_HOUR, by: BEST_GAME) { page { nodes { rank value player { name } } } } }";
    let nodes =
        async || players[0].ask(board, json!({})).await["leaderboard"]["page"]["nodes"].take();
    eventually("both are ranked", async || nodes().await.as_array().unwrap().len() == 2).await;
    let names = ["Ann", "Bob"];
    let rows = [winner, 1 - winner].map(|seat| (&outcome["scores"][seat], names[seat]));
    let rows = [(1, rows[0]), (2, rows[1])].map(|(rank, (score, name))| {
        json!({ "rank": rank, "value": score.as_f64().unwrap(), "player": { "name": name } })
    });
    assert_eq!(nodes().await, json!(rows));
    assert_eq!(outcome["scores"][winner], 0);
    let best = "{ viewer { statistics(kind: ZERO_HOUR) { bestGame } } }";
    eventually("nothing left is the best game", async || {
        players[winner].ask(best, json!({})).await["viewer"]["statistics"][0]["bestGame"] == 0
    })
    .await;
}
