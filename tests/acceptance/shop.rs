//! Wallets, the shop, loadouts, and administration of the catalogue.

use serde_json::{Value, json};

use crate::support::*;

const ME: &str =
    "{ viewer { wallet { balance } inventory { code quantity locked equippedIn die { name price } }
    loadouts { name dice } } }";
const LEDGER: &str = "query($first: Int, $after: String) { viewer { wallet { balance ledger(first: $first, after: $after) {
    nodes { change balance reason code gameId gameVersion } edges { cursor } pageInfo { hasNextPage endCursor } } } } }";

pub(crate) async fn me(player: &Player) -> Value {
    player.ask(ME, json!({})).await["viewer"].take()
}

pub(crate) async fn balance(player: &Player) -> i64 {
    me(player).await["wallet"]["balance"].as_i64().unwrap()
}

/// Buys or sells; returns the payload.
pub(crate) async fn trade(player: &Player, what: &str, code: &str, more: Value) -> Value {
    let query = format!(
        "mutation($code: DieCode!, $quantity: Int!, $id: UUID) {{ {what}(input: {{ command: {{ id: $id }}, code: $code, quantity: $quantity }}) {{
            player {{ wallet {{ balance }} inventory {{ code quantity }} }} repeated userErrors {{ code message field }} }} }}"
    );
    let mut variables = json!({ "code": code, "quantity": 1 });
    for (name, value) in more.as_object().unwrap() {
        variables[name] = value.clone();
    }
    player.ask(&query, variables).await[what].take()
}

