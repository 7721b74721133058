//! GraphQL on a WebSocket: the protocol `graphql-transport-ws`.
//!
//! One task a socket. It reads what the client sends, runs its operations, and writes answers in the order they come. A
//! client that does not read holds up its own task and nobody else: events wait in the log, not here. Who does not read for
//! long is cut off, with a code that says how to go on.

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
    Peer, Place,
    door::{Asked, Client, Door, Refused, is_request_error, request_id},
};
use crate::{accounts::Viewer, clock};

const PROTOCOL: &str = "graphql-transport-ws";
/// How long a client may take to introduce itself.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// How often an idle client is asked whether it is there.
const PING: Duration = Duration::from_secs(25);
/// How long operations may take when the node stops.
const LAST_OPERATIONS: Duration = Duration::from_secs(5);
/// How long a client without a token may stay.
const STRANGER: Duration = Duration::from_mins(10);
/// How many pings may go unanswered before a client counts as gone.
const MOST_SILENT: u32 = 2;
/// What a socket buffers, in bytes: thousands of them wait most of the time.
const BUFFER: usize = 4 * 1024;
/// The longest id of an operation.
const LONGEST_ID: usize = 128;

pub(super) const TOO_SLOW: &str =
    "you read too slowly; connect again and go on with gameEvents(afterVersion: the last you saw)";
pub(super) const STOPPING: &str =
    "this node stops; connect again and go on with gameEvents(afterVersion: the last you saw)";

/// Why a socket is closed, in the codes of the protocol and a few of ours.
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

/// What a client sends.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    ConnectionInit { payload: Option<Value> },
    Ping,
    Pong,
    Subscribe { id: String, payload: Asked },
    Complete { id: String },
}

/// Counts a listener as long as it listens.
pub(super) struct Counted(&'static str);

impl Counted {
    pub(super) fn new(how: &'static str) -> Self {
        metrics::gauge!("croupier_subscribers", "over" => how).increment(1.0);
        Self(how)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("croupier_subscribers", "over" => self.0).decrement(1.0);
    }
}

pub(super) fn upgrade(door: Arc<Door>, upgrade: WebSocketUpgrade, parts: &Parts) -> Response {
    let place = parts.extensions.get::<Place>().cloned();
    let client = door.client(&parts.headers, parts.extensions.get::<Peer>().copied());
    let most = door.settings.most_body();
    upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(4 * 1024 * 1024)
        .max_message_size(most)
        .max_frame_size(most)
        .on_upgrade(async move |socket| {
            talk(door, socket, client).await;
            drop(place);
        })
}

async fn talk(door: Arc<Door>, mut socket: WebSocket, client: Result<Client, Refused>) {
    let close = match client {
        Err(refused) => Close::new(4403, refused.message),
        Ok(_) if socket.protocol().is_none_or(|chosen| chosen != PROTOCOL) => {
            Close::new(4406, format!("this server speaks {PROTOCOL}"))
        }
        Ok(client) => {
            let _counted = Counted::new("websocket");
            let patience = door.settings.slow_client();
            let mut line = Line { socket, patience };
            let close = match introduce(&door, &mut line, client).await {
                Ok(client) => Conversation::new(door, client).run(&mut line).await,
                Err(close) => close,
            };
            socket = line.socket;
            close
        }
    };
    let frame = CloseFrame { code: close.0, reason: close.1.into() };
    // A client that reads again within this time learns why.
    let goodbye = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    tokio::time::timeout(Duration::from_secs(5), goodbye).await.ok();
}

/// A socket that gives up on who does not read.
struct Line {
    socket: WebSocket,
    patience: Duration,
}

impl Line {
    async fn say(&mut self, message: &Value) -> Result<(), Close> {
        self.write(Message::text(message.to_string())).await
    }

    async fn write(&mut self, message: Message) -> Result<(), Close> {
        match tokio::time::timeout(self.patience, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(Close::new(4008, TOO_SLOW)),
        }
    }

    /// What the client says next.
    async fn hear(&mut self) -> Result<Said, Close> {
        loop {
            let text = match self.socket.recv().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => return Err(Close::bad_request("send text")),
                Some(Err(error)) => return Err(Close::bad_request(error.to_string())),
                Some(Ok(Message::Close(_))) | None => return Err(gone()),
            };
            return serde_json::from_str(&text)
                .map_err(|error| Close::bad_request(error.to_string()));
        }
    }
}

