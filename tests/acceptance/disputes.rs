//! Disputes from opening to remedy, the audit log, and deletion of personal data.

use serde_json::{Value, json};

use crate::{read_models::last_line, replay::staff, support::*};

const OPEN: &str = "mutation($game: ID!, $version: Int!, $text: String!, $id: UUID) { openDispute(input: { command: { id: $id }, gameId: $game, version: $version, text: $text }) {
    dispute { id version player { name } comments { number text internal author { name } } } userErrors { code field } } }";
const SEEN: &str = "{ id version resolution assignee { name } comments { number internal text author { name } }
    remedies { number kind status failure needsSecond applied change proposedBy { name } approvedBy { name } declinedBy { name } player { name } } }";

async fn mutate(who: &Player, mutation: &str, arguments: &str, variables: Value) -> Value {
    let query = format!(
        "mutation($dispute: ID!, $remedy: RemedyInput, $number: Int, $text: String, $internal: Boolean, $reason: DisputeResolution, $id: UUID) {{
            {mutation}(input: {{ disputeId: $dispute{arguments} }}) {{ dispute {SEEN} userErrors {{ code message field }} }} }}"
    );
    // Only used variables may be declared.
    let declared: Vec<&str> = ["remedy", "number", "text", "internal", "reason", "id"]
        .into_iter()
        .filter(|name| !arguments.contains(&format!("${name}")))
        .collect();
    let mut query = query;
    for name in declared {
        let start = query.find(&format!(", ${name}:")).unwrap();
        let end = start + 1 + query[start + 1..].find([',', ')']).unwrap();
        query.replace_range(start..end, "");
    }
    for (name, kind) in [
        ("remedy", "RemedyInput"),
        ("number", "Int"),
        ("text", "String"),
        ("reason", "DisputeResolution"),
    ] {
        query = query.replace(&format!("${name}: {kind}"), &format!("${name}: {kind}!"));
    }
    query = query.replace("$internal: Boolean", "$internal: Boolean!");
    who.ask(&query, variables).await[mutation].take()
}

async fn propose(who: &Player, dispute: &str, remedy: Value) -> Value {
    mutate(
        who,
        "proposeRemedy",
        ", remedy: $remedy",
        json!({ "dispute": dispute, "remedy": remedy }),
    )
    .await
}

async fn numbered(who: &Player, mutation: &str, dispute: &str, number: i32) -> Value {
    mutate(who, mutation, ", number: $number", json!({ "dispute": dispute, "number": number }))
        .await
}

/// Waits until a remedy was applied or failed.
async fn carried_out(who: &Player, dispute: &str, number: usize) -> Value {
    let look = format!("query($id: ID!) {{ dispute(id: $id) {SEEN} }}");
    let mut remedy = Value::Null;
    eventually("the remedy is carried out", async || {
        let seen = who.ask(&look, json!({ "id": dispute })).await["dispute"].take();
        remedy = seen["remedies"][number - 1].clone();
        ["APPLIED", "FAILED"].iter().any(|status| remedy["status"] == *status)
    })
    .await;
    remedy
}

/// Proposes a remedy that needs no approval, and waits until it is applied.
async fn applied(who: &Player, dispute: &str, remedy: Value) {
    let proposed = propose(who, dispute, remedy).await;
    assert_eq!(proposed["userErrors"], json!([]), "{proposed}");
    let number = proposed["dispute"]["remedies"].as_array().unwrap().len();
    assert_eq!(carried_out(who, dispute, number).await["status"], "APPLIED");
}

fn code(payload: &Value) -> &str {
    payload["userErrors"][0]["code"].as_str().unwrap_or_else(|| panic!("{payload}"))
}

const ME: &str = "{ viewer { wallet { balance } ratings { value } statistics(kind: LAST_LINE) { games wins money } } }";
const BOARD: &str =
    "{ leaderboard(kind: LAST_LINE, by: WINS) { page { nodes { rank value player { id } } } } }";

