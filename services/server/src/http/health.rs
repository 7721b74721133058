//! Health checks, metrics and public keys.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::Gateway;

/// The largest lag behind the log, in events, at which a node is ready.
const MAX_LAG: i64 = 10_000;

/// Liveness: the process runs.
pub(super) async fn live() -> &'static str {
    "alive\n"
}

/// Readiness: the database responds, accepts writes and is migrated, and this node keeps up with the log.
pub(super) async fn ready(State(gateway): State<Arc<Gateway>>) -> Response {
    let probe = &gateway.app.database;
    let (database, migrated, lag) = (!probe.is_away(), probe.is_migrated(), probe.lag());
    let (writable, caught_up) = (!probe.is_read_only(), lag <= MAX_LAG);
    let ready = database && writable && migrated && caught_up;
    let state = |ok: bool| if ok { "ok" } else { "failing" };
    let body = json!({
        "ready": ready,
        "checks": {
            "database": state(database),
            "writes": state(writable),
            "migrations": state(migrated),
            "tail": { "state": state(caught_up), "eventsBehind": lag },
        },
    });
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

pub(super) async fn metrics(State(gateway): State<Arc<Gateway>>) -> Response {
    let games = &gateway.app.games;
    let pool = games.store.pool();
    let gauge = |name: &'static str, value: usize| {
        metrics::gauge!(name).set(f64::from(u32::try_from(value).unwrap_or(u32::MAX)));
    };
    gauge("croupier_games_in_memory", games.store.games.in_memory());
    gauge("croupier_listened_to", games.live.channels());
    gauge("croupier_pool_connections", usize::try_from(pool.size()).unwrap_or(usize::MAX));
    gauge("croupier_pool_idle", pool.num_idle());
    gauge("croupier_database_away", usize::from(gateway.app.database.is_away()));
    gauge("croupier_tail_lag_events", usize::try_from(gateway.app.database.lag()).unwrap_or(0));
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (content_type, gateway.metrics.0.render()).into_response()
}

/// The public keys that verify tokens and receipts.
pub(super) async fn public_keys(State(gateway): State<Arc<Gateway>>) -> Response {
    Json(gateway.app.accounts.tokens.public_keys()).into_response()
}