fn gone() -> Close {
    Close::new(1000, "goodbye")
}

/// The client says who it is, in `authorization` of its parameters unless it did so in the header.
async fn introduce(door: &Door, line: &mut Line, mut client: Client) -> Result<Client, Close> {
    let said = tokio::time::timeout(INTRODUCTION, line.hear()).await;
    let said = said.map_err(|_| Close::new(4408, "Connection initialisation timeout"))??;
    let Said::ConnectionInit { payload } = said else {
        return Err(Close::new(4401, "Unauthorized: send connection_init first"));
    };
    let authorization = payload.as_ref().and_then(|payload| {
        payload.get("authorization").or_else(|| payload.get("Authorization"))?.as_str()
    });
    if let Some(authorization) = authorization {
        let viewer = door.viewer(authorization);
        client.viewer = Some(viewer.map_err(|refused| Close::new(4403, refused.message))?);
    }
    line.say(&json!({ "type": "connection_ack" })).await?;
    Ok(client)
}

/// An answer to an operation.
enum Answer {
    /// One of several.
    Next(Arc<str>, String),
    /// The last one: it could not be executed.
    Error(Arc<str>, String),
    /// The end.
    Complete(Arc<str>),
}

/// An operation, and how to stop it.
struct UnderWay {
    stop: AbortHandle,
    /// Whether it goes on until somebody ends it.
    listens: bool,
}

/// A socket's operations.
struct Conversation {
    door: Arc<Door>,
    client: Client,
    /// What is under way, by the client's id.
    under_way: HashMap<Arc<str>, UnderWay>,
    answers: SelectAll<BoxStream<'static, Answer>>,
}

impl Conversation {
    fn new(door: Arc<Door>, client: Client) -> Self {
        Self { door, client, under_way: HashMap::new(), answers: SelectAll::new() }
    }

    async fn run(mut self, line: &mut Line) -> Close {
        let door = Arc::clone(&self.door);
        let mut stopping = std::pin::pin!(door.app.tables.live.stopped());
        let mut token_ends = std::pin::pin!(until_expired(self.client.viewer));
        let mut ping = tokio::time::interval(PING);
        ping.reset();
        let mut silent = 0;
        loop {
            let done = tokio::select! {
                said = line.hear() => {
                    silent = 0;
                    match said {
                        Ok(said) => self.heard(line, said).await,
                        Err(close) => Err(close),
                    }
                },
                Some(answer) = self.answers.next() => self.answer(line, answer).await,
                _ = ping.tick() => {
                    silent += 1;
                    if silent > MOST_SILENT { Err(gone()) } else { line.say(&json!({ "type": "ping" })).await }
                },
                () = &mut token_ends => Err(Close::new(4401, "your token has expired; connect again with a new one")),
                () = &mut stopping => {
                    tokio::time::timeout(LAST_OPERATIONS, self.finish(line)).await.ok();
                    Err(Close::new(1001, STOPPING))
                },
            };
            if let Err(close) = done {
                return close;
            }
            // Who was signed out elsewhere listens no more.
            if self.client.viewer.is_some_and(|viewer| self.is_revoked(&viewer)) {
                return Close::new(4403, "this session was ended; sign in again");
            }
        }
    }

    fn is_revoked(&self, viewer: &Viewer) -> bool {
        self.door.app.accounts.tokens.revoked.contains(viewer.session)
    }

    async fn heard(&mut self, line: &mut Line, said: Said) -> Result<(), Close> {
        match said {
            Said::ConnectionInit { .. } => {
                Err(Close::new(4429, "Too many initialisation requests"))
            }
            Said::Ping => line.say(&json!({ "type": "pong" })).await,
            Said::Pong => Ok(()),
            Said::Complete { id } => {
                self.end(&id);
                Ok(())
            }
            Said::Subscribe { id, payload } => self.begin(line, &id, payload).await,
        }
    }