/// A dispute from its opening to a void game, through each role: afterwards wallets, ratings,
/// boards and statistics are as if it had not been played.
#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_ends_with_a_void_game() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob, eve) =
        (node.guest("Ann").await, node.guest("Bob").await, node.guest("Eve").await);
    let (sue, tom) = (staff(&house, "support", "Sue", &ann), staff(&house, "support", "Tom", &ann));
    let (ada, analyst) =
        (staff(&house, "admin", "Ada", &ann), staff(&house, "analyst", "Alf", &ann));
    let seen = async || {
        json!([
            ann.ask(ME, json!({})).await,
            bob.ask(ME, json!({})).await,
            ann.ask(BOARD, json!({})).await
        ])
    };
    last_line([&ann, &bob]).await;
    eventually("the first game is counted and paid", async || is_whole(&seen().await)).await;
    let before = seen().await;
    last_line([&ann, &bob]).await;
    // Lists of games are eventually consistent.
    eventually("both games are listed", async || {
        let mine = ann.ask("{ myGames { nodes { id } } }", json!({})).await;
        mine["myGames"]["nodes"].as_array().unwrap().len() == 2
    })
    .await;
    let mine = ann.ask("{ myGames(first: 1) { nodes { id version } } }", json!({})).await;
    let (game, last) = (
        mine["myGames"]["nodes"][0]["id"].clone(),
        mine["myGames"]["nodes"][0]["version"].as_i64().unwrap(),
    );
    eventually("the second game is counted", async || {
        seen().await[0]["viewer"]["statistics"][0]["games"] == 2
    })
    .await;

    let dispute = opening([&ann, &bob, &eve], &game, last).await;
    is_visible_to_few([&ann, &bob, &sue, &analyst], &dispute).await;
    is_commented([&ann, &bob, &sue], &dispute).await;
    let preview = "query($dispute: ID!, $remedy: RemedyInput!) { previewRemedy(disputeId: $dispute, remedy: $remedy) { amount needsSecond effects { subject before after player { name } } } }";
    let void = json!({ "voidGame": "MALFUNCTION" });
    let shown =
        sue.ask(preview, json!({ "dispute": dispute, "remedy": void })).await["previewRemedy"]
            .take();
    assert_eq!((&shown["amount"], &shown["needsSecond"]), (&json!(11), &json!(false)), "{shown}");
    assert_eq!(shown["effects"].as_array().unwrap().len(), 3, "{shown}");
    let done = propose(&sue, &dispute, void.clone()).await;
    assert_eq!(done["userErrors"], json!([]), "{done}");
    assert_eq!(carried_out(&sue, &dispute, 1).await["applied"], true);
    assert_eq!(code(&propose(&tom, &dispute, void.clone()).await), "ALREADY_VOID");
    eventually("everything is as before", async || seen().await == before).await;
    let resolve = json!({ "dispute": dispute, "reason": "MALFUNCTION" });
    let resolved = mutate(&sue, "resolveDispute", ", reason: $reason", resolve.clone()).await;
    assert_eq!(resolved["dispute"]["resolution"], "MALFUNCTION", "{resolved}");
    assert_eq!(
        code(&mutate(&sue, "resolveDispute", ", reason: $reason", resolve).await),
        "DISPUTE_CLOSED"
    );
    let look = format!("query($id: ID!) {{ dispute(id: $id) {SEEN} }}");
    let shown = ann.ask(&look, json!({ "id": dispute })).await["dispute"].take();
    assert_eq!(
        (&shown["resolution"], &shown["remedies"][0]["kind"]),
        (&json!("MALFUNCTION"), &json!("VOID_GAME"))
    );

    is_audited(&sue, &ada, &dispute).await;
    let (code, said, _) = house.croupier(&["verify", "--all"]);
    assert_eq!(code, 0, "{said}");
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
}

/// Whether the first game is counted everywhere and paid.
fn is_whole(seen: &Value) -> bool {
    let whole = |me: &Value| {
        me["viewer"]["statistics"][0]["games"] == 1 && me["viewer"]["ratings"] != json!([])
    };
    let balance = |me: &Value| me["viewer"]["wallet"]["balance"].as_i64().unwrap();
    whole(&seen[0])
        && whole(&seen[1])
        && balance(&seen[0]) + balance(&seen[1]) == 20 + 3 + 3 + 5
        && seen[2]["leaderboard"]["page"]["nodes"] != json!([])
}

