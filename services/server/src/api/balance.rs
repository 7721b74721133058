//! Balance, for analysts: how often which dice, characters and seats win, and how sure that is.

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
    scalars::{Date, Long, int},
};
use crate::{
    accounts::Role,
    play::{PlayError, Refusal},
};

/// What the lines of a balance are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum BalanceBy {
    /// A special die, brought once or more.
    Die,
    /// Two special dice, also of one kind: `HOT+MIDAS`.
    Pair,
    /// How many special dice were brought.
    LoadoutSize,
    /// The character.
    Character,
    /// The place in the order of turns, from 1.
    SeatPosition,
    /// The game.
    Game,
    /// The preset of a game.
    Preset,
    /// The version of a preset.
    RulesetVersion,
    /// The version of the catalogue of special dice.
    CatalogueVersion,
    /// How strong the player was on that day.
    RatingBand,
    /// How many sat at the table.
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

/// How strong a player is, by the rating with which the day began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "balance::Band")]
pub(super) enum RatingBand {
    /// Not known well enough.
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
    /// From 1900 on.
    #[graphql(name = "FROM_1900")]
    From1900,
}

/// Which seats of finished games a balance is about. What is left out does not matter.
#[derive(Clone, Debug, Default, InputObject)]
pub(super) struct BalanceFilter {
    /// What was played: `farkle` …
    game: Option<String>,
    /// Under which preset of the game; `custom` is all changed rules.
    preset: Option<String>,
    /// In which version of the preset.
    ruleset_version: Option<i32>,
    /// With which version of the catalogue of special dice.
    catalogue_version: Option<i32>,
    /// At tables of so many seats.
    table_size: Option<i32>,
    /// By players of this strength.
    rating_band: Option<RatingBand>,
    /// Games that ended on this day or later, in UTC.
    from: Option<Date>,
    /// Games that ended on this day or earlier, in UTC.
    to: Option<Date>,
}

/// An estimate with the interval that holds the truth in 95 of 100 cases.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct Estimate {
    /// The estimate.
    value: f64,
    /// The lower end of the interval.
    low: f64,
    /// The upper end of the interval.
    high: f64,
}

impl From<wilson::Estimate> for Estimate {
    fn from(estimate: wilson::Estimate) -> Self {
        let wilson::Estimate { value, low, high } = estimate;
        Self { value, low, high }
    }
}

/// A bar of a histogram. Buckets are the wider the larger the values.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct Bucket {
    /// The lowest value in it.
    from: Long,
    /// The highest value in it.
    to: Long,
    /// How many values fell into it.
    count: Long,
}

/// Games of a week.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct BalanceWeek {
    /// The week as ISO 8601 writes it: `2026-W47`.
    week: String,
    /// Seats in games that ended in it.
    games: Long,
    /// Of them won.
    wins: Long,
    /// The share of games won, with its Wilson interval.
    win_rate: Option<Estimate>,
}

/// What an answer is made from.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct LogPosition {
    /// How many events of the log the answer knows.
    events: Long,
    /// The last position it knows of each of the 64 shards.
    positions: Vec<Long>,
    /// How many events the log had beyond them at that moment, and how many games were taken in but not added up yet.
    behind: Long,
}

/// All seats that a balance is about, together.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct BalanceTotal {
    /// Seats in finished games.
    games: Long,
    /// Of them won.
    wins: Long,
    /// The share of games won, with its Wilson interval.
    win_rate: Option<Estimate>,
    /// The share of turns that were farkles, from 0 to 1.
    farkle_rate: Option<f64>,
    /// The final score on average.
    average_score: Option<f64>,
}

/// A balance.
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

