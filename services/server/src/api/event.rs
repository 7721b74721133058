//! Events of a game, and the last thing that happened.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{Context, Json, Object, dataloader::Loader};
use domain::{DecidedBy, Event, Game, Moment, Name, Stage, Table, explain, narrate};
use serde_json::Value;
use store::{Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    errors::{fault, store_error},
    game::GameView,
    player::Player,
    scalars::{Instant, int},
    viewer_if_any,
};
use crate::{
    accounts::Role,
    app::App,
    play::{Done, Made, PlayError},
};

/// Something that happened in a game.
#[derive(Clone, Debug)]
pub(super) struct GameEvent {
    game: Uuid,
    version: i64,
    at: Moment,
    command: Uuid,
    actor: Uuid,
    event: Told,
    /// The game at least as far as this event, if it is at hand.
    state: Option<Arc<Loaded>>,
}

/// An event just made, or one from the log.
#[derive(Clone, Debug)]
enum Told {
    Here(Event),
    Logged(Arc<Recorded>),
}

impl GameEvent {
    pub(super) fn logged(recorded: Arc<Recorded>, state: Option<Arc<Loaded>>) -> Self {
        Self {
            game: recorded.stream,
            version: recorded.version,
            at: recorded.at,
            command: recorded.command,
            actor: recorded.actor,
            event: Told::Logged(recorded),
            state,
        }
    }

    /// An event of a game that nobody played.
    pub(super) fn imagined(game: Uuid, version: i64, event: Event, state: Arc<Loaded>) -> Self {
        Self {
            game,
            version,
            at: Moment::default(),
            command: Uuid::nil(),
            actor: Uuid::nil(),
            event: Told::Here(event),
            state: Some(state),
        }
    }

    /// The events that a wish made happen.
    pub(super) fn all(done: &Done) -> Vec<Self> {
        let event = |made: &Made| Self {
            game: done.game,
            version: made.version,
            at: made.at,
            command: made.command,
            actor: done.actor,
            event: Told::Here(made.event.clone()),
            state: Some(Arc::clone(&done.state)),
        };
        done.made.iter().map(event).collect()
    }

    pub(super) fn cursor(&self) -> String {
        self.version.to_string()
    }

    fn event(&self) -> &Event {
        match &self.event {
            Told::Here(event) => event,
            Told::Logged(recorded) => &recorded.event,
        }
    }

    async fn state(&self, app: &App) -> Result<Arc<Loaded>, PlayError> {
        match &self.state {
            Some(state) => Ok(Arc::clone(state)),
            None => Ok(app.tables.store.games.at_least(self.game, self.version).await?),
        }
    }

    /// Whether it made the game void, or ended it with that.
    async fn is_of_the_house(&self, app: &App) -> Result<bool, PlayError> {
        if let Event::Ended(outcome) = self.event() {
            return Ok(outcome.by == DecidedBy::Voided);
        }
        if !matches!(self.event(), Event::SeedRevealed { .. }) {
            return Ok(matches!(self.event(), Event::Voided { .. }));
        }
        let state = self.state(app).await?;
        let Some(Game { table, .. }) = &state.now else { return Ok(false) };
        Ok(matches!(&table.stage, Stage::Ended(outcome) if outcome.by == DecidedBy::Voided))
    }

    async fn told(&self, app: &App) -> async_graphql::Result<Option<String>> {
        let state = self.state(app).await?;
        let Some(game) = &state.now else { return Ok(None) };
        let table = with_names(app, &game.table).await?;
        if let Event::SeatTaken { seat, player, name } = self.event() {
            // The log has a pseudonym there.
            let name = shown(&table, *seat).unwrap_or_else(|| name.clone());
            let taken = Event::SeatTaken { seat: *seat, player: *player, name };
            return Ok(narrate(&taken, &table));
        }
        Ok(narrate(self.event(), &table))
    }
}

