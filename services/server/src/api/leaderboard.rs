//! Leaderboards.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Moment, Rules, Ruleset};
use projections::{
    Span,
    boards::{Board, Cursor, Direction, Measure, Standing, among, around, count_players, page},
    leaderboards,
};
use uuid::Uuid;

use super::{
    app,
    connection::{PageArguments, StandingConnection},
    errors::bad_input,
    game_kind::GameKind,
    ids::player_id,
    player,
    player::Player,
    scalars::{DateTime, Long, PresetName, int},
    season,
};
use crate::{
    clock,
    play::{AppError, UserError},
};

/// The measure that a leaderboard is ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum LeaderboardMeasure {
    /// The number of games won.
    Wins,
    /// The best final score.
    BestGame,
    /// The average final score, of players with at least ten games.
    Average,
    /// The rating at the end of the last day played in the span, over all presets. Provisional
    /// ratings are not listed.
    Rating,
}

/// The period of a leaderboard. Games count by when they ended, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum LeaderboardSpan {
    /// All games.
    AllTime,
    /// The games of a day.
    Daily,
    /// The games of a week, starting on Monday.
    Weekly,
    /// The games of a month.
    Monthly,
    /// The games of a season, given by the argument `season`.
    Season,
}

/// The standing of a player on a leaderboard.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Standing")]
pub(super) struct StandingView {
    /// The rank, from 1. Equal values have the same rank and are sorted by `reachedAt`.
    rank: i32,
    /// The player.
    player: Player,
    /// The value of the measure: games won, points or the rating.
    value: f64,
    /// The number of games played in the period. For ratings, the number of all rated games until
    /// then.
    games: Long,
    /// When the value was reached.
    reached_at: DateTime,
}

/// A leaderboard of a game and preset. Games with changed rules do not count, nor do solo games
/// unless the game is single-player. At most a second old.
#[derive(Clone, Debug)]
pub(super) struct Leaderboard {
    board: Board,
    measure: Measure,
    as_of: Moment,
}

/// The maximum number of players in `among`.
const MAX_AMONG: usize = 100;
/// The maximum of `ago`.
const MAX_AGO: i32 = 1200;

impl Leaderboard {
    pub(super) fn find(
        kind: GameKind,
        preset: Option<&str>,
        by: LeaderboardMeasure,
        period: String,
    ) -> async_graphql::Result<Self> {
        let ruleset = Ruleset::preset(kind.0, preset).map_err(UserError::from);
        let ruleset = ruleset.map_err(AppError::from)?;
        let measure = match by {
            LeaderboardMeasure::Wins => Measure::Wins,
            LeaderboardMeasure::BestGame => Measure::Best,
            LeaderboardMeasure::Average => Measure::Average,
            LeaderboardMeasure::Rating => Measure::Rating,
        };
        let preset = match (measure, preset) {
            (Measure::Rating, Some(_)) => {
                return Err(bad_input("ratings cover all presets; omit preset"));
            }
            (Measure::Rating, None) => String::new(),
            (Measure::Wins | Measure::Best | Measure::Average, _) => ruleset.preset,
        };
        let board = Board { kind: kind.0.to_owned(), preset, period };
        Ok(Self { board, measure, as_of: clock::now() })
    }

    /// The name of a period in the projection.
    pub(super) async fn period_of(
        ctx: &Context<'_>,
        span: LeaderboardSpan,
        ago: i32,
        season: Option<&str>,
    ) -> async_graphql::Result<String> {
        let back = u32::try_from(ago).ok().filter(|_| ago <= MAX_AGO);
        let back = back.ok_or_else(|| bad_input(format!("ago must be from 0 to {MAX_AGO}")))?;
        let span = match (span, season) {
            (LeaderboardSpan::Season, Some(code)) => {
                return Ok(season::named(ctx, code).await?.period());
            }
            (LeaderboardSpan::Season, None) => {
                return Err(bad_input("season is required with span: SEASON"));
            }
            (_, Some(_)) => return Err(bad_input("season requires span: SEASON")),
            (LeaderboardSpan::AllTime, None) => Span::All,
            (LeaderboardSpan::Daily, None) => Span::Day,
            (LeaderboardSpan::Weekly, None) => Span::Week,
            (LeaderboardSpan::Monthly, None) => Span::Month,
        };
        Ok(span.of(span.before(clock::now(), back)))
    }

