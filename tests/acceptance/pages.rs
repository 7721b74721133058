//! Pages of every kind of list, forward and backward.

use serde_json::{Value, json};

use crate::{read_models::last_line, replay::staff, support::*};

/// Reads a list in pages of two, forward and backward: both give all items in the same order.
/// `list` has the four arguments of a page; `at` is the path of the connection.
async fn check_pages(who: &Player, list: &str, at: &str, asked: Value) -> usize {
    let arguments = "$first: Int, $after: String, $last: Int, $before: String";
    let list = list.replace("PAGES", "first: $first, after: $after, last: $last, before: $before");
    let list = list.replace("ARGUMENTS", arguments).replace(
        "NODES",
        "nodes { __typename } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }",
    );
    let page = async |wanted: Value| {
        let mut variables = asked.clone();
        variables.as_object_mut().unwrap().extend(wanted.as_object().unwrap().clone());
        who.ask(&list, variables).await.pointer_mut(at).unwrap().take()
    };
    let cursors = |page: &Value| -> Vec<Value> {
        page["edges"].as_array().unwrap().iter().map(|edge| edge["cursor"].clone()).collect()
    };
    let (mut forward, mut after) = (Vec::new(), Value::Null);
    loop {
        let next = page(json!({ "first": 2, "after": after })).await;
        assert_eq!(next["pageInfo"]["hasPreviousPage"], !forward.is_empty(), "{at}: {next}");
        forward.extend(cursors(&next));
        after = next["pageInfo"]["endCursor"].clone();
        if next["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    let (mut backward, mut before) = (Vec::new(), Value::Null);
    loop {
        let previous = page(json!({ "last": 2, "before": before })).await;
        assert_eq!(previous["pageInfo"]["hasNextPage"], !backward.is_empty(), "{at}: {previous}");
        backward.splice(0..0, cursors(&previous));
        before = previous["pageInfo"]["startCursor"].clone();
        if previous["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
    }
    assert_eq!(forward, backward, "{at}");
    forward.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_is_read_in_both_directions() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (sue, ada) = (staff(&house, "support", "Sue", &ann), staff(&house, "admin", "Ada", &ann));
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    play_out([&ann, &bob], &game, table).await;
    let open = "mutation($game: ID!, $version: Int!) { openDispute(input: { gameId: $game, version: $version, text: \"no\" }) { userErrors { code } } }";
    for version in 1..=5 {
        ann.ask(open, json!({ "game": game, "version": version })).await;
    }
    eventually("all disputes are listed", async || {
        let listed = sue.ask("{ disputes { totalCount } }", json!({})).await;
        listed["disputes"]["totalCount"] == 5
    })
    .await;
    let check = async |who: &Player, list: &str, at: &str, least: usize| {
        let items = check_pages(who, list, at, json!({})).await;
        assert!(items >= least, "{at}: {items}");
    };
    check(&sue, "query(ARGUMENTS) { disputes(PAGES) { NODES } }", "/disputes", 5).await;
    check(&ann, "query(ARGUMENTS) { myDisputes(PAGES) { NODES } }", "/myDisputes", 5).await;
    check(&ada, "query(ARGUMENTS) { auditLog(PAGES) { NODES } }", "/auditLog", 5).await;
    let replay = format!(
        "query(ARGUMENTS) {{ replay(gameId: \"{game}\") {{ entries(PAGES) {{ NODES }} }} }}"
    );
    check(&sue, &replay, "/replay/entries", 5).await;
    let events =
        format!("query(ARGUMENTS) {{ game(id: \"{game}\") {{ events(PAGES) {{ NODES }} }} }}");
    check(&ann, &events, "/game/events", 5).await;
    // A board with four players, and their money.
    let players = [node.guest("C").await, node.guest("D").await, node.guest("E").await];
    for player in &players {
        last_line([player, &bob]).await;
    }
    let board = "query(ARGUMENTS) { leaderboard(kind: LAST_LINE, by: BEST_GAME) { page(PAGES) { NODES } } }";
    eventually("all players are on the board", async || {
        let size = "{ leaderboard(kind: LAST_LINE, by: BEST_GAME) { page { totalCount } } }";
        ann.ask(size, json!({})).await["leaderboard"]["page"]["totalCount"] == 4
    })
    .await;
    check(&ann, board, "/leaderboard/page", 4).await;
    let ledger = "query(ARGUMENTS) { viewer { wallet { ledger(PAGES) { NODES } } } }";
    eventually("money is paid", async || {
        let listed = bob.ask("{ viewer { wallet { ledger { totalCount } } } }", json!({})).await;
        listed["viewer"]["wallet"]["ledger"]["totalCount"].as_i64() >= Some(3)
    })
    .await;
    check(&bob, ledger, "/viewer/wallet/ledger", 3).await;
}
