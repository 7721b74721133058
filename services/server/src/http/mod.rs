//! The HTTP server: GraphQL over HTTP, `WebSocket`s and server-sent events; health and metrics.

mod accept;
mod gateway;
mod graphiql;
mod graphql;
mod health;
mod negotiate;
mod rates;
mod request_metrics;
mod socket;
mod sse;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, Method, header},
    routing::{any, get},
};
use tower_http::{
    CompressionLevel,
    compression::{
        Compression, Predicate,
        predicate::{And, NotForContentType, SizeAbove},
    },
    cors::{AllowOrigin, Any, Cors},
};

use accept::Connection;
pub(crate) use accept::{ConnectionLimits, accept, listen};
pub(crate) use gateway::{Gateway, MetricsHandle};
pub(crate) use graphiql::is_installed as graphiql_is_installed;
pub(crate) use rates::{RateLimits, Rates};
pub(crate) use request_metrics::RequestMetrics;

/// The remote address of the TCP connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The routes with compression and cross-origin headers.
pub(crate) type Routes = Cors<Compression<Router, And<SizeAbove, NotForContentType>>>;

/// The layers are around the router, not in it: a layer of a router is copied for every request.
pub(crate) fn routes(gateway: &Arc<Gateway>) -> Routes {
    let router = Router::new()
        .route("/graphql", any(graphql::handle))
        .route("/graphiql", get(graphiql::page))
        .route("/graphiql/{file}", get(graphiql::file))
        .route("/.well-known/jwks.json", get(health::public_keys))
        .route("/", get(graphiql::redirect))
        .merge(if gateway.settings.admin_listen.is_some() { Router::new() } else { admin() });
    layered(router, gateway)
}

/// Health checks and metrics, on an address of their own.
pub(crate) fn admin_routes(gateway: &Arc<Gateway>) -> Routes {
    layered(admin(), gateway)
}

fn admin() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
}

fn layered(router: Router<Arc<Gateway>>, gateway: &Arc<Gateway>) -> Routes {
    let router = router.with_state(Arc::clone(gateway));
    // Event streams are not compressed: each event is sent immediately.
    let worth_it = SizeAbove::new(1024).and(NotForContentType::SSE);
    let compressed = Compression::new(router).gzip(true).quality(CompressionLevel::Fastest);
    with_cors(compressed.compress_when(worth_it), &gateway.settings.cors_origin)
}

/// All origins are safe to allow by default: there are no cookies, so a page can only use tokens
/// that it was given.
fn with_cors<S>(service: S, origins: &[HeaderValue]) -> Cors<S> {
    let cors = Cors::new(service)
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
        cors.allow_origin(Any)
    } else {
        cors.allow_origin(AllowOrigin::list(origins.iter().cloned()))
    }
}

/// Adds security headers to a response.
fn set_security_headers(headers: &mut HeaderMap) {
    let mut set = |name, value| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-store");
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
}
