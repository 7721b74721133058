//! Proof bundles: both verifiers accept every game, and both detect every changed byte.

use std::{path::PathBuf, process::Command};

use domain::{Event, GAMES, GameId, Moment, Rules, Ruleset, fair::Secret, verify};
use futures_util::{StreamExt, stream};
use test_games::{Numbers, Whole, player};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{sealing::key, support::store};
use crate::{Append, Hash, Head, Store, bundle::Bundle, seal::seal};

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

/// Runs the second verifier on these files: whether it proved all of them, and its output.
fn second(verb: &str, files: &[PathBuf]) -> (bool, String) {
    let script = vectors().join("../fair_dice.py");
    let run = Command::new("python3").arg("-B").arg(script).arg(verb).args(files).output().unwrap();
    (run.status.success(), String::from_utf8(run.stdout).unwrap())
}

/// The checks of `croupier verify` on a bundle.
fn proven(text: &str) -> Result<(), String> {
    let bundle = Bundle::parse(text).map_err(|bad| bad.to_string())?;
    let log = bundle.check().map_err(|bad| bad.to_string())?;
    let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
    let Some(Event::Created { game, .. }) = events.first() else {
        return Err("no game".to_owned());
    };
    if game.0 != bundle.game {
        return Err("another game".to_owned());
    }
    verify(&events).map(|_| ()).map_err(|unproven| unproven.to_string())
}

/// Appends a game, a few events at a time, always with the same ids and times.
async fn deal(store: &Store, log: &[Event]) -> Uuid {
    let Event::Created { game, .. } = &log[0] else { panic!() };
    let mut head = Head::NEW;
    for (n, events) in (0u64..).zip(log.chunks(3)) {
        let append = Append {
            stream: game.0,
            head,
            command: Uuid::from_u128(u128::from(n) + 1),
            request: Hash([1; 32]),
            actor: Uuid::from_u128(7),
            at: Moment(1_800_000_000_000 + n * 1000),
            events,
        };
        head = store.append(append).await.unwrap().head;
    }
    game.0
}

/// A random game of any kind and preset, played to its end. Long games are abandoned.
fn random_game(number: u64) -> Vec<Event> {
    let mut numbers = Numbers::of(number);
    let kind = numbers.one_of(GAMES);
    let presets = Rules::versions(kind).unwrap();
    let ruleset: Ruleset = presets[numbers.index(presets.len())].clone();
    let (least, most) = (ruleset.table.min_seats, ruleset.table.max_seats.min(3));
    let seats = usize::from(least) + numbers.index(usize::from(most - least) + 1);
    let id = Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number));
    let secret = Secret([u8::try_from(number % 251).unwrap(); 32]);
    let special = ruleset.rules.catalogue().is_some();
    let dice = if special { ["MIDAS", "HOT"].map(str::to_owned).to_vec() } else { Vec::new() };
    let seed = |seat| (seat == 0).then(|| format!("größe {number}"));
    let players = (0..u8::try_from(seats).unwrap()).map(|seat| (player(seat), seed(seat)));
    let whole = Whole {
        players: players.collect(),
        dice,
        leaves_one_in: Some(200),
        most_moves: 60,
        ..Whole::new(GameId(id), secret, ruleset)
    };
    whole.play(&mut numbers)
}

/// `CROUPIER_LAW=10` runs thousands of games.
fn scale() -> u64 {
    std::env::var("CROUPIER_LAW").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_verifiers_agree_on_random_games_of_every_kind() {
    let store = store().await;
    let dealt = stream::iter(1..=200 * scale())
        .map(|number| {
            let store = &store;
            async move { deal(store, &random_game(number)).await }
        })
        .buffer_unordered(64);
    let games: Vec<Uuid> = dealt.collect().await;
    seal(&store, &key(), Moment(1_900_000_000_000)).await.unwrap();
    let workers = std::thread::available_parallelism().unwrap().get();
    let mut shares = JoinSet::new();
    for share in games.chunks(games.len().div_ceil(workers)) {
        shares.spawn(both_agree(store.clone(), share.to_vec()));
    }
    shares.join_all().await;
    assert!(Bundle::load(&store, Uuid::now_v7()).await.unwrap().is_none());
}

/// Both verifiers accept these games, and reject them after a byte in the middle was changed.
async fn both_agree(store: Store, games: Vec<Uuid>) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for game in games {
        let bundle = Bundle::load(&store, game).await.unwrap().unwrap();
        assert!(bundle.sealed.is_some());
        let text = bundle.write().unwrap();
        proven(&text).unwrap();
        let path = folder.path().join(format!("{game}.proof"));
        std::fs::write(&path, text).unwrap();
        files.push(path);
    }
    let (all, said) = second("proof", &files);
    assert!(all, "{said}");
    for path in &files {
        let mut text = std::fs::read(path).unwrap();
        let middle = text.len() / 2;
        text[middle] ^= 1;
        let seen = String::from_utf8(text.clone()).map_or(true, |text| proven(&text).is_err());
        assert!(seen, "{}", path.display());
        std::fs::write(path, text).unwrap();
    }
    let (_, said) = second("proof", &files);
    assert!(!said.contains('✓'), "{said}");
}

/// The format is frozen byte for byte, and every changed byte is detected.
#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_frozen_and_every_byte_of_it_matters() {
    let store = store().await;
    let mut games = Vec::new();
    for name in ["game", "true-grit", "challenge"] {
        let text = std::fs::read_to_string(vectors().join(format!("{name}.ndjson"))).unwrap();
        let log: Vec<Event> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let game = deal(&store, &log).await;
        games.push((name, game));
    }
    seal(&store, &key(), Moment(1_900_000_000_000)).await.unwrap();
    for (name, game) in games {
        let text = Bundle::load(&store, game).await.unwrap().unwrap().write().unwrap();
        proven(&text).unwrap();
        let path = vectors().join(format!("{name}.proof"));
        if std::env::var_os("CROUPIER_FREEZE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{name}");
        if name == "true-grit" {
            for place in 0..text.len() {
                for flip in [0x01, 0x02, 0x20, 0x80] {
                    let mut changed = text.clone().into_bytes();
                    changed[place] ^= flip;
                    let seen =
                        String::from_utf8(changed).map_or(true, |text| proven(&text).is_err());
                    assert!(seen, "byte {place} xor {flip} is not detected");
                }
            }
        }
    }
}
