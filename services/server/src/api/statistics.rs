//! What players did so far.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{SimpleObject, dataloader::Loader};
use domain::{Figure, Rules};
use projections::{
    PlayerStatistics,
    ratings::{Rating, ratings_of},
    statistics_of,
};
use uuid::Uuid;

use super::scalars::{Long, int};
use crate::{app::App, clock, play::PlayError};

/// What a player did in all finished games of a kind, under one preset.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct GameStatistics {
    /// What was played: `farkle` …
    pub(super) game: String,
    /// Under which preset; `custom` is all changed rules together.
    pub(super) preset: String,
    /// Games that were finished, those given up included.
    games: i32,
    /// Games won.
    wins: i32,
    /// Games given up.
    left: i32,
    /// Games won in a row, up to the last one.
    streak: i32,
    /// The most games ever won in a row.
    best_streak: i32,
    /// The final score on average.
    average_game: f64,
    /// The best final score.
    best_game: Long,
    /// The points of a turn on average.
    average_turn: f64,
    /// The best turn.
    best_turn: Long,
    /// The share of turns that were farkles, from 0 to 1.
    farkle_rate: f64,
    /// Points lost by farkles, time-outs and leaving.
    forfeited: Long,
    /// The best save.
    biggest_save: Long,
    /// The combination scored most often: `single`, `three_of_a_kind` …
    most_common_combination: Option<String>,
    /// Turns played.
    turns: i32,
    /// How long a turn took on average, in seconds.
    seconds_per_turn: f64,
    /// Time-outs.
    time_outs: i32,
    /// Money earned, in dollars.
    money: Long,
    /// What else this kind of game counts: hot dice in Farkle, damage and eliminations in NeonPolis, multipliers in DashDice,
    /// colours and categories in DiceRogue, what was spent in the market of a game.
    figures: Vec<FigureView>,
    /// Characters played (NeonPolis).
    characters: Vec<CharacterStatistics>,
    /// Special dice played with.
    dice: Vec<DieStatistics>,
}

/// A number of a kind of game.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Figure")]
struct FigureView {
    /// Its name: `hot_dice`, `damage`, `multiplied_by_2`, `rolled_blue` …
    name: String,
    /// What it is, as people read it.
    label: String,
    /// Its value.
    value: f64,
}

impl From<Figure> for FigureView {
    fn from(Figure { name, label, value }: Figure) -> Self {
        Self { name, label, value }
    }
}

/// Games with a character.
#[derive(Clone, Debug, SimpleObject)]
struct CharacterStatistics {
    /// Its code.
    code: String,
    /// Games played.
    games: i32,
    /// Games won.
    wins: i32,
}

/// Games with a special die.
#[derive(Clone, Debug, SimpleObject)]
struct DieStatistics {
    /// Its code.
    code: String,
    /// Games played.
    games: i32,
    /// Games won.
    wins: i32,
    /// Points it added.
    points: Long,
    /// Money it earned, in dollars.
    money: Long,
}

impl From<PlayerStatistics> for GameStatistics {
    fn from(all: PlayerStatistics) -> Self {
        let PlayerStatistics { kind, preset, statistics: s } = all;
        let figures = Rules::figures(&kind, &s.counts).into_iter().map(Into::into).collect();
        let long = |number: u64| Long(i64::try_from(number).unwrap_or(i64::MAX));
        let common = s.most_common().and_then(|name| serde_json::to_value(name).ok());
        Self {
            game: kind,
            preset,
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
            most_common_combination: common.and_then(|n| n.as_str().map(str::to_owned)),
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
                    code,
                    games: int(tally.games),
                    wins: int(tally.wins),
                })
                .collect(),
            dice: s
                .dice
                .into_iter()
                .map(|(code, die)| DieStatistics {
                    code,
                    games: int(die.tally.games),
                    wins: int(die.tally.wins),
                    points: Long(die.points),
                    money: long(die.money),
                })
                .collect(),
        }
    }
}

/// How good a player is at a game: Glicko-2, with a day as rating period.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Rating")]
pub(super) struct RatingView {
    /// What is played.
    game: String,
    /// How good the player is; everybody begins with 1500.
    rating: f64,
    /// How uncertain that is: within twice of it either way lies the truth in 95 of 100 cases. It grows with idle days.
    deviation: f64,
    /// How erratic the results are.
    volatility: f64,
    /// Whether it is too uncertain to be ranked.
    provisional: bool,
    /// How many rated games it comes from.
    games: i32,
}

impl From<Rating> for RatingView {
    fn from(rating: Rating) -> Self {
        let Rating { kind, rating, deviation, volatility, provisional, games } = rating;
        Self { game: kind, rating, deviation, volatility, provisional, games: int(games) }
    }
}

/// Loads the ratings of many players in one round trip.
#[derive(Debug)]
pub(super) struct Ratings(pub(super) Arc<App>);

impl Loader<Uuid> for Ratings {
    type Value = Vec<RatingView>;
    type Error = PlayError;

    async fn load(&self, players: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, PlayError> {
        self.0.database.check()?;
        let today = i32::try_from(clock::now().0 / 86_400_000).unwrap_or(i32::MAX);
        let found = ratings_of(self.0.tables.store.pool(), players, today).await?;
        let views = |all: Vec<Rating>| all.into_iter().map(Into::into).collect();
        Ok(found.into_iter().map(|(player, all)| (player, views(all))).collect())
    }
}

/// A sum by a count; 0 where there is nothing.
#[expect(clippy::cast_precision_loss, reason = "an average is not exact anyway")]
fn mean(sum: i64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(count) }
}

/// Loads the statistics of many players in one round trip.
#[derive(Debug)]
pub(super) struct Numbers(pub(super) Arc<App>);

impl Loader<Uuid> for Numbers {
    type Value = Vec<GameStatistics>;
    type Error = PlayError;

    async fn load(&self, players: &[Uuid]) -> Result<HashMap<Uuid, Self::Value>, PlayError> {
        self.0.database.check()?;
        let found = statistics_of(self.0.tables.store.pool(), players).await?;
        let views = |all: Vec<PlayerStatistics>| all.into_iter().map(Into::into).collect();
        Ok(found.into_iter().map(|(player, all)| (player, views(all))).collect())
    }
}
