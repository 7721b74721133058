//! Ratings and their boards match the rated games, day by day.

use std::collections::BTreeMap;

use domain::Moment;
use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use store::Store;
use test_games::player;
use uuid::Uuid;

use super::{
    balance::balance_holds,
    seats::{PlainSeat, plain_seats},
};
use crate::{
    Season, Span,
    boards::{Board, Direction, Measure, page},
    ratings::ratings_of,
};

/// The rating after each day.
pub(super) type Rated = BTreeMap<(String, Uuid), Vec<(i32, Glicko2Rating)>>;

/// The rating of a player at the start of a day.
pub(super) fn morning(rated: &Rated, kind: &str, player: Uuid, day: i32) -> Glicko2Rating {
    let all = rated.get(&(kind.to_owned(), player)).map_or(&[][..], Vec::as_slice);
    let last = all.iter().rev().find(|(rated, _)| *rated < day);
    last.map_or_else(Glicko2Rating::default, |(last, rating)| {
        (last + 1..day).fold(*rating, |rating, _| decay_deviation(&rating))
    })
}

pub(super) fn day(at: i64) -> i32 {
    i32::try_from(at / 86_400_000).unwrap()
}

/// Ratings computed from all games, day by day, from the first one on.
pub(super) fn naive_ratings(seats: &[PlainSeat]) -> Rated {
    let order = |seat: &PlainSeat| {
        // Winners first, then those who stayed, by score; in Zero Hour less is more.
        (seat.won, !seat.left, if seat.won || seat.left { 0 } else { seat.merit() })
    };
    let mut days: BTreeMap<(i32, &str), Vec<&PlainSeat>> = BTreeMap::new();
    for seat in seats {
        days.entry((day(seat.at), &seat.kind)).or_default().push(seat);
    }
    let mut rated = Rated::new();
    for ((day, kind), seats) in days {
        let mut games: BTreeMap<Uuid, Vec<(Uuid, Uuid, Outcomes)>> = BTreeMap::new();
        for seat in &seats {
            for other in seats.iter().filter(|o| o.game == seat.game && o.player != seat.player) {
                let how = match order(seat).cmp(&order(other)) {
                    std::cmp::Ordering::Less => Outcomes::LOSS,
                    std::cmp::Ordering::Equal => Outcomes::DRAW,
                    std::cmp::Ordering::Greater => Outcomes::WIN,
                };
                games.entry(seat.player).or_default().push((seat.game, other.player, how));
            }
        }
        let mut today = Vec::new();
        for (player, mut games) in games {
            games.sort_by_key(|(game, other, _)| (*game, *other));
            let against: Vec<_> = games
                .iter()
                .map(|(_, other, how)| (morning(&rated, kind, *other, day), *how))
                .collect();
            let config = Glicko2Config::default();
            let start = morning(&rated, kind, player, day);
            today.push((player, glicko2_rating_period(&start, &against, &config)));
        }
        for (player, rating) in today {
            rated.entry((kind.to_owned(), player)).or_default().push((day, rating));
        }
    }
    rated
}

/// Ratings, boards by rating and balance equal those computed from the log.
pub(super) async fn ratings_hold(store: &Store, seasons: &[Season]) {
    let seats = plain_seats(store).await;
    let rated = naive_ratings(&seats);
    let last = seats.iter().map(|seat| day(seat.at)).max().unwrap();
    let players: Vec<Uuid> = (0..20).map(|number| player(number).0).collect();
    let found = ratings_of(store.pool(), &players, last).await.unwrap();
    let mut count = 0;
    for (player, ratings) in found {
        for rating in ratings {
            let expected = morning(&rated, &rating.kind, player, last + 1);
            assert!((rating.rating - expected.rating).abs() < 1e-9, "{rating:?} {expected:?}");
            assert!((rating.deviation - expected.deviation).abs() < 1e-9);
            count += 1;
        }
    }
    assert_eq!(count, rated.len());
    rating_boards_hold(store, &rated, seasons).await;
    balance_holds(store, &seats, &rated).await;
}

pub(super) async fn rating_boards_hold(store: &Store, rated: &Rated, seasons: &[Season]) {
    // The last rating within a period counts, unless it is provisional.
    let mut boards: BTreeMap<(String, String), BTreeMap<Uuid, (i32, Glicko2Rating)>> =
        BTreeMap::new();
    for ((kind, player), days) in rated {
        for (day, rating) in days {
            for period in periods(*day, seasons) {
                boards.entry((kind.clone(), period)).or_default().insert(*player, (*day, *rating));
            }
        }
    }
    let mut ranked = 0;
    for ((kind, period), players) in boards {
        let mut expected: Vec<(i64, i32, Uuid)> = players
            .into_iter()
            .filter(|(_, (_, rating))| rating.deviation <= 110.0)
            .map(|(player, (day, rating))| ((rating.rating * 1000.0).round() as i64, day, player))
            .collect();
        expected.sort_by_key(|(rating, day, player)| (-rating, *day, *player));
        let board = Board { kind, preset: String::new(), period };
        let found =
            page(store.pool(), &board, Measure::Rating, None, Direction::Down, 100).await.unwrap();
        let plain: Vec<(i64, i32, Uuid)> =
            found.iter().map(|row| (row.value, day(row.at), row.player)).collect();
        assert_eq!(plain, expected, "{board:?}");
        for row in &found {
            let better = expected.iter().filter(|(rating, ..)| *rating > row.value).count();
            assert_eq!(row.rank, i64::try_from(better).unwrap() + 1);
            assert!(row.games > 0);
            ranked += 1;
        }
    }
    assert!(ranked > 0, "nobody is ranked");
}

/// The names of all periods that contain a day.
pub(super) fn periods(day: i32, seasons: &[Season]) -> Vec<String> {
    let at = Moment(u64::try_from(day).unwrap() * 86_400_000);
    let mut names: Vec<String> = Span::ALL.iter().map(|span| span.of(at)).collect();
    names.extend(seasons.iter().filter(|s| s.first <= day && day <= s.last).map(Season::period));
    names
}