    fn view(&self, standing: Standing) -> StandingView {
        // Boards store scores negated where less is better.
        let negated = matches!(self.measure, Measure::Best | Measure::Average)
            && Rules::counts_down(&self.board.kind);
        let value = as_float(if negated { -standing.value } else { standing.value });
        StandingView {
            rank: int(standing.rank),
            player: Player::new(standing.player),
            value: match self.measure {
                Measure::Average | Measure::Rating => value / 1000.0,
                Measure::Wins | Measure::Best => value,
            },
            games: Long(standing.games),
            reached_at: DateTime(Moment(u64::try_from(standing.at).unwrap_or(0))),
        }
    }

    /// Names the board, so that the cursor is not valid for another one.
    fn cursor(&self, standing: &Standing) -> String {
        let Standing { value, at, player, .. } = standing;
        URL_SAFE_NO_PAD.encode(format!("{}|{value}|{at}|{player}", self.name()))
    }

    fn name(&self) -> String {
        let Board { kind, preset, period } = &self.board;
        format!("{kind}|{preset}|{period}|{:?}", self.measure)
    }

    fn parse_cursor(&self, cursor: &str) -> Option<Cursor> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let mut parts = text.strip_prefix(&format!("{}|", self.name()))?.split('|');
        let cursor = Cursor {
            value: parts.next()?.parse().ok()?,
            at: parts.next()?.parse().ok()?,
            player: Uuid::try_parse(parts.next()?).ok()?,
        };
        parts.next().is_none().then_some(cursor)
    }
}

/// A leaderboard of a game and preset. Games with changed rules do not count, nor do solo games
/// unless the game is single-player. At most a second old.
#[Object]
impl Leaderboard {
    /// The game.
    async fn kind(&self) -> Option<GameKind> {
        GameKind::named(&self.board.kind)
    }

    /// The preset. Null for ratings, which cover all presets.
    async fn preset(&self) -> Option<PresetName> {
        (self.measure != Measure::Rating).then(|| PresetName(self.board.preset.clone()))
    }

    /// The period: `all`, `2026-11-16`, `2026-W47`, `2026-11`, `season/winter-2026`.
    async fn period(&self) -> &str {
        &self.board.period
    }

    /// The minimum number of games to be ranked by average.
    async fn games_for_average(&self) -> i32 {
        int(leaderboards::GAMES_FOR_AVERAGE)
    }

    /// When the leaderboard was read.
    async fn as_of(&self) -> DateTime {
        DateTime(self.as_of)
    }

    /// The players, best first.
    async fn page(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<StandingConnection> {
        let request = PageArguments { first, after, last, before }.request(ctx)?;
        let cursor = request.position(|cursor| self.parse_cursor(cursor))?;
        let direction = if request.backward { Direction::Up } else { Direction::Down };
        let pool = app(ctx).games.store.pool();
        let rows = page(pool, &self.board, self.measure, cursor, direction, request.limit()).await;
        let rows = rows.map_err(AppError::from)?;
        let more = rows.len() > request.size;
        // Rows come in the order of the board in both directions.
        let skip = usize::from(request.backward && more);
        let rows = rows.into_iter().skip(skip).take(request.size);
        let total = if request.counts {
            count_players(pool, &self.board, self.measure).await.map_err(AppError::from)?
        } else {
            0
        };
        let items = rows.map(|row| (self.cursor(&row), self.view(row)));
        Ok(StandingConnection::page(&request, items.collect(), more, total))
    }

    /// You and the players around you. Empty if you are not ranked.
    async fn around_me(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Players above and below you, 0 to 50 each.", default = 5)] each: i32,
    ) -> async_graphql::Result<Vec<StandingView>> {
        let viewer = player(ctx)?;
        if !(0..=50).contains(&each) {
            return Err(bad_input("each must be from 0 to 50"));
        }
        let pool = app(ctx).games.store.pool();
        let rows = around(pool, &self.board, self.measure, viewer.account, each.into()).await;
        let rows = rows.map_err(AppError::from)?;
        Ok(rows.into_iter().map(|row| self.view(row)).collect())
    }

    /// The standings of these players, best first: your friends, for example.
    async fn among(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The ids of the players, at most 100.")] players: Vec<ID>,
    ) -> async_graphql::Result<Vec<StandingView>> {
        if players.len() > MAX_AMONG {
            return Err(bad_input(format!("at most {MAX_AMONG} players are allowed")));
        }
        let ids = players.iter().map(player_id).collect::<async_graphql::Result<Vec<Uuid>>>()?;
        let pool = app(ctx).games.store.pool();
        let rows = among(pool, &self.board, self.measure, &ids).await;
        let rows = rows.map_err(AppError::from)?;
        Ok(rows.into_iter().map(|row| self.view(row)).collect())
    }
}

#[expect(clippy::cast_precision_loss, reason = "values above 2⁵³ do not occur")]
fn as_float(value: i64) -> f64 {
    value as f64
}