/// Something that happened in a game.
#[Object]
impl GameEvent {
    /// Its number in the game, from 1, without holes. To go on after it, ask for `gameEvents(afterVersion: …)`.
    async fn version(&self) -> i32 {
        int(self.version)
    }

    /// What kind of thing: `Rolled`, `Saved`, `Banked`, `Farkled`, `EffectApplied`, `MoneyAwarded`, or of the life of the
    /// table: `Created`, `SeatTaken`, `Started`, `TurnStarted`, `Ended` …
    #[graphql(name = "type")]
    async fn kind(&self) -> &'static str {
        self.event().name()
    }

    /// The seat it is about, if it is about one.
    async fn seat(&self) -> Option<i32> {
        self.event().seat().map(i32::from)
    }

    /// When it was recorded.
    async fn recorded_at(&self) -> Instant {
        Instant(self.at)
    }

    /// Who made it happen; nobody is the house. Who of the house made a game void is told to staff only.
    async fn actor(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Player>> {
        let staff = viewer_if_any(ctx).is_some_and(|viewer| viewer.role != Role::Player);
        if self.actor.is_nil() || (!staff && self.is_of_the_house(app(ctx)).await?) {
            return Ok(None);
        }
        Ok(Some(Player::new(self.actor)))
    }

    /// The command it came from.
    async fn command_id(&self) -> Uuid {
        self.command
    }

    /// What happened in words, with every number explained; nothing where there is nothing to tell.
    async fn text(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<String>> {
        self.told(app(ctx)).await
    }

    /// How its points come about, line by line, ready to show: "300 × 2 = 600", "Hot streak + 150", "Dare + 400".
    async fn lines(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<String>> {
        let state = self.state(app(ctx)).await?;
        let rules = state.now.as_ref().map(|game| &game.table.ruleset.rules);
        Ok(rules.map(|rules| explain(self.event(), rules)).unwrap_or_default())
    }

    /// The event with all its fields, as the log keeps it.
    async fn payload(&self) -> async_graphql::Result<Json<Value>> {
        let mut json =
            serde_json::to_value(self.event()).map_err(|error| fault(&error.to_string()))?;
        // The type is a field of its own.
        Ok(Json(json.get_mut(self.event().name()).map(Value::take).unwrap_or_default()))
    }

    /// The game as it is now, at least as far as this event.
    async fn game(&self, ctx: &Context<'_>) -> async_graphql::Result<GameView> {
        Ok(GameView { id: self.game, state: self.state(app(ctx)).await? })
    }
}

/// What the last command at a table did.
#[derive(Clone, Debug)]
pub(super) struct Action(pub(super) Vec<GameEvent>);

/// What the last command at a table did.
#[Object]
impl Action {
    /// The events it made, in order.
    async fn events(&self) -> &[GameEvent] {
        &self.0
    }

    /// What happened in words, a line an event.
    async fn text(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<String>> {
        let mut lines = Vec::new();
        for event in &self.0 {
            lines.extend(event.told(app(ctx)).await?);
        }
        Ok(lines)
    }
}

/// Loads the last actions of many games in one round trip.
#[derive(Debug)]
pub(super) struct LastActions(pub(super) Arc<App>);

impl Loader<Uuid> for LastActions {
    type Value = Action;
    type Error = PlayError;

    async fn load(&self, games: &[Uuid]) -> Result<HashMap<Uuid, Action>, PlayError> {
        let actions = self.0.tables.store.last_actions(games).await?;
        let event = |recorded| GameEvent::logged(Arc::new(recorded), None);
        let action = |events: Vec<Recorded>| Action(events.into_iter().map(event).collect());
        Ok(actions.into_iter().map(|(game, events)| (game, action(events))).collect())
    }
}

/// A table with the names people go by.
pub(super) async fn with_names(app: &App, table: &Table) -> async_graphql::Result<Table> {
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

fn shown(table: &Table, seat: domain::SeatNo) -> Option<Name> {
    Some(table.seats.get(usize::from(seat))?.name.clone())
}