/// Invalid openings, and a valid one.
async fn opening([ann, bob, eve]: [&Player; 3], game: &Value, last: i64) -> String {
    // Not a player, invalid versions, invalid texts.
    let open = async |who: &Player, version: i64, text: &str| {
        who.ask(OPEN, json!({ "game": game, "version": version, "text": text })).await["openDispute"].take()
    };
    assert_eq!(code(&open(eve, 5, "unfair").await), "NOT_SEATED");
    assert_eq!(code(&open(ann, last + 1, "unfair").await), "NO_SUCH_VERSION");
    assert_eq!(code(&open(ann, 0, "unfair").await), "NO_SUCH_VERSION");
    assert_eq!(code(&open(ann, 5, "  ").await), "BAD_TEXT");
    assert_eq!(code(&open(ann, 5, &"x".repeat(2_001)).await), "BAD_TEXT");
    let opened = open(ann, 5, "I banked before the time was up").await;
    assert_eq!(opened["userErrors"], json!([]), "{opened}");
    let dispute = opened["dispute"]["id"].as_str().unwrap().to_owned();
    assert_eq!(opened["dispute"]["comments"][0]["text"], "I banked before the time was up");
    assert_eq!(code(&open(ann, 5, "again").await), "ALREADY_DISPUTED");
    assert_eq!(code(&open(bob, 5, "me too").await), "ALREADY_DISPUTED");
    dispute
}

/// A dispute is visible to the player who opened it, and to staff.
async fn is_visible_to_few([ann, bob, sue, analyst]: [&Player; 4], dispute: &str) {
    let look = format!("query($id: ID!) {{ dispute(id: $id) {SEEN} }}");
    let see = async |who: &Player| who.ask(&look, json!({ "id": dispute })).await["dispute"].take();
    assert_eq!((see(bob).await, see(analyst).await), (Value::Null, Value::Null));
    let open = "{ disputes(resolved: false) { nodes { id } } }";
    // Lists are eventually consistent.
    eventually("the dispute is listed", async || {
        sue.ask(open, json!({})).await["disputes"]["nodes"] == json!([{ "id": dispute }])
    })
    .await;
    for who in [ann, analyst] {
        assert_eq!(who.error(open, json!({})).await, "FORBIDDEN");
    }
    assert_eq!(
        ann.ask("{ myDisputes { nodes { id } } }", json!({})).await["myDisputes"]["nodes"],
        json!([{ "id": dispute }])
    );
}

/// Who may comment, and who sees which comments.
async fn is_commented([ann, bob, sue]: [&Player; 3], dispute: &str) {
    let look = format!("query($id: ID!) {{ dispute(id: $id) {SEEN} }}");
    let see = async |who: &Player| who.ask(&look, json!({ "id": dispute })).await["dispute"].take();
    let assigned = mutate(sue, "assignDispute", "", json!({ "dispute": dispute })).await;
    assert_eq!(assigned["dispute"]["assignee"]["name"], "Sue", "{assigned}");
    let write = async |who: &Player, text: &str, internal: bool| {
        let said = json!({ "dispute": dispute, "text": text, "internal": internal });
        mutate(who, "commentDispute", ", text: $text, internal: $internal", said).await
    };
    write(sue, "the clock was slow", true).await;
    write(sue, "we look into it", false).await;
    write(ann, "thank you", false).await;
    assert_eq!(code(&write(bob, "and I?", false).await), "NO_SUCH_DISPUTE");
    let shown = see(ann).await;
    let texts: Vec<&Value> =
        shown["comments"].as_array().unwrap().iter().map(|c| &c["text"]).collect();
    assert_eq!(
        texts,
        [&json!("I banked before the time was up"), &json!("we look into it"), &json!("thank you")]
    );
    assert_eq!(shown["assignee"], Value::Null);
    assert_eq!(see(sue).await["comments"].as_array().unwrap().len(), 4);
}