    async fn begin(&mut self, line: &mut Line, id: &str, asked: Asked) -> Result<(), Close> {
        if id.is_empty() || id.len() > LONGEST_ID {
            return Err(Close::bad_request(format!("an id has 1 to {LONGEST_ID} bytes")));
        }
        if self.under_way.contains_key(id) {
            return Err(Close::new(4409, format!("Subscriber for {id} already exists")));
        }
        let most = self.door.settings.max_operations;
        if self.under_way.len() >= most {
            return Err(Close::new(4429, format!("at most {most} operations run on one socket")));
        }
        let request = request_id();
        let ready = self.door.admit_again(&self.client);
        let ready = ready.and_then(|()| self.door.prepare(asked, &self.client, request));
        let ready = match ready {
            Ok(ready) => ready,
            Err(refused) => {
                let errors = refused.json(request)["errors"].take();
                return line.say(&json!({ "id": id, "type": "error", "payload": errors })).await;
            }
        };
        let id: Arc<str> = id.into();
        let (stop, stopped) = AbortHandle::new_pair();
        let listens = ready.kind == OperationType::Subscription;
        self.under_way.insert(Arc::clone(&id), UnderWay { stop, listens });
        let answers = answers(Arc::clone(&self.door), Arc::clone(&id), ready);
        self.answers.push(Abortable::new(answers, stopped).boxed());
        Ok(())
    }

    /// Ends an operation; whether it was under way.
    fn end(&mut self, id: &str) -> bool {
        let ended = self.under_way.remove(id);
        if let Some(operation) = &ended {
            operation.stop.abort();
        }
        ended.is_some()
    }

    /// The node stops: what listens is ended, what does something is done and answered.
    async fn finish(&mut self, line: &mut Line) -> Result<(), Close> {
        let listening = self.under_way.iter().filter(|(_, operation)| operation.listens);
        let listening: Vec<Arc<str>> = listening.map(|(id, _)| Arc::clone(id)).collect();
        for id in listening {
            self.end(&id);
        }
        while !self.under_way.is_empty()
            && let Some(answer) = self.answers.next().await
        {
            self.answer(line, answer).await?;
        }
        Ok(())
    }

    /// What the client has completed, or what ended with an error, is not answered any more.
    async fn answer(&mut self, line: &mut Line, answer: Answer) -> Result<(), Close> {
        match answer {
            Answer::Next(id, message) if self.under_way.contains_key(&id) => {
                line.write(Message::text(message)).await
            }
            Answer::Error(id, message) if self.end(&id) => line.write(Message::text(message)).await,
            Answer::Complete(id) if self.end(&id) => {
                line.say(&json!({ "id": &*id, "type": "complete" })).await
            }
            Answer::Next(..) | Answer::Error(..) | Answer::Complete(..) => Ok(()),
        }
    }
}

/// The answers to an operation, and its end.
fn answers(
    door: Arc<Door>,
    id: Arc<str>,
    ready: super::door::Ready,
) -> impl futures_util::Stream<Item = Answer> + Send + 'static {
    let (request, kind) = (ready.id, ready.kind);
    let span = tracing::info_span!("request", id = %request.0);
    let responses = if kind == OperationType::Subscription {
        let api = door.api.clone();
        let finisher = Arc::clone(&door);
        let responses = api.execute_stream(ready.request);
        responses.map(move |response| finisher.finished(response, request)).boxed()
    } else {
        let executed: BoxFuture<'static, _> =
            async move { door.execute(ready).await }.instrument(span).boxed();
        futures_util::stream::once(executed).boxed()
    };
    let told = Arc::clone(&id);
    let listens = kind == OperationType::Subscription;
    let answers = responses.map(move |response| {
        let id = Arc::clone(&told);
        // A subscription that has nothing to say but errors never began, or cannot go on.
        let broken = listens && response.data == async_graphql::Value::Null;
        if is_request_error(&response) || (broken && response.is_err()) {
            let message = message(&id, "error", &response.errors);
            Answer::Error(id, message)
        } else {
            let message = message(&id, "next", &response);
            Answer::Next(id, message)
        }
    });
    answers.chain(futures_util::stream::once(std::future::ready(Answer::Complete(id))))
}

/// A message with its payload, written in one go.
fn message(id: &str, kind: &str, payload: &impl serde::Serialize) -> String {
    #[derive(serde::Serialize)]
    struct Written<'a, P> {
        id: &'a str,
        r#type: &'a str,
        payload: &'a P,
    }
    serde_json::to_string(&Written { id, r#type: kind, payload }).unwrap_or_default()
}

/// Waits until a token ends; who has none may look around for a while.
pub(super) async fn until_expired(viewer: Option<Viewer>) {
    match viewer {
        None => tokio::time::sleep(STRANGER).await,
        Some(viewer) => {
            let left = viewer.until.0.saturating_sub(clock::now().0);
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
    }
}
