//! GraphQL on a WebSocket: the protocol `graphql-transport-ws`.
//!
//! One task per socket reads messages, runs operations and writes their responses as they are
//! ready. A slow client delays only its own task: events are read from the log, not queued here. If
//! a write takes too long, the socket is closed with a code that tells the client how to resume.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_graphql::parser::types::OperationType;
use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket},
    },
    http::request::Parts,
    response::Response,
};
use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{AbortHandle, Abortable, BoxStream, SelectAll},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::Instrument;

use super::{
    Connection, Peer,
    gateway::{Client, Gateway, GraphqlRequest, HttpError, is_request_error, request_id},
};
use crate::{accounts::Viewer, api::Code, clock};

const PROTOCOL: &str = "graphql-transport-ws";
/// How long a client may take to send `connection_init`.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);
const PING: Duration = Duration::from_secs(25);
/// How long running operations may take after shutdown begins.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a client without a token may stay connected.
const ANONYMOUS_LIFETIME: Duration = Duration::from_mins(10);
const MAX_MISSED_PINGS: u32 = 2;
/// Read buffer per socket, in bytes. Small, because thousands of sockets are mostly idle.
const BUFFER: usize = 4 * 1024;
const MAX_ID_BYTES: usize = 128;

pub(super) const TOO_SLOW: &str =
    "client is too slow; reconnect and resume with gameEvents(afterVersion: last version seen)";
pub(super) const STOPPING: &str =
    "node is shutting down; reconnect and resume with gameEvents(afterVersion: last version seen)";

/// Close code and reason: codes of the protocol, and a few of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Close(u16, String);

impl Close {
    fn new(code: u16, why: impl Into<String>) -> Self {
        // A close frame has room for 123 bytes.
        let mut why = why.into();
        why.truncate(why.floor_char_boundary(123));
        Self(code, why)
    }

