//! Estimates of proportions and of their differences, with confidence intervals.

/// The quantile of a 95 % confidence interval.
const Z: f64 = 1.959_963_984_540_054;
/// A proportion of fewer games than this is not meaningful.
pub const SMALL_SAMPLE: i64 = 30;

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A proportion with its Wilson score interval; `None` without games.
pub fn share(wins: i64, games: i64) -> Option<Estimate> {
    if games <= 0 {
        return None;
    }
    let (n, p) = (float(games), float(wins) / float(games));
    let spread = Z * Z / n;
    let middle = (p + spread / 2.0) / (1.0 + spread);
    let half = Z / (1.0 + spread) * (p * (1.0 - p) / n + spread / (4.0 * n)).sqrt();
    Some(Estimate { value: p, low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
}

/// Games and wins of a stratum, with and without a trait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stratum {
    /// Games with it.
    pub games: i64,
    /// Of these, games won.
    pub wins: i64,
    /// Games without it.
    pub games_without: i64,
    /// Of these, games won.
    pub wins_without: i64,
}

/// The difference of win rates with and without a trait, weighted by the games with it. Strata
/// without games on the other side are ignored. The interval is the normal approximation with a win
/// and a loss added to each side, so that few games do not look certain.
pub fn uplift(strata: impl IntoIterator<Item = Stratum>) -> Option<Estimate> {
    let (mut sum, mut variance, mut weight) = (0.0, 0.0, 0.0);
    for Stratum { games, wins, games_without, wins_without } in strata {
        if games <= 0 || games_without <= 0 {
            continue;
        }
        let games_with = float(games);
        let with = float(wins) / games_with;
        let without = float(wins_without) / float(games_without);
        sum += games_with * (with - without);
        let uncertainty = spread(wins, games) + spread(wins_without, games_without);
        variance += games_with * games_with * uncertainty;
        weight += games_with;
    }
    if weight == 0.0 {
        return None;
    }
    let (value, half) = (sum / weight, Z * variance.sqrt() / weight);
    Some(Estimate { value, low: (value - half).max(-1.0), high: (value + half).min(1.0) })
}

/// The variance of a proportion.
fn spread(wins: i64, games: i64) -> f64 {
    let p = (float(wins) + 1.0) / (float(games) + 2.0);
    p * (1.0 - p) / (float(games) + 2.0)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate is not exact anyway")]
fn float(number: i64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method
    /// 3; and the bounds that follow from the formula for no wins and for only wins.
    #[test]
    fn matches_published_intervals() {
        let published = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0000, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ];
        for (wins, games, low, high) in published {
            let found = share(wins, games).unwrap();
            assert!((found.low - low).abs() < 0.000_05, "{wins} of {games}: {found:?}");
            assert!((found.high - high).abs() < 0.000_05, "{wins} of {games}: {found:?}");
        }
        assert_eq!(share(0, 0), None);
        let all = share(20, 20).unwrap();
        assert!(
            (all.high - 1.0).abs() < f64::EPSILON && (all.low - (1.0 - 0.1611)).abs() < 0.000_05
        );
    }

    #[test]
    fn differences_are_taken_within_strata() {
        // Ten points more with it in both bands, but most games with it are in the weak band.
        let strong = Stratum { games: 100, wins: 80, games_without: 900, wins_without: 630 };
        let weak = Stratum { games: 900, wins: 360, games_without: 100, wins_without: 30 };
        let found = uplift([strong, weak]).unwrap();
        assert!((found.value - 0.1).abs() < 1e-9, "{found:?}");
        assert!(found.low < 0.1 && found.high > 0.1 && found.low > 0.0, "{found:?}");
        // A comparison without strata would show a disadvantage.
        let plain = |wins: i64, games: i64| share(wins, games).unwrap().value;
        assert!(plain(440, 1000) < plain(660, 1000));
        let alone = Stratum { games: 10, wins: 9, games_without: 0, wins_without: 0 };
        assert_eq!(uplift([alone]), None);
        assert_eq!(uplift([alone, strong]), uplift([strong]));
    }

    /// Wins are drawn with a known effect; the estimate finds it, and its interval covers it as
    /// often as it claims.
    #[test]
    fn a_simulated_effect_is_found() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = |odds: f64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let value = f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX);
            value < odds
        };
        for effect in [-0.1, 0.0, 0.05, 0.2] {
            let (mut held, mut sum) = (0, 0.0);
            for _ in 0..400 {
                let strata = [(0.3, 200, 800), (0.5, 500, 500), (0.6, 700, 100)];
                let drawn = strata.map(|(odds, games, games_without)| Stratum {
                    games,
                    wins: (0..games).filter(|_| draw(odds + effect)).count().try_into().unwrap(),
                    games_without,
                    wins_without: (0..games_without)
                        .filter(|_| draw(odds))
                        .count()
                        .try_into()
                        .unwrap(),
                });
                let found = uplift(drawn).unwrap();
                sum += found.value / 400.0;
                held += i32::from(found.low <= effect && effect <= found.high);
            }
            assert!((sum - effect).abs() < 0.005, "{effect} was found as {sum}");
            assert!((368..=394).contains(&held), "{held} of 400 intervals hold {effect}");
        }
    }
}
