//! What all events of a game share.

use std::sync::Arc;

use async_graphql::{Context, Json};
use domain::{Event, Game, Moment, Name, SeatNo, Slug, Table, evolve, explain, narrate};
use serde_json::Value;
use store::{Head, Loaded, Recorded};
use uuid::Uuid;

use super::super::{
    app,
    errors::{fault, store_error},
    game::GameView,
    player::Player,
    rules::CatalogItem,
    seat::Seat,
    viewer_if_any,
};
use crate::{
    accounts::Role,
    app::App,
    play::{AppError, CommandOutcome, NewEvent},
};

/// An event and its metadata.
#[derive(Clone, Debug)]
pub(in crate::api) struct EventBase {
    pub(super) game: Uuid,
    pub(super) version: i64,
    pub(super) at: Moment,
    pub(super) command: Uuid,
    actor: Uuid,
    event: Source,
    /// The game at this version or later, if it is loaded.
    later: Option<Arc<Loaded>>,
    /// The game right after this event, if it is loaded.
    after: Option<Arc<Loaded>>,
}

/// A new event, or one read from the log.
#[derive(Clone, Debug)]
enum Source {
    New(Event),
    Logged(Arc<Recorded>),
}

impl EventBase {
    /// An event read from the log.
    pub(in crate::api) fn logged(recorded: Arc<Recorded>, later: Option<Arc<Loaded>>) -> Self {
        Self {
            game: recorded.stream,
            version: recorded.version,
            at: recorded.at,
            command: recorded.command,
            actor: recorded.actor,
            event: Source::Logged(recorded),
            later,
            after: None,
        }
    }

    /// An event of a what-if game; [`follow`] adds the states.
    pub(in crate::api) fn hypothetical(game: Uuid, version: i64, event: Event) -> Self {
        Self {
            game,
            version,
            at: Moment::default(),
            command: Uuid::nil(),
            actor: Uuid::nil(),
            event: Source::New(event),
            later: None,
            after: None,
        }
    }

    /// The new events of a command.
    pub(in crate::api) fn all(outcome: &CommandOutcome) -> impl Iterator<Item = Self> {
        outcome.new_events.iter().map(|new: &NewEvent| Self {
            game: outcome.game,
            version: new.version,
            at: new.at,
            command: new.command,
            actor: outcome.actor,
            event: Source::New(new.event.clone()),
            later: Some(Arc::clone(&outcome.state)),
            after: None,
        })
    }

    /// The same, with the game right after it.
    fn followed_by(self, after: Arc<Loaded>) -> Self {
        Self { after: Some(after), ..self }
    }

    pub(in crate::api) fn cursor(&self) -> String {
        self.version.to_string()
    }

    pub(super) fn event(&self) -> &Event {
        match &self.event {
            Source::New(event) => event,
            Source::Logged(recorded) => &recorded.event,
        }
    }

    /// The game right after this event.
    pub(super) async fn after(&self, app: &App) -> Result<Arc<Loaded>, AppError> {
        let known = self.after.as_ref().or(self.later.as_ref());
        match known.filter(|state| state.head.version == self.version) {
            Some(state) => Ok(Arc::clone(state)),
            None => app.games.history.after(self.game, self.version, self.event()).await,
        }
    }

    pub(super) async fn game_after(&self, ctx: &Context<'_>) -> Result<GameView, AppError> {
        Ok(GameView { id: self.game, state: self.after(app(ctx)).await? })
    }

    /// A seat right after this event.
    pub(super) async fn seat(
        &self,
        ctx: &Context<'_>,
        number: SeatNo,
    ) -> async_graphql::Result<Seat> {
        let state = self.after(app(ctx)).await?;
        Seat::of(&state, number).ok_or_else(|| fault("event of a seat that does not exist"))
    }

    /// An item of the rules.
    pub(super) async fn item(
        &self,
        ctx: &Context<'_>,
        code: Slug,
    ) -> async_graphql::Result<CatalogItem> {
        let table = self.table(ctx).await?;
        let item = CatalogItem::find(&table.ruleset.rules, code);
        item.ok_or_else(|| fault("event of an item that is not in the rules"))
    }

