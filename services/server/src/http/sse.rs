//! Server-sent events: `next` for each response, `complete` at the end.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::{StreamExt, stream};
use tokio::sync::{mpsc, oneshot};

use super::{
    Connection,
    gateway::{Client, Gateway, PreparedRequest, to_json},
    negotiate::Media,
    socket::{STOPPING, SubscriberGauge, TOO_SLOW, until_expired},
};

/// How many responses are queued for a client before it counts as slow.
const QUEUE: usize = 16;
/// Interval of keep-alive comments.
const KEEP_ALIVE: Duration = Duration::from_secs(12);
/// How long a slow client may take to read the reason before the connection is closed.
const CLOSE_DELAY: Duration = Duration::from_secs(5);

pub(super) fn stream(
    gateway: Arc<Gateway>,
    prepared: PreparedRequest,
    client: Client,
    connection: Option<Connection>,
) -> Response {
    let (answers, received) = mpsc::channel(QUEUE);
    let (last, end) = oneshot::channel();
    tokio::spawn(async move {
        let end_reason = run(&gateway, prepared, &client, &answers).await;
        let slow = matches!(end_reason, End::TooSlow);
        // Sent after the queued responses; ignored if the client has disconnected.
        last.send(last_event(end_reason)).ok();
        drop(answers);
        if let Some(connection) = connection.filter(|_| slow) {
            tokio::time::sleep(CLOSE_DELAY).await;
            connection.abort();
        }
    });
    let answers = stream::unfold(received, |mut received| async move {
        received.recv().await.map(|answer| (answer, received))
    });
    let end = stream::once(end).filter_map(|end| async move { end.ok() });
    response(Body::from_stream(answers.chain(end).map(Ok::<_, Infallible>)))
}

/// The response of a query or a mutation.
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
    // Tells nginx not to buffer events.
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

async fn run(
    gateway: &Arc<Gateway>,
    prepared: PreparedRequest,
    client: &Client,
    answers: &mpsc::Sender<Bytes>,
) -> End {
    let (viewer, cost) = (client.viewer, prepared.cost);
    let (id, operation) = (prepared.id, prepared.operation.clone());
    let write_timeout = gateway.settings.write_timeout();
    let mut responses = std::pin::pin!(gateway.api.execute_stream(prepared.request));
    let mut stopping = std::pin::pin!(gateway.app.games.live.stopped());
    let mut token_ends = std::pin::pin!(until_expired(viewer));
    let revoked = &gateway.app.accounts.tokens.revoked;
    let mut revoking = revoked.subscribe();
    let _gauge = SubscriberGauge::new("sse");
    loop {
        let (answer, is_last) = tokio::select! {
            next = responses.next() => match next {
                None => return End::Complete,
                Some(response) => {
                    gateway.charge_event(client, cost).await;
                    // Errors and no data end the subscription.
                    let is_last = response.is_err() && response.data == async_graphql::Value::Null;
                    (event("next", &to_json(&gateway.finish(response, id, &operation))), is_last)
                }
            },
            () = tokio::time::sleep(KEEP_ALIVE) => (Bytes::from_static(b":\n\n"), false),
            // Whether it is ours is checked below.
            Ok(()) = revoking.changed() => (Bytes::from_static(b":\n\n"), false),
            () = &mut stopping => return End::Stopping,
            () = &mut token_ends => return End::SignedOut,
        };
        if viewer.is_some_and(|viewer| revoked.contains(viewer.session)) {
            return End::SignedOut;
        }
        match answers.send_timeout(answer, write_timeout).await {
            Ok(()) if is_last => return End::Complete,
            Ok(()) => {}
            Err(_) => return End::TooSlow,
        }
    }
}

fn last_event(end_reason: End) -> Bytes {
    let error = |code: &str, message: &str| {
        let error = serde_json::json!({ "message": message, "extensions": { "code": code } });
        let next = event("next", serde_json::json!({ "errors": [error] }).to_string().as_bytes());
        Bytes::from([next.as_ref(), COMPLETE].concat())
    };
    match end_reason {
        End::Complete => Bytes::from_static(COMPLETE),
        End::SignedOut => error("UNAUTHENTICATED", "the session has ended; sign in again"),
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
