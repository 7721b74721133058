//! Subscriptions.

use std::sync::Arc;

use async_graphql::{Context, ID, Subscription as GraphqlSubscription};
use domain::Stage;
use futures_util::{Stream, StreamExt, stream};
use sqlx::Row;
use uuid::Uuid;

use super::{
    app,
    errors::{bad_input, from_user_error},
    events::{EventBase, GameEvent},
    game::GameView,
    ids::game_id,
    player, viewer_if_any,
};
use crate::{
    accounts::Viewer,
    app::App,
    play::{
        AppError, UserError,
        evidence::{Kind, Note, Origin},
        seat_of,
    },
};

/// The subscription root. Subscriptions run over `graphql-transport-ws` or server-sent events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscription;

/// The subscription root. Subscriptions run over `graphql-transport-ws` or server-sent events.
#[GraphqlSubscription]
impl Subscription {
    /// The events of a game after a version, first those already logged, then new ones as they
    /// happen: each event exactly once, in order, without gaps. To resume, pass the version of the
    /// last event received.
    async fn game_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "The version of the last event received. 0 starts from the first event.",
            default
        )]
        after_version: i32,
        #[graphql(desc = "The invite code of a private game.")] invite_code: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameEvent>> + use<>> {
        let viewer = viewer_if_any(ctx);
        let id = self::game_id(&game_id)?;
        let app = Arc::clone(app(ctx));
        let after = i64::from(after_version);
        if after < 0 {
            return Err(bad_input("afterVersion must be 0 or more"));
        }
        let Some(view) = GameView::find(&app, viewer, id, invite_code.as_deref()).await? else {
            return Err(from_user_error(&UserError::no_such_game()));
        };
        if after > view.state.head.version {
            let last = view.state.head.version;
            let message =
                format!("afterVersion {after} is greater than the current version {last}");
            return Err(bad_input(message));
        }
        // A game that is over gets no more events.
        let over = matches!(view.game()?.table.stage, Stage::Ended(_));
        let until = over.then_some(view.state.head.version);
        let complete = until == Some(after);
        let follow = || app.games.follow(id, after, until);
        let events = stream::iter((!complete).then(follow)).flatten();
        // A player is recorded as connected while subscribed.
        let table = view.game()?;
        let seated = |viewer: &Viewer| seat_of(table, viewer.account).is_some();
        let player = viewer.filter(seated).zip(ctx.data_opt::<Origin>());
        let connection =
            player.map(|(viewer, origin)| PlayerConnection::new(&app, id, viewer, origin.clone()));
        let seat = viewer.filter(seated).map(|viewer| viewer.account);
        let attendance = app.games.presence.enter(id, seat);
        Ok(events.filter_map(move |event| {
            let _ = (&connection, &attendance);
            let typed = |event| GameEvent::of(EventBase::logged(event, None));
            std::future::ready(event.map_err(Into::into).map(typed).transpose())
        }))
    }

    /// Public games when they are created, joined, left, started or ended. Use the query `lobby`
    /// for the existing ones.
    async fn lobby(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameView>> + use<>> {
        let news = app(ctx).games.lobby_news();
        Ok(news.map(|(id, state)| Ok(GameView { id, state })))
    }

    /// Games in which you are to act: first the current ones, then each time it becomes your turn.
    async fn my_turn(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameView>> + use<>> {
        let viewer = player(ctx)?;
        let app = Arc::clone(app(ctx));
        let news = app.games.turns_of(viewer.account);
        let now = playing(&app, viewer).await?;
        let turns = stream::iter(now).chain(news);
        Ok(turns.filter_map(move |game| my_turn_in(Arc::clone(&app), viewer, game)))
    }
}

/// A player's subscription to a game, recorded when it starts and when it ends.
struct PlayerConnection {
    app: Arc<App>,
    game: Uuid,
    viewer: Viewer,
    origin: Origin,
}

impl PlayerConnection {
    fn new(app: &Arc<App>, game: Uuid, viewer: Viewer, origin: Origin) -> Self {
        let connection = Self { app: Arc::clone(app), game, viewer, origin };
        connection.record(Kind::Connected);
        connection
    }

    fn record(&self, kind: Kind) {
        let note = Note::new(self.game, kind, &self.viewer, &self.origin);
        self.app.games.evidence.note(note);
    }
}

impl Drop for PlayerConnection {
    fn drop(&mut self) {
        self.record(Kind::Disconnected);
    }
}

async fn my_turn_in(
    app: Arc<App>,
    viewer: Viewer,
    game: Uuid,
) -> Option<async_graphql::Result<GameView>> {
    let view = match GameView::find(&app, Some(viewer), game, None).await {
        Ok(view) => view?,
        Err(error) => return Some(Err(error.into())),
    };
    let table = view.state.aggregate.as_ref()?;
    let to_move = table.to_move().and_then(|seat| table.table.seats.get(usize::from(seat)));
    to_move.is_some_and(|seat| seat.player.0 == viewer.account).then_some(Ok(view))
}

/// The running games of the player, from the game index.
async fn playing(app: &App, viewer: Viewer) -> Result<Vec<Uuid>, AppError> {
    const PLAYING: &str = "SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 AND stage = 'playing' ORDER BY game DESC LIMIT 1000";
    app.database.check()?;
    let rows = sqlx::query(PLAYING).bind(viewer.account).fetch_all(app.games.store.pool()).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
