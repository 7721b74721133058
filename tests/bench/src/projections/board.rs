//! What a leaderboard costs by the number of players on it.

use std::{error::Error, time::Instant};

use projections::boards::{Board, Measure, Place, around, page};
use store::Store;
use uuid::Uuid;

use crate::growth::psql;

/// What a page of twenty and the twenty-one around somebody cost on a board of so many players: medians in microseconds.
pub(super) async fn board(
    store: &Store,
    url: &str,
    players: u32,
) -> Result<(f64, f64), Box<dyn Error>> {
    let live = "(SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live')";
    psql(url, &format!("
        INSERT INTO leaderboard SELECT {live}, 'bench', '{players}', 'all', ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
               10, n, n % 500 + 1, n, n, n, (n::bigint * 7919) % 10000000, n FROM generate_series(1, {players}) n;
        INSERT INTO leaderboard_count
        SELECT {live}, 'bench', '{players}', 'all', 'average', level, average >> (7 * level), count(*)
          FROM leaderboard, generate_series(0, 2) level WHERE kind = 'bench' AND preset = '{players}' GROUP BY 6, 7;
        ANALYZE leaderboard; ANALYZE leaderboard_count"))?;
    let board =
        Board { kind: "bench".to_owned(), preset: players.to_string(), period: "all".to_owned() };
    let (mut pages, mut arounds) = (Vec::new(), Vec::new());
    for number in 1..=300u32 {
        let somebody = number.wrapping_mul(2_654_435_761) % players + 1;
        let player = Uuid::try_parse(&format!("00000000-0000-4000-8000-{somebody:012x}"))?;
        let start = Instant::now();
        let near = around(store.pool(), &board, Measure::Average, player, 10).await?;
        arounds.push(start.elapsed().as_secs_f64() * 1e6);
        let place = near.first().map(|&first| Place::from(first));
        let start = Instant::now();
        page(store.pool(), &board, Measure::Average, place, 20).await?;
        pages.push(start.elapsed().as_secs_f64() * 1e6);
    }
    pages.sort_by(f64::total_cmp);
    arounds.sort_by(f64::total_cmp);
    Ok((pages[pages.len() / 2], arounds[arounds.len() / 2]))
}
