//! Verification detects whatever a superuser changes in the database.

use domain::Moment;
use uuid::Uuid;

use super::{
    sealing::{key, proven},
    support::{append, database, database_from, execute},
};
use crate::{
    Envelope, Head, Settings, Shard, Store, StreamId,
    prove::ExternalEvidence,
    seal::{Seal, seal},
};

/// A log of twenty streams with nine events each, sealed up to the sixth of each; the last twenty
/// commands are not sealed yet.
struct Template {
    name: String,
    stream: StreamId,
    seals: Vec<Seal>,
}

async fn template() -> Template {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    // Each stream has its own shard, so that every change is reported for the stream itself.
    let mut shards = std::collections::BTreeSet::new();
    let streams: Vec<StreamId> = std::iter::repeat_with(Uuid::now_v7)
        .filter(|&stream| shards.insert(Shard::of(stream)))
        .take(20)
        .collect();
    let mut heads = vec![Head::NEW; streams.len()];
    let mut seals = Vec::new();
    for round in 0..3 {
        if round == 2 {
            seals = seal(&store, &key(), Moment(1)).await.unwrap();
        }
        for (stream, head) in streams.iter().zip(&mut heads) {
            *head = append(&store, *stream, *head, round).await.unwrap().head;
        }
    }
    assert_eq!(proven(&store, &known(&seals)).await.unwrap().events, 180);
    store.close().await;
    let name = url.rsplit('/').next().unwrap().to_owned();
    Template { name, stream: streams[7], seals }
}

fn known(seals: &[Seal]) -> ExternalEvidence {
    let seals = seals.iter().map(|seal| ((seal.shard, seal.number), seal.clone())).collect();
    ExternalEvidence { seals, key: None }
}