fn code_of(payload: &Value) -> &str {
    payload["userErrors"][0]["code"].as_str().unwrap_or_else(|| panic!("{payload}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_wallet_has_ten_dollars_and_is_visible_to_its_owner_only() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, eve) = (node.guest("Ann").await, node.guest("Eve").await);
    assert_eq!(
        me(&ann).await,
        json!({ "wallet": { "balance": 10 }, "inventory": [], "loadouts": [] })
    );
    let about = "query($id: ID!) { node(id: $id) { ... on Player { wallet { balance } inventory { code } loadouts { name } } } }";
    let seen = eve.ask(about, json!({ "id": ann.id })).await["node"].take();
    assert_eq!(seen, json!({ "wallet": null, "inventory": null, "loadouts": null }));
    // A guest who registers keeps the wallet and gets no second grant.
    assert_eq!(trade(&ann, "buyDie", "LUCKY", json!({})).await["userErrors"], json!([]));
    let register = "mutation { register(input: { name: \"Ann Lee\", password: \"correct horse\" }) { accessToken userErrors { code } } }";
    ann.ask(register, json!({})).await;
    let sign_in = "mutation { signIn(input: { name: \"Ann Lee\", password: \"correct horse\" }) { accessToken } }";
    let session = node.http().await.ask(sign_in, json!({})).await.unwrap();
    let token = session["signIn"]["accessToken"].as_str().unwrap().to_owned();
    let again = Player { token, ..ann };
    assert_eq!(balance(&again).await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn trades_are_recorded_in_the_ledger() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let id = uuid::Uuid::now_v7();
    let bought = trade(&ann, "buyDie", "PHOENIX", json!({ "id": id })).await;
    assert_eq!(bought["player"]["wallet"]["balance"], 4);
    assert_eq!(bought["player"]["inventory"], json!([{ "code": "PHOENIX", "quantity": 1 }]));
    let again = trade(&ann, "buyDie", "PHOENIX", json!({ "id": id })).await;
    assert_eq!(
        (&again["repeated"], &again["player"]["wallet"]["balance"]),
        (&json!(true), &json!(4))
    );
    let other = trade(&ann, "buyDie", "LUCKY", json!({ "id": id })).await;
    assert_eq!(code_of(&other), "COMMAND_ID_REUSED");
    assert_eq!(code_of(&trade(&ann, "buyDie", "PHOENIX", json!({})).await), "NOT_ENOUGH_MONEY");
    assert_eq!(
        trade(&ann, "buyDie", "LUCKY", json!({ "quantity": 2 })).await["player"]["wallet"]["balance"],
        0
    );
    assert_eq!(
        trade(&ann, "sellDie", "PHOENIX", json!({})).await["player"]["wallet"]["balance"],
        3
    );
    assert_eq!(code_of(&trade(&ann, "sellDie", "PHOENIX", json!({})).await), "NOT_OWNED");

    let ledger = ann.ask(LEDGER, json!({ "first": 3 })).await["viewer"]["wallet"].take();
    let lines: Vec<Value> = ledger["ledger"]["nodes"].as_array().unwrap().clone();
    let short: Vec<_> = lines
        .iter()
        .map(|l| {
            (
                l["change"].as_i64().unwrap(),
                l["balance"].as_i64().unwrap(),
                l["reason"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(short, [(3, 3, "SALE"), (-4, 0, "PURCHASE"), (-6, 4, "PURCHASE")]);
    assert_eq!(lines[1]["code"], "LUCKY");
    assert_eq!(ledger["ledger"]["pageInfo"]["hasNextPage"], true);
    let rest = json!({ "first": 3, "after": ledger["ledger"]["pageInfo"]["endCursor"] });
    let rest = ann.ask(LEDGER, rest).await["viewer"]["wallet"]["ledger"].take();
    assert_eq!(rest["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&rest["nodes"][0]["reason"], &rest["pageInfo"]["hasNextPage"]),
        (&json!("OPENING"), &json!(false))
    );
    for forged in ["x", "-1", "0", "99999999999999999999", "77"] {
        assert_eq!(
            ann.error(LEDGER, json!({ "after": forged })).await,
            "BAD_USER_INPUT",
            "{forged}"
        );
    }
    assert_eq!(ann.error(LEDGER, json!({ "first": 101 })).await, "BAD_USER_INPUT");
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("1 wallets: each balance is the sum of its ledger, 4 entries in total"),
        "{said}"
    );
}

/// Invalid trades are refused with a code, and nothing changes.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_trades_are_refused() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let before = me(&ann).await;
    let wrong = [
        ("buyDie", "PHOENIX", json!({ "quantity": 0 }), "BAD_QUANTITY", "quantity"),
        ("buyDie", "PHOENIX", json!({ "quantity": -1 }), "BAD_QUANTITY", "quantity"),
        ("buyDie", "PHOENIX", json!({ "quantity": i32::MAX }), "BAD_QUANTITY", "quantity"),
        ("sellDie", "PHOENIX", json!({ "quantity": i32::MIN }), "BAD_QUANTITY", "quantity"),
        ("buyDie", "PHOENIX", json!({ "quantity": 1000 }), "NOT_ENOUGH_MONEY", ""),
        ("buyDie", "WILD", json!({}), "UNKNOWN_DIE", "code"),
        ("buyDie", "STANDARD", json!({}), "UNKNOWN_DIE", "code"),
        ("sellDie", "phoenix", json!({}), "UNKNOWN_DIE", "code"),
        ("sellDie", "PHOENIX", json!({}), "NOT_OWNED", ""),
    ];
    for (what, die, more, code, path) in wrong {
        let payload = trade(&ann, what, die, more.clone()).await;
        assert_eq!(code_of(&payload), code, "{what} {die} {more}");
        if !path.is_empty() {
            assert_eq!(payload["userErrors"][0]["field"], json!(["input", path]), "{payload}");
        }
    }
    assert_eq!(
        ann.error(
            "mutation { buyDie(input: { code: \"LUCKY\", quantity: 99999999999 }) { userErrors { code } } }",
            json!({})
        )
        .await,
        "BAD_USER_INPUT"
    );
    assert_eq!(me(&ann).await, before);
    assert_eq!(
        house.count("SELECT count(*) FROM event").await,
        1,
        "the wallet's opening, nothing else"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_spend_the_last_dollars_once() {
    let house = House::new().await;
    let nodes = [house.node(&["--first-money", "3"]), house.node(&["--first-money", "3"])];
    let ann = nodes[0].guest("Ann").await;
    let clients: Vec<_> = (0..64)
        .map(|n| {
            let ann = ann.at(&nodes[n % 2]);
            tokio::spawn(async move { trade(&ann, "buyDie", "FARK$", json!({})).await })
        })
        .collect();
    let (mut bought, mut refused) = (0, 0);
    for client in clients {
        let payload = client.await.unwrap();
        match payload["userErrors"][0]["code"].as_str() {
            None => bought += 1,
            Some("NOT_ENOUGH_MONEY") => refused += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!((bought, refused), (1, 63));
    let state = me(&ann).await;
    assert_eq!(
        (&state["wallet"]["balance"], &state["inventory"][0]["quantity"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(house.croupier(&["verify", "--wallets"]).0, 0);
}

/// The grant for new wallets is a setting; existing wallets keep theirs, and their owners can still
/// sign in.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_grant_applies_to_new_wallets_only() {
    let house = House::new().await;
    let node = house.node(&[]);
    let register = "mutation { register(input: { name: \"Ann\", password: \"correct horse\" }) { accessToken userErrors { code } } }";
    node.http().await.ask(register, json!({})).await.unwrap();
    node.kill();
    let node = house.node(&["--first-money", "500"]);
    let sign_in = "mutation { signIn(input: { name: \"Ann\", password: \"correct horse\" }) { player { wallet { balance } } userErrors { code } } }";
    let session = node.http().await.ask(sign_in, json!({})).await.unwrap()["signIn"].take();
    assert_eq!(session, json!({ "player": { "wallet": { "balance": 10 } }, "userErrors": [] }));
    assert_eq!(balance(&node.guest("Bob").await).await, 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn loadouts_are_saved_by_name() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let save = async |name: &str, dice: Value| {
        let query = "mutation($name: String!, $dice: [DieCode!]!) { saveLoadout(input: { name: $name, dice: $dice }) { player { loadouts { name dice } } userErrors { code } } }";
        ann.ask(query, json!({ "name": name, "dice": dice })).await["saveLoadout"].take()
    };
    let delete = async |name: &str| {
        let query = "mutation($name: String!) { deleteLoadout(input: { name: $name }) { player { loadouts { name } } userErrors { code } } }";
        ann.ask(query, json!({ "name": name })).await["deleteLoadout"].take()
    };
    save("all in", json!(["DOUBLE", "DOUBLE"])).await;
    let kept = save("all in", json!(["PHOENIX"])).await;
    let dice = ["PHOENIX", "STANDARD", "STANDARD", "STANDARD", "STANDARD", "STANDARD"];
    assert_eq!(kept["player"]["loadouts"], json!([{ "name": "all in", "dice": dice }]));
    assert_eq!(code_of(&save("", json!([])).await), "BAD_NAME");
    assert_eq!(code_of(&save("seven", json!(vec!["HOT"; 7])).await), "TOO_MANY_DICE");
    assert_eq!(code_of(&save("none such", json!(["WILD"])).await), "UNKNOWN_DIE");
    assert_eq!(code_of(&delete("other").await), "NO_SUCH_LOADOUT");
    assert_eq!(delete("all in").await["player"]["loadouts"], json!([]));
    for n in 0..50 {
        assert_eq!(save(&format!("number {n}"), json!([])).await["userErrors"], json!([]));
    }
    assert_eq!(code_of(&save("one more", json!([])).await), "TOO_MANY_LOADOUTS");
}

const CHANGE: &str = "{ die { code name price retired tooltip effect { kind parameters { name value } } } version repeated userErrors { code message field } }";

/// The log knows when a die was added, changed and bought; a built-in one has no dates.
async fn dates_are_shown(player: &Player) {
    const DATES: &str = "{ diceCatalogue { code colourName addedAt changedAt } viewer { inventory { code firstBoughtAt lastBoughtAt } } }";
    let shown = player.ask(DATES, json!({})).await;
    let of = |list: &Value, code: &str| {
        list.as_array().unwrap().iter().find(|die| die["code"] == code).unwrap().clone()
    };
    let (giant, hot) = (of(&shown["diceCatalogue"], "GIANT"), of(&shown["diceCatalogue"], "HOT"));
    assert!(giant["addedAt"].as_str() < giant["changedAt"].as_str(), "{giant}");
    let always =
        json!({ "code": "HOT", "colourName": "orange", "addedAt": null, "changedAt": null });
    assert_eq!(hot, always);
    let bought = of(&shown["viewer"]["inventory"], "GIANT");
    assert!(bought["firstBoughtAt"].as_str() > giant["changedAt"].as_str(), "{bought}");
    assert_eq!(bought["firstBoughtAt"], bought["lastBoughtAt"]);
}

/// Admins change the catalogue; the shop follows, existing games do not.
#[tokio::test(flavor = "multi_thread")]
async fn admins_add_change_and_retire_dice() {
    let house = House::new().await;
    let node = house.node(&["--first-money", "100"]);
    let ann = node.guest("Ann").await;
    let old = challenge(&ann).await;
    let token = house.croupier(&["token", "issue", "--role", "admin", "--name", "Ada"]).1;
    let ada = Player { token: token.trim().to_owned(), ..ann.clone() };
    let add = format!("mutation($die: AddDieInput!) {{ addDie(input: $die) {CHANGE} }}");
    let die = json!({ "code": "GIANT", "name": "Giant Die", "category": "SCORE_BOOSTERS", "tier": "AMAZING", "colour": "#123456",
        "price": 40, "description": "It towers above the others.", "effect": { "kind": "MULTIPLY_SINGLE", "parameters": [{ "name": "factor", "value": 10 }] } });
    let added = ada.ask(&add, json!({ "die": die })).await["addDie"].take();
    assert_eq!((&added["version"], &added["die"]["code"]), (&json!(2), &json!("GIANT")), "{added}");
    assert_eq!(added["die"]["tooltip"], "Scores × 10 when it scores as a single.");
    let multiplies =
        json!({ "kind": "MULTIPLY_SINGLE", "parameters": [{ "name": "factor", "value": 10 }] });
    assert_eq!(added["die"]["effect"], multiplies);
    let change = format!("mutation($die: ChangeDieInput!) {{ changeDie(input: $die) {CHANGE} }}");
    let cheaper = json!({ "die": { "code": "GIANT", "price": 30 } });
    let cheaper = ada.ask(&change, cheaper).await["changeDie"].take();
    assert_eq!(
        (&cheaper["version"], &cheaper["die"]["price"]),
        (&json!(3), &json!(30)),
        "{cheaper}"
    );

    assert_eq!(trade(&ann, "buyDie", "GIANT", json!({})).await["player"]["wallet"]["balance"], 70);
    dates_are_shown(&ann).await;
    let new = challenge(&ann).await;
    let choose = "mutation($game: ID!) { chooseLoadout(input: { gameId: $game, dice: [\"GIANT\"] }) { game { mySeat { dice } } userErrors { code } } }";
    let chosen = ann.ask(choose, json!({ "game": new })).await["chooseLoadout"].take();
    assert_eq!(chosen["game"]["mySeat"]["dice"][0], "GIANT");
    let refused = ann.ask(choose, json!({ "game": old })).await["chooseLoadout"].take();
    assert_eq!(code_of(&refused), "UNKNOWN_DIE", "the older game has the catalogue it began with");

    // A retry returns the table that was created before.
    let open = "mutation { createGame(input: { rules: { farkle: { preset: \"challenge-standard\" } }, command: { id: \"0193f3a2-91b0-7c11-9e5a-00000000abcd\" } }) { game { id } repeated userErrors { code } } }";
    let opened = ann.ask(open, json!({})).await["createGame"].take();
    let retire = format!("mutation {{ retireDie(input: {{ code: \"GIANT\" }}) {CHANGE} }}");
    let retired = ada.ask(&retire, json!({})).await["retireDie"].take();
    assert_eq!((&retired["version"], &retired["die"]["retired"]), (&json!(4), &json!(true)));
    assert_eq!(code_of(&trade(&ann, "buyDie", "GIANT", json!({})).await), "RETIRED_DIE");
    let again = ann.ask(open, json!({})).await["createGame"].take();
    assert_eq!((&again["game"], &again["repeated"]), (&opened["game"], &json!(true)), "{again}");
    let shop =
        ann.ask("{ shop { version dice { code } } diceCatalogue { code } }", json!({})).await;
    assert_eq!(shop["shop"]["version"], 4);
    assert_eq!(shop["shop"]["dice"].as_array().unwrap().len(), 16);
    assert_eq!(shop["diceCatalogue"].as_array().unwrap().len(), 17);
    let newest = challenge(&ann).await;
    assert_eq!(
        code_of(&ann.ask(choose, json!({ "game": newest })).await["chooseLoadout"]),
        "RETIRED_DIE"
    );
    // Every change is an event with its author.
    let authors = "SELECT count(DISTINCT actor) FROM event WHERE type IN ('DieAdded', 'DieChanged', 'DieRetired')";
    assert_eq!(house.count(authors).await, 1);
    assert_eq!(house.count("SELECT count(*) FROM event WHERE type IN ('CatalogueOpened', 'DieAdded', 'DieChanged', 'DieRetired')").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_dice_are_refused() {
    let house = House::new().await;
    let node = house.node(&[]);
    let ann = node.guest("Ann").await;
    let token = house.croupier(&["token", "issue", "--role", "admin", "--name", "Ada"]).1;
    let ada = Player { token: token.trim().to_owned(), ..ann.clone() };
    let add = format!("mutation($die: AddDieInput!) {{ addDie(input: $die) {CHANGE} }}");
    let good = json!({ "code": "ODD", "name": "Odd Die", "category": "FACE_CHANGERS", "tier": "BETTER", "colour": "#4169E1",
        "price": 4, "description": "Nothing even.", "effect": { "kind": "FACES", "faces": [1, 1, 3, 3, 5, 5] } });
    let one = |kind: &str, name: &str, value: i64| json!({ "kind": kind, "parameters": [{ "name": name, "value": value }] });
    let wrong = [
        ("effect", json!({ "kind": "FACES", "faces": [0, 1, 3, 3, 5, 5] }), "BAD_DIE"),
        ("effect", json!({ "kind": "FACES", "faces": [1, 1, 3, 3, 5, 7] }), "BAD_DIE"),
        ("effect", json!({ "kind": "FACES", "faces": [1, 1, 3] }), "BAD_DIE_DATA"),
        ("effect", json!({ "kind": "FACES" }), "BAD_DIE_DATA"),
        ("effect", one("MULTIPLY_TURN", "factor", 0), "BAD_DIE"),
        ("effect", one("MULTIPLY_TURN", "factor", 1001), "BAD_DIE"),
        ("effect", one("MULTIPLY_TURN", "weight", 2), "BAD_DIE_DATA"),
        ("effect", one("KEEP_TURN", "percent", 101), "BAD_DIE"),
        ("price", json!(0), "BAD_DIE"),
        ("price", json!(-4), "BAD_DIE_DATA"),
        ("colour", json!("red"), "BAD_DIE"),
        ("code", json!("odd"), "BAD_CODE"),
        ("code", json!("PHOENIX"), "DIE_EXISTS"),
        ("name", json!(""), "BAD_DIE"),
    ];
    for (field, value, code) in wrong {
        let mut die = good.clone();
        die[field] = value.clone();
        let payload = ada.ask(&add, json!({ "die": die })).await["addDie"].take();
        assert_eq!(code_of(&payload), code, "{field}: {value}: {payload}");
    }
    let unreadable = [
        ("effect", json!({ "kind": "TELEPORT" })),
        (
            "effect",
            json!({ "kind": "MULTIPLY_TURN", "parameters": [{ "name": "factor", "value": "two" }] }),
        ),
        ("tier", json!("DIVINE")),
        ("weight", json!(3)),
    ];
    for (field, value) in unreadable {
        let mut die = good.clone();
        die[field] = value;
        let answer = ada.http().await.post(&add, json!({ "die": die })).await.unwrap();
        let error = answer.json().unwrap()["errors"][0]["extensions"]["code"].take();
        let known = ["GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"];
        assert!(known.iter().any(|code| error == *code), "{field}: {error}");
    }
    assert_eq!(
        house.count("SELECT count(*) FROM event WHERE type LIKE '%Die%' OR type LIKE 'Cat%'").await,
        0
    );
    assert_eq!(ada.ask(&add, json!({ "die": good })).await["addDie"]["version"], 2);
}

/// Creates a challenge game with the player seated.
pub(crate) async fn challenge(player: &Player) -> String {
    let query = "mutation { createGame(input: { rules: { farkle: { preset: \"challenge-standard\" } } }) { game { id } userErrors { code } } }";
    let data = player.ask(query, json!({})).await;
    data["createGame"]["game"]["id"].as_str().unwrap_or_else(|| panic!("{data}")).to_owned()
}
