//! GraphiQL, to try the API in a browser. npm installs its files and this node serves them, so the
//! page loads nothing from other hosts.

use std::{path::Path as FilePath, sync::Arc};

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
};

use super::Gateway;

/// The files of the page: name in the URL, path below `node_modules`, content type.
const FILES: [(&str, &str, &str); 4] = [
    ("react.js", "react/umd/react.production.min.js", "text/javascript; charset=utf-8"),
    ("react-dom.js", "react-dom/umd/react-dom.production.min.js", "text/javascript; charset=utf-8"),
    ("graphiql.js", "graphiql/graphiql.min.js", "text/javascript; charset=utf-8"),
    ("graphiql.css", "graphiql/graphiql.min.css", "text/css; charset=utf-8"),
];

const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; \
                      font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'";

pub(super) async fn redirect() -> Redirect {
    Redirect::temporary("/graphiql")
}

pub(super) async fn page(State(gateway): State<Arc<Gateway>>) -> Response {
    if !is_installed(&gateway.settings.graphiql) {
        let folder = gateway.settings.graphiql.display();
        let message = format!(
            "GraphiQL is not installed in {folder}. Run: npm ci --prefix deploy/graphiql\n\
             The API itself is at /graphql.\n"
        );
        return (StatusCode::NOT_FOUND, message).into_response();
    }
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (policy, Html(include_str!("graphiql.html"))).into_response()
}

pub(super) async fn file(
    State(gateway): State<Arc<Gateway>>,
    Path(file): Path<String>,
) -> Response {
    if file == "start.js" {
        let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
        return (kind, include_str!("graphiql.js")).into_response();
    }
    let Some((_, path, kind)) = FILES.into_iter().find(|(name, ..)| *name == file) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=3600")];
    match tokio::fs::read(gateway.settings.graphiql.join(path)).await {
        Ok(bytes) => (headers, bytes).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Whether all files of the page are installed.
pub(crate) fn is_installed(folder: &FilePath) -> bool {
    FILES.into_iter().all(|(_, path, _)| folder.join(path).exists())
}
