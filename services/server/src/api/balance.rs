//! Game balance, for analysts: win rates of dice, characters and seats, with confidence intervals.

use async_graphql::{Context, Enum, InputObject, Object, SimpleObject};
use domain::{Ruleset, special_dice::Catalogue};
use projections::{
    Histogram,
    balance::{self, Answer, By, Dimension, Line, Question, ask},
    width, wilson,
};

use super::{
    allowed, app,
    errors::bad_input,
    game_kind::GameKind,
    scalars::{Date, Long, PresetName, int},
};
use crate::{
    accounts::Role,
    play::{AppError, UserError},
};

/// What the lines of a balance are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum BalanceBy {
    /// A special die, in the loadout once or more.
    Die,
    /// Two special dice, also of the same kind: `HOT+MIDAS`.
    Pair,
    /// The number of special dice in the loadout.
    LoadoutSize,
    /// The character.
    Character,
    /// The position in the turn order, from 1.
    SeatPosition,
    /// The game.
    Game,
    /// The preset of a game.
    Preset,
    /// The version of a preset.
    RulesetVersion,
    /// The version of the catalogue of special dice.
    CatalogueVersion,
    /// The rating band of the player on that day.
    RatingBand,
    /// The number of players at the table.
    TableSize,
}

impl From<BalanceBy> for By {
    fn from(by: BalanceBy) -> Self {
        match by {
            BalanceBy::Die => Self::Trait(Dimension::Die),
            BalanceBy::Pair => Self::Trait(Dimension::Pair),
            BalanceBy::LoadoutSize => Self::Trait(Dimension::Loadout),
            BalanceBy::Character => Self::Trait(Dimension::Character),
            BalanceBy::SeatPosition => Self::Trait(Dimension::Position),
            BalanceBy::Game => Self::Game,
            BalanceBy::Preset => Self::Preset,
            BalanceBy::RulesetVersion => Self::Ruleset,
            BalanceBy::CatalogueVersion => Self::Catalogue,
            BalanceBy::RatingBand => Self::Band,
            BalanceBy::TableSize => Self::Seats,
        }
    }
}

/// The rating band of a player, by the rating at the start of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "balance::Band")]
pub(super) enum RatingBand {
    /// Provisional rating.
    Provisional,
    /// Below 1300.
    #[graphql(name = "BELOW_1300")]
    Below1300,
    /// From 1300 to below 1500.
    #[graphql(name = "FROM_1300")]
    From1300,
    /// From 1500 to below 1700.
    #[graphql(name = "FROM_1500")]
    From1500,
    /// From 1700 to below 1900.
    #[graphql(name = "FROM_1700")]
    From1700,
    /// 1900 or more.
    #[graphql(name = "FROM_1900")]
    From1900,
}

/// The seats of finished games to count. Omitted fields do not filter.
#[derive(Clone, Debug, Default, InputObject)]
pub(super) struct BalanceFilter {
    /// The game.
    kind: Option<GameKind>,
    /// The preset; `custom` for all changed rules. Requires `kind`.
    preset: Option<PresetName>,
    /// The version of the preset.
    ruleset_version: Option<i32>,
    /// The version of the catalogue of special dice.
    catalogue_version: Option<i32>,
    /// The number of players at the table, 1 to 100.
    table_size: Option<i32>,
    /// The rating band of the player.
    rating_band: Option<RatingBand>,
    /// Games that ended on this day or later, in UTC.
    from: Option<Date>,
    /// Games that ended on this day or earlier, in UTC.
    to: Option<Date>,
}

/// An estimate with its 95% confidence interval.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct Estimate {
    /// The estimate.
    value: f64,
    /// The lower bound of the interval.
    low: f64,
    /// The upper bound of the interval.
    high: f64,
}

impl From<wilson::Estimate> for Estimate {
    fn from(estimate: wilson::Estimate) -> Self {
        let wilson::Estimate { value, low, high } = estimate;
        Self { value, low, high }
    }
}

/// A bucket of a histogram. Buckets for larger values are wider.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct Bucket {
    /// The smallest value of the bucket.
    from: Long,
    /// The largest value of the bucket.
    to: Long,
    /// The number of values in the bucket.
    count: Long,
}

/// The results of a week.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct BalanceWeek {
    /// The week in ISO 8601 format: `2026-W47`.
    week: String,
    /// The number of seats in games that ended in this week.
    games: Long,
    /// The number of these seats that won.
    wins: Long,
    /// The share of seats that won, from 0 to 1, with its Wilson interval. Null without games.
    win_rate: Option<Estimate>,
}

/// The position in the log that a result is based on.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct LogPosition {
    /// The number of events included.
    events: Long,
    /// The last included position in each of the 64 shards.
    positions: Vec<Long>,
    /// The number of events not yet included, plus the number of games included but not yet added
    /// up.
    behind: Long,
}

