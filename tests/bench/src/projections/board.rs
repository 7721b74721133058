//! The cost of leaderboard queries by number of players.

use std::{error::Error, time::Instant};

use projections::boards::{Board, Cursor, Direction, Measure, around, page};
use store::Store;
use uuid::Uuid;

use crate::growth::psql;

/// The cost of a page of twenty, and of the twenty-one around a player: medians in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    pub(super) page: f64,
    pub(super) around: f64,
}

/// The costs on boards of this many players: by average, which is different for everybody, and by
/// wins, which many have in common.
pub(super) async fn board(
    store: &Store,
    url: &str,
    players: u32,
) -> Result<[Costs; 2], Box<dyn Error>> {
    let live = "(SELECT generation FROM processor WHERE name = 'leaderboards' AND state = 'live')";
    psql(url, &format!("
        INSERT INTO leaderboard SELECT {live}, 'bench', '{players}', 'all', ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
               10, n, n % 500 + 1, n, n, n, (n::bigint * 7919) % 10000000, n FROM generate_series(1, {players}) n;
        INSERT INTO leaderboard_count
        SELECT {live}, 'bench', '{players}', 'all', measure, level, value >> (7 * level), count(*)
          FROM leaderboard CROSS JOIN LATERAL (VALUES ('average', average), ('wins', wins)) AS v (measure, value), generate_series(0, 2) level
         WHERE kind = 'bench' AND preset = '{players}' GROUP BY 5, 6, 7;
        ANALYZE leaderboard; ANALYZE leaderboard_count"))?;
    let board =
        Board { kind: "bench".to_owned(), preset: players.to_string(), period: "all".to_owned() };
    Ok([
        costs(store, &board, Measure::Average, players).await?,
        costs(store, &board, Measure::Wins, players).await?,
    ])
}

async fn costs(
    store: &Store,
    board: &Board,
    measure: Measure,
    players: u32,
) -> Result<Costs, Box<dyn Error>> {
    let (mut pages, mut arounds) = (Vec::new(), Vec::new());
    for number in 1..=300u32 {
        let index = number.wrapping_mul(2_654_435_761) % players + 1;
        let player = Uuid::try_parse(&format!("00000000-0000-4000-8000-{index:012x}"))?;
        let start = Instant::now();
        let near = around(store.pool(), board, measure, player, 10).await?;
        arounds.push(start.elapsed().as_secs_f64() * 1e6);
        let place = near.first().map(|&first| Cursor::from(first));
        let start = Instant::now();
        page(store.pool(), board, measure, place, Direction::Down, 20).await?;
        pages.push(start.elapsed().as_secs_f64() * 1e6);
    }
    pages.sort_by(f64::total_cmp);
    arounds.sort_by(f64::total_cmp);
    Ok(Costs { page: pages[pages.len() / 2], around: arounds[arounds.len() / 2] })
}
