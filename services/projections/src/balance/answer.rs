//! Queries about balance, answered from daily sums.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::TryStreamExt;
use sqlx::{Connection, PgConnection, PgPool, Postgres, QueryBuilder, Row};

use super::{Band, Dimension, broken};
use store::StoreError;

use crate::{
    Histogram,
    histogram::add,
    period::week_of,
    wilson::{Estimate, SMALL_SAMPLE, Stratum, share, uplift},
};

/// What the lines are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A trait of seats.
    Trait(Dimension),
    /// The game.
    Game,
    /// The preset of a game.
    Preset,
    /// The version of a preset.
    Ruleset,
    /// The version of the catalogue of special dice.
    Catalogue,
    /// The rating band.
    Band,
    /// The number of seats at the table.
    Seats,
}

impl By {
    /// The name of a line, as SQL.
    const fn name(self) -> &'static str {
        match self {
            Self::Trait(_) => "trait",
            Self::Game => "kind",
            Self::Preset => "kind || ' ' || preset",
            Self::Ruleset => "kind || ' ' || preset || ' ' || ruleset_version",
            Self::Catalogue => "catalogue_version::text",
            Self::Band => "band::text",
            Self::Seats => "seats::text",
        }
    }

    const fn dimension(self) -> Dimension {
        match self {
            Self::Trait(dimension) => dimension,
            Self::Game
            | Self::Preset
            | Self::Ruleset
            | Self::Catalogue
            | Self::Band
            | Self::Seats => Dimension::All,
        }
    }
}

/// A query: a filter on seats, and the grouping. `None` means no restriction.
#[derive(Clone, Debug)]
pub struct Question {
    /// The game.
    pub kind: Option<String>,
    /// The preset.
    pub preset: Option<String>,
    /// The version of the preset.
    pub ruleset_version: Option<i32>,
    /// The version of the catalogue.
    pub catalogue_version: Option<i32>,
    /// The number of seats at the table.
    pub seats: Option<i16>,
    /// The rating band of the player.
    pub band: Option<Band>,
    /// The first day.
    pub first: Option<i32>,
    /// The last day.
    pub last: Option<i32>,
    /// The grouping.
    pub by: By,
    /// Only these lines; all if `None`.
    pub names: Option<Vec<String>>,
    /// Whether to return histograms.
    pub histograms: bool,
    /// Whether to return weeks.
    pub weeks: bool,
}

/// A line of the result.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Seats in finished games.
    pub games: i64,
    /// Of these, games won.
    pub wins: i64,
    /// The win rate.
    pub win_rate: Option<Estimate>,
    /// The share of seats with this trait, among those that could have chosen it.
    pub pick_rate: Option<f64>,
    /// How much more often it wins than others in the same band, at the same tables, with the same
    /// dice to choose from.
    pub uplift: Option<Estimate>,
    /// Sum of scores.
    pub score: i64,
    /// Turns.
    pub turns: i64,
    /// Total duration of turns, in milliseconds.
    pub turn_time: i64,
    /// Rolls.
    pub rolls: i64,
    /// Farkles.
    pub farkles: i64,
    /// Scores, seconds per turn, rolls per turn; empty if not requested.
    pub histograms: [Histogram; 3],
    /// By week; empty if not requested.
    pub weeks: Vec<Week>,
}

impl Line {
    /// Whether the sample is too small to be meaningful.
    pub fn is_small(&self) -> bool {
        self.games < SMALL_SAMPLE
    }

    fn absorb(&mut self, sums: &Sums) {
        self.games += sums.games;
        self.wins += sums.wins;
        self.score = self.score.saturating_add(sums.score);
        self.turns += sums.turns;
        self.turn_time = self.turn_time.saturating_add(sums.turn_time);
        self.rolls += sums.rolls;
        self.farkles += sums.farkles;
        self.win_rate = share(self.wins, self.games);
    }
}

/// A week of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Week {
    /// ISO 8601 week.
    pub week: String,
    /// Seats in games that ended in this week.
    pub games: i64,
    /// Of these, games won.
    pub wins: i64,
    /// The win rate.
    pub win_rate: Option<Estimate>,
}

/// The positions of the log that a result reflects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsOf {
    /// The last position of each shard.
    pub positions: Vec<i64>,
    /// Unprocessed events, and games that were written but not added up yet.
    pub behind: i64,
}

impl AsOf {
    /// Number of processed events.
    pub fn events(&self) -> i64 {
        self.positions.iter().sum()
    }
}

/// The result of a query.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lines, most games first.
    pub lines: Vec<Line>,
    /// All seats.
    pub total: Line,
    /// The log positions it reflects.
    pub as_of: AsOf,
}

