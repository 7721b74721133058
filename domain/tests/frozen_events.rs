//! Events are written for ever: every type has a frozen sample that must read and write as it did.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use domain::Event;

const FROZEN: &str = include_str!("frozen/events-1.ndjson");

#[test]
fn every_event_reads_and_writes_as_it_did() {
    for line in FROZEN.lines() {
        let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn every_type_has_a_sample() {
    let frozen: BTreeSet<&str> =
        FROZEN.lines().map(|line| serde_json::from_str::<Event>(line).unwrap().name()).collect();
    assert_eq!(frozen, BTreeSet::from(Event::NAMES));

    // The list of names is complete: serde knows every variant and says so.
    let said = serde_json::from_str::<Event>(r#"{"?":{}}"#).unwrap_err().to_string();
    let known: BTreeSet<&str> = said.split('`').skip(3).step_by(2).collect();
    assert_eq!(known, BTreeSet::from(Event::NAMES));
}
