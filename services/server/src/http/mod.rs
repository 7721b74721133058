//! The HTTP server: GraphQL over HTTP, `WebSocket`s and server-sent events; health and metrics.

mod accept;
mod gateway;
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
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
    cors::{AllowOrigin, Any, CorsLayer},
};

use accept::Connection;
pub(crate) use accept::{ConnectionLimits, accept, listen};
pub(crate) use gateway::{Gateway, MetricsHandle};
pub(crate) use graphiql::is_installed as graphiql_is_installed;
pub(crate) use rates::{RateLimits, Rates};

/// The remote address of the TCP connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

pub(crate) fn router(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .route("/graphql", any(graphql::handle))
        .route("/graphiql", get(graphiql::page))
        .route("/graphiql/{file}", get(graphiql::file))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/.well-known/jwks.json", get(health::public_keys))
        .route("/", get(graphiql::redirect))
        .layer(compression())
        .layer(cors(&gateway.settings.cors_origin))
        .layer(axum::middleware::map_response(security_headers))
        .with_state(Arc::clone(gateway))
}

/// Compresses large responses, except event streams: each event is sent immediately.
fn compression() -> CompressionLayer<impl Predicate> {
    let worth_it = SizeAbove::new(1024).and(NotForContentType::SSE);
    CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(worth_it)
}

/// All origins are safe to allow by default: there are no cookies, so a page can only use tokens
/// that it was given.
fn cors(origins: &[HeaderValue]) -> CorsLayer {
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::ACCEPT,
            gateway::CLIENT,
        ])
        .expose_headers([header::RETRY_AFTER, graphql::REQUEST_ID])
        .max_age(std::time::Duration::from_hours(1));
    if origins.iter().any(|origin| origin == "*") {
        layer.allow_origin(Any)
    } else {
        layer.allow_origin(AllowOrigin::list(origins.iter().cloned()))
    }
}

/// Adds security headers to every response.
async fn security_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let mut set = |name, value| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}
