//! Test vectors of the fair dice protocol: these values must never change. `tests/fair_dice.py`
//! checks the same files with an independent implementation.

use std::sync::Arc;

use domain::{
    ClientSeed, Draw, Event, Faces, GameId, Proven, Purpose, Rolled, Ruleset, VerificationError,
    fair::{
        Commitment, DiceKey, RulesetHash, Secret, SeedsHash, commitment, pick, ruleset_hash,
        seeds_hash,
    },
    verify,
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

/// Each value of a small range is drawn about equally often: a coarse check for off-by-one errors.
/// Exactness follows from the rejection of words that do not fit.
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
    assert_eq!(verify(&game()), Ok(Proven { rolls: 20, events: 76 }));
}

/// Asserts that a game with this event changed fails at that event, with this message.
#[track_caller]
fn check_detected(alter: impl Fn(&mut Event), at: usize, words: &str) {
    let mut events = game();
    events.iter_mut().for_each(alter);
    assert_ne!(events, game(), "something was changed");
    let said = verify(&events).unwrap_err().to_string();
    assert!(said.contains(words) && said.contains(&format!("event {at} ")), "{said}");
}

fn seventh_roll(change: impl Fn(&mut Rolled)) -> impl Fn(&mut Event) {
    move |event| {
        if let Event::Rolled(roll) = event
            && roll.draw.number == 7
        {
            change(roll);
        }
    }
}

#[test]
fn changed_rolls_are_detected() {
    let is = "but the rules, the secret and the seeds give";
    let at = 1 + game()
        .iter()
        .position(|event| matches!(event, Event::Rolled(roll) if roll.draw.number == 7))
        .unwrap();
    check_detected(seventh_roll(|roll| roll.raw[0] = roll.raw[0] % 6 + 1), at, is);
    check_detected(
        seventh_roll(|roll| roll.faces = Faces::of(&[1, 1, 1, 1, 1, 1]).unwrap()),
        at,
        is,
    );
    check_detected(seventh_roll(|roll| roll.draw.purpose = Purpose::Colours), at, is);
    check_detected(seventh_roll(|roll| roll.draw.sides = 1), at, is);
    check_detected(seventh_roll(|roll| roll.raw.truncate(2)), at, is);
    check_detected(seventh_roll(|roll| roll.draw.number = 6), at, is);
    check_detected(seventh_roll(|roll| roll.max_points += 50), at, is);
}

#[test]
fn other_changes_are_detected() {
    let is = "but the rules, the secret and the seeds give";
    let last = game().len();
    check_detected(
        |e| {
            if let Event::Ended(end) = e {
                end.winners = vec![0];
            }
        },
        last - 1,
        is,
    );
    check_detected(
        |e| {
            if let Event::Started { seeds } = e {
                seeds.0[0] ^= 1;
            }
        },
        7,
        is,
    );
    let other_seed = |event: &mut Event| {
        if let Event::SeedChosen { seed, .. } = event {
            *seed = ClientSeed::parse("another").unwrap();
        }
    };
    check_detected(other_seed, 7, is);
    let cheaper = |event: &mut Event| {
        if let Event::Created { ruleset, .. } = event {
            Arc::make_mut(ruleset).table.win_award = 500;
        }
    };
    check_detected(cheaper, 1, is);
    let other_secret = |event: &mut Event| {
        if let Event::SeedRevealed { secret } = event {
            secret.0[31] ^= 1;
        }
    };
    let mut events = game();
    events.iter_mut().for_each(other_secret);
    assert_eq!(verify(&events), Err(VerificationError::Commitment));
}

#[test]
fn removed_added_and_moved_events_are_detected() {
    let find = |name: &str| game().iter().position(|event| event.name() == name).unwrap();
    let without = |name: &str| {
        let mut events = game();
        events.remove(find(name));
        verify(&events).unwrap_err().to_string()
    };
    assert!(without("Started").contains("event 7 (TurnStarted) cannot have happened"));
    assert!(without("TurnStarted").contains("\"TurnStarted\""));
    assert!(without("Saved").contains("cannot have happened"));
    assert_eq!(without("SeedRevealed"), VerificationError::NotRevealed.to_string());
    assert_eq!(without("Created"), VerificationError::NoGame.to_string());

    let again = |name: &str| {
        let mut events = game();
        events.insert(find("Rolled") + 1, events[find(name)].clone());
        verify(&events).unwrap_err().to_string()
    };
    assert!(again("Started").contains("the game has started already"));
    assert!(again("SeedChosen").contains("the game has started already"));
    assert!(again("Rolled").contains("save at least one scoring die"));
    assert!(again("MoneyAwarded").contains("event 10 (MoneyAwarded) cannot have happened"));
    assert_eq!(verify(&[]), Err(VerificationError::NoGame));
}
