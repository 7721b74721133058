//! Glicko-2 by days: within a day all games count at once, against the ratings that everybody
//! started the day with.

use std::collections::BTreeMap;

use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, decay_deviation, glicko2_rating_period},
};
use sqlx::{Row, postgres::PgRow};
use uuid::Uuid;

/// A rating with a larger deviation is provisional.
pub const PROVISIONAL: f64 = 110.0;

/// The standing of a seat at the end, higher is better: won, stayed, score.
pub(crate) type Standing = (bool, bool, i64);

/// The standing of a seat; `merit` is its score, negated if lower is better.
pub(crate) fn standing(won: bool, left: bool, merit: i64) -> Standing {
    (won, !left, if won || left { 0 } else { merit })
}

/// The results of a player on a day, by game and opponent; ordered, so that floating-point sums are
/// deterministic.
pub(crate) type Results = BTreeMap<(Uuid, Uuid), Outcomes>;

/// The results of a game: one per pair of different players.
pub(crate) fn pairs(seats: &[(Uuid, Standing)]) -> impl Iterator<Item = (Uuid, Uuid, Outcomes)> {
    seats.iter().flat_map(move |(player, standing)| {
        let others = seats.iter().filter(move |(other, _)| other != player);
        others.map(move |(other, against)| {
            let outcome = match standing.cmp(against) {
                std::cmp::Ordering::Less => Outcomes::LOSS,
                std::cmp::Ordering::Equal => Outcomes::DRAW,
                std::cmp::Ordering::Greater => Outcomes::WIN,
            };
            (*player, *other, outcome)
        })
    })
}

/// Reads a rating from three columns of a row: rating, deviation and volatility.
pub(crate) fn read(row: &PgRow, first: usize) -> Result<Glicko2Rating, sqlx::Error> {
    Ok(Glicko2Rating {
        rating: row.try_get(first)?,
        deviation: row.try_get(first + 1)?,
        volatility: row.try_get(first + 2)?,
    })
}

/// The rating after a day with these results; `start` returns the rating that a player started it
/// with.
pub(crate) fn rate(
    player: Uuid,
    results: &Results,
    start: impl Fn(Uuid) -> Glicko2Rating,
) -> Glicko2Rating {
    let against: Vec<(Glicko2Rating, Outcomes)> =
        results.iter().map(|((_, opponent), outcome)| (start(*opponent), *outcome)).collect();
    glicko2_rating_period(&start(player), &against, &Glicko2Config::default())
}

/// The rating after `days` days without a game.
pub(crate) fn idle(rating: Glicko2Rating, days: i32) -> Glicko2Rating {
    // After a few thousand days the rating no longer changes.
    (0..days.clamp(0, 5_000)).fold(rating, |rating, _| decay_deviation(&rating))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of Glickman's paper: 1500 ± 200 wins against 1400 ± 30, loses against
    /// 1550 ± 100 and 1700 ± 300.
    #[test]
    fn the_example_of_the_paper() {
        let of = |rating, deviation| Glicko2Rating { rating, deviation, volatility: 0.06 };
        let games = [
            (of(1400.0, 30.0), Outcomes::WIN),
            (of(1550.0, 100.0), Outcomes::LOSS),
            (of(1700.0, 300.0), Outcomes::LOSS),
        ];
        let config = Glicko2Config { tau: 0.5, ..Glicko2Config::default() };
        let after = glicko2_rating_period(&of(1500.0, 200.0), &games, &config);
        assert!((after.rating - 1464.06).abs() < 0.01, "{after:?}");
        assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
        assert!((after.volatility - 0.059_99).abs() < 0.000_01, "{after:?}");
    }

    #[test]
    fn idle_days_increase_the_deviation() {
        let rating = Glicko2Rating { rating: 1800.0, deviation: 60.0, volatility: 0.06 };
        let after = idle(rating, 100);
        assert!(after.deviation > 100.0 && after.deviation < 150.0, "{after:?}");
        assert!((idle(rating, i32::MAX).deviation - 350.0).abs() < 1.0);
        assert!((idle(rating, -5).deviation - 60.0).abs() < f64::EPSILON);
    }
}
