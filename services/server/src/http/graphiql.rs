//! GraphiQL, to try the API in a browser. Its files come from npm and are served from a folder of ours, so that the page
//! needs nothing else.

use std::{path::Path as FilePath, sync::Arc};

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
};

use super::Door;

/// The files of the page: its name here, where npm puts it, what it is.
const FILES: [(&str, &str, &str); 4] = [
    ("react.js", "react/umd/react.production.min.js", "text/javascript; charset=utf-8"),
    ("react-dom.js", "react-dom/umd/react-dom.production.min.js", "text/javascript; charset=utf-8"),
    ("graphiql.js", "graphiql/graphiql.min.js", "text/javascript; charset=utf-8"),
    ("graphiql.css", "graphiql/graphiql.min.css", "text/css; charset=utf-8"),
];

const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; \
                      font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'";

/// Who comes without a path looks for something to see.
pub(super) async fn welcome() -> Redirect {
    Redirect::temporary("/graphiql")
}

pub(super) async fn page(State(door): State<Arc<Door>>) -> Response {
    if !is_there(&door.settings.graphiql) {
        let folder = door.settings.graphiql.display();
        let how = format!(
            "GraphiQL's files are not in {folder}. Run: npm ci --prefix deploy/graphiql\n\
             The API itself is at /graphql.\n"
        );
        return (StatusCode::NOT_FOUND, how).into_response();
    }
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (policy, Html(include_str!("graphiql.html"))).into_response()
}

pub(super) async fn file(State(door): State<Arc<Door>>, Path(file): Path<String>) -> Response {
    if file == "start.js" {
        let kind = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
        return (kind, include_str!("graphiql.js")).into_response();
    }
    let Some((_, place, kind)) = FILES.into_iter().find(|(name, ..)| *name == file) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kept = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "public, max-age=3600")];
    match tokio::fs::read(door.settings.graphiql.join(place)).await {
        Ok(bytes) => (kept, bytes).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Whether npm has put everything there.
pub(crate) fn is_there(folder: &FilePath) -> bool {
    FILES.into_iter().all(|(_, place, _)| folder.join(place).exists())
}