/// A stratum: kind, preset, catalogue version, number of seats and band.
type StratumKey = (String, String, i32, i16, i16);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    games: i64,
    wins: i64,
    score: i64,
    turns: i64,
    turn_time: i64,
    rolls: i64,
    farkles: i64,
}

/// Answers a query on one snapshot.
pub async fn ask(pool: &PgPool, question: &Question) -> Result<Answer, StoreError> {
    let mut connection = pool.acquire().await?;
    let mut transaction = connection.begin().await?;
    let snapshot = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
    sqlx::query(snapshot).execute(&mut *transaction).await?;
    let as_of = as_of(&mut transaction).await?;
    let dimension = question.by.dimension();
    let everybody = question.sums(&mut transaction, Dimension::All).await?;
    let mut total = Line { name: "all".to_owned(), ..Line::default() };
    for of_name in everybody.values() {
        for sums in of_name.values() {
            total.absorb(sums);
        }
    }
    if dimension == Dimension::All {
        return question.finish(&mut transaction, everybody, None, total, as_of).await;
    }
    let named = question.sums(&mut transaction, dimension).await?;
    let mut all_strata: BTreeMap<StratumKey, Sums> = BTreeMap::new();
    for (stratum, sums) in everybody.into_values().flatten() {
        let all = all_strata.entry(stratum).or_default();
        (all.games, all.wins) = (all.games + sums.games, all.wins + sums.wins);
    }
    question.finish(&mut transaction, named, Some(&all_strata), total, as_of).await
}

impl Question {
    /// Builds the lines, with everything that was requested.
    async fn finish(
        &self,
        connection: &mut PgConnection,
        named: BTreeMap<String, BTreeMap<StratumKey, Sums>>,
        all_strata: Option<&BTreeMap<StratumKey, Sums>>,
        total: Line,
        as_of: AsOf,
    ) -> Result<Answer, StoreError> {
        // Seats that could choose: those under rules in which anybody chose.
        let could: BTreeSet<(&str, &str, i32)> =
            named.values().flat_map(BTreeMap::keys).map(|(k, p, c, ..)| (&**k, &**p, *c)).collect();
        let among = all_strata.map_or(total.games, |all_strata| {
            let chosen = all_strata.iter().filter(|((k, p, c, ..), _)| could.contains(&(k, p, *c)));
            chosen.map(|(_, sums)| sums.games).sum()
        });
        let mut lines: Vec<Line> = Vec::with_capacity(named.len());
        let wanted = |name: &String| {
            self.names.as_ref().is_none_or(|names| names.contains(&self.shown(name)))
        };
        for (name, strata) in named.iter().filter(|(name, _)| wanted(name)) {
            let mut line = Line { name: name.clone(), ..Line::default() };
            for sums in strata.values() {
                line.absorb(sums);
            }
            line.pick_rate = (among > 0).then(|| ratio(line.games, among));
            line.uplift = all_strata.and_then(|all_strata| {
                uplift(strata.iter().map(|(stratum, with)| {
                    let all = all_strata.get(stratum).copied().unwrap_or_default();
                    Stratum {
                        games: with.games,
                        wins: with.wins,
                        games_without: all.games - with.games,
                        wins_without: all.wins - with.wins,
                    }
                }))
            });
            lines.push(line);
        }
        if self.histograms {
            self.add_histograms(connection, &mut lines).await?;
        }
        if self.weeks {
            self.add_weeks(connection, &mut lines).await?;
        }
        for line in lines.iter_mut().filter(|_| self.by == By::Band) {
            line.name = self.shown(&line.name);
        }
        lines.sort_by(|a, b| b.games.cmp(&a.games).then_with(|| a.name.cmp(&b.name)));
        Ok(Answer { lines, total, as_of })
    }

    /// Display name of a line.
    fn shown(&self, name: &str) -> String {
        let band = name.parse().ok().and_then(Band::numbered).filter(|_| self.by == By::Band);
        band.map_or_else(|| name.to_owned(), |band| band.words().to_owned())
    }

    /// The condition for the cells of the query.
    fn within(&self, select: &str, dimension: Dimension) -> QueryBuilder<Postgres> {
        let mut query = QueryBuilder::new(select);
        query.push(" FROM balance_cell WHERE generation = ");
        query.push("(SELECT generation FROM processor WHERE name = 'balance' AND state = 'live')");
        query.push(" AND dimension = ").push_bind(dimension.name());
        match &self.kind {
            Some(kind) => query.push(" AND kind = ").push_bind(kind.clone()),
            // Every key begins with the kind.
            None => query.push(" AND kind = ANY (").push_bind(domain::GAMES).push(")"),
        };
        if let Some(preset) = &self.preset {
            query.push(" AND preset = ").push_bind(preset.clone());
        }
        let numbers = [
            (" AND ruleset_version = ", self.ruleset_version),
            (" AND catalogue_version = ", self.catalogue_version),
            (" AND seats = ", self.seats.map(i32::from)),
            (" AND band = ", self.band.map(|band| band.number().into())),
            (" AND day >= ", self.first),
            (" AND day <= ", self.last),
        ];
        for (condition, number) in numbers {
            if let Some(number) = number {
                query.push(condition).push_bind(number);
            }
        }
        query
    }

