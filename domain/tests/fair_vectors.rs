//! The fair dice protocol is frozen: these values must never change. `tests/fair_dice.py` checks
//! the same files with an implementation of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use domain::{
    ClientSeed, Draw, Event, GameId, Purpose, Ruleset,
    fair::{
        Commitment, DiceKey, RulesetHash, Secret, SeedsHash, Unfair, commitment, pick,
        ruleset_hash, seeds_hash, verify,
    },
};
use serde_json::Value;

fn vectors(kind: &str) -> Vec<Value> {
    let file = include_str!("../../tests/vectors/fair-dice.json");
    let mut all: Value = serde_json::from_str(file).unwrap();
    let vectors: Vec<Value> = serde_json::from_value(all[kind].take()).unwrap();
    assert!(!vectors.is_empty());
    vectors
}

fn read<T: serde::de::DeserializeOwned>(vector: &Value, field: &str) -> T {
    serde_json::from_value(vector[field].clone()).unwrap()
}

#[test]
fn rulesets() {
    for v in vectors("rulesets") {
        let ruleset: Ruleset = read(&v, "ruleset");
        assert_eq!(ruleset_hash(&ruleset), read::<RulesetHash>(&v, "hash"));
    }
}

#[test]
fn commitments() {
    for v in vectors("commitments") {
        let (secret, game): (Secret, GameId) = (read(&v, "secret"), read(&v, "game"));
        let found = commitment(&secret, game, read(&v, "ruleset_hash"));
        assert_eq!(found, read::<Commitment>(&v, "commitment"));
    }
}

#[test]
fn seeds() {
    for v in vectors("seeds") {
        let seeds: Vec<Option<ClientSeed>> = read(&v, "seeds");
        assert_eq!(seeds_hash(seeds.iter().map(Option::as_ref)), read::<SeedsHash>(&v, "hash"));
    }
}

#[test]
fn keys_and_draws() {
    let mut drawn = 0;
    for v in vectors("keys") {
        let (secret, seeds): (Secret, SeedsHash) = (read(&v, "secret"), read(&v, "seeds_hash"));
        let key = DiceKey::derive(&secret, &seeds, read(&v, "game"), &read(&v, "ruleset_hash"));
        assert_eq!(*key.reveal(), read::<Secret>(&v, "key").0);
        for d in vectors("draws").iter().filter(|d| d["key"] == v["key"]) {
            let purpose = match read(d, "purpose") {
                1u8 => Purpose::Dice,
                2 => Purpose::Colours,
                3 => Purpose::Market,
                4 => Purpose::Grants,
                other => panic!("purpose {other}"),
            };
            let draw = Draw { purpose, number: read(d, "number"), sides: read(d, "sides") };
            let values: Vec<u32> = read(d, "values");
            assert_eq!(key.draw(draw, values.len()), values, "{draw:?}");
            drawn += 1;
        }
    }
    assert_eq!(drawn, vectors("draws").len(), "every draw belongs to a key");
}

#[test]
fn weighted() {
    for v in vectors("weighted") {
        let weights: Vec<u32> = read(&v, "weights");
        let picks: Vec<usize> = read(&v, "picks");
        for (ticket, entry) in (1..).zip(picks) {
            assert_eq!(pick(&weights, ticket), Some(entry));
        }
        assert_eq!(pick(&weights, weights.iter().sum()), Some(read(&v, "last")));
    }
}

/// Each value of a small range is drawn about equally often: a coarse check that nothing is off by
/// one; that it is exact follows from the rejection of the words that do not fit.
#[test]
fn draws_are_even() {
    let key = DiceKey::derive(
        &Secret([1; 32]),
        &seeds_hash([]),
        GameId(uuid::Uuid::nil()),
        &RulesetHash([0; 32]),
    );
    let draw = Draw { purpose: Purpose::Dice, number: 1, sides: 6 };
    let mut counts = [0u32; 6];
    for value in key.draw(draw, 60_000) {
        counts[value as usize - 1] += 1;
    }
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
}

fn game() -> Vec<Event> {
    let lines = include_str!("../../tests/vectors/game.ndjson").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_whole_game_verifies() {
    assert_eq!(verify(&game()), Ok(20));
}

#[test]
fn tampering_is_named() {
    let change = |alter: &dyn Fn(&mut Event)| {
        let mut events = game();
        events.iter_mut().for_each(alter);
        verify(&events)
    };
    let later_roll = |event: &mut Event| {
        if let Event::Rolled(roll) = event
            && roll.draw.number == 7
        {
            roll.raw[0] = roll.raw[0] % 6 + 1;
        }
    };
    assert!(matches!(change(&later_roll), Err(Unfair::Roll { number: 7, .. })));
    let drawn_twice = |event: &mut Event| {
        if let Event::Rolled(roll) = event
            && roll.draw.number == 3
        {
            roll.draw.number = 2;
        }
    };
    assert!(matches!(change(&drawn_twice), Err(Unfair::Roll { number: 3, .. })));
    let other_secret = |event: &mut Event| {
        if let Event::SeedRevealed { secret } = event {
            secret.0[31] ^= 1;
        }
    };
    assert_eq!(change(&other_secret), Err(Unfair::Commitment));
    let other_seed = |event: &mut Event| {
        if let Event::SeedChosen { seed, .. } = event {
            *seed = ClientSeed::parse("another").unwrap();
        }
    };
    assert_eq!(change(&other_seed), Err(Unfair::Seeds));
    let unfinished: Vec<Event> = game().into_iter().take(30).collect();
    assert_eq!(verify(&unfinished), Err(Unfair::NotRevealed));
    assert_eq!(verify(&[]), Err(Unfair::NoGame));
}