    fn bad_request(why: impl Into<String>) -> Self {
        Self::new(4400, why)
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClientMessage {
    ConnectionInit { payload: Option<Value> },
    Ping,
    Pong,
    Subscribe { id: String, payload: GraphqlRequest },
    Complete { id: String },
}

/// Counts a subscriber while it exists.
pub(super) struct SubscriberGauge(&'static str);

impl SubscriberGauge {
    pub(super) fn new(transport: &'static str) -> Self {
        metrics::gauge!("croupier_subscribers", "over" => transport).increment(1.0);
        Self(transport)
    }
}

impl Drop for SubscriberGauge {
    fn drop(&mut self) {
        metrics::gauge!("croupier_subscribers", "over" => self.0).decrement(1.0);
    }
}

pub(super) fn upgrade(gateway: Arc<Gateway>, upgrade: WebSocketUpgrade, parts: &Parts) -> Response {
    let connection = parts.extensions.get::<Connection>().cloned();
    let client = gateway.client(&parts.headers, parts.extensions.get::<Peer>().copied());
    let max_bytes = gateway.settings.max_body_bytes();
    upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(4 * 1024 * 1024)
        .max_message_size(max_bytes)
        .max_frame_size(max_bytes)
        .on_upgrade(async move |socket| {
            run_socket(gateway, socket, client).await;
            drop(connection);
        })
}

async fn run_socket(
    gateway: Arc<Gateway>,
    mut socket: WebSocket,
    client: Result<Client, HttpError>,
) {
    let close = match client {
        Err(error) => Close::new(4403, error.message),
        Ok(_) if socket.protocol().is_none_or(|chosen| chosen != PROTOCOL) => {
            Close::new(4406, format!("the subprotocol must be {PROTOCOL}"))
        }
        Ok(client) => {
            let _gauge = SubscriberGauge::new("websocket");
            let write_timeout = gateway.settings.write_timeout();
            let mut transport = Transport { socket, write_timeout };
            let close = match initialise(&gateway, &mut transport, client).await {
                Ok(client) => SocketSession::new(gateway, client).run(&mut transport).await,
                Err(close) => close,
            };
            socket = transport.socket;
            close
        }
    };
    let frame = CloseFrame { code: close.0, reason: close.1.into() };
    // Gives a slow client time to read the reason; reading on completes the closing handshake.
    let closing = async {
        socket.send(Message::Close(Some(frame))).await.ok();
        while let Some(Ok(_)) = socket.recv().await {}
    };
    tokio::time::timeout(Duration::from_secs(5), closing).await.ok();
}

/// A socket with a write timeout.
struct Transport {
    socket: WebSocket,
    write_timeout: Duration,
}

impl Transport {
    async fn send_json(&mut self, message: &Value) -> Result<(), Close> {
        self.send_message(Message::text(message.to_string())).await
    }

    async fn send_message(&mut self, message: Message) -> Result<(), Close> {
        match tokio::time::timeout(self.write_timeout, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(normal_closure()),
            Err(_) => Err(Close::new(4008, TOO_SLOW)),
        }
    }

    async fn receive(&mut self) -> Result<ClientMessage, Close> {
        loop {
            let text = match self.socket.recv().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    return Err(Close::bad_request("binary messages are not supported"));
                }
                Some(Err(error)) => return Err(Close::bad_request(error.to_string())),
                Some(Ok(Message::Close(_))) | None => return Err(normal_closure()),
            };
            return serde_json::from_str(&text)
                .map_err(|error| Close::bad_request(error.to_string()));
        }
    }
}

fn normal_closure() -> Close {
    Close::new(1000, "closed")
}

/// Waits for `connection_init`. The token is in its payload, or already in the request's header.
async fn initialise(
    gateway: &Gateway,
    transport: &mut Transport,
    mut client: Client,
) -> Result<Client, Close> {
    let message = tokio::time::timeout(INIT_TIMEOUT, transport.receive()).await;
    let message = message.map_err(|_| Close::new(4408, "Connection initialisation timeout"))??;
    let ClientMessage::ConnectionInit { payload } = message else {
        return Err(Close::new(4401, "Unauthorized: send connection_init first"));
    };
    let authorization = payload.as_ref().and_then(|payload| {
        payload.get("authorization").or_else(|| payload.get("Authorization"))?.as_str()
    });
    if let Some(authorization) = authorization {
        let viewer = gateway.viewer(authorization);
        client.viewer = Some(viewer.map_err(|error| Close::new(4403, error.message))?);
    }
    transport.send_json(&json!({ "type": "connection_ack" })).await?;
    Ok(client)
}

/// A message of an operation to the client.
enum Outgoing {
    Next(Arc<str>, String),
    /// Ends the operation.
    Error(Arc<str>, String),
    Complete(Arc<str>),
}

struct RunningOperation {
    stop: AbortHandle,
    is_subscription: bool,
}

/// The operations of a socket.
struct SocketSession {
    gateway: Arc<Gateway>,
    client: Client,
    /// By the client's id.
    running: HashMap<Arc<str>, RunningOperation>,
    answers: SelectAll<BoxStream<'static, Outgoing>>,
}

impl SocketSession {
    fn new(gateway: Arc<Gateway>, client: Client) -> Self {
        Self { gateway, client, running: HashMap::new(), answers: SelectAll::new() }
    }

