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
    door::{Door, Ready, written},
    negotiate::Media,
};

/// How many answers wait for a client before it counts as slow.
const WAITING: usize = 16;
/// How often an idle stream says that it lives.
const BREATH: Duration = Duration::from_secs(12);

pub(super) fn stream(door: Arc<Door>, ready: Ready) -> Response {
    let (answers, received) = mpsc::channel(WAITING);
    let (last, end) = oneshot::channel();
    tokio::spawn(async move {
        let why = tell(&door, ready, &answers).await;
        // What was already sent comes first; a client that went away misses it.
        last.send(ending(why)).ok();
    });
    let answers = stream::unfold(received, |mut received| async move {
        received.recv().await.map(|answer| (answer, received))
    });
    let end = stream::once(end).filter_map(|end| async move { end.ok() });
    let body = Body::from_stream(answers.chain(end).map(Ok::<_, Infallible>));
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
}

async fn tell(door: &Arc<Door>, ready: Ready, answers: &mpsc::Sender<Bytes>) -> End {
    let id = ready.id;
    let patience = door.settings.slow_client();
    let mut responses = std::pin::pin!(door.api.execute_stream(ready.request));
    let mut stopping = std::pin::pin!(door.app.tables.live.stopped());
    let _counted = super::socket::Counted::new("sse");
    loop {
        let next = tokio::select! {
            next = responses.next() => next,
            () = &mut stopping => return End::Stopping,
            () = tokio::time::sleep(BREATH) => {
                match answers.send_timeout(Bytes::from_static(b":\n\n"), patience).await {
                    Ok(()) => continue,
                    Err(_) => return End::TooSlow,
                }
            }
        };
        let Some(response) = next else { return End::Complete };
        let answer = event("next", &written(&door.finished(response, id)));
        if answers.send_timeout(answer, patience).await.is_err() {
            return End::TooSlow;
        }
    }
}

fn ending(why: End) -> Bytes {
    let error = |code: &str, message: &str| {
        let error = serde_json::json!({ "message": message, "extensions": { "code": code } });
        let next = event("next", serde_json::json!({ "errors": [error] }).to_string().as_bytes());
        Bytes::from([next.as_ref(), b"event: complete\ndata:\n\n"].concat())
    };
    match why {
        End::Complete => Bytes::from_static(b"event: complete\ndata:\n\n"),
        End::TooSlow => error("TOO_SLOW", super::socket::TOO_SLOW),
        End::Stopping => error("STOPPING", super::socket::STOPPING),
    }
}

fn event(name: &str, json: &[u8]) -> Bytes {
    let mut text = format!("event: {name}\ndata: ").into_bytes();
    text.extend_from_slice(json);
    text.extend_from_slice(b"\n\n");
    Bytes::from(text)
}