/// The total of all seats.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct BalanceTotal {
    /// The number of seats in finished games.
    games: Long,
    /// The number of these seats that won.
    wins: Long,
    /// The share of seats that won, from 0 to 1, with its Wilson interval. Null without games.
    win_rate: Option<Estimate>,
    /// The share of turns that were farkles, from 0 to 1. Null without turns.
    farkle_rate: Option<f64>,
    /// The average final score. Null without games.
    average_score: Option<f64>,
}

/// The game balance: results of seats in finished games, added up. Voided games do not count.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    answer: Answer,
    prices: Vec<Option<u32>>,
}

/// A line of a balance.
#[derive(Clone, Debug)]
pub(super) struct BalanceLine {
    line: Line,
    price: Option<u32>,
}

/// The maximum number of names.
const MAX_NAMES: usize = 100;

impl Balance {
    pub(super) async fn find(
        ctx: &Context<'_>,
        by: BalanceBy,
        filter: BalanceFilter,
        names: Option<Vec<String>>,
    ) -> async_graphql::Result<Self> {
        allowed(ctx, &[Role::Analyst, Role::Admin])?;
        app(ctx).database.check()?;
        let wants = |field: &str| ctx.look_ahead().field("lines").field(field).exists();
        let histograms = ["scores", "turnSeconds", "turnRolls"].into_iter().any(wants);
        let catalogue = app(ctx).games.wallets.catalogue().await?;
        let names = names.map(|names| valid_names(names, by, &catalogue)).transpose()?;
        let question = filter.question(by, histograms, wants("weeks"))?;
        let question = Question { names: names.clone(), ..question };
        let pool = app(ctx).games.store.pool();
        let mut answer = ask(pool, &question).await.map_err(AppError::from)?;
        if let Some(names) = names {
            // Names without games get a line, too.
            for name in names {
                if !answer.lines.iter().any(|line| line.name == name) {
                    answer.lines.push(Line { name, ..Line::default() });
                }
            }
        }
        let prices = answer.lines.iter().map(|line| price(&line.name, by, &catalogue)).collect();
        Ok(Self { answer, prices })
    }
}

impl BalanceFilter {
    fn question(
        self,
        by: BalanceBy,
        histograms: bool,
        weeks: bool,
    ) -> async_graphql::Result<Question> {
        let preset = self.preset.map(|preset| preset.0);
        match (self.kind, preset.as_deref()) {
            (None, Some(_)) => return Err(bad_input("preset requires kind")),
            (Some(kind), preset) => {
                let preset = preset.filter(|preset| *preset != "custom");
                Ruleset::preset(kind.0, preset).map_err(UserError::from).map_err(AppError::from)?;
            }
            (None, None) => {}
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from.0 > to.0
        {
            return Err(bad_input("from must not be after to"));
        }
        let seats = self.table_size.map(|seats| {
            let valid = i16::try_from(seats).ok().filter(|seats| (1..=100).contains(seats));
            valid.ok_or_else(|| bad_input("tableSize must be from 1 to 100"))
        });
        Ok(Question {
            kind: self.kind.map(|kind| kind.0.to_owned()),
            preset,
            ruleset_version: self.ruleset_version,
            catalogue_version: self.catalogue_version,
            seats: seats.transpose()?,
            band: self.rating_band.map(Into::into),
            first: self.from.map(|date| date.0),
            last: self.to.map(|date| date.0),
            by: by.into(),
            names: None,
            histograms,
            weeks,
        })
    }
}

/// The names in the form of the lines; dice must exist.
fn valid_names(
    names: Vec<String>,
    by: BalanceBy,
    catalogue: &Catalogue,
) -> async_graphql::Result<Vec<String>> {
    if names.len() > MAX_NAMES {
        return Err(bad_input(format!("at most {MAX_NAMES} names are allowed")));
    }
    let known = |code: &str| {
        let die = catalogue.named(code).map_err(UserError::from).map_err(AppError::from)?;
        Ok::<_, async_graphql::Error>(die.code.to_string())
    };
    let mut valid = Vec::with_capacity(names.len());
    for name in names {
        valid.push(if by == BalanceBy::Die {
            known(&name)?
        } else if by == BalanceBy::Pair {
            let codes = name.split_once('+');
            let (one, other) =
                codes.ok_or_else(|| bad_input("a pair must have the format HOT+MIDAS"))?;
            let mut pair = [known(one)?, known(other)?];
            pair.sort_unstable();
            pair.join("+")
        } else {
            name
        });
    }
    valid.dedup();
    Ok(valid)
}

/// The current price of the dice of a line.
fn price(name: &str, by: BalanceBy, catalogue: &Catalogue) -> Option<u32> {
    let of_code = |code: &str| Some(catalogue.named(code).ok()?.price);
    if by == BalanceBy::Die {
        return of_code(name);
    }
    let (one, other) = name.split_once('+').filter(|_| by == BalanceBy::Pair)?;
    of_code(one)?.checked_add(of_code(other)?)
}

/// The game balance: results of seats in finished games, added up. Voided games do not count.
#[Object]
impl Balance {
    /// The position in the log that this result is based on.
    async fn as_of(&self) -> LogPosition {
        let as_of = &self.answer.as_of;
        LogPosition {
            events: Long(as_of.events()),
            positions: as_of.positions.iter().map(|&position| Long(position)).collect(),
            behind: Long(as_of.behind),
        }
    }

