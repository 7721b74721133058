//! What can be listened to.

use std::sync::Arc;

use async_graphql::{Context, ID, Subscription as GraphqlSubscription};
use domain::Stage;
use futures_util::{Stream, StreamExt, stream};
use sqlx::Row;
use uuid::Uuid;

use super::{
    app,
    errors::{bad_input, refused},
    event::GameEvent,
    game::GameView,
    ids::game_id,
    player, viewer,
};
use crate::{
    accounts::Viewer,
    app::App,
    play::{
        PlayError, Refusal,
        evidence::{Kind, Note, Origin},
        seat_of,
    },
};

/// Everything that can be listened to, over `graphql-transport-ws` or server-sent events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subscription;

/// Everything that can be listened to, over `graphql-transport-ws` or server-sent events.
#[GraphqlSubscription]
impl Subscription {
    /// The events of a game behind a version, and then as they happen: each one once, in order, without holes. After a
    /// break, go on with the version of the last event you saw.
    async fn game_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "The version of the last event you know; 0 begins at the beginning.",
            default
        )]
        after_version: i32,
        #[graphql(desc = "The code of a private game.")] invite_code: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameEvent>> + use<>> {
        let viewer = viewer(ctx)?;
        let id = self::game_id(&game_id)?;
        let app = Arc::clone(app(ctx));
        let after = i64::from(after_version);
        if after < 0 {
            return Err(bad_input("afterVersion must be 0 or more"));
        }
        let Some(view) = GameView::find(&app, viewer, id, invite_code.as_deref()).await? else {
            return Err(refused(&Refusal::no_such_game()));
        };
        if after > view.state.head.version {
            let last = view.state.head.version;
            let message =
                format!("this game ends with version {last}; there is nothing behind {after}");
            return Err(bad_input(message));
        }
        // A game that is over has nothing more to say than what it said.
        let over = matches!(view.game()?.table.stage, Stage::Ended(_));
        let until = over.then_some(view.state.head.version);
        let silent = until == Some(after);
        let follow = || app.tables.follow(id, after, until);
        let events = stream::iter((!silent).then(follow)).flatten();
        // Whoever plays is noted as there, as long as they listen.
        let plays = seat_of(view.game()?, viewer.account).is_some();
        let origin = ctx.data_opt::<Origin>().filter(|_| plays);
        let listening = origin.map(|origin| Listening::new(&app, id, viewer, origin.clone()));
        Ok(events.map(move |event| {
            let _ = &listening;
            Ok(GameEvent::logged(event?, None))
        }))
    }

    /// Public games that are opened, filled, begun or closed, as it happens. Ask `lobby` for those already there.
    async fn lobby(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameView>> + use<>> {
        viewer(ctx)?;
        let news = app(ctx).tables.lobby_news();
        Ok(news.map(|(id, state)| Ok(GameView { id, state })))
    }

    /// Games in which it is your turn: those of now first, and then whenever your turn begins.
    async fn my_turn(
        &self,
        ctx: &Context<'_>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<GameView>> + use<>> {
        let viewer = player(ctx)?;
        let app = Arc::clone(app(ctx));
        let news = app.tables.turns_of(viewer.account);
        let now = playing(&app, viewer).await?;
        let turns = stream::iter(now).chain(news);
        Ok(turns.filter_map(move |game| my_turn_in(Arc::clone(&app), viewer, game)))
    }
}

/// A player follows a game: noted at the beginning and at the end.
struct Listening {
    app: Arc<App>,
    game: Uuid,
    viewer: Viewer,
    origin: Origin,
}

impl Listening {
    fn new(app: &Arc<App>, game: Uuid, viewer: Viewer, origin: Origin) -> Self {
        let listening = Self { app: Arc::clone(app), game, viewer, origin };
        listening.note(Kind::Connected);
        listening
    }

    fn note(&self, kind: Kind) {
        let note = Note::new(self.game, kind, &self.viewer, &self.origin);
        self.app.tables.evidence.note(note);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.note(Kind::Disconnected);
    }
}

async fn my_turn_in(
    app: Arc<App>,
    viewer: Viewer,
    game: Uuid,
) -> Option<async_graphql::Result<GameView>> {
    let view = match GameView::find(&app, viewer, game, None).await {
        Ok(view) => view?,
        Err(error) => return Some(Err(error.into())),
    };
    let table = view.state.now.as_ref()?;
    let to_move = table.to_move().and_then(|seat| table.table.seats.get(usize::from(seat)));
    to_move.is_some_and(|seat| seat.player.0 == viewer.account).then_some(Ok(view))
}

/// The games that the player is playing, as far as the index knows.
async fn playing(app: &App, viewer: Viewer) -> Result<Vec<Uuid>, PlayError> {
    const PLAYING: &str = "SELECT game FROM game_player WHERE generation = (SELECT generation FROM processor WHERE name = 'game_index' AND state = 'live') AND player = $1 AND stage = 'playing' ORDER BY game DESC LIMIT 1000";
    app.database.check()?;
    let rows = sqlx::query(PLAYING).bind(viewer.account).fetch_all(app.tables.store.pool()).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
