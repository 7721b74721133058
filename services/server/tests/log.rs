//! `croupier migrate`, `seal` and `verify --all` as a person runs them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{path::Path, process::Command};

use cluster::{Cluster, Settings};
use domain::{Event, Moment};
use sqlx::{Connection, Executor, PgConnection};
use store::{Append, Hash, Head, Store};
use uuid::Uuid;

fn croupier(folder: &Path, url: Option<&str>, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_croupier"));
    command.args(arguments).current_dir(folder).env_remove("DATABASE_URL");
    command.env_remove("CROUPIER_SEALS").env_remove("CROUPIER_SEAL_KEY");
    if let Some(url) = url {
        command.env("DATABASE_URL", url);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), said)
}

/// A hundred streams of two events each.
async fn fill(url: &str) {
    let store = Store::open(url, &store::Settings::default()).unwrap();
    let events = [1, 2].map(|in_a_row| Event::TimedOut { seat: 0, in_a_row });
    for number in 1..=100 {
        let stream = Uuid::from_u128(number);
        let append = Append {
            stream,
            head: Head::NEW,
            command: stream,
            request: Hash::ZERO,
            actor: stream,
            at: Moment(1),
            events: &events,
        };
        store.append(append).await.unwrap();
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_migrated_sealed_and_verified() {
    let folder = tempfile::Builder::new().prefix("croupier-").tempdir_in("/tmp").unwrap();
    let cluster = Cluster::start(&folder.path().join("cluster"), Settings::Throwaway).unwrap();
    let here = tempfile::tempdir().unwrap();
    let url = cluster.url("postgres");
    let run = |arguments: &[&str]| croupier(here.path(), Some(&url), arguments);

    for _ in 0..2 {
        let (code, said) = run(&["migrate"]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("✓ the database has the current schema"), "{said}");
    }
    fill(&url).await;
    let (code, said) = run(&["seal"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("over 200 new events, signed by "), "{said}");
    let public = said.trim().rsplit(' ').next().unwrap().to_owned();
    let (code, said) = run(&["verify", "--all"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("! the seals were only compared with the database itself"), "{said}");
    let (code, said) = run(&["verify", "--all", "--seal-key", &public]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✓ all seals are signed by the trusted key"), "{said}");
    let (code, said) = run(&["verify", "--all", "--seal-key", &"00".repeat(32)]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is signed by another key than the trusted one"), "{said}");

    // Seals that were not written down, and a line that was cut off, are written when it goes on.
    let path = here.path().join("seals.ndjson");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines = whole.lines().count();
    let some: String = whole.split_inclusive('\n').take(lines / 2).collect();
    std::fs::write(&path, some + "{\"shard\":").unwrap();
    assert_eq!(run(&["seal"]).0, 0);
    let sorted =
        |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted(&std::fs::read_to_string(&path).unwrap()), sorted(&whole));

    let (code, said) = run(&["verify", "--all", "--seals", "seals.ndjson"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✓ 200 events of 100 streams, 100 commands"), "{said}");
    assert!(said.contains("seals kept outside the database"), "{said}");

    let mut superuser = PgConnection::connect(&url).await.unwrap();
    let change = "UPDATE event SET payload = '{\"seat\":1,\"in_a_row\":2}'
                  WHERE stream = '00000000-0000-0000-0000-000000000007' AND version = 2";
    superuser.execute(change).await.unwrap();
    let (code, said) = run(&["verify", "--all"]);
    assert_eq!(code, 1, "{said}");
    let named = "✗ stream 00000000-0000-0000-0000-000000000007, event 2: its hash is";
    assert!(said.contains(named), "{said}");
}

#[test]
fn what_is_missing_is_said() {
    let here = tempfile::tempdir().unwrap();
    for task in [&["migrate"][..], &["seal"], &["verify", "--all"]] {
        let (code, said) = croupier(here.path(), None, task);
        assert_eq!(code, 2, "{said}");
        let how = ["--database-url <DATABASE_URL>", "no database: set DATABASE_URL"];
        assert!(how.iter().any(|how| said.contains(how)), "{said}");
    }
    let (code, said) = croupier(here.path(), None, &["verify"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("<FILE|GAME>..."), "{said}");
    let nowhere = Some("postgres://nobody@%2Fnowhere/none");
    for task in [&["migrate"][..], &["seal"], &["verify", "--all"]] {
        let (code, said) = croupier(here.path(), nowhere, task);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("! the database is unavailable"), "{said}");
    }
    let (code, said) = croupier(here.path(), Some("not an address"), &["migrate"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the database's address is wrong"), "{said}");
    let (code, said) = croupier(here.path(), nowhere, &["verify", "--all", "--seal-key", "beef"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("'beef' is not a public key"), "{said}");
    std::fs::write(here.path().join("seals"), "{}\n").unwrap();
    let (code, said) = croupier(here.path(), nowhere, &["verify", "--all", "--seals", "seals"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("! seals: line 1: missing field"), "{said}");
}
