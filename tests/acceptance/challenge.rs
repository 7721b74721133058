//! Games with special dice, and the money they earn.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{Connection, Executor};

use crate::{
    shop::{balance, challenge, me, trade},
    support::*,
};

const TABLE: &str = "{ game { id version stage toMove { number } bestSelection { slots points canBank scoreBreakdown bankPoints money }
    dice { slot code } seats { dice money state { ... on FarkleSeat { turnScore multiplier roundScore unbankedPoints hotCounter dareBonus farklesInARow
    diceSaved } } } ruleset { practice specialDice { code tooltip } } } events { version type summary scoreBreakdown } repeated userErrors { code message field } }";

async fn choose(player: &Player, game: &str, dice: &[&str]) -> Value {
    let query = format!(
        "mutation($game: ID!, $dice: [DieCode!]) {{ chooseLoadout(input: {{ gameId: $game, dice: $dice }}) {TABLE} }}"
    );
    player.ask(&query, json!({ "game": game, "dice": dice })).await["chooseLoadout"].take()
}

async fn stock(player: &Player, dice: &[&str]) {
    for code in dice {
        let bought = trade(player, "buyDie", code, json!({})).await;
        assert_eq!(bought["userErrors"], json!([]), "{bought}");
    }
}

/// The money awarded to a seat, according to the log.
async fn awarded(house: &House, game: &str, seat: u8) -> i64 {
    let game = game.trim_start_matches("game:");
    house
        .count(&format!(
            "SELECT coalesce(sum((payload->>'amount')::int), 0)::bigint FROM event
        WHERE stream = '{game}' AND type = 'MoneyAwarded' AND (payload->>'seat')::int = {seat}"
        ))
        .await
}

/// Plays to the end, sometimes rolling on, so that there are farkles and hot dice; returns all
/// score breakdowns.
async fn play_boldly(players: [&Player; 2], game: &str, mut table: Value) -> Vec<String> {
    let see =
        "query($game: ID!) { game(id: $game) { lastAction { events { type scoreBreakdown } } } }";
    let mut lines = Vec::new();
    while table["stage"] != "ENDED" {
        let mover = players[usize::from(table["toMove"]["number"] != 0)];
        let best = &table["bestSelection"];
        let bank = best["canBank"] == true && table["version"].as_i64().unwrap() % 3 > 0;
        let (verb, more) = match (best["slots"].as_array(), bank) {
            (Some(slots), true) => ("bank", json!({ "slots": slots })),
            (Some(slots), false) => ("save", json!({ "slots": slots })),
            (None, _) => ("roll", json!({})),
        };
        table = accepted(mover.act_with(verb, game, more).await)["game"].clone();
        let shown = mover.ask(see, json!({ "game": game })).await;
        let events = shown["game"]["lastAction"]["events"].as_array().unwrap();
        let shown = events.iter().flat_map(|event| event["scoreBreakdown"].as_array().unwrap());
        lines.extend(shown.map(|line| line.as_str().unwrap().to_owned()));
    }
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_is_played_with_own_dice_and_credits_the_wallets() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    stock(&ann, &["MIDAS", "FARK$", "DOUBLE", "HOT"]).await;
    let game = challenge(&ann).await;
    accepted(bob.act("joinGame", &game).await);
    let chosen = accepted(choose(&ann, &game, &["MIDAS", "FARK$", "DOUBLE", "HOT"]).await);
    assert_eq!(chosen["events"][0]["type"], "LOADOUT_CHOSEN");
    assert_eq!(
        chosen["game"]["seats"][0]["dice"],
        json!(["MIDAS", "FARK$", "DOUBLE", "HOT", "STANDARD", "STANDARD"])
    );
    let texts = chosen["game"]["ruleset"]["specialDice"].as_array().unwrap();
    assert!(
        texts.iter().any(|die| die["tooltip"] == "Every farkle adds 200 to your next bank."),
        "{texts:?}"
    );
    let items = me(&ann).await["inventory"].take();
    assert!(
        items
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["locked"] == 1 && item["equippedIn"] == json!([game])),
        "{items}"
    );
    assert_eq!(
        trade(&ann, "sellDie", "MIDAS", json!({})).await["userErrors"][0]["code"],
        "DIE_LOCKED"
    );

    let table = accepted(bob.act("startGame", &game).await)["game"].clone();
    let lines = play_boldly([&ann, &bob], &game, table).await;
    assert!(lines.iter().any(|line| line.contains(" × 2 = ")), "{lines:?}");
    let earned = [awarded(&house, &game, 0).await, awarded(&house, &game, 1).await];
    assert!(earned[0] > 8 && earned[1] >= 3, "{earned:?}");
    // 100 less MIDAS 6, FARK$ 3, DOUBLE 10, HOT 5.
    eventually("wallets are credited", async || {
        balance(&ann).await == 76 + earned[0] && balance(&bob).await == 100 + earned[1]
    })
    .await;
    eventually("dice are free", async || me(&ann).await["inventory"][0]["locked"] == 0).await;
    assert_eq!(trade(&ann, "sellDie", "MIDAS", json!({})).await["userErrors"], json!([]));
    house.prove(&game);
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
    the_ledger_refers_to_the_game(&ann, &game, earned[0]).await;
}

