//! Leaderboards.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Moment, Rules, Ruleset};
use projections::{
    Span,
    boards::{Board, Measure, Place, Standing, among, around, page},
    leaderboards,
};
use uuid::Uuid;

use super::{
    app,
    connection::{StandingConnection, page_size},
    errors::bad_input,
    ids::player_id,
    player,
    player::Player,
    scalars::{Instant, Long, int},
    season, viewer,
};
use crate::{
    clock,
    play::{PlayError, Refusal},
};

/// What a leaderboard is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum LeaderboardMeasure {
    /// Games won.
    Wins,
    /// The best final score.
    BestGame,
    /// The final score on average, of who has played at least ten games.
    Average,
    /// The rating behind the last day played in the span, of all presets together; provisional ones do not stand here.
    Rating,
}

/// Which games a leaderboard counts, by when they ended, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum LeaderboardSpan {
    /// All of them.
    AllTime,
    /// Those of a day.
    Daily,
    /// Those of a week, from Monday on.
    Weekly,
    /// Those of a month.
    Monthly,
    /// Those of a season: say which.
    Season,
}

/// A player's place on a leaderboard.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Standing")]
pub(super) struct StandingView {
    /// The rank, from 1; equal values have the same, and who got there first stands first.
    rank: i32,
    /// Who.
    player: Player,
    /// What the board is sorted by: games won, points, or the rating.
    value: f64,
    /// Games played in this span; on boards by rating, rated games of all time until then.
    games: Long,
    /// When the value was reached.
    reached_at: Instant,
}

/// A leaderboard of a game and preset. Games under changed rules and games played alone do not count, unless the game is played
/// alone by everybody. A second behind the games at most.
#[derive(Clone, Debug)]
pub(super) struct Leaderboard {
    board: Board,
    measure: Measure,
}

/// The most players that can be asked for by name, and around somebody.
const MOST_NAMED: usize = 100;
/// The most spans one can go back.
const MOST_BACK: i32 = 1200;

impl Leaderboard {
    pub(super) fn find(
        game: &str,
        preset: Option<&str>,
        by: LeaderboardMeasure,
        period: String,
    ) -> async_graphql::Result<Self> {
        let ruleset = Ruleset::preset(game, preset).map_err(Refusal::from);
        let ruleset = ruleset.map_err(PlayError::from)?;
        let measure = match by {
            LeaderboardMeasure::Wins => Measure::Wins,
            LeaderboardMeasure::BestGame => Measure::Best,
            LeaderboardMeasure::Average => Measure::Average,
            LeaderboardMeasure::Rating => Measure::Rating,
        };
        let preset = match (measure, preset) {
            (Measure::Rating, Some(_)) => {
                return Err(bad_input("ratings are of a game, not of a preset; leave preset out"));
            }
            (Measure::Rating, None) => String::new(),
            (Measure::Wins | Measure::Best | Measure::Average, _) => ruleset.preset,
        };
        let board = Board { kind: game.to_owned(), preset, period };
        Ok(Self { board, measure })
    }

    /// The name of a span, as boards have it.
    pub(super) async fn period_of(
        ctx: &Context<'_>,
        span: LeaderboardSpan,
        ago: i32,
        season: Option<&str>,
    ) -> async_graphql::Result<String> {
        let back = u32::try_from(ago).ok().filter(|_| ago <= MOST_BACK);
        let back = back.ok_or_else(|| bad_input(format!("ago must be from 0 to {MOST_BACK}")))?;
        let span = match (span, season) {
            (LeaderboardSpan::Season, Some(code)) => {
                return Ok(season::named(ctx, code).await?.period());
            }
            (LeaderboardSpan::Season, None) => return Err(bad_input("say which season")),
            (_, Some(_)) => return Err(bad_input("season needs span: SEASON")),
            (LeaderboardSpan::AllTime, None) => Span::All,
            (LeaderboardSpan::Daily, None) => Span::Day,
            (LeaderboardSpan::Weekly, None) => Span::Week,
            (LeaderboardSpan::Monthly, None) => Span::Month,
        };
        Ok(span.of(span.before(clock::now(), back)))
    }

