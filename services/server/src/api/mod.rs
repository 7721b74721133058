//! The GraphQL API: one file a noun. Clients read the schema as their manual, so every type and field is described.

#![allow(
    clippy::unused_async,
    reason = "resolvers are asynchronous, those that wait and those that do not"
)]

mod actions;
mod audit;
mod balance;
mod connection;
mod dates;
mod dice;
mod dispute;
mod disputing;
mod errors;
mod event;
mod game;
mod ids;
mod leaderboard;
mod legal;
mod moves;
mod on_table;
mod player;
mod privacy;
mod proof;
mod query;
mod remedy;
mod replay;
mod rules;
mod scalars;
mod season;
mod seat;
mod session;
mod shop;
mod statistics;
mod subscription;
mod support;
mod table;
mod wallet;
mod what_if;

use std::sync::Arc;

use async_graphql::{
    Context, MergedObject, Schema, SchemaBuilder, ValidationMode, dataloader::DataLoader,
};

pub(crate) use errors::{Code, RequestId};

use crate::{
    accounts::{Role, Viewer},
    app::App,
};

/// Everything that changes something. A refused move is data: look at `errors` in the answer.
#[derive(Debug, Default, MergedObject)]
pub(crate) struct Mutation(
    moves::Moves,
    actions::Actions,
    table::TableMutation,
    shop::ShopMutation,
    session::SessionMutation,
    support::SupportMutation,
    disputing::DisputeMutation,
    privacy::PrivacyMutation,
    season::SeasonMutation,
);

pub(crate) type Api = Schema<query::Query, Mutation, subscription::Subscription>;

/// The deepest a query may nest. Introspection as tools send it needs 13.
pub(crate) const DEEPEST: usize = 20;

/// The schema, not yet connected to a node.
pub(crate) fn schema() -> SchemaBuilder<query::Query, Mutation, subscription::Subscription> {
    Schema::build(query::Query, Mutation::default(), subscription::Subscription)
        .limit_recursive_depth(4 * DEEPEST)
}

/// The schema of a node.
pub(crate) fn connected(app: &Arc<App>, validation: ValidationMode) -> Api {
    let loader = DataLoader::new(event::LastActions(Arc::clone(app)), tokio::spawn);
    let numbers = DataLoader::new(statistics::Numbers(Arc::clone(app)), tokio::spawn);
    schema()
        .validation_mode(validation)
        .data(Arc::clone(app))
        .data(loader)
        .data(numbers)
        .data(DataLoader::new(statistics::Ratings(Arc::clone(app)), tokio::spawn))
        .data(DataLoader::new(dates::DiceDates(Arc::clone(app)), tokio::spawn))
        .finish()
}

fn app<'a>(ctx: &Context<'a>) -> &'a Arc<App> {
    ctx.data_unchecked::<Arc<App>>()
}

/// Who asks, if it is known.
fn viewer_if_any(ctx: &Context<'_>) -> Option<Viewer> {
    ctx.data_opt::<Viewer>().copied()
}

/// Who asks.
fn viewer(ctx: &Context<'_>) -> async_graphql::Result<Viewer> {
    viewer_if_any(ctx).ok_or_else(errors::unauthenticated)
}

/// Who asks, if it is a player.
fn player(ctx: &Context<'_>) -> async_graphql::Result<Viewer> {
    allowed(ctx, &[Role::Player])
}

/// Who asks, if it is one of these.
fn allowed(ctx: &Context<'_>, roles: &[Role]) -> async_graphql::Result<Viewer> {
    let viewer = viewer(ctx)?;
    if roles.contains(&viewer.role) {
        Ok(viewer)
    } else {
        Err(errors::forbidden(viewer.role, roles))
    }
}
