//! How the node is: for load balancers and for people with dashboards.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::Door;

/// How many events a node may be behind the log and still be ready.
const MOST_LAG: i64 = 10_000;

/// The process runs.
pub(super) async fn live() -> &'static str {
    "alive\n"
}

/// Requests can be served: the database answers, has our schema, and its log is followed closely.
pub(super) async fn ready(State(door): State<Arc<Door>>) -> Response {
    let looked = &door.app.database;
    let (database, migrated, lag) = (!looked.is_away(), looked.is_migrated(), looked.lag());
    let in_time = lag <= MOST_LAG;
    let ready = database && migrated && in_time;
    let say = |good: bool| if good { "ok" } else { "failing" };
    let body = json!({
        "ready": ready,
        "checks": {
            "database": say(database),
            "migrations": say(migrated),
            "tail": { "state": say(in_time), "eventsBehind": lag },
        },
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

/// The figures of this node.
pub(super) async fn metrics(State(door): State<Arc<Door>>) -> Response {
    let tables = &door.app.tables;
    let pool = tables.store.pool();
    let figure = |name: &'static str, value: usize| {
        metrics::gauge!(name).set(f64::from(u32::try_from(value).unwrap_or(u32::MAX)));
    };
    figure("croupier_games_in_memory", tables.store.games.in_memory());
    figure("croupier_listened_to", tables.live.listened_to());
    figure("croupier_pool_connections", usize::try_from(pool.size()).unwrap_or(usize::MAX));
    figure("croupier_pool_idle", pool.num_idle());
    figure("croupier_database_away", usize::from(door.app.database.is_away()));
    figure("croupier_tail_lag_events", usize::try_from(door.app.database.lag()).unwrap_or(0));
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (content_type, door.figures.0.render()).into_response()
}

/// The keys that tokens and receipts are signed with, for whoever checks them.
pub(super) async fn public_keys(State(door): State<Arc<Door>>) -> Response {
    Json(door.app.accounts.tokens.public_keys()).into_response()
}