/// The most names that can be asked for.
const MOST_NAMES: usize = 100;

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
        let catalogue = app(ctx).tables.wallets.catalogue().await?;
        let names = names.map(|names| lawful(names, by, &catalogue)).transpose()?;
        let question = filter.question(by, histograms, wants("weeks"))?;
        let question = Question { names: names.clone(), ..question };
        let pool = app(ctx).tables.store.pool();
        let mut answer = ask(pool, &question).await.map_err(PlayError::from)?;
        if let Some(names) = names {
            // What nobody played is told too.
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
        match (&self.game, &self.preset) {
            (None, Some(_)) => return Err(bad_input("preset needs the game it is of")),
            (Some(game), preset) => {
                let preset = preset.as_deref().filter(|preset| *preset != "custom");
                Ruleset::preset(game, preset).map_err(Refusal::from).map_err(PlayError::from)?;
            }
            (None, None) => {}
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from.0 > to.0
        {
            return Err(bad_input("from must not be behind to"));
        }
        let seats = self.table_size.map(|seats| {
            let lawful = i16::try_from(seats).ok().filter(|seats| (1..=100).contains(seats));
            lawful.ok_or_else(|| bad_input("tableSize must be from 1 to 100"))
        });
        Ok(Question {
            kind: self.game,
            preset: self.preset,
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

/// Names as lines have them; dice must exist.
fn lawful(
    names: Vec<String>,
    by: BalanceBy,
    catalogue: &Catalogue,
) -> async_graphql::Result<Vec<String>> {
    if names.len() > MOST_NAMES {
        return Err(bad_input(format!("at most {MOST_NAMES} names can be asked for at once")));
    }
    let known = |code: &str| {
        let die = catalogue.named(code).map_err(Refusal::from).map_err(PlayError::from)?;
        Ok::<_, async_graphql::Error>(die.code.to_string())
    };
    let mut lawful = Vec::with_capacity(names.len());
    for name in names {
        lawful.push(if by == BalanceBy::Die {
            known(&name)?
        } else if by == BalanceBy::Pair {
            let codes = name.split_once('+');
            let (one, other) = codes.ok_or_else(|| bad_input("a pair is written as HOT+MIDAS"))?;
            let mut pair = [known(one)?, known(other)?];
            pair.sort_unstable();
            pair.join("+")
        } else {
            name
        });
    }
    lawful.dedup();
    Ok(lawful)
}

/// What the dice of a line cost now.
fn price(name: &str, by: BalanceBy, catalogue: &Catalogue) -> Option<u32> {
    let of_code = |code: &str| Some(catalogue.named(code).ok()?.price);
    if by == BalanceBy::Die {
        return of_code(name);
    }
    let (one, other) = name.split_once('+').filter(|_| by == BalanceBy::Pair)?;
    of_code(one)?.checked_add(of_code(other)?)
}

/// A balance: seats of finished games, added up. Games that are void do not count.
#[Object]
impl Balance {
    /// Up to where in the log this is true.
    async fn as_of(&self) -> LogPosition {
        let as_of = &self.answer.as_of;
        LogPosition {
            events: Long(as_of.events()),
            positions: as_of.positions.iter().map(|&position| Long(position)).collect(),
            behind: Long(as_of.behind),
        }
    }

    /// All seats together, whatever the lines are about.
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

    /// The lines, those with most games first.
    async fn lines(&self) -> Vec<BalanceLine> {
        let lines = self.answer.lines.iter().zip(&self.prices);
        lines.map(|(line, &price)| BalanceLine { line: line.clone(), price }).collect()
    }
}

/// A line of a balance.
#[Object]
impl BalanceLine {
    /// What it is about: a code, a number, a name.
    async fn name(&self) -> &str {
        &self.line.name
    }

    /// Seats in finished games.
    async fn games(&self) -> Long {
        Long(self.line.games)
    }

    /// Of them won.
    async fn wins(&self) -> Long {
        Long(self.line.wins)
    }

    /// Whether there are fewer than 30 games: then nothing here says much.
    async fn small_sample(&self) -> bool {
        self.line.is_small()
    }

    /// The share of games won, with its Wilson interval.
    async fn win_rate(&self) -> Option<Estimate> {
        self.line.win_rate.map(Into::into)
    }

    /// The share of seats, among all that could have chosen it, from 0 to 1.
    async fn pick_rate(&self) -> Option<f64> {
        self.line.pick_rate
    }

    /// How much more often it wins than seats without it, in the same rating band, under the same preset, with the same catalogue and at
    /// tables of the same size, weighted by its games: 0.05 are 5 of 100 games. Only for what seats have or have not: dice, pairs, loadout sizes,
    /// characters, positions. Nothing if nobody comparable played without it.
    async fn uplift(&self) -> Option<Estimate> {
        self.line.uplift.map(Into::into)
    }

    /// What the die or pair costs now, in dollars.
    async fn price(&self) -> Option<i32> {
        self.price.map(int)
    }

    /// What a point of uplift (one more win in 100 games) costs, in dollars; nothing where there is no uplift.
    async fn price_per_point(&self) -> Option<f64> {
        let uplift = self.line.uplift.map(|uplift| uplift.value * 100.0);
        Some(f64::from(self.price?) / uplift.filter(|points| *points > 0.0)?)
    }

    /// The share of turns that were farkles, from 0 to 1.
    async fn farkle_rate(&self) -> Option<f64> {
        mean(self.line.farkles, self.line.turns)
    }

    /// The final score on average.
    async fn average_score(&self) -> Option<f64> {
        mean(self.line.score, self.line.games)
    }

    /// How long a turn took on average, in seconds.
    async fn seconds_per_turn(&self) -> Option<f64> {
        Some(mean(self.line.turn_time, self.line.turns)? / 1000.0)
    }

    /// How many rolls a turn had on average.
    async fn rolls_per_turn(&self) -> Option<f64> {
        mean(self.line.rolls, self.line.turns)
    }

    /// Final scores.
    async fn scores(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[0])
    }

    /// How long turns took, in seconds.
    async fn turn_seconds(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[1])
    }

    /// How many rolls turns had.
    async fn turn_rolls(&self) -> Vec<Bucket> {
        buckets(&self.line.histograms[2])
    }

    /// The same by week, the earliest first.
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
