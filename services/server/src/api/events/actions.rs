//! The last command of a game and its events.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{Context, Object, dataloader::Loader};
use store::Recorded;
use uuid::Uuid;

use super::{EventBase, GameEvent};
use crate::{api::app, app::App, play::AppError};

/// The last command of a game and its events.
#[derive(Clone, Debug)]
pub(in crate::api) struct Action(Vec<EventBase>);

/// The last command of a game and its events.
#[Object]
impl Action {
    /// The events of the command, in order.
    async fn events(&self) -> Vec<GameEvent> {
        self.0.iter().cloned().filter_map(GameEvent::of).collect()
    }

    /// English narration, at most one line per event.
    async fn summary(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<String>> {
        let mut lines = Vec::new();
        for event in &self.0 {
            lines.extend(event.summary(app(ctx)).await?);
        }
        Ok(lines)
    }
}

/// Loads the last actions of many games in one round trip.
#[derive(Debug)]
pub(in crate::api) struct LastActions(pub(in crate::api) Arc<App>);

impl Loader<Uuid> for LastActions {
    type Value = Action;
    type Error = AppError;

    async fn load(&self, games: &[Uuid]) -> Result<HashMap<Uuid, Action>, AppError> {
        let actions = self.0.games.store.last_actions(games).await?;
        let event = |recorded| EventBase::logged(Arc::new(recorded), None);
        let action = |events: Vec<Recorded>| Action(events.into_iter().map(event).collect());
        Ok(actions.into_iter().map(|(game, events)| (game, action(events))).collect())
    }
}