async fn is_audited(sue: &Player, ada: &Player, dispute: &str) {
    // All staff actions are in the audit log, which is chained and verified like other streams.
    let audit = "{ auditLog(first: 100) { nodes { number action by { id name } dispute } } }";
    assert_eq!(sue.error(audit, json!({})).await, "FORBIDDEN");
    let log = ada.ask(audit, json!({})).await["auditLog"]["nodes"].take();
    let mut entries = log.as_array().unwrap().clone();
    // How often staff looked while something was pending varies.
    entries.dedup_by_key(|entry| entry["action"].clone());
    let actions: Vec<&str> =
        entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    let expected = [
        "LIST_DISPUTES",
        "ASSIGN_DISPUTE",
        "COMMENT_DISPUTE",
        "LOOK_AT_DISPUTE",
        "PREVIEW_REMEDY",
        "PROPOSE_REMEDY",
        "LOOK_AT_DISPUTE",
        "PROPOSE_REMEDY",
        "RESOLVE_DISPUTE",
    ];
    assert_eq!(actions, expected);
    let by = |place: usize| &entries[place]["by"]["name"];
    assert_eq!((by(0), by(7)), (&json!("Sue"), &json!("Tom")));
    assert!(entries[1..].iter().all(|entry| entry["dispute"] == json!(dispute)));
    // By author and by subject: found through the index, which is eventually consistent.
    let found = "query($by: ID, $subject: UUID) { auditLog(by: $by, subject: $subject) { nodes { action by { name } subject } } }";
    let subject = dispute.trim_start_matches("dispute:");
    eventually("the index has what Sue did", async || {
        let asked = json!({ "by": entries[0]["by"]["id"], "subject": subject });
        let nodes = ada.ask(found, asked).await["auditLog"]["nodes"].take();
        let nodes = nodes.as_array().unwrap();
        nodes.last().is_some_and(|last| last["action"] == "RESOLVE_DISPUTE")
            && nodes.iter().all(|n| n["by"]["name"] == "Sue" && n["subject"] == subject)
    })
    .await;
}

/// Large amounts need two people; a suspended or banned player is signed out within a second, and
/// may return when it is lifted.
#[tokio::test(flavor = "multi_thread")]
async fn large_amounts_need_approval_and_banned_players_are_signed_out() {
    let house = House::new().await;
    let node = house.node(&["--remedy-limit", "50"]);
    let ann = node.guest("Ann").await;
    let register = "mutation { register(input: { name: \"Bob\", password: \"correct horse\" }) { accessToken player { id } userErrors { code } } }";
    let session = node.http().await.ask(register, json!({})).await.unwrap()["register"].take();
    let bob = Player {
        token: session["accessToken"].as_str().unwrap().to_owned(),
        id: session["player"]["id"].as_str().unwrap().to_owned(),
        ..ann.clone()
    };
    let (sue, tom) = (staff(&house, "support", "Sue", &ann), staff(&house, "support", "Tom", &ann));
    let (game, _) = begun([&ann, &bob], json!({})).await;
    let asked = json!({ "game": game, "version": 3, "text": "Bob is rude" });
    let dispute =
        ann.ask(OPEN, asked).await["openDispute"]["dispute"]["id"].as_str().unwrap().to_owned();
    let balance = async || {
        ann.ask(
            "{ viewer { wallet { balance ledger(first: 1) { nodes { reason change } } } } }",
            json!({}),
        )
        .await["viewer"]["wallet"]
            .take()
    };

    let adjust = |change: i32| json!({ "adjustBalance": { "playerId": ann.id, "change": change } });
    assert_eq!(code(&propose(&sue, &dispute, adjust(-11)).await), "NOT_ENOUGH_MONEY");
    let proposed = propose(&sue, &dispute, adjust(51)).await;
    let remedy = &proposed["dispute"]["remedies"][0];
    assert_eq!(
        (&remedy["needsSecond"], &remedy["applied"]),
        (&json!(true), &json!(false)),
        "{proposed}"
    );
    assert_eq!(balance().await["balance"], 10);
    assert_eq!(code(&numbered(&sue, "approveRemedy", &dispute, 1).await), "SAME_PERSON");
    assert_eq!(code(&numbered(&tom, "approveRemedy", &dispute, 2).await), "NO_SUCH_REMEDY");
    assert_eq!(code(&numbered(&tom, "approveRemedy", &dispute, -1).await), "NO_SUCH_REMEDY");
    assert_eq!(remedy["status"], "PROPOSED");
    let approved = numbered(&tom, "approveRemedy", &dispute, 1).await;
    assert_eq!(approved["userErrors"], json!([]), "{approved}");
    let remedy = carried_out(&tom, &dispute, 1).await;
    assert_eq!(
        (&remedy["status"], &remedy["approvedBy"]["name"]),
        (&json!("APPLIED"), &json!("Tom")),
        "{remedy}"
    );
    assert_eq!(
        balance().await,
        json!({ "balance": 61, "ledger": { "nodes": [{ "reason": "ADJUSTMENT", "change": 51 }] } })
    );
    assert_eq!(code(&numbered(&tom, "approveRemedy", &dispute, 1).await), "REMEDY_DONE");
    assert_eq!(code(&propose(&tom, &dispute, adjust(5)).await), "REMEDY_REPEATED");
    assert_eq!(balance().await["balance"], 61, "nothing is done twice");

    are_signed_out(&node, [&bob, &sue, &tom], &dispute).await;
    is_ended_by_decision(&house, [&ann, &bob, &sue], &game, &dispute).await;
    let (code, said, _) = house.croupier(&["verify", "--wallets"]);
    assert_eq!(code, 0, "{said}");
}