    /// The total of all seats, independent of the grouping.
    async fn total(&self) -> BalanceTotal {
        let total = &self.answer.total;
        BalanceTotal {
            games: Long(total.games),
            wins: Long(total.wins),
            win_rate: total.win_rate.map(Into::into),
            farkle_rate: mean(total.farkles, total.turns),
            average_score: mean(total.score, total.games),
        }
    }

    /// The lines, those with the most games first.
    async fn lines(&self) -> Vec<BalanceLine> {
        let lines = self.answer.lines.iter().zip(&self.prices);
        lines.map(|(line, &price)| BalanceLine { line: line.clone(), price }).collect()
    }
}

/// A line of a balance.
#[Object]
impl BalanceLine {
    /// The name of the group: a code, a number or a name.
    async fn name(&self) -> &str {
        &self.line.name
    }

    /// The number of seats in finished games.
    async fn games(&self) -> Long {
        Long(self.line.games)
    }

    /// The number of these seats that won.
    async fn wins(&self) -> Long {
        Long(self.line.wins)
    }

    /// Whether there are fewer than 30 games, too few for reliable results.
    async fn small_sample(&self) -> bool {
        self.line.is_small()
    }

    /// The share of seats that won, from 0 to 1, with its Wilson interval. Null without games.
    async fn win_rate(&self) -> Option<Estimate> {
        self.line.win_rate.map(Into::into)
    }

    /// The share of the seats that could have chosen it and did, from 0 to 1. Null if it does not
    /// apply.
    async fn pick_rate(&self) -> Option<f64> {
        self.line.pick_rate
    }

    /// The difference of the win rate to seats without it, with the same rating band, preset,
    /// catalogue and table size, weighted by games: 0.05 is 5 more wins in 100 games. Only for
    /// dice, pairs, loadout sizes, characters and positions. Null if there are no comparable seats
    /// without it.
    async fn uplift(&self) -> Option<Estimate> {
        self.line.uplift.map(Into::into)
    }

    /// The current price of the die or pair in dollars. Null for other lines.
    async fn price(&self) -> Option<i32> {
        self.price.map(int)
    }

    /// The price in dollars per point of uplift (one more win in 100 games). Null without a
    /// positive uplift.
    async fn price_per_point(&self) -> Option<f64> {
        let uplift = self.line.uplift.map(|uplift| uplift.value * 100.0);
        Some(f64::from(self.price?) / uplift.filter(|points| *points > 0.0)?)
    }

    /// The share of turns that were farkles, from 0 to 1. Null without turns.
    async fn farkle_rate(&self) -> Option<f64> {
        mean(self.line.farkles, self.line.turns)
    }

    /// The average final score. Null without games.
    async fn average_score(&self) -> Option<f64> {
        mean(self.line.score, self.line.games)
    }

    /// The average duration of a turn in seconds. Null without turns.
    async fn seconds_per_turn(&self) -> Option<f64> {
        Some(mean(self.line.turn_time, self.line.turns)? / 1000.0)
    }

    /// The average number of rolls per turn. Null without turns.
    async fn rolls_per_turn(&self) -> Option<f64> {
        mean(self.line.rolls, self.line.turns)
    }

    /// The distribution of final scores.
    async fn scores(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[0])
    }

    /// The distribution of turn durations, in seconds.
    async fn turn_seconds(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[1])
    }

    /// The distribution of rolls per turn.
    async fn turn_rolls(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[2])
    }

    /// The results by week, earliest first.
    async fn weeks(&self) -> Vec<BalanceWeek> {
        let week = |week: &balance::Week| BalanceWeek {
            week: week.week.clone(),
            games: Long(week.games),
            wins: Long(week.wins),
            win_rate: week.win_rate.map(Into::into),
        };
        self.line.weeks.iter().map(week).collect()
    }
}

fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let bucket = |(&low, &count): (&i64, &u64)| Bucket {
        from: Long(low),
        to: Long(low.saturating_add(width(low) - 1)),
        count: Long(i64::try_from(count).unwrap_or(i64::MAX)),
    };
    histogram.iter().map(bucket).collect()
}

#[expect(clippy::cast_precision_loss, reason = "an average is not exact anyway")]
fn mean(sum: i64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