/// The error of the verification after this change; `$s` is a stream.
async fn after(template: &Template, sql: &str) -> String {
    let url = database_from(&template.name).await;
    execute(&url, &sql.replace("$s", &format!("'{}'", template.stream))).await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let said = proven(&store, &known(&template.seals)).await;
    store.close().await;
    said.err().unwrap_or_else(|| panic!("not detected: {sql}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_events_are_reported() {
    let template = template().await;
    let stream = template.stream;
    let columns = [
        "payload = '{\"seat\":0,\"in_a_row\":777}'",
        "payload = (replace(payload::text, ':', ': '))::json",
        "type = 'TurnEnded'",
        "schema = 2",
        "recorded_at = recorded_at + interval '1 microsecond'",
        "command = gen_random_uuid()",
        "actor = gen_random_uuid()",
        "hash = sha256('x')",
    ];
    for version in [2, 9] {
        for column in columns {
            let sql =
                format!("UPDATE event SET {column} WHERE stream = $s AND version = {version}");
            let said = after(&template, &sql).await;
            let named = format!("stream {stream}, event {version}: its hash is ");
            assert!(said.starts_with(&named), "{sql}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_added_and_moved_events_are_reported() {
    let template = template().await;
    let s = template.stream;
    for (sql, expected) in [
        (
            "DELETE FROM event WHERE stream = $s AND version = 2",
            format!("stream {s}, event 3: version 2 should come here"),
        ),
        (
            "DELETE FROM event WHERE stream = $s AND version = 9",
            format!("stream {s}, event 8: events are missing: its head says version 9"),
        ),
        (
            "DELETE FROM event WHERE stream = $s",
            "it ends at position 0, but was sealed up to 6".to_owned(),
        ),
        (
            "INSERT INTO event SELECT 10, (SELECT position + 1 FROM shard_head h WHERE h.shard = e.shard), recorded_at, \
             stream, command, actor, shard, schema, type, hash, payload, request FROM event e WHERE stream = $s AND version = 9",
            format!("stream {s}, event 10: its hash is "),
        ),
        (
            "UPDATE event SET version = CASE version WHEN 2 THEN 3002 ELSE 3003 END WHERE stream = $s AND version IN (2, 3); \
             UPDATE event SET version = CASE version WHEN 3002 THEN 3 ELSE 2 END WHERE stream = $s AND version > 3000",
            format!("stream {s}, event 3: version 2 should come here"),
        ),
        (
            "UPDATE event SET position = position + 1000000 WHERE stream = $s AND version = 9",
            format!("stream {s}, event 9: it has position "),
        ),
    ] {
        let said = after(&template, sql).await;
        assert!(said.contains(&expected), "{sql}: {said}");
    }
    let said = after(&template, "TRUNCATE event").await;
    assert!(said.contains("sealed up to"), "{said}");
    // Moved to another shard: missing here, foreign there; the lower shard number is checked first.
    let moved =
        "UPDATE event SET shard = (shard + 1) % 64, position = position + 1000 WHERE stream = $s";
    let said = after(&template, moved).await;
    assert!(said.contains("it is in shard") || said.contains("sealed up to"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_heads_commands_and_seals_are_reported() {
    let template = template().await;
    let s = template.stream;
    for (sql, expected) in [
        (
            "UPDATE stream_head SET version = 8 WHERE stream = $s",
            format!("stream {s}, event 9: its head says version 8"),
        ),
        (
            "UPDATE stream_head SET recorded_at = now() WHERE stream = $s",
            format!("stream {s}, event 9: its head says version 9 with another"),
        ),
        (
            "UPDATE stream_head SET hash = sha256('x') WHERE stream = $s",
            format!("stream {s}, event 9: its head says version 9"),
        ),
        (
            "DELETE FROM stream_head WHERE stream = $s",
            format!("stream {s}, event 9: it has no head"),
        ),
        ("UPDATE shard_head SET position = position + 1", "its head says".to_owned()),
        (
            "UPDATE event SET request = 1 WHERE stream = $s AND version = 5",
            format!("stream {s}, event 4: the command of this event stands twice"),
        ),
        (
            "UPDATE seal SET root = sha256('x') WHERE number = 1",
            "seal 1 is not signed by its key".to_owned(),
        ),
        (
            "UPDATE seal SET last_position = last_position + 1",
            "seal 1 is not signed by its key".to_owned(),
        ),
        ("DELETE FROM seal", "seal 1 is missing, it is kept outside the database".to_owned()),
    ] {
        let said = after(&template, sql).await;
        assert!(said.contains(&expected), "{sql}: {said}");
    }
}

/// The strongest attack: a stream is rewritten from an event on, with all hashes and heads
/// recomputed.
#[tokio::test(flavor = "multi_thread")]
async fn a_rewritten_chain_is_caught_by_the_seals() {
    let template = template().await;
    let url = database_from(&template.name).await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    rewrite(&store, &url, template.stream).await;
    let said = proven(&store, &ExternalEvidence::default()).await.unwrap_err();
    assert!(said.contains("are not those of seal 1"), "{said}");

    // An attacker who also forges seals needs a key, and then differs from the seals kept outside.
    execute(&url, "DELETE FROM seal").await;
    let forger = ed25519_dalek::SigningKey::from_bytes(&[66; 32]);
    seal(&store, &forger, Moment(1)).await.unwrap();
    assert!(
        proven(&store, &ExternalEvidence::default()).await.is_ok(),
        "it is consistent in itself"
    );
    let said = proven(&store, &known(&template.seals)).await.unwrap_err();
    assert!(said.contains("seal 1 is not the one kept outside the database"), "{said}");
    let trusted = ExternalEvidence {
        key: Some(key().verifying_key().to_bytes()),
        ..ExternalEvidence::default()
    };
    let said = proven(&store, &trusted).await.unwrap_err();
    assert!(said.contains("seal 1 is signed by another key than the trusted one"), "{said}");
}

/// Rows hidden before the first position, or in a shard that does not exist.
#[tokio::test(flavor = "multi_thread")]
async fn hidden_rows_are_found() {
    let template = template().await;
    let columns = "recorded_at, stream, command, actor";
    let rest = "schema, type, hash, payload, request FROM event WHERE stream = $s AND version = 1";
    let before = format!("INSERT INTO event SELECT 10, 0, {columns}, shard, {rest}");
    let said = after(&template, &before).await;
    assert!(said.contains("version 1 should come here"), "{said}");
    let elsewhere = format!("INSERT INTO event SELECT 1, 1, {columns}, 100, {rest}");
    let said = after(&template, &elsewhere).await;
    assert!(said.contains("a row of event is in a shard that does not exist"), "{said}");
}

async fn rewrite(store: &Store, url: &str, stream: StreamId) {
    use std::fmt::Write;

    use futures_util::TryStreamExt;
    let mut events: Vec<Envelope> = store.stream_envelopes(stream, 0).try_collect().await.unwrap();
    events[1].payload = r#"{"seat":0,"in_a_row":777}"#.to_owned();
    let mut previous = crate::Hash::ZERO;
    let mut sql = String::new();
    for event in &events {
        previous = event.expected_hash(&previous);
        let (payload, version) = (&event.payload, event.version);
        sql += "UPDATE event SET payload = '";
        sql += payload;
        write!(sql, "', hash = '\\x{previous}' WHERE stream = '{stream}' AND version = {version};")
            .unwrap();
    }
    write!(sql, "UPDATE stream_head SET hash = '\\x{previous}' WHERE stream = '{stream}'").unwrap();
    execute(url, &sql).await;
}