async fn is_ended_by_decision(
    house: &House,
    [ann, bob, sue]: [&Player; 3],
    game: &str,
    dispute: &str,
) {
    // The game is ended by decision, once.
    let wrong = propose(sue, dispute, json!({ "finishGame": [7] })).await;
    assert_eq!(code(&wrong), "NO_SUCH_SEAT");
    applied(sue, dispute, json!({ "finishGame": [0] })).await;
    let look = "query($game: ID!) { game(id: $game) { stage outcome { reason winners { number } } lastAction { summary } } }";
    let table = ann.ask(look, json!({ "game": game })).await["game"].take();
    assert_eq!(
        table["outcome"],
        json!({ "reason": "RULED", "winners": [{ "number": 0 }] }),
        "{table}"
    );
    // Players do not learn which member of staff decided.
    let actors = "query($game: ID!) { game(id: $game) { events(types: [RULED, ENDED, SEED_REVEALED]) { nodes { actor { id } } } } }";
    let shown = async |viewer: &Player| {
        let found = viewer.ask(actors, json!({ "game": game })).await["game"]["events"].take();
        let nodes = found["nodes"].as_array().unwrap().clone();
        (nodes.len(), nodes.iter().filter(|event| !event["actor"].is_null()).count())
    };
    assert_eq!((shown(ann).await, shown(sue).await), ((3, 0), (3, 3)));
    house.prove(game);
    for remedy in [
        json!({ "warn": "nobody" }),
        json!({ "suspend": { "playerId": bob.id, "days": 0 } }),
        json!({ "adjustBalance": { "playerId": ann.id, "change": 0 } }),
        json!({ "voidGame": "CHEATING", "ban": bob.id }),
    ] {
        let query = "mutation($dispute: ID!, $remedy: RemedyInput!) { proposeRemedy(input: { disputeId: $dispute, remedy: $remedy }) { userErrors { code } } }";
        let asked = json!({ "dispute": dispute, "remedy": remedy });
        assert_ne!(sue.error(query, asked).await, "none", "{remedy}");
    }
    assert_eq!(
        code(
            &numbered(sue, "declineRemedy", "dispute:0193f3a2-91b0-8c11-9e5a-d0e1f2a3b4c5", 1)
                .await
        ),
        "NO_SUCH_DISPUTE"
    );
}

/// A suspended or banned player is signed out within a second, and may return when it is lifted.
async fn are_signed_out(node: &Node, [bob, sue, tom]: [&Player; 3], dispute: &str) {
    // Signed out, and back.
    let sign_in = "mutation { signIn(input: { name: \"Bob\", password: \"correct horse\" }) { accessToken userErrors { code message } } }";
    applied(sue, dispute, json!({ "warn": bob.id })).await;
    applied(sue, dispute, json!({ "suspend": { "playerId": bob.id, "days": 3 } })).await;
    eventually("Bob is out", async || {
        bob.error("{ myGames { nodes { id } } }", json!({})).await == "UNAUTHENTICATED"
    })
    .await;
    let refused = node.http().await.ask(sign_in, json!({})).await.unwrap();
    assert_eq!(refused["signIn"]["userErrors"][0]["code"], "SUSPENDED", "{refused}");
    applied(tom, dispute, json!({ "ban": bob.id })).await;
    let refused = node.http().await.ask(sign_in, json!({})).await.unwrap();
    assert_eq!(refused["signIn"]["userErrors"][0]["code"], "BANNED", "{refused}");
    applied(tom, dispute, json!({ "lift": bob.id })).await;
    let back = node.http().await.ask(sign_in, json!({})).await.unwrap();
    assert!(back["signIn"]["accessToken"].is_string(), "{back}");
}