/// Each entry of the ledger refers to the event that awarded it.
async fn the_ledger_refers_to_the_game(ann: &Player, game: &str, earned: i64) {
    let ledger = "{ viewer { wallet { ledger(first: 100) { nodes { reason gameId gameVersion change code } } } } }";
    let nodes = ann.ask(ledger, json!({})).await["viewer"]["wallet"]["ledger"]["nodes"].take();
    let won: Vec<&Value> =
        nodes.as_array().unwrap().iter().filter(|line| line["gameId"] == json!(game)).collect();
    assert_eq!(won.iter().map(|line| line["change"].as_i64().unwrap()).sum::<i64>(), earned);
    let event = "query($game: ID!, $after: String) { game(id: $game) { events(first: 1, after: $after) { nodes { version type } } } }";
    for line in &won {
        let version = line["gameVersion"].as_i64().unwrap();
        let after = json!({ "game": game, "after": (version - 1).to_string() });
        assert_eq!(
            ann.ask(event, after).await["game"]["events"]["nodes"][0]["type"],
            "MONEY_AWARDED"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_loadouts_are_refused() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let (ann, eve) = (node.guest("Ann").await, node.guest("Eve").await);
    stock(&ann, &["FIVES"; 6]).await;
    let game = challenge(&ann).await;
    let code = async |player: &Player, dice: &[&str]| {
        choose(player, &game, dice).await["userErrors"]
            .get(0)
            .map_or(Value::Null, |error| error["code"].clone())
    };
    assert_eq!(code(&ann, &["PHOENIX"]).await, "NOT_OWNED");
    assert_eq!(code(&ann, &["FIVES"; 7]).await, "TOO_MANY_DICE");
    assert_eq!(code(&ann, &["FIVES"; 6]).await, "ENDLESS_LOADOUT");
    assert_eq!(code(&ann, &["WILD"]).await, "UNKNOWN_DIE");
    assert_eq!(code(&eve, &["STANDARD"]).await, "NOT_SEATED");
    assert_eq!(me(&ann).await["inventory"][0]["locked"], 0, "a refusal locks nothing");
    assert_eq!(code(&ann, &["FIVES"; 5]).await, Value::Null);
    assert_eq!(me(&ann).await["inventory"][0]["locked"], 5);
    // One of six may be sold, another one not.
    assert_eq!(trade(&ann, "sellDie", "FIVES", json!({})).await["userErrors"], json!([]));
    assert_eq!(
        trade(&ann, "sellDie", "FIVES", json!({})).await["userErrors"][0]["code"],
        "DIE_LOCKED"
    );
    // A chosen die stays locked until the game starts.
    assert_eq!(code(&ann, &["FIVES"]).await, Value::Null);
    assert_eq!(code(&ann, &[]).await, Value::Null);
    assert_eq!(me(&ann).await["inventory"][0]["locked"], 5);
    // By the name of a loadout.
    let save = "mutation { saveLoadout(input: { name: \"fives\", dice: [\"FIVES\", \"FIVES\"] }) { userErrors { code } } }";
    ann.ask(save, json!({})).await;
    let by_name = "mutation($game: ID!, $name: String) { chooseLoadout(input: { gameId: $game, loadout: $name }) { game { mySeat { dice } } userErrors { code } } }";
    let chosen =
        ann.ask(by_name, json!({ "game": game, "name": "fives" })).await["chooseLoadout"].take();
    assert_eq!(chosen["game"]["mySeat"]["dice"][1], "FIVES");
    let missing =
        ann.ask(by_name, json!({ "game": game, "name": "sixes" })).await["chooseLoadout"].take();
    assert_eq!(missing["userErrors"][0]["code"], "NO_SUCH_LOADOUT");
    let both = "mutation($game: ID!) { chooseLoadout(input: { gameId: $game, loadout: \"fives\", dice: [] }) { userErrors { code } } }";
    assert_eq!(ann.error(both, json!({ "game": game })).await, "BAD_USER_INPUT");
    accepted(ann.act("startGame", &game).await);
    assert_eq!(code(&ann, &[]).await, "ALREADY_STARTED");
    eventually("dice in use stay locked, the rest is free", async || {
        me(&ann).await["inventory"][0]["locked"] == 2
    })
    .await;
    let classic = ann.create(json!({})).await;
    assert_eq!(
        choose(&ann, &classic, &["FIVES"]).await["userErrors"][0]["code"],
        "NO_SPECIAL_DICE"
    );
}

/// A refused command locks nothing later: a player who sold the dice in between plays without them.
#[tokio::test(flavor = "multi_thread")]
async fn sold_dice_cannot_be_played() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let ann = node.guest("Ann").await;
    stock(&ann, &["TRIPLE"]).await;
    let game = challenge(&ann).await;
    let id = uuid::Uuid::now_v7();
    let choose = "mutation($game: ID!, $id: UUID, $version: Int, $dice: [DieCode!]) { chooseLoadout(input: { command: { id: $id, expectedVersion: $version }, gameId: $game, dice: $dice }) { game { mySeat { dice } } userErrors { code field } } }";
    let ask = async |version: Value, dice: Value| {
        let variables = json!({ "game": game, "id": id, "version": version, "dice": dice });
        ann.ask(choose, variables).await["chooseLoadout"].take()
    };
    assert_eq!(ask(json!(999), json!(["TRIPLE"])).await["userErrors"][0]["code"], "STALE_VERSION");
    assert_eq!(
        trade(&ann, "sellDie", "TRIPLE", json!({})).await["userErrors"],
        json!([]),
        "nothing is locked"
    );
    assert_eq!(ask(Value::Null, json!(["TRIPLE"])).await["userErrors"][0]["code"], "NOT_OWNED");
    let unknown = ask(Value::Null, json!(["WILD"])).await["userErrors"][0].take();
    assert_eq!(unknown, json!({ "code": "UNKNOWN_DIE", "field": ["input", "dice"] }));
    // Bought again and chosen; then an empty choice with a stale version: the die stays locked all
    // the time.
    stock(&ann, &["TRIPLE"]).await;
    let chosen = ask(Value::Null, json!(["TRIPLE"])).await;
    assert_eq!(chosen["game"]["mySeat"]["dice"][0], "TRIPLE", "{chosen}");
    let stale = "mutation($game: ID!) { chooseLoadout(input: { command: { expectedVersion: 1 }, gameId: $game, dice: [] }) { userErrors { code } } }";
    for _ in 0..10 {
        let (tried, sold) = tokio::join!(
            ann.ask(stale, json!({ "game": game })),
            trade(&ann, "sellDie", "TRIPLE", json!({}))
        );
        assert_eq!(tried["chooseLoadout"]["userErrors"][0]["code"], "STALE_VERSION");
        assert_eq!(sold["userErrors"][0]["code"], "DIE_LOCKED");
    }
    accepted(ann.act("startGame", &game).await);
    assert_eq!(
        trade(&ann, "sellDie", "TRIPLE", json!({})).await["userErrors"][0]["code"],
        "DIE_LOCKED"
    );
    // A client may set the limits of a loadout in its rules, by the codes of dice.
    let limits = "mutation($rules: JSON) { createGame(input: { rules: { farkle: { preset: \"challenge-standard\", custom: $rules } } }) { game { id ruleset { parameters } } userErrors { code } } }";
    let rules = json!({ "loadoutLimits": { "mostCopies": { "TRIPLE": 0 } } });
    let strict = ann.ask(limits, json!({ "rules": rules })).await["createGame"]["game"].take();
    assert_eq!(
        strict["ruleset"]["parameters"]["loadoutLimits"]["mostCopies"],
        json!({ "TRIPLE": 0 })
    );
    let refused = choose_at(&ann, &strict["id"]).await;
    assert_eq!(refused["userErrors"][0]["code"], "TOO_MANY_COPIES");
}

async fn choose_at(player: &Player, game: &Value) -> Value {
    choose(player, game.as_str().unwrap(), &["TRIPLE"]).await
}

/// A player who leaves before the start gets the dice back; the next player on the seat has
/// ordinary ones.
#[tokio::test(flavor = "multi_thread")]
async fn dice_are_unlocked_when_leaving_a_table() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    stock(&ann, &["PHOENIX"]).await;
    let game = challenge(&ann).await;
    accepted(choose(&ann, &game, &["PHOENIX"]).await);
    assert_eq!(me(&ann).await["inventory"][0]["locked"], 1);
    accepted(ann.act("leaveGame", &game).await);
    eventually("dice are free", async || me(&ann).await["inventory"][0]["locked"] == 0).await;
    let joined = accepted(bob.act("joinGame", &game).await);
    assert_eq!(joined["game"]["toMove"], Value::Null);
    let seats = "query($game: ID!) { game(id: $game) { seats { dice } } }";
    let dice = bob.ask(seats, json!({ "game": game })).await["game"]["seats"][0]["dice"].take();
    assert_eq!(dice, json!(vec!["STANDARD"; 6]));
}

