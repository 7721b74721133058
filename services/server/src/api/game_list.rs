//! Lists of games: those of a player, and the lobby. Newest first.

use async_graphql::Context;
use sqlx::{Postgres, Row, postgres::PgArguments, query::Query};
use uuid::Uuid;

use super::{
    app,
    connection::{GameConnection, PageArguments},
    game::{GameStage, GameView},
    viewer_if_any,
};
use crate::play::AppError;

/// The games to list.
#[derive(Clone, Debug)]
pub(super) enum GameList {
    /// Games of a player.
    Player {
        account: Uuid,
        stage: Option<GameStage>,
        /// Whether private games are listed too.
        private: bool,
    },
    /// Public games; gathering ones only with a free seat.
    Lobby { stage: GameStage, kind: Option<&'static str>, preset: Option<String> },
}

const LIVE: &str =
    "generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live')";

impl GameStage {
    /// The name of the stage in the index.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gathering => "gathering",
            Self::Playing => "playing",
            Self::Ended => "ended",
        }
    }
}

impl GameList {
    /// One page.
    pub(super) async fn page(
        self,
        ctx: &Context<'_>,
        arguments: PageArguments,
    ) -> async_graphql::Result<GameConnection> {
        let request = arguments.request(ctx)?;
        let cursor = request.position(|cursor| Uuid::try_parse(cursor).ok())?;
        app(ctx).database.check()?;
        if self.is_empty() {
            return Ok(GameConnection::page(&request, Vec::new(), false, 0));
        }
        let pool = app(ctx).games.store.pool();
        let (comparison, order) = request.direction(true);
        let after =
            if cursor.is_some() { format!("AND i.game {comparison} $4") } else { String::new() };
        let (source, limit) = (self.rows(), request.limit());
        let select =
            format!("SELECT i.game {source} {after} ORDER BY i.game {order} LIMIT {limit}");
        let mut query = self.bind(sqlx::query(sqlx::AssertSqlSafe(select)));
        if let Some(cursor) = cursor {
            query = query.bind(cursor);
        }
        let rows = query.fetch_all(pool).await.map_err(AppError::from)?;
        let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>();
        let (ids, more) = request.trim(ids.map_err(AppError::from)?);
        let total = if request.counts {
            let count = format!("SELECT count(*) {source}");
            let query = self.bind(sqlx::query(sqlx::AssertSqlSafe(count)));
            let row = query.fetch_one(pool).await.map_err(AppError::from)?;
            row.try_get(0).map_err(AppError::from)?
        } else {
            0
        };
        let games = GameView::load(app(ctx), viewer_if_any(ctx), &ids, None).await?;
        let games = games.into_iter().flatten().map(|view| (view.id.to_string(), view));
        Ok(GameConnection::page(&request, games.collect(), more, total))
    }

    /// A preset with a NUL byte cannot exist, and PostgreSQL rejects such a parameter.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Lobby { preset: Some(name), .. } if name.contains('\0'))
    }

    /// The rows, with up to three parameters.
    fn rows(&self) -> String {
        let public =
            "EXISTS (SELECT 1 FROM game_access a WHERE a.game = i.game AND a.invite IS NULL)";
        match self {
            Self::Player { .. } => format!(
                "FROM game_player i WHERE {LIVE} AND i.player = $1 AND ($2::text IS NULL OR i.stage = $2) AND ($3 OR {public})"
            ),
            Self::Lobby { stage, .. } => {
                let listed = match stage {
                    GameStage::Gathering => "i.open".to_owned(),
                    GameStage::Playing => format!("i.stage = 'playing' AND {public}"),
                    GameStage::Ended => format!("i.stage = 'ended' AND {public}"),
                };
                format!(
                    "FROM game_index i WHERE {LIVE} AND {listed} AND ($1::text IS NULL OR i.kind = $1)
                        AND ($2::text IS NULL OR i.preset = $2) AND $3"
                )
            }
        }
    }

    fn bind<'q>(
        &'q self,
        query: Query<'q, Postgres, PgArguments>,
    ) -> Query<'q, Postgres, PgArguments> {
        match self {
            Self::Player { account, stage, private } => {
                query.bind(account).bind(stage.map(GameStage::name)).bind(private)
            }
            Self::Lobby { kind, preset, .. } => query.bind(kind).bind(preset).bind(true),
        }
    }
}