/// The export has the fields of the typed data in the same form, and the ledger.
fn check_export(data: &Value) {
    let export: Value = serde_json::from_str(data["export"].as_str().unwrap()).unwrap();
    for same in ["name", "pseudonym", "role", "gameIds", "disputeTexts"] {
        let mut shown = export[same].clone();
        if same == "disputeTexts" {
            shown = json!([{ "number": shown[0]["number"], "text": shown[0]["text"] }]);
        }
        assert_eq!(shown, data[same], "{same} in {export}");
    }
    assert_eq!(export["sessions"][0]["expiresAt"], data["sessions"][0]["expiresAt"], "{export}");
    assert_eq!(export["wallet"]["balance"], data["wallet"]["balance"], "{export}");
    assert!(export["ledger"].is_array(), "{export}");
}

/// A deleted person is gone from everywhere but the log, which stays valid; players can export
/// their data; staff access is audited.
#[tokio::test(flavor = "multi_thread")]
async fn personal_data_is_deleted_and_games_are_kept() {
    let house = House::new().await;
    let node = house.node(&[]);
    let (ann, bob) = (node.guest("Ann of the Hills").await, node.guest("Bob").await);
    let ada = staff(&house, "admin", "Ada", &ann);
    let (game, table) = begun([&ann, &bob], json!({ "target": 1000 })).await;
    refusal(&ann.act_with("save", &game, json!({ "slots": [0] })).await);
    play_out([&ann, &bob], &game, table).await;
    ann.ask(OPEN, json!({ "game": game, "version": 4, "text": "I, Ann of the Hills, protest" }))
        .await;
    eventually("the game is listed", async || {
        house.count("SELECT count(*) FROM game_player").await == 2
    })
    .await;
    eventually("evidence is kept", async || {
        house.count("SELECT count(*) FROM evidence WHERE address <> ''").await >= 3
    })
    .await;

    let own = "{ myData { name pseudonym role hasPassword sessions { expiresAt revokedAt } gameIds wallet { balance }
        activity { gameId kind address operation code } disputeTexts { number text } export } }";
    let data = ann.ask(own, json!({})).await["myData"].take();
    assert_eq!(
        (&data["name"], &data["disputeTexts"][0]["text"]),
        (&json!("Ann of the Hills"), &json!("I, Ann of the Hills, protest"))
    );
    let kinds: Vec<_> =
        data["activity"].as_array().unwrap().iter().map(|activity| &activity["kind"]).collect();
    assert!(kinds.contains(&&json!("NEW_ORIGIN")) && kinds.contains(&&json!("REFUSED")), "{data}");
    assert!(data["activity"][0]["address"].as_str().unwrap().starts_with("127."), "{data}");
    assert_eq!(data["gameIds"], json!([game]), "{data}");
    check_export(&data);
    let personal = "query($id: ID!) { personalData(playerId: $id) { name } }";
    assert_eq!(bob.error(personal, json!({ "id": ann.id })).await, "FORBIDDEN");
    assert_eq!(
        ada.ask(personal, json!({ "id": ann.id })).await["personalData"]["name"],
        "Ann of the Hills"
    );
    let audit = ada.ask("{ auditLog { nodes { action by { name } } } }", json!({})).await;
    assert_eq!(
        audit["auditLog"]["nodes"],
        json!([{ "action": "LOOK_AT_PERSONAL_DATA", "by": { "name": "Ada" } }])
    );

    let erase = "mutation($id: ID) { eraseAccount(input: { playerId: $id }) { erased pseudonym } }";
    assert_eq!(bob.error(erase, json!({ "id": ann.id })).await, "FORBIDDEN");
    let gone = ann.ask(erase, json!({})).await["eraseAccount"].take();
    assert_eq!(gone["erased"], true, "{gone}");
    eventually("her token is invalidated", async || {
        ann.error("{ myData { name } }", json!({})).await == "UNAUTHENTICATED"
    })
    .await;
    let again = ada.ask(erase, json!({ "id": ann.id })).await["eraseAccount"].take();
    assert_eq!(again["erased"], false, "{again}");
    for (table, column) in [
        ("account", "name"),
        ("evidence", "address"),
        ("dispute_text", "text"),
        ("event", "payload"),
    ] {
        let left =
            format!("SELECT count(*) FROM {table} WHERE {column}::text LIKE '%Ann of the Hills%'");
        assert_eq!(house.count(&left).await, 0, "{table}");
    }
    let names = "query($game: ID!) { game(id: $game) { seats { player { name } } } }";
    let seats = bob.ask(names, json!({ "game": game })).await["game"]["seats"].take();
    assert_eq!(seats[0]["player"]["name"], gone["pseudonym"], "{seats}");
    house.prove(&game);
    let (code, said, _) = house.croupier(&["verify", "--all"]);
    assert_eq!(code, 0, "{said}");
}

