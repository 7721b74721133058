//! Statistics and ratings of players.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{Context, SimpleObject, dataloader::Loader};
use domain::{Figure, Rules};
use projections::{
    PlayerStatistics,
    ratings::{Rating, RatingDay, ratings_of},
    statistics_of,
};
use uuid::Uuid;

use super::{
    app,
    enums::CombinationKind,
    errors::bad_input,
    game_kind::GameKind,
    scalars::{Date, DieCode, ItemCode, Long, PresetName, int},
};
use crate::{app::App, clock, play::AppError};

/// The statistics of a player in all finished games of a kind and preset.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct GameStatistics {
    /// The game.
    pub(super) kind: GameKind,
    /// The preset; `custom` for all changed rules together.
    pub(super) preset: PresetName,
    /// The number of finished games, including those left early.
    games: i32,
    /// The number of games won.
    wins: i32,
    /// The number of games left early.
    left: i32,
    /// The current winning streak.
    streak: i32,
    /// The longest winning streak.
    best_streak: i32,
    /// The average final score.
    average_game: f64,
    /// The best final score.
    best_game: Long,
    /// The average points per turn.
    average_turn: f64,
    /// The points of the best turn.
    best_turn: Long,
    /// The share of turns that were farkles, from 0 to 1.
    farkle_rate: f64,
    /// The points lost by farkles, time-outs and leaving.
    forfeited: Long,
    /// The points of the best save.
    biggest_save: Long,
    /// The combination scored most often. Null if there is none.
    most_common_combination: Option<CombinationKind>,
    /// The number of turns played.
    turns: i32,
    /// The average duration of a turn, in seconds.
    seconds_per_turn: f64,
    /// The number of time-outs.
    time_outs: i32,
    /// The money earned, in dollars.
    money: Long,
    /// Statistics specific to the game: hot dice in Farkle, damage and eliminations in NeonPolis,
    /// multipliers in DashDice, colours and categories in DiceRogue, spending in the market.
    figures: Vec<FigureView>,
    /// The characters played (NeonPolis).
    characters: Vec<CharacterStatistics>,
    /// The special dice played.
    dice: Vec<DieStatistics>,
}

/// A statistic specific to a game.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Figure")]
struct FigureView {
    /// The name: `hot_dice`, `damage`, `multiplied_by_2`, `rolled_blue` …
    name: String,
    /// The label to show.
    label: String,
    /// The value.
    value: f64,
}

impl From<Figure> for FigureView {
    fn from(Figure { name, label, value }: Figure) -> Self {
        Self { name, label, value }
    }
}

/// Statistics of a character.
#[derive(Clone, Debug, SimpleObject)]
struct CharacterStatistics {
    /// The code.
    code: ItemCode,
    /// The number of games played.
    games: i32,
    /// The number of games won.
    wins: i32,
}

/// Statistics of a special die.
#[derive(Clone, Debug, SimpleObject)]
struct DieStatistics {
    /// The code.
    code: DieCode,
    /// The number of games played.
    games: i32,
    /// The number of games won.
    wins: i32,
    /// The points it added.
    points: Long,
    /// The money it earned, in dollars.
    money: Long,
}

impl GameStatistics {
    /// `None` for a game that this server version does not know.
    fn of(all: PlayerStatistics) -> Option<Self> {
        let PlayerStatistics { kind, preset, statistics: s } = all;
        let kind = GameKind::named(&kind)?;
        let figures = Rules::figures(kind.0, &s.counts).into_iter().map(Into::into).collect();
        let long = |number: u64| Long(i64::try_from(number).unwrap_or(i64::MAX));
        Some(Self {
            kind,
            preset: PresetName(preset),
            games: int(s.games),
            wins: int(s.wins),
            left: int(s.left),
            streak: int(s.streak),
            best_streak: int(s.best_streak),
            average_game: mean(s.scores, s.games),
            best_game: Long(s.best_game.unwrap_or(0)),
            average_turn: mean(s.points, s.turns),
            best_turn: Long(s.best_turn),
            farkle_rate: mean(s.farkles.into(), s.turns),
            forfeited: Long(s.forfeited),
            biggest_save: Long(s.biggest_save),
            most_common_combination: s.most_common().map(CombinationKind::from),
            turns: int(s.turns),
            seconds_per_turn: mean(i64::try_from(s.turn_time).unwrap_or(i64::MAX), s.turns)
                / 1000.0,
            time_outs: int(s.time_outs),
            money: long(s.money),
            figures,
            characters: s
                .characters
                .into_iter()
                .map(|(code, tally)| CharacterStatistics {
                    code: ItemCode(code),
                    games: int(tally.games),
                    wins: int(tally.wins),
                })
                .collect(),
            dice: s
                .dice
                .into_iter()
                .map(|(code, die)| DieStatistics {
                    code: DieCode(code),
                    games: int(die.tally.games),
                    wins: int(die.tally.wins),
                    points: Long(die.points),
                    money: long(die.money),
                })
                .collect(),
        })
    }
}