/// Quick match brings dice along, so that nobody waits for a choice.
#[tokio::test(flavor = "multi_thread")]
async fn quick_match_brings_dice_along() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    stock(&ann, &["HEAVY"]).await;
    let query = "mutation($dice: [DieCode!]) { quickMatch(input: { rules: { farkle: { preset: \"competitive\" } }, dice: $dice }) { game { id stage seats { dice } } userErrors { code } } }";
    let refused = bob.ask(query, json!({ "dice": ["HEAVY"] })).await["quickMatch"].take();
    assert_eq!(refused["userErrors"][0]["code"], "NOT_OWNED");
    let waits = ann.ask(query, json!({ "dice": ["HEAVY"] })).await["quickMatch"].take();
    assert_eq!(waits["game"]["seats"][0]["dice"][0], "HEAVY", "{waits}");
    let begun = bob.ask(query, json!({ "dice": null })).await["quickMatch"].take();
    assert_eq!(
        (&begun["game"]["stage"], &begun["game"]["id"]),
        (&json!("PLAYING"), &waits["game"]["id"])
    );
}

/// Custom rules are practice games: players cannot set prizes for themselves.
#[tokio::test(flavor = "multi_thread")]
async fn custom_rules_pay_nothing() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    let (game, table) = begun([&ann, &bob], json!({ "target": 500, "winAward": 1000 })).await;
    play_out([&ann, &bob], &game, table).await;
    assert_eq!(awarded(&house, &game, 0).await + awarded(&house, &game, 1).await, 0);
    let own = "mutation($rules: JSON) { createGame(input: { rules: { farkle: { preset: \"challenge-standard\", custom: $rules } } }) { game { ruleset { practice preset } } userErrors { code field } } }";
    let clock = ann.ask(own, json!({ "rules": { "turnSeconds": 60 } })).await["createGame"].take();
    assert_eq!(clock["game"]["ruleset"], json!({ "practice": false, "preset": "custom" }));
    let dice = ann
        .ask(own, json!({ "rules": { "catalogue": { "version": 1, "dice": [] } } }))
        .await["createGame"]
        .take();
    assert_eq!(
        (&dice["userErrors"][0]["code"], &dice["userErrors"][0]["field"]),
        (&json!("BAD_RULE"), &json!(["input", "rules", "farkle"]))
    );
}