    async fn sums(
        &self,
        connection: &mut PgConnection,
        dimension: Dimension,
    ) -> Result<BTreeMap<String, BTreeMap<StratumKey, Sums>>, StoreError> {
        let select = format!(
            "SELECT {}, kind, preset, catalogue_version, seats, band, sum(games)::bigint, sum(wins)::bigint, sum(score)::bigint, sum(turns)::bigint,
                    sum(turn_time)::bigint, sum(rolls)::bigint, sum(farkles)::bigint",
            self.by.name()
        );
        let mut query = self.within(&select, dimension);
        query.push(" GROUP BY 1, 2, 3, 4, 5, 6");
        let mut found: BTreeMap<String, BTreeMap<StratumKey, Sums>> = BTreeMap::new();
        for row in query.build().fetch_all(connection).await? {
            let (kind, preset) = (row.try_get(1)?, row.try_get(2)?);
            let key = (kind, preset, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
            let sums = Sums {
                games: row.try_get(6)?,
                wins: row.try_get(7)?,
                score: row.try_get(8)?,
                turns: row.try_get(9)?,
                turn_time: row.try_get(10)?,
                rolls: row.try_get(11)?,
                farkles: row.try_get(12)?,
            };
            found.entry(row.try_get(0)?).or_default().insert(key, sums);
        }
        Ok(found)
    }

    async fn add_histograms(
        &self,
        connection: &mut PgConnection,
        lines: &mut [Line],
    ) -> Result<(), StoreError> {
        let select = format!("SELECT {}, histograms::text", self.by.name());
        let mut query = self.within(&select, self.by.dimension());
        query.push(format!(" AND {} = ANY (", self.by.name()));
        query.push_bind(lines.iter().map(|line| line.name.clone()).collect::<Vec<_>>()).push(")");
        let mut by_name: BTreeMap<String, &mut Line> =
            lines.iter_mut().map(|line| (line.name.clone(), line)).collect();
        let query = query.build();
        let mut rows = query.fetch(connection);
        while let Some(row) = rows.try_next().await? {
            let (name, written): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let histograms: [Histogram; 3] = serde_json::from_str(&written).map_err(broken)?;
            let Some(line) = by_name.get_mut(&name) else { continue };
            for (sum, more) in line.histograms.iter_mut().zip(&histograms) {
                add(sum, more);
            }
        }
        Ok(())
    }

    async fn add_weeks(
        &self,
        connection: &mut PgConnection,
        lines: &mut [Line],
    ) -> Result<(), StoreError> {
        // 1970-01-01 was a Thursday: weeks change between days 3 and 4.
        let select =
            format!("SELECT {}, min(day), sum(games)::bigint, sum(wins)::bigint", self.by.name());
        let mut query = self.within(&select, self.by.dimension());
        query.push(" GROUP BY 1, (day + 3) / 7 ORDER BY 1, 2");
        let mut by_name: BTreeMap<String, &mut Line> =
            lines.iter_mut().map(|line| (line.name.clone(), line)).collect();
        for row in query.build().fetch_all(connection).await? {
            let (name, day): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
            let (games, wins): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
            let Some(line) = by_name.get_mut(&name) else { continue };
            let (week, _) = week_of(day);
            line.weeks.push(Week { week, games, wins, win_rate: share(wins, games) });
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is not exact anyway")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

async fn as_of(connection: &mut PgConnection) -> Result<AsOf, StoreError> {
    const POSITIONS: &str = "
SELECT r.positions FROM processor_range r JOIN processor p USING (name, generation)
 WHERE p.name = 'balance' AND p.state = 'live' ORDER BY r.range";
    let mut positions: Vec<i64> = Vec::with_capacity(64);
    for row in sqlx::query(POSITIONS).fetch_all(&mut *connection).await? {
        positions.extend(row.try_get::<Vec<i64>, _>(0)?);
    }
    let heads = "SELECT coalesce(sum(position), 0)::bigint FROM shard_head";
    let head: i64 = sqlx::query(heads).fetch_one(&mut *connection).await?.try_get(0)?;
    let due = "SELECT count(DISTINCT game) FROM balance_due
                WHERE generation = (SELECT generation FROM processor WHERE name = 'balance' AND state = 'live')";
    let due: i64 = sqlx::query(due).fetch_one(&mut *connection).await?.try_get(0)?;
    let behind = head - positions.iter().sum::<i64>() + due;
    Ok(AsOf { positions, behind })
}