    /// The table, for its rules and their labels.
    pub(super) async fn table(&self, ctx: &Context<'_>) -> async_graphql::Result<Table> {
        let state = self.later(app(ctx)).await?;
        let game = state.aggregate.as_ref().ok_or_else(|| fault("event without its game"))?;
        Ok(game.table.clone())
    }

    /// The game at this version or later: enough for names and rules.
    pub(super) async fn later(&self, app: &App) -> Result<Arc<Loaded>, AppError> {
        match self.after.as_ref().or(self.later.as_ref()) {
            Some(state) => Ok(Arc::clone(state)),
            None => Ok(app.games.store.games.at_least(self.game, self.version).await?),
        }
    }

    /// `None` for the system, and for staff unless the viewer is staff.
    pub(super) async fn actor(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Player>> {
        let staff = viewer_if_any(ctx).is_some_and(|viewer| viewer.role != Role::Player);
        let is_staff = async || app(ctx).accounts.names.is_staff(self.actor).await;
        let hidden = self.actor.is_nil() || (!staff && is_staff().await.map_err(store_error)?);
        Ok((!hidden).then(|| Player::new(self.actor)))
    }

    /// One-line narration.
    pub(super) async fn summary(&self, app: &App) -> async_graphql::Result<Option<String>> {
        let state = self.later(app).await?;
        let Some(game) = &state.aggregate else { return Ok(None) };
        let table = with_names(app, &game.table).await?;
        if let Event::SeatTaken { seat, player, name } = self.event() {
            // The log has a pseudonym here.
            let shown = table.seats.get(usize::from(*seat)).map(|seat| seat.name.clone());
            let name = shown.unwrap_or_else(|| name.clone());
            let taken = Event::SeatTaken { seat: *seat, player: *player, name };
            return Ok(narrate(&taken, &table));
        }
        Ok(narrate(self.event(), &table))
    }

    /// How its points were calculated.
    pub(super) async fn score_breakdown(&self, app: &App) -> Result<Vec<String>, AppError> {
        let state = self.later(app).await?;
        let rules = state.aggregate.as_ref().map(|game| &game.table.ruleset.rules);
        Ok(rules.map(|rules| explain(self.event(), rules)).unwrap_or_default())
    }

    /// The payload as in the log.
    pub(super) fn payload(&self) -> async_graphql::Result<Json<Value>> {
        let mut json =
            serde_json::to_value(self.event()).map_err(|error| fault(&error.to_string()))?;
        // The type is a field of its own.
        Ok(Json(json.get_mut(self.event().name()).map(Value::take).unwrap_or_default()))
    }
}

/// Whether the client asks for states of the events that a resolver returns.
pub(in crate::api) fn needs_states(ctx: &Context<'_>) -> bool {
    ["gameAfter", "seat", "winners"].into_iter().any(|field| ctx.look_ahead().field(field).exists())
}

/// Consecutive events, each with the game right after it; `game` is the state before the first one.
pub(in crate::api) fn follow(
    mut game: Option<Game>,
    events: impl Iterator<Item = EventBase>,
) -> Vec<EventBase> {
    let follow = |event: EventBase| {
        game = evolve(game.take(), event.event());
        let head = Head { version: event.version, ..Head::NEW };
        event.followed_by(Arc::new(Loaded::at(game.clone(), head)))
    };
    events.map(follow).collect()
}

/// A table with current names instead of pseudonyms.
pub(in crate::api) async fn with_names(app: &App, table: &Table) -> async_graphql::Result<Table> {
    let players = table.seats.iter().map(|seat| seat.player.0);
    let names = app.accounts.names.of(players).await.map_err(store_error)?;
    let mut table = table.clone();
    for seat in &mut table.seats {
        if let Some(Ok(name)) = names.get(&seat.player.0).map(|name| Name::parse(name)) {
            seat.name = name;
        }
    }
    Ok(table)
}