/// Plays challenges on any running node until told to stop.
async fn keep_playing(
    ann: Player,
    bob: Player,
    nodes: std::sync::Arc<std::sync::Mutex<Vec<std::net::SocketAddr>>>,
    until: Instant,
) {
    let at = |player: &Player, n: usize| {
        let nodes = nodes.lock().unwrap();
        Player { address: nodes[n % nodes.len()], ..player.clone() }
    };
    let roll = "mutation($game: ID!) { roll: play(input: { gameId: $game, move: { roll: {} } }) { game { stage } userErrors { code } } }";
    let see = "query($game: ID!) { game(id: $game) { stage toMove { number } bestSelection { slots } dice { place } } }";
    let mut n = 0;
    let mut game: Option<String> = None;
    while Instant::now() < until {
        n += 1;
        let (ann, bob) = (at(&ann, n), at(&bob, n));
        let ask = async |player: &Player, query: &str, variables: Value| {
            let mut http =
                client::Http::connect(player.address).await.ok()?.with_token(&player.token);
            http.ask(query, variables).await.ok()
        };
        let Some(id) = game.clone() else {
            let open = "mutation { createGame(input: { rules: { farkle: { preset: \"challenge-standard\" } } }) { game { id } } }";
            let Some(opened) = ask(&ann, open, json!({})).await else { continue };
            let id = opened["createGame"]["game"]["id"].as_str().unwrap().to_owned();
            let variables = json!({ "game": id });
            let steps = [
                (
                    &bob,
                    "mutation($game: ID!) { joinGame(input: { gameId: $game }) { userErrors { code } } }",
                ),
                (
                    &ann,
                    "mutation($game: ID!) { chooseLoadout(input: { gameId: $game, dice: [\"MIDAS\", \"FARK$\"] }) { userErrors { code } } }",
                ),
                (
                    &ann,
                    "mutation($game: ID!) { startGame(input: { gameId: $game }) { userErrors { code } } }",
                ),
            ];
            let mut fine = true;
            for (player, step) in steps {
                fine &= ask(player, step, variables.clone()).await.is_some();
            }
            game = fine.then_some(id);
            continue;
        };
        let variables = json!({ "game": id });
        let Some(seen) = ask(&ann, see, variables.clone()).await else { continue };
        let table = &seen["game"];
        if table["stage"] != "PLAYING" {
            game = None;
            continue;
        }
        let mover = if table["toMove"]["number"] == 0 { &ann } else { &bob };
        let slots = &table["bestSelection"]["slots"];
        if slots.is_array() {
            let verb =
                if n % 3 == 0 { "save: { slots: $slots }" } else { "bank: { saveSlots: $slots }" };
            let query = format!(
                "mutation($game: ID!, $slots: [Int!]!) {{ play(input: {{ gameId: $game, move: {{ {verb} }} }}) {{ userErrors {{ code }} }} }}"
            );
            ask(mover, &query, json!({ "game": id, "slots": slots })).await;
        } else {
            ask(mover, roll, variables).await;
        }
    }
}

