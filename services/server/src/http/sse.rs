//! Subscriptions as server-sent events: `next` for each answer, `complete` at the end.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::{StreamExt, stream};
use tokio::sync::{mpsc, oneshot};

use super::{
    Place,
    door::{Door, Ready, written},
    negotiate::Media,
    socket::{Counted, STOPPING, TOO_SLOW, until_expired},
};
use crate::accounts::Viewer;

/// How many answers wait for a client before it counts as slow.
const WAITING: usize = 16;
/// How often an idle stream says that it lives.
const BREATH: Duration = Duration::from_secs(12);
/// How long a client that was too slow has to read why.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A subscription.
pub(super) fn stream(
    door: Arc<Door>,
    ready: Ready,
    viewer: Option<Viewer>,
    place: Option<Place>,
) -> Response {
    let (answers, received) = mpsc::channel(WAITING);
    let (last, end) = oneshot::channel();
    tokio::spawn(async move {
        let why = tell(&door, ready, viewer, &answers).await;
        let slow = matches!(why, End::TooSlow);
        // What was already sent comes first; a client that went away misses it.
        last.send(ending(why)).ok();
        drop(answers);
        if let Some(place) = place.filter(|_| slow) {
            tokio::time::sleep(LAST_WORDS).await;
            place.cut_off();
        }
    });
    let answers = stream::unfold(received, |mut received| async move {
        received.recv().await.map(|answer| (answer, received))
    });
    let end = stream::once(end).filter_map(|end| async move { end.ok() });
    response(Body::from_stream(answers.chain(end).map(Ok::<_, Infallible>)))
}

/// The one answer of a query or a mutation.
pub(super) fn single(answer: &[u8]) -> Response {
    let next = event("next", answer);
    response(Body::from([next.as_ref(), COMPLETE].concat()))
}

const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let content_type = HeaderValue::from_static(Media::EventStream.content_type());
    headers.insert(header::CONTENT_TYPE, content_type);
    // Proxies that collect answers would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Why a stream ended.
enum End {
    Complete,
    TooSlow,
    Stopping,
    SignedOut,
}

async fn tell(
    door: &Arc<Door>,
    ready: Ready,
    viewer: Option<Viewer>,
    answers: &mpsc::Sender<Bytes>,
) -> End {
    let id = ready.id;
    let patience = door.settings.slow_client();
    let mut responses = std::pin::pin!(door.api.execute_stream(ready.request));
    let mut stopping = std::pin::pin!(door.app.tables.live.stopped());
    let mut token_ends = std::pin::pin!(until_expired(viewer));
    let _counted = Counted::new("sse");
    loop {
        let (answer, over) = tokio::select! {
            next = responses.next() => match next {
                None => return End::Complete,
                Some(response) => {
                    // Nothing but errors: it never began, or cannot go on.
                    let over = response.is_err() && response.data == async_graphql::Value::Null;
                    (event("next", &written(&door.finished(response, id))), over)
                }
            },
            () = tokio::time::sleep(BREATH) => (Bytes::from_static(b":\n\n"), false),
            () = &mut stopping => return End::Stopping,
            () = &mut token_ends => return End::SignedOut,
        };
        let revoked = &door.app.accounts.tokens.revoked;
        if viewer.is_some_and(|viewer| revoked.contains(viewer.session)) {
            return End::SignedOut;
        }
        match answers.send_timeout(answer, patience).await {
            Ok(()) if over => return End::Complete,
            Ok(()) => {}
            Err(_) => return End::TooSlow,
        }
    }
}

fn ending(why: End) -> Bytes {
    let error = |code: &str, message: &str| {
        let error = serde_json::json!({ "message": message, "extensions": { "code": code } });
        let next = event("next", serde_json::json!({ "errors": [error] }).to_string().as_bytes());
        Bytes::from([next.as_ref(), COMPLETE].concat())
    };
    match why {
        End::Complete => Bytes::from_static(COMPLETE),
        End::SignedOut => error("UNAUTHENTICATED", "your session has ended; sign in again"),
        End::TooSlow => error("TOO_SLOW", TOO_SLOW),
        End::Stopping => error("STOPPING", STOPPING),
    }
}

fn event(name: &str, json: &[u8]) -> Bytes {
    let mut text = format!("event: {name}\ndata: ").into_bytes();
    text.extend_from_slice(json);
    text.extend_from_slice(b"\n\n");
    Bytes::from(text)
}