/// The rating of a player at a game: Glicko-2 with a rating period of one day.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Rating")]
pub(super) struct RatingView {
    /// The game.
    kind: GameKind,
    /// The rating. Everybody starts at 1500.
    value: f64,
    /// The rating deviation: the 95% interval is `value` ± 2 × `deviation`. It grows with idle
    /// days.
    deviation: f64,
    /// The volatility: how erratic the results are.
    volatility: f64,
    /// Whether the rating is too uncertain to be ranked.
    provisional: bool,
    /// The number of rated games.
    games: i32,
}

impl RatingView {
    /// `None` for a game that this server version does not know.
    fn of(rating: Rating) -> Option<Self> {
        let Rating { kind, rating, deviation, volatility, provisional, games } = rating;
        let kind = GameKind::named(&kind)?;
        Some(Self { kind, value: rating, deviation, volatility, provisional, games: int(games) })
    }
}

/// The rating at the end of a day with rated games.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct RatingPoint {
    /// The day, in UTC.
    date: Date,
    /// The rating.
    rating: f64,
    /// The rating deviation: the 95% interval is `rating` ± 2 × `deviation`.
    deviation: f64,
    /// The number of rated games.
    games: i32,
}

/// The rating of a player at a game, day by day.
pub(super) async fn rating_history(
    ctx: &Context<'_>,
    account: Uuid,
    kind: GameKind,
    days: i32,
) -> async_graphql::Result<Vec<RatingPoint>> {
    if !(1..=1000).contains(&days) {
        return Err(bad_input("days must be from 1 to 1000"));
    }
    app(ctx).database.check()?;
    let pool = app(ctx).games.store.pool();
    let days = projections::ratings::history(pool, account, kind.0, today() - days).await;
    let point = |day: RatingDay| RatingPoint {
        date: Date(day.day),
        rating: day.rating,
        deviation: day.deviation,
        games: int(day.games),
    };
    Ok(days.map_err(AppError::from)?.into_iter().map(point).collect())
}

/// The current day in UTC, counted from 1970-01-01.
fn today() -> i32 {
    i32::try_from(clock::now().0 / 86_400_000).unwrap_or(i32::MAX)
}

/// Loads the ratings of many players in one round trip.
#[derive(Debug)]
pub(super) struct Ratings(pub(super) Arc<App>);

impl Loader<Uuid> for Ratings {
    type Value = Vec<RatingView>;
    type Error = AppError;

    async fn load(&self, players: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, AppError> {
        self.0.database.check()?;
        let found = ratings_of(self.0.games.store.pool(), players, today()).await?;
        let views = |all: Vec<Rating>| all.into_iter().filter_map(RatingView::of).collect();
        Ok(found.into_iter().map(|(player, all)| (player, views(all))).collect())
    }
}

/// The sum divided by the count; 0 if the count is 0.
#[expect(clippy::cast_precision_loss, reason = "an average is not exact anyway")]
fn mean(sum: i64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(count) }
}

/// Loads the statistics of many players in one round trip.
#[derive(Debug)]
pub(super) struct Numbers(pub(super) Arc<App>);

impl Loader<Uuid> for Numbers {
    type Value = Vec<GameStatistics>;
    type Error = AppError;

    async fn load(&self, players: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, AppError> {
        self.0.database.check()?;
        let found = statistics_of(self.0.games.store.pool(), players).await?;
        let views =
            |all: Vec<PlayerStatistics>| all.into_iter().filter_map(GameStatistics::of).collect();
        Ok(found.into_iter().map(|(player, all)| (player, views(all))).collect())
    }
}
