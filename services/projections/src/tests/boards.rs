//! Leaderboards equal sorted lists of the games' results.

use std::collections::BTreeMap;

use store::Store;
use uuid::Uuid;

use super::{
    ratings::{day, periods},
    seats::plain_seats,
};
use crate::{
    Season,
    boards::{Board, Cursor, Direction, Measure, Standing, among, around, page},
};

/// The games of a player on a board: score, whether it was won, when it ended.
pub(super) type Plain = BTreeMap<(Board, Uuid), Vec<(i64, bool, i64)>>;

/// Every board equals the sorted list of results: order, ranks, pages, neighbours.
pub(super) async fn boards_hold(store: &Store, seasons: &[Season]) {
    let mut plain: Plain = BTreeMap::new();
    for seat in plain_seats(store).await {
        if seat.seats == 1 && seat.kind != "dice_rogue" {
            continue;
        }
        for period in periods(day(seat.at), seasons) {
            let (kind, preset) = (seat.kind.clone(), seat.preset.clone());
            let board = Board { kind, preset, period };
            plain.entry((board, seat.player)).or_default().push((seat.merit(), seat.won, seat.at));
        }
    }
    let boards: std::collections::BTreeSet<Board> = plain.keys().map(|(b, _)| b.clone()).collect();
    assert!(boards.len() > 20, "{}", boards.len());
    for board in &boards {
        for measure in Measure::OF_GAMES {
            board_holds(store, board, measure, &plain).await;
        }
    }
}

pub(super) async fn board_holds(store: &Store, board: &Board, measure: Measure, plain: &Plain) {
    let mut expected: Vec<(i64, i64, Uuid)> = Vec::new();
    for ((_, player), games) in plain.iter().filter(|((known, _), _)| known == board) {
        let last = games.iter().map(|(_, _, at)| *at).max().unwrap();
        let wins: Vec<i64> =
            games.iter().filter(|(_, won, _)| *won).map(|(_, _, at)| *at).collect();
        let best = games.iter().map(|(score, _, _)| *score).max().unwrap();
        let first = games.iter().filter(|(score, _, _)| *score == best).map(|(_, _, at)| *at).min();
        let total: i64 = games.iter().map(|(score, _, _)| *score).sum();
        let count = i64::try_from(games.len()).unwrap();
        match measure {
            Measure::Wins if wins.is_empty() => {}
            Measure::Wins => {
                let count = i64::try_from(wins.len()).unwrap();
                expected.push((count, wins.into_iter().max().unwrap(), *player));
            }
            Measure::Best => expected.push((best, first.unwrap(), *player)),
            Measure::Average if count < 10 => {}
            Measure::Average => {
                expected.push(((total * 1000).div_euclid(count), last, *player));
            }
            Measure::Rating => panic!("not based on games alone"),
        }
    }
    expected.sort_by_key(|(value, at, player)| (-value, *at, *player));
    let rank = |value: i64| {
        1 + i64::try_from(expected.iter().filter(|(other, ..)| *other > value).count()).unwrap()
    };
    let wanted: Vec<(i64, i64, i64, Uuid)> =
        expected.iter().map(|&(value, at, player)| (rank(value), value, at, player)).collect();
    let plainly = |rows: &[Standing]| -> Vec<(i64, i64, i64, Uuid)> {
        rows.iter().map(|row| (row.rank, row.value, row.at, row.player)).collect()
    };
    let pool = store.pool();
    // In pages of three.
    let mut found: Vec<Standing> = Vec::new();
    loop {
        let after = found.last().map(|&last| Cursor::from(last));
        let next = page(pool, board, measure, after, Direction::Down, 3).await.unwrap();
        if next.is_empty() {
            break;
        }
        found.extend(next);
    }
    assert_eq!(plainly(&found), wanted, "{board:?} {measure:?}");
    for (n, row) in found.iter().enumerate() {
        let near = around(pool, board, measure, row.player, 2).await.unwrap();
        let (from, to) = (n.saturating_sub(2), (n + 3).min(found.len()));
        assert_eq!(plainly(&near), wanted[from..to], "{board:?} {measure:?}");
    }
    let friends: Vec<Uuid> = found.iter().step_by(2).map(|row| row.player).collect();
    let some = among(pool, board, measure, &friends).await.unwrap();
    let every_second: Vec<_> = wanted.iter().step_by(2).copied().collect();
    assert_eq!(plainly(&some), every_second);
}
