//! The GraphQL API: one file per noun. The schema is the manual of client developers, so every type
//! and field has a description.

#![allow(clippy::unused_async, reason = "async-graphql requires async resolvers")]

mod audit;
mod balance;
mod command;
mod connection;
mod dates;
mod dice;
mod die_effect;
mod dispute;
mod disputing;
mod enums;
mod errors;
mod events;
mod game;
mod game_info;
mod game_kind;
mod game_list;
mod games;
mod ids;
mod leaderboard;
mod legal;
mod listed_enum;
mod moves;
mod node;
mod on_table;
mod personal_data;
mod player;
mod presence;
mod privacy;
mod proof;
mod query;
mod remedy;
mod replay;
mod rules;
mod rules_input;
mod ruleset;
mod scalars;
mod season;
mod seat;
mod seat_state;
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

/// The mutation root. A rejected command is data, not a GraphQL error: check `userErrors` in the
/// payload.
#[derive(Debug, Default, MergedObject)]
pub(crate) struct Mutation(
    moves::Moves,
    table::TableMutation,
    shop::ShopMutation,
    session::SessionMutation,
    support::SupportMutation,
    disputing::DisputeMutation,
    privacy::PrivacyMutation,
    season::SeasonMutation,
);

pub(crate) type Api = Schema<query::Query, Mutation, subscription::Subscription>;

/// The maximum depth of a query. The introspection query of common tools needs 13.
pub(crate) const DEEPEST: usize = 20;

/// The schema without the data of a node.
pub(crate) fn schema() -> SchemaBuilder<query::Query, Mutation, subscription::Subscription> {
    Schema::build(query::Query, Mutation::default(), subscription::Subscription)
        .limit_recursive_depth(4 * DEEPEST)
}

/// The schema of a node.
pub(crate) fn connected(app: &Arc<App>, validation: ValidationMode, introspection: bool) -> Api {
    let loader = DataLoader::new(events::LastActions(Arc::clone(app)), tokio::spawn);
    let numbers = DataLoader::new(statistics::Numbers(Arc::clone(app)), tokio::spawn);
    let schema = if introspection { schema() } else { schema().disable_introspection() };
    schema
        .validation_mode(validation)
        .data(Arc::clone(app))
        .data(loader)
        .data(numbers)
        .data(DataLoader::new(statistics::Ratings(Arc::clone(app)), tokio::spawn))
        .data(DataLoader::new(dates::DiceDates(Arc::clone(app)), tokio::spawn))
        .data(DataLoader::new(dates::GameDates(Arc::clone(app)), tokio::spawn))
        .data(DataLoader::new(presence::PresenceLoader(Arc::clone(app)), tokio::spawn))
        .finish()
}

fn app<'a>(ctx: &Context<'a>) -> &'a Arc<App> {
    ctx.data_unchecked::<Arc<App>>()
}

/// The caller, if signed in.
fn viewer_if_any(ctx: &Context<'_>) -> Option<Viewer> {
    ctx.data_opt::<Viewer>().copied()
}

/// The caller.
fn viewer(ctx: &Context<'_>) -> async_graphql::Result<Viewer> {
    viewer_if_any(ctx).ok_or_else(errors::unauthenticated)
}

/// The caller, who must be a player.
fn player(ctx: &Context<'_>) -> async_graphql::Result<Viewer> {
    allowed(ctx, &[Role::Player])
}

/// The caller, who must have one of these roles.
fn allowed(ctx: &Context<'_>, roles: &[Role]) -> async_graphql::Result<Viewer> {
    let viewer = viewer(ctx)?;
    if roles.contains(&viewer.role) {
        Ok(viewer)
    } else {
        Err(errors::forbidden(viewer.role, roles))
    }
}
