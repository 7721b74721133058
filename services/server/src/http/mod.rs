//! The node's doors: GraphQL over HTTP, sockets and server-sent events; health and figures beside them.

mod accept;
mod door;
mod graphiql;
mod graphql;
mod health;
mod negotiate;
mod rates;
mod socket;
mod sse;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    http::{HeaderValue, Method, header},
    response::Response,
    routing::{any, get},
};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use accept::Place;
pub(crate) use accept::{Crowd, accept, listen};
pub(crate) use door::{Door, Figures};
pub(crate) use graphiql::is_there as graphiql_is_there;
pub(crate) use rates::{RateLimits, Rates};

/// Where a request comes from, as the connection says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The table of contents.
pub(crate) fn router(door: &Arc<Door>) -> Router {
    Router::new()
        .route("/graphql", any(graphql::handle))
        .route("/graphiql", get(graphiql::page))
        .route("/graphiql/{file}", get(graphiql::file))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/.well-known/jwks.json", get(health::public_keys))
        .route("/", get(graphiql::welcome))
        .layer(cors(&door.settings.cors_origin))
        .layer(axum::middleware::map_response(secured))
        .with_state(Arc::clone(door))
}

/// Any origin may ask: there are no cookies, so a page can only use tokens it has. Origins can be named to be stricter.
fn cors(origins: &[HeaderValue]) -> CorsLayer {
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::ACCEPT])
        .expose_headers([header::RETRY_AFTER, graphql::REQUEST_ID])
        .max_age(std::time::Duration::from_hours(1));
    if origins.iter().any(|origin| origin == "*") {
        layer.allow_origin(Any)
    } else {
        layer.allow_origin(AllowOrigin::list(origins.iter().cloned()))
    }
}

/// What every answer says to browsers.
async fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut say = |name, value| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    say(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    say(header::X_FRAME_OPTIONS, "DENY");
    say(header::REFERRER_POLICY, "no-referrer");
    say(header::CACHE_CONTROL, "no-store");
    say(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}