    async fn run(mut self, transport: &mut Transport) -> Close {
        let gateway = Arc::clone(&self.gateway);
        let mut stopping = std::pin::pin!(gateway.app.games.live.stopped());
        let mut token_ends = std::pin::pin!(until_expired(self.client.viewer));
        let mut revoked = gateway.app.accounts.tokens.revoked.subscribe();
        let mut ping = tokio::time::interval(PING);
        ping.reset();
        let mut missed = 0;
        loop {
            let result = tokio::select! {
                message = transport.receive() => {
                    missed = 0;
                    match message {
                        Ok(message) => self.handle(transport, message).await,
                        Err(close) => Err(close),
                    }
                },
                Some(answer) = self.answers.next() => self.answer(transport, answer).await,
                _ = ping.tick() => {
                    missed += 1;
                    if missed > MAX_MISSED_PINGS {
                        Err(normal_closure())
                    } else {
                        transport.send_json(&json!({ "type": "ping" })).await
                    }
                },
                // Whether it is ours is checked below.
                Ok(()) = revoked.changed() => Ok(()),
                () = &mut token_ends => {
                    Err(Close::new(4401, "the token has expired; reconnect with a new one"))
                },
                () = &mut stopping => {
                    tokio::time::timeout(DRAIN_TIMEOUT, self.finish(transport)).await.ok();
                    Err(Close::new(1001, STOPPING))
                },
            };
            if let Err(close) = result {
                return close;
            }
            // The session may have been revoked elsewhere.
            if self.client.viewer.is_some_and(|viewer| self.is_revoked(&viewer)) {
                return Close::new(4403, "the session was revoked; sign in again");
            }
        }
    }

    fn is_revoked(&self, viewer: &Viewer) -> bool {
        self.gateway.app.accounts.tokens.revoked.contains(viewer.session)
    }

    async fn handle(
        &mut self,
        transport: &mut Transport,
        message: ClientMessage,
    ) -> Result<(), Close> {
        match message {
            ClientMessage::ConnectionInit { .. } => {
                Err(Close::new(4429, "Too many initialisation requests"))
            }
            ClientMessage::Ping => {
                let admitted = self.gateway.admit_again(&self.client);
                admitted.map_err(|error| Close::new(4429, error.message))?;
                transport.send_json(&json!({ "type": "pong" })).await
            }
            ClientMessage::Pong => Ok(()),
            ClientMessage::Complete { id } => {
                self.end(&id);
                Ok(())
            }
            ClientMessage::Subscribe { id, payload } => self.begin(transport, &id, payload).await,
        }
    }

    async fn begin(
        &mut self,
        transport: &mut Transport,
        id: &str,
        input: GraphqlRequest,
    ) -> Result<(), Close> {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return Err(Close::bad_request(format!("an id must have 1 to {MAX_ID_BYTES} bytes")));
        }
        if self.running.contains_key(id) {
            return Err(Close::new(4409, format!("Subscriber for {id} already exists")));
        }
        let max = self.gateway.settings.max_operations;
        if self.running.len() >= max {
            return Err(Close::new(4429, format!("too many operations: the limit is {max}")));
        }
        let request = request_id();
        let admitted = self.gateway.admit_again(&self.client);
        let prepared = admitted.and_then(|()| self.gateway.prepare(input, &self.client, request));
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let errors = error.json(request)["errors"].take();
                return transport
                    .send_json(&json!({ "id": id, "type": "error", "payload": errors }))
                    .await;
            }
        };
        let id: Arc<str> = id.into();
        let (stop, stopped) = AbortHandle::new_pair();
        let is_subscription = prepared.kind == OperationType::Subscription;
        self.running.insert(Arc::clone(&id), RunningOperation { stop, is_subscription });
        let answers =
            answers(Arc::clone(&self.gateway), Arc::clone(&id), self.client.clone(), prepared);
        self.answers.push(Abortable::new(answers, stopped).boxed());
        Ok(())
    }

    /// Stops an operation; returns whether it was running.
    fn end(&mut self, id: &str) -> bool {
        let ended = self.running.remove(id);
        if let Some(operation) = &ended {
            operation.stop.abort();
        }
        ended.is_some()
    }

    /// On shutdown: ends subscriptions, completes queries and mutations.
    async fn finish(&mut self, transport: &mut Transport) -> Result<(), Close> {
        let subscriptions = self.running.iter().filter(|(_, operation)| operation.is_subscription);
        let subscriptions: Vec<Arc<str>> = subscriptions.map(|(id, _)| Arc::clone(id)).collect();
        for id in subscriptions {
            self.end(&id);
        }
        while !self.running.is_empty()
            && let Some(answer) = self.answers.next().await
        {
            self.answer(transport, answer).await?;
        }
        Ok(())
    }

    /// Operations that the client has completed, or that ended with an error, send nothing more.
    async fn answer(&mut self, transport: &mut Transport, answer: Outgoing) -> Result<(), Close> {
        match answer {
            Outgoing::Next(id, message) if self.running.contains_key(&id) => {
                transport.send_message(Message::text(message)).await
            }
            Outgoing::Error(id, message) if self.end(&id) => {
                transport.send_message(Message::text(message)).await
            }
            Outgoing::Complete(id) if self.end(&id) => {
                transport.send_json(&json!({ "id": &*id, "type": "complete" })).await
            }
            Outgoing::Next(..) | Outgoing::Error(..) | Outgoing::Complete(..) => Ok(()),
        }
    }
}