/// Nodes are killed repeatedly in the middle of awards: afterwards every ledger is exact.
#[tokio::test(flavor = "multi_thread")]
async fn awards_are_credited_once_despite_crashes() {
    let house = House::new().await;
    let mut nodes =
        vec![house.node(&["--first-money", "100"]), house.node(&["--first-money", "100"])];
    let addresses =
        std::sync::Arc::new(std::sync::Mutex::new(vec![nodes[0].address, nodes[1].address]));
    let mut players = Vec::new();
    let until = Instant::now() + Duration::from_secs(12);
    let mut tasks = Vec::new();
    for pair in 0..4 {
        let ann = nodes[0].guest(&format!("Ann {pair}")).await;
        let bob = nodes[0].guest(&format!("Bob {pair}")).await;
        stock(&ann, &["MIDAS", "FARK$"]).await;
        tasks.push(tokio::spawn(keep_playing(ann.clone(), bob.clone(), addresses.clone(), until)));
        players.extend([(ann, 91), (bob, 100)]);
    }
    let mut kills = 0;
    while Instant::now() + Duration::from_secs(2) < until {
        tokio::time::sleep(Duration::from_millis(1100)).await;
        nodes.remove(0).kill();
        kills += 1;
        nodes.push(house.node(&["--first-money", "100"]));
        *addresses.lock().unwrap() = nodes.iter().map(|node| node.address).collect();
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(kills >= 5, "{kills}");
    let awards = house.count("SELECT count(*) FROM event WHERE type = 'MoneyAwarded'").await;
    assert!(awards > 100, "{awards} awards");
    eventually("everything is paid out", async || {
        house.count("SELECT count(*) FROM event WHERE type = 'MoneyCredited'").await == awards
    })
    .await;
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("{awards} awards of games, each credited once")), "{said}");
    // In order: within a game, no later award was credited before an earlier one.
    let overtaken = "SELECT count(*) FROM event a JOIN event b ON b.stream = a.stream AND b.type = a.type AND b.version > a.version
        WHERE a.type = 'MoneyCredited' AND a.payload->>'game' = b.payload->>'game'
          AND (a.payload->>'event')::int > (b.payload->>'event')::int";
    assert_eq!(house.count(overtaken).await, 0);
    for (player, first) in players {
        let id = player.id.trim_start_matches("player:");
        let earned = house.count(&format!("SELECT coalesce(sum((a.payload->>'amount')::int), 0)::bigint FROM event a
            JOIN event s ON s.stream = a.stream AND s.type = 'SeatTaken' AND s.payload->>'seat' = a.payload->>'seat'
            WHERE a.type = 'MoneyAwarded' AND s.payload->>'player' = '{id}'")).await;
        assert_eq!(balance(&player.at(&nodes[0])).await, first + earned);
    }
    assert_eq!(house.croupier(&["verify", "--all"]).0, 0);
}

/// A wallet that cannot be decoded does not block others, is reported, and is credited once it can
/// be decoded again.
#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_wallet_is_parked_and_the_others_are_paid() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann").await, node.guest("Bob").await);
    node.kill();
    let stream = ann.id.trim_start_matches("player:");
    let payload = |text: &str| {
        format!("UPDATE event SET payload = '{text}' WHERE stream = '{stream}' AND version = 1")
    };
    let mut admin = sqlx::PgConnection::connect(&house.url).await.unwrap();
    let good = format!("{{\"account\":\"{stream}\",\"amount\":10,\"balance\":10}}");
    admin.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(payload("{}")))).await.unwrap();
    let node = house.node(&[]);
    let (ann, bob) = (ann.at(&node), bob.at(&node));
    let (game, _) = begun([&ann, &bob], json!({})).await;
    // Ann leaves: Bob finishes and wins.
    accepted(ann.act("leaveGame", &game).await);
    eventually("Bob is paid", async || balance(&bob).await == 18).await;
    let solo = ann.create(json!({})).await;
    accepted(ann.act("startGame", &solo).await);
    let mut table = json!({ "toMove": { "number": 0 } });
    while table["stage"] != "ENDED" {
        table = move_on([&ann, &ann], &solo, &table).await;
    }
    eventually("Ann's award is parked", async || {
        house.count("SELECT count(*) FROM processor_parked").await == 3
    })
    .await;
    assert!(node.log().contains("parked an event"), "{}", node.log());
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 1, "a wallet that cannot be read is not right: {said}");
    admin.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(payload(&good)))).await.unwrap();
    node.kill();
    let node = house.node(&[]);
    let ann = ann.at(&node);
    eventually("Ann is paid", async || balance(&ann).await == 18).await;
    assert_eq!(house.count("SELECT count(*) FROM processor_parked").await, 0);
    assert_eq!(house.croupier(&["verify", "--wallets"]).0, 0);
    // A modified wallet is detected.
    let richer = good.replace("\"amount\":10", "\"amount\":11");
    admin.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(payload(&richer)))).await.unwrap();
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 1);
    assert!(said.contains("0 +11 is not 10"), "{said}");
}
