//! Balance matches the games, however it is grouped.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use domain::{
    DecidedBy, Event, GameId, Moment, PlayerId, Ruleset,
    fair::{Secret, commitment, ruleset_hash},
};
use skillratings::glicko2::Glicko2Rating;
use store::{Append, Hash, Head, Store};
use test_games::Numbers;
use uuid::Uuid;

use super::{
    nodes::{database, open, rebuild},
    ratings::{Rated, day, morning},
    seats::PlainSeat,
};
use crate::balance::{Band, By, Dimension, Question, ask};

/// Games and wins under every grouping equal plain counts.
pub(super) async fn balance_holds(store: &Store, seats: &[PlainSeat], rated: &Rated) {
    type Names = fn(&PlainSeat, &Glicko2Rating) -> Vec<String>;
    let asked: [(By, Names); 9] = [
        (By::Trait(Dimension::Die), |seat, _| {
            let codes: BTreeSet<&String> = seat.dice.iter().collect();
            codes.into_iter().cloned().collect()
        }),
        (By::Trait(Dimension::Pair), |seat, _| {
            let mut pairs = BTreeSet::new();
            for (n, one) in seat.dice.iter().enumerate() {
                for other in &seat.dice[n + 1..] {
                    let (one, other) = (one.min(other), one.max(other));
                    pairs.insert(format!("{one}+{other}"));
                }
            }
            pairs.into_iter().collect()
        }),
        (By::Trait(Dimension::Loadout), |seat, _| {
            let special = seat.preset == "challenge-standard";
            special.then(|| seat.dice.len().to_string()).into_iter().collect()
        }),
        (By::Trait(Dimension::Character), |seat, _| seat.character.clone().into_iter().collect()),
        (By::Trait(Dimension::Position), |seat, _| {
            (seat.seats > 1).then(|| seat.position.to_string()).into_iter().collect()
        }),
        (By::Game, |seat, _| vec![seat.kind.clone()]),
        (By::Preset, |seat, _| vec![format!("{} {}", seat.kind, seat.preset)]),
        (By::Seats, |seat, _| vec![seat.seats.to_string()]),
        (By::Band, |_, rating| vec![Band::of(rating).words().to_owned()]),
    ];
    let days: Vec<i32> = seats.iter().map(|seat| day(seat.at)).collect();
    let middle = (days.iter().min().unwrap() + days.iter().max().unwrap()) / 2;
    for (by, names) in asked {
        for first in [None, Some(middle)] {
            let question = Question { first, histograms: true, weeks: true, ..question(by) };
            let answer = ask(store.pool(), &question).await.unwrap();
            assert_eq!(answer.as_of.behind, 0);
            let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
            let chosen =
                seats.iter().filter(|seat| first.is_none_or(|first| day(seat.at) >= first));
            for seat in chosen.clone() {
                let rating = morning(rated, &seat.kind, seat.player, day(seat.at));
                for name in names(seat, &rating) {
                    let (games, wins) = expected.entry(name).or_default();
                    (*games, *wins) = (*games + 1, *wins + i64::from(seat.won));
                }
            }
            let found: BTreeMap<String, (i64, i64)> = answer
                .lines
                .iter()
                .map(|line| (line.name.clone(), (line.games, line.wins)))
                .collect();
            assert_eq!(found, expected, "{by:?}");
            assert_eq!(answer.total.games, i64::try_from(chosen.clone().count()).unwrap());
            for line in &answer.lines {
                let weeks: i64 = line.weeks.iter().map(|week| week.games).sum();
                let scores: u64 = line.histograms[0].values().sum();
                let turns: u64 = line.histograms[1].values().sum();
                assert_eq!((weeks, i64::try_from(scores).unwrap()), (line.games, line.games));
                assert_eq!(i64::try_from(turns).unwrap(), line.turns);
            }
        }
    }
}

pub(super) fn question(by: By) -> Question {
    Question {
        kind: None,
        preset: None,
        ruleset_version: None,
        catalogue_version: None,
        seats: None,
        band: None,
        first: None,
        last: None,
        by,
        names: None,
        histograms: false,
        weeks: false,
    }
}

/// Winners are drawn with a known advantage of a die: the interval of the uplift covers it.
#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_effect_is_found_in_the_log() {
    const EFFECT: f64 = 0.12;
    let url = database().await;
    let store = open(&url);
    let ruleset = Arc::new(Ruleset::preset("farkle", Some("challenge-standard")).unwrap());
    let mut numbers = Numbers(0x1234_5678_9ABC_DEF1);
    for number in 0..1_500u64 {
        let (game, secret) = (GameId(Uuid::new_v4()), Secret([7; 32]));
        let ruleset_hash = ruleset_hash(&ruleset);
        let commitment = commitment(&secret, game, ruleset_hash);
        let with_die: u8 = u8::try_from(numbers.below(2)).unwrap();
        // The opponent has ordinary dice; the player with the die wins that much more often than
        // half of the games.
        let lucky = numbers.below(10_000) < 5_000 + (EFFECT * 5_000.0) as u32;
        let winner = if lucky { with_die } else { 1 - with_die };
        // Different players in every game.
        let taken = |seat: u8| Event::SeatTaken {
            seat,
            player: PlayerId(Uuid::from_u128(u128::from(number) * 2 + u128::from(seat) + 1)),
            name: domain::Name::parse(&format!("player {seat}")).unwrap(),
        };
        let dice = vec!["MIDAS".parse().unwrap(); 1];
        let outcome =
            domain::Outcome { by: DecidedBy::Score, winners: vec![winner], scores: vec![0; 2] };
        let events = [
            Event::Created { game, ruleset: Arc::clone(&ruleset), ruleset_hash, commitment },
            taken(0),
            taken(1),
            Event::LoadoutChosen { seat: with_die, dice },
            Event::Started { seeds: domain::fair::seeds_hash([None, None].into_iter()) },
            Event::Ended(outcome),
            Event::SeedRevealed { secret },
        ];
        let (stream, command, request) = (game.0, Uuid::new_v4(), Hash([1; 32]));
        let at = Moment(1_800_000_000_000 + number);
        let append = Append {
            stream,
            head: Head::NEW,
            command,
            request,
            actor: stream,
            at,
            events: &events,
        };
        store.append(append).await.unwrap();
    }
    rebuild(&store, "balance", |_| {}).await.unwrap();
    let answer = ask(store.pool(), &question(By::Trait(Dimension::Die))).await.unwrap();
    let [midas] = &answer.lines[..] else { panic!("{answer:?}") };
    assert_eq!((midas.name.as_str(), midas.games, answer.total.games), ("MIDAS", 1_500, 3_000));
    let (rate, uplift) = (midas.win_rate.unwrap(), midas.uplift.unwrap());
    assert!((midas.pick_rate.unwrap() - 0.5).abs() < 1e-9);
    assert!(rate.low < 0.5 + EFFECT / 2.0 && 0.5 + EFFECT / 2.0 < rate.high, "{rate:?}");
    assert!(uplift.low < EFFECT && EFFECT < uplift.high && uplift.low > 0.0, "{uplift:?}");
    assert!((uplift.value - EFFECT).abs() < 0.05, "{uplift:?}");
    let none = Question { last: Some(3), ..question(By::Trait(Dimension::Die)) };
    let nothing = ask(store.pool(), &none).await.unwrap();
    assert_eq!((nothing.lines.len(), nothing.total.games, nothing.total.win_rate), (0, 0, None));
}