/// Two players dispute the same event concurrently: one succeeds, and each sees only their own
/// dispute. Retries are idempotent.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_disputed_once_and_a_remedy_applied_once() {
    let house = House::new().await;
    let nodes = [house.node(&["--remedy-limit", "5"]), house.node(&["--remedy-limit", "5"])];
    let (ann, bob) = (nodes[0].guest("Ann").await, nodes[1].guest("Bob").await);
    let sue = staff(&house, "support", "Sue", &ann);
    let (game, _) = begun([&ann, &bob], json!({})).await;
    let asked = json!({ "game": game, "version": 3, "text": "mine" });
    let (one, other) = tokio::join!(ann.ask(OPEN, asked.clone()), bob.ask(OPEN, asked));
    let won = |answer: &Value| answer["openDispute"]["userErrors"] == json!([]);
    assert!(won(&one) != won(&other), "{one} {other}");
    let (first, dispute) = if won(&one) { (&ann, &one) } else { (&bob, &other) };
    let dispute = dispute["openDispute"]["dispute"]["id"].as_str().unwrap().to_owned();
    for player in [&ann, &bob] {
        eventually("each sees their own disputes", async || {
            let mine = player.ask("{ myDisputes { nodes { id player { id } } } }", json!({})).await;
            let count = mine["myDisputes"]["nodes"].as_array().unwrap().len();
            count == usize::from(player.id == first.id)
        })
        .await;
    }
    // The same command on another node returns the first result; a different one with its id is
    // refused.
    let id = "0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5";
    let warn = |who: &Player| json!({ "dispute": dispute, "remedy": { "warn": who.id }, "id": id });
    let arguments = ", remedy: $remedy, command: { id: $id }";
    for node in &nodes {
        let done = mutate(&sue.at(node), "proposeRemedy", arguments, warn(&bob)).await;
        assert_eq!(done["userErrors"], json!([]), "{done}");
        assert_eq!(carried_out(&sue.at(node), &dispute, 1).await["status"], "APPLIED");
        assert_eq!(done["dispute"]["remedies"].as_array().unwrap().len(), 1, "{done}");
    }
    let second = mutate(&sue, "proposeRemedy", arguments, warn(&ann)).await;
    assert_eq!(code(&second), "COMMAND_ID_REUSED");
    let warnings = bob.ask("{ viewer { warnings } }", json!({})).await;
    assert_eq!(warnings["viewer"]["warnings"], 1);
    // Players do not see the names of staff, and only players of the game can be sanctioned.
    let eve = nodes[0].guest("Eve").await;
    assert_eq!(code(&propose(&sue, &dispute, json!({ "warn": eve.id })).await), "NOT_SEATED");
    // A game that moved more money than one person may decide about cannot be voided by one.
    accepted(bob.act("leaveGame", &game).await);
    let void = "mutation($game: ID!) { voidGame(input: { gameId: $game, reason: MISTAKE }) { userErrors { code } } }";
    let refused = sue.ask(void, json!({ "game": game })).await;
    assert_eq!(code(&refused["voidGame"]), "SECOND_PERSON_NEEDED", "{refused}");
    let proposed = propose(&sue, &dispute, json!({ "voidGame": "MISTAKE" })).await;
    assert_eq!(proposed["dispute"]["remedies"][1]["needsSecond"], true, "{proposed}");
    let tom = staff(&house, "support", "Tom", &bob);
    let approved = numbered(&tom, "approveRemedy", &dispute, 2).await;
    assert_eq!(approved["userErrors"], json!([]), "{approved}");
    assert_eq!(carried_out(&tom, &dispute, 2).await["status"], "APPLIED");
    let shown = "query($game: ID!) { game(id: $game) { voided events(first: 100) { nodes { type payload actor { name } } } } }";
    let shown = ann.ask(shown, json!({ "game": game })).await["game"].take();
    let event = shown["events"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["type"] == "VOIDED")
        .unwrap();
    assert_eq!(
        json!(format!("dispute:{}", event["payload"]["dispute"].as_str().unwrap())),
        json!(dispute)
    );
    assert_eq!(event["actor"], Value::Null, "players do not see who decided it");
    house.prove(&game);
}
