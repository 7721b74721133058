//! The current subscribers of games.

use std::{collections::HashMap, sync::Arc};

use async_graphql::{
    Context,
    dataloader::{DataLoader, Loader},
};
use uuid::Uuid;

use crate::{
    app::App,
    play::{AppError, presence::Attendees},
};

/// Loads the subscribers of many games in one round trip.
#[derive(Debug)]
pub(super) struct PresenceLoader(pub(super) Arc<App>);

impl Loader<Uuid> for PresenceLoader {
    type Value = Attendees;
    type Error = AppError;

    async fn load(&self, games: &[Uuid]) -> Result<HashMap<Uuid, Attendees>, AppError> {
        self.0.database.check()?;
        Ok(self.0.games.presence.of(games).await?)
    }
}

/// The subscribers of a game.
pub(super) async fn attendees(ctx: &Context<'_>, game: Uuid) -> async_graphql::Result<Attendees> {
    let loader = ctx.data_unchecked::<DataLoader<PresenceLoader>>();
    Ok(loader.load_one(game).await?.unwrap_or_default())
}
