use sqlx::{Executor, Row};

use super::support::store;
use crate::{
    read::{LOG_PAGE, LOG_PAGES, NEWS, RECEIPT, STREAM_PAGE},
    states::{LAST_ACTIONS, STREAMS_PAGE},
    watch::{BACKWARDS, OF_TYPES},
};

/// The generic plan of a statement, as used by our connections.
async fn plan(sql: &str, types: &str, values: &str) -> String {
    let store = store().await;
    let mut connection = store.pool.acquire().await.unwrap();
    let prepare = format!("PREPARE asked ({types}) AS {sql}");
    connection.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(prepare))).await.unwrap();
    let explain = format!("EXPLAIN EXECUTE asked ({values})");
    let rows = connection.fetch_all(sqlx::raw_sql(sqlx::AssertSqlSafe(explain))).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect()
}

#[track_caller]
fn index_scans_only(plan: &str, indexes: &[&str]) {
    for bad in ["Seq Scan", "Bitmap", "disabled"] {
        assert!(!plan.contains(bad), "{bad} in:\n{plan}");
    }
    for index in indexes {
        let probe = format!("using {index} on");
        assert!(plan.contains(&probe), "no {probe} in:\n{plan}");
    }
}

#[tokio::test]
async fn a_stream_is_read_by_its_key() {
    let plan = plan(
        STREAM_PAGE,
        "smallint, uuid, bigint, bigint",
        "1, '0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5', 0, 10",
    )
    .await;
    index_scans_only(&plan, &["event_pkey"]);
    assert!(!plan.contains("Sort"), "{plan}");
}

#[tokio::test]
async fn several_streams_are_read_by_their_keys() {
    let types = "smallint[], uuid[], bigint[], bigint";
    let last = plan(LAST_ACTIONS, "smallint[], uuid[]", "'{}', '{}'").await;
    index_scans_only(&last, &["event_pkey", "stream_head_pkey"]);
    let plan = plan(STREAMS_PAGE, types, "'{}', '{}', '{}', 10").await;
    index_scans_only(&plan, &["event_pkey"]);
    assert!(!plan.contains("Sort"), "{plan}");
}

#[tokio::test]
async fn events_of_some_types_are_found_by_position_or_key() {
    let types = "smallint[], bigint[], text[], bigint, bigint";
    let found = plan(OF_TYPES, types, "'{1,2}', '{0,0}', '{Ended}', 10, 100").await;
    index_scans_only(&found, &["event_position", "shard_head_pkey"]);
    assert!(!found.contains("Sort"), "{found}");
    let back = plan(
        BACKWARDS,
        "smallint, uuid, bigint, text[], bigint",
        "1, '0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5', 9, '{Ended}', 10",
    )
    .await;
    index_scans_only(&back, &["event_pkey"]);
    assert!(!back.contains("Sort"), "{back}");
}

#[tokio::test]
async fn the_log_is_read_by_position() {
    let one = plan(LOG_PAGE, "smallint, bigint, bigint", "1, 0, 10").await;
    index_scans_only(&one, &["event_position"]);
    assert!(!one.contains("Sort"), "{one}");
    let news = plan(NEWS, "smallint[], bigint[], bigint", "'{1,2}', '{0,0}', 10").await;
    index_scans_only(&news, &["event_position", "shard_head_pkey"]);
    assert!(!news.contains("Sort"), "{news}");
    let several = plan(LOG_PAGES, "smallint[], bigint[], bigint", "'{1,2}', '{0,0}', 10").await;
    index_scans_only(&several, &["event_position"]);
    assert!(!several.contains("Sort"), "{several}");
}

const COMMAND: &str = "smallint[], uuid[], bigint[], integer[], bytea[], bytea[], timestamptz[]";

#[tokio::test]
async fn an_append_reads_only_the_rows_it_writes() {
    let types = format!(
        "{COMMAND}, bigint, smallint[], bigint[], smallint[], uuid[], bigint[], bigint[], timestamptz[], uuid[], \
         uuid[], smallint[], text[], bytea[], text[], bigint[]"
    );
    let mut values = vec!["'{}'"; 22];
    values[7] = "0";
    let plan = plan(include_str!("../append_all.sql"), &types, &values.join(", ")).await;
    index_scans_only(&plan, &[]);
    for table in ["stream_head", "shard_head"] {
        let arbiter = format!("Conflict Arbiter Indexes: {table}_pkey");
        assert_eq!(plan.matches(&arbiter).count(), 1, "{plan}");
    }
    assert!(!plan.contains("Index Scan"), "no table is read but through its key:\n{plan}");
}

#[tokio::test]
async fn a_single_append_probes_the_heads_by_key() {
    let types = "smallint, uuid, bigint, integer, bytea, bytea, timestamptz, uuid, uuid, bigint, bigint[], smallint[], \
         text[], bytea[], text[]";
    let id = "'0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5'";
    let values = format!(
        "1, {id}, 2, 1, '', '', now(), {id}, {id}, 0, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}'"
    );
    let plan = plan(include_str!("../append_one.sql"), types, &values).await;
    index_scans_only(&plan, &["stream_head_pkey", "shard_head_pkey"]);
}

#[tokio::test]
async fn a_receipt_is_read_by_the_key_of_its_stream() {
    let id = "'0193f3a2-91b0-7c11-9e5a-d0e1f2a3b4c5'";
    let plan = plan(RECEIPT, "smallint, uuid, uuid", &format!("1, {id}, {id}")).await;
    index_scans_only(&plan, &["event_pkey"]);
    assert!(!plan.contains("Sort"), "{plan}");
}

#[tokio::test]
async fn an_append_with_conflicts_uses_index_probes_and_hash_joins() {
    let types = format!(
        "{COMMAND}, uuid[], uuid[], bigint[], integer[], bigint[], smallint[], text[], bytea[], text[]"
    );
    let plan = plan(include_str!("../append.sql"), &types, &["'{}'"; 16].join(", ")).await;
    index_scans_only(&plan, &["stream_head_pkey"]);
    for table in ["stream_head", "shard_head"] {
        let arbiter = format!("Conflict Arbiter Indexes: {table}_pkey");
        assert_eq!(plan.matches(&arbiter).count(), 1, "{plan}");
    }
    assert_eq!(plan.matches("Nested Loop").count(), 0, "{plan}");
}
