//! Stored events must stay readable: every type has frozen samples that read and write unchanged.

use std::collections::BTreeSet;

use domain::{AccountEvent, DisputeEvent, Event, StaffEvent, special_dice::CatalogueEvent};

/// Add samples in a new file; never change existing ones.
const FROZEN: [&str; 7] = [
    include_str!("frozen/events-1.ndjson"),
    include_str!("frozen/events-2.ndjson"),
    include_str!("frozen/events-3.ndjson"),
    include_str!("frozen/events-4.ndjson"),
    include_str!("frozen/events-5.ndjson"),
    include_str!("frozen/events-6.ndjson"),
    include_str!("frozen/events-7.ndjson"),
];

fn lines() -> impl Iterator<Item = &'static str> {
    FROZEN.iter().flat_map(|file| file.lines())
}

#[test]
fn frozen_samples_round_trip() {
    for line in lines() {
        let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn every_type_has_a_sample() {
    let frozen: BTreeSet<&str> =
        lines().map(|line| serde_json::from_str::<Event>(line).unwrap().name()).collect();
    let mut names = BTreeSet::from(Event::NAMES);
    names.extend(AccountEvent::NAMES);
    names.extend(CatalogueEvent::NAMES);
    names.extend(DisputeEvent::NAMES);
    names.extend(StaffEvent::NAMES);
    assert_eq!(frozen, names);

    // The lists of names are complete: the error of serde lists every variant.
    let unknown = r#"{"?":{}}"#;
    let known = |said: serde_json::Error| -> BTreeSet<String> {
        said.to_string().split('`').skip(3).step_by(2).map(str::to_owned).collect()
    };
    let mut said = known(serde_json::from_str::<Event>(unknown).unwrap_err());
    assert!(said.remove("Account") && said.remove("Catalogue"));
    assert!(said.remove("Dispute") && said.remove("Staff"));
    said.extend(known(serde_json::from_str::<AccountEvent>(unknown).unwrap_err()));
    said.extend(known(serde_json::from_str::<CatalogueEvent>(unknown).unwrap_err()));
    said.extend(known(serde_json::from_str::<DisputeEvent>(unknown).unwrap_err()));
    // For a single variant the error has just its name.
    let single = serde_json::from_str::<StaffEvent>(unknown).unwrap_err().to_string();
    assert!(single.contains("`StaffActed`"), "{single}");
    said.insert("StaffActed".to_owned());
    assert_eq!(said, names.into_iter().map(str::to_owned).collect());
}