/// Runs an operation: the stream of its messages, up to `complete`.
fn answers(
    gateway: Arc<Gateway>,
    id: Arc<str>,
    client: Client,
    prepared: super::gateway::PreparedRequest,
) -> impl futures_util::Stream<Item = Outgoing> + Send + 'static {
    let max = gateway.settings.max_response_bytes();
    let (request, kind, operation) = (prepared.id, prepared.kind, prepared.operation.clone());
    let span = tracing::info_span!("request", id = %request.0);
    let responses = if kind == OperationType::Subscription {
        let api = gateway.api.clone();
        let (finisher, cost) = (Arc::clone(&gateway), prepared.cost);
        let responses = api.execute_stream(prepared.request);
        let paid = responses.then(move |response| {
            let (gateway, client) = (Arc::clone(&gateway), client.clone());
            async move {
                gateway.charge_event(&client, cost).await;
                response
            }
        });
        paid.map(move |response| finisher.finish(response, request, &operation)).boxed()
    } else {
        let executed: BoxFuture<'static, _> =
            async move { gateway.execute(prepared).await }.instrument(span).boxed();
        futures_util::stream::once(executed).boxed()
    };
    let operation_id = Arc::clone(&id);
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let is_subscription = kind == OperationType::Subscription;
    let answers = responses.map(move |response| {
        let id = Arc::clone(&operation_id);
        // A subscription response with errors and no data ends the subscription.
        let failed = is_subscription && response.data == async_graphql::Value::Null;
        if is_request_error(&response) || (failed && response.is_err()) {
            let message = message(&id, "error", &response.errors);
            Outgoing::Error(id, message)
        } else {
            let text = message(&id, "next", &response);
            if text.len() > max {
                let error = json!([{ "message": format!("the response is larger than {max} bytes; request less"),
                    "extensions": { "code": Code::TooComplex.name(), "requestId": request.0 } }]);
                let message = message(&id, "error", &error);
                return Outgoing::Error(id, message);
            }
            Outgoing::Next(id, text)
        }
    });
    answers.chain(futures_util::stream::once(std::future::ready(Outgoing::Complete(id))))
}

/// Serializes a message with its payload.
fn message(id: &str, kind: &str, payload: &impl serde::Serialize) -> String {
    #[derive(serde::Serialize)]
    struct Envelope<'a, P> {
        id: &'a str,
        r#type: &'a str,
        payload: &'a P,
    }
    serde_json::to_string(&Envelope { id, r#type: kind, payload }).unwrap_or_default()
}

/// Waits until the token expires; without a token, for a fixed time.
pub(super) async fn until_expired(viewer: Option<Viewer>) {
    match viewer {
        None => tokio::time::sleep(ANONYMOUS_LIFETIME).await,
        Some(viewer) => {
            let left = viewer.until.0.saturating_sub(clock::now().0);
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
    }
}
