//! Proof bundles: whatever game, both verifiers agree; whatever byte is changed, both see it.

use std::{path::PathBuf, process::Command, sync::Arc};

use domain::{
    Command as Ask, Event, GAMES, Game, GameId, Legal, Moment, NoDice, Play, PlayerId, Rules,
    Ruleset, decide, evolve,
    fair::{FairDice, Secret, commitment, ruleset_hash},
    legal_commands, verify,
};
use futures_util::{StreamExt, stream};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{sealing::key, support::store};
use crate::{Append, Hash, Head, Store, bundle::Bundle, seal::seal};

fn vectors() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

/// The second verifier, on these files: whether all are proven, and what it said.
fn second(verb: &str, files: &[PathBuf]) -> (bool, String) {
    let script = vectors().join("../fair_dice.py");
    let run = Command::new("python3").arg("-B").arg(script).arg(verb).args(files).output().unwrap();
    (run.status.success(), String::from_utf8(run.stdout).unwrap())
}

/// Everything that `croupier verify` checks in a bundle.
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

/// Appends a game, a few events at a time, always with the same ids and moments.
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

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 32) % limit as u64).unwrap()
    }
}

/// A random game of any kind and preset, to its end.
fn random_game(number: u64) -> Vec<Event> {
    let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let kind = GAMES[numbers.below(GAMES.len())];
    let presets = Rules::versions(kind).unwrap();
    let ruleset: Ruleset = presets[numbers.below(presets.len())].clone();
    let (least, most) = (ruleset.table.min_seats, ruleset.table.max_seats.min(3));
    let seats = usize::from(least) + numbers.below(usize::from(most - least) + 1);
    let special = ruleset.rules.catalogue().is_some();
    let game =
        GameId(Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0000 + u128::from(number)));
    let secret = Secret([u8::try_from(number % 251).unwrap(); 32]);
    let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
    let mut asked = vec![Ask::Create { game, ruleset: Arc::new(ruleset), commitment }];
    for seat in 0..seats {
        let seed = (seat == 0).then(|| format!("größe {number}"));
        let player = PlayerId(Uuid::from_u128(0xA000 + seat as u128));
        asked.push(Ask::Join { player, name: format!("player {seat}"), seed });
    }
    if special {
        asked
            .push(Ask::ChooseLoadout { seat: 0, dice: vec!["MIDAS".to_owned(), "HOT".to_owned()] });
    }
    asked.push(Ask::Start);
    let (mut log, mut state): (Vec<Event>, Option<Game>) = (Vec::new(), None);
    let mut tell = |state: &mut Option<Game>, command: &Ask, now: Moment| {
        let decided = match &*state {
            Some(game) => decide(Some(game), command, now, &mut FairDice::new(secret, game)),
            None => decide(None, command, now, &mut NoDice),
        };
        for event in decided.unwrap() {
            *state = evolve(state.take(), &event);
            log.push(event);
        }
    };
    for command in &asked {
        tell(&mut state, command, Moment(1_800_000_000_000));
    }
    let mut moves = 0;
    while let Some(seat) = state.as_ref().and_then(Game::to_move) {
        let plays: Vec<Play> = legal_commands(state.as_ref())
            .into_iter()
            .filter_map(|legal| if let Legal::Play(_, play) = legal { Some(play) } else { None })
            .collect();
        moves += 1;
        // Long games are given up.
        let command = if numbers.below(200) == 0 || moves > 60 {
            Ask::Leave { seat }
        } else {
            Ask::Play { seat, play: plays[numbers.below(plays.len())].clone() }
        };
        tell(&mut state, &command, Moment(1_800_000_000_000 + moves));
    }
    log
}

/// `CROUPIER_LAW=10` tries thousands.
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

/// Both prove these games, and neither does after a byte in the middle was changed.
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

/// Bundles are what they were, byte for byte; every single byte of one matters.
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
                    assert!(seen, "byte {place} xor {flip} is not seen");
                }
            }
        }
    }
}