    fn view(&self, standing: Standing) -> StandingView {
        // Boards have scores turned so that more is better.
        let turned = matches!(self.measure, Measure::Best | Measure::Average)
            && Rules::counts_down(&self.board.kind);
        let value = as_float(if turned { -standing.value } else { standing.value });
        StandingView {
            rank: int(standing.rank),
            player: Player::new(standing.player),
            value: match self.measure {
                Measure::Average | Measure::Rating => value / 1000.0,
                Measure::Wins | Measure::Best => value,
            },
            games: Long(standing.games),
            reached_at: Instant(Moment(u64::try_from(standing.at).unwrap_or(0))),
        }
    }

    /// Says of which board it is, so that it is good for no other.
    fn cursor(&self, standing: &Standing) -> String {
        let Standing { value, at, player, .. } = standing;
        URL_SAFE_NO_PAD.encode(format!("{}|{value}|{at}|{player}", self.name()))
    }

    fn name(&self) -> String {
        let Board { kind, preset, period } = &self.board;
        format!("{kind}|{preset}|{period}|{:?}", self.measure)
    }

    fn place(&self, cursor: &str) -> Option<Place> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let mut parts = text.strip_prefix(&format!("{}|", self.name()))?.split('|');
        let place = Place {
            value: parts.next()?.parse().ok()?,
            at: parts.next()?.parse().ok()?,
            player: Uuid::try_parse(parts.next()?).ok()?,
        };
        parts.next().is_none().then_some(place)
    }
}

/// A leaderboard of a game and preset. Games under changed rules and games played alone do not count, unless the game is played
/// alone by everybody. A second behind the games at most.
#[Object]
impl Leaderboard {
    /// What is played.
    async fn game(&self) -> &str {
        &self.board.kind
    }

    /// Under which preset; nothing for ratings, which are of the game.
    async fn preset(&self) -> Option<&str> {
        (self.measure != Measure::Rating).then_some(&*self.board.preset)
    }

    /// Which days, week or month: `all`, `2026-11-16`, `2026-W47`, `2026-11`, `season/winter-2026`.
    async fn period(&self) -> &str {
        &self.board.period
    }

    /// How many games an average needs to stand here.
    async fn games_for_average(&self) -> i32 {
        int(leaderboards::GAMES_FOR_AVERAGE)
    }

    /// The players, the best first.
    async fn page(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from, of this very board.")] after: Option<String>,
    ) -> async_graphql::Result<StandingConnection> {
        let size = page_size(first)?;
        let place = after.as_deref().map(|cursor| {
            let place = self.place(cursor);
            place.ok_or_else(|| bad_input("after is a cursor that a page of this leaderboard gave"))
        });
        let most = i64::try_from(size + 1).unwrap_or(i64::MAX);
        let pool = app(ctx).tables.store.pool();
        let rows = page(pool, &self.board, self.measure, place.transpose()?, most).await;
        let rows = rows.map_err(PlayError::from)?;
        let more = rows.len() > size;
        let items = rows.into_iter().map(|row| (self.cursor(&row), self.view(row)));
        Ok(StandingConnection::page(items.collect(), more, size, after.is_some()))
    }

    /// You, and those around you; nothing if you do not stand here.
    async fn around_me(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many above you and below you, 0 to 50.", default = 5)] each: i32,
    ) -> async_graphql::Result<Vec<StandingView>> {
        let viewer = player(ctx)?;
        if !(0..=50).contains(&each) {
            return Err(bad_input("each must be from 0 to 50"));
        }
        let pool = app(ctx).tables.store.pool();
        let rows = around(pool, &self.board, self.measure, viewer.account, each.into()).await;
        let rows = rows.map_err(PlayError::from)?;
        Ok(rows.into_iter().map(|row| self.view(row)).collect())
    }

    /// These players, the best first: your friends, for one.
    async fn among(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Their ids, at most 100.")] players: Vec<ID>,
    ) -> async_graphql::Result<Vec<StandingView>> {
        viewer(ctx)?;
        if players.len() > MOST_NAMED {
            return Err(bad_input(format!(
                "at most {MOST_NAMED} players can be asked for at once"
            )));
        }
        let named = players.iter().map(player_id).collect::<async_graphql::Result<Vec<Uuid>>>()?;
        let pool = app(ctx).tables.store.pool();
        let rows = among(pool, &self.board, self.measure, &named).await;
        let rows = rows.map_err(PlayError::from)?;
        Ok(rows.into_iter().map(|row| self.view(row)).collect())
    }
}

#[expect(clippy::cast_precision_loss, reason = "whoever has more than 2⁵³ points does not mind")]
fn as_float(value: i64) -> f64 {
    value as f64
}
