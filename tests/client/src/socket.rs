//! GraphQL over a WebSocket.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use crate::{ClientError, SILENCE, trouble};

/// A socket that speaks `graphql-transport-ws`.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<TcpStream>,
}

/// A message from the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A message of the protocol.
    Message(Value),
    /// The close code and reason.
    Closed(u16, String),
}

impl Socket {
    /// Connects without `connection_init`.
    pub async fn open(address: SocketAddr, protocol: Option<&str>) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut request = format!("ws://{address}/graphql").into_client_request()?;
        if let Some(protocol) = protocol {
            request.headers_mut().insert("sec-websocket-protocol", protocol.parse()?);
        }
        let (stream, _) = client_async(request, stream).await?;
        Ok(Self { stream })
    }

    /// Connects and authenticates.
    pub async fn connect(address: SocketAddr, token: &str) -> Result<Self, ClientError> {
        let mut socket = Self::open(address, Some("graphql-transport-ws")).await?;
        let payload = json!({ "authorization": format!("Bearer {token}") });
        socket.say(&json!({ "type": "connection_init", "payload": payload })).await?;
        match socket.hear().await? {
            Heard::Message(message) if message["type"] == "connection_ack" => Ok(socket),
            other @ (Heard::Message(_) | Heard::Closed(..)) => Err(trouble(&format!("{other:?}"))),
        }
    }

    /// Starts an operation.
    pub async fn subscribe(
        &mut self,
        id: &str,
        query: &str,
        variables: Value,
    ) -> Result<(), ClientError> {
        let payload = json!({ "query": query, "variables": variables });
        self.say(&json!({ "id": id, "type": "subscribe", "payload": payload })).await
    }

    /// Runs an operation and deserializes `data`.
    pub async fn ask_as<T: DeserializeOwned>(
        &mut self,
        query: &str,
        variables: Value,
    ) -> Result<T, ClientError> {
        Ok(serde_json::from_value(self.ask(query, variables).await?)?)
    }

    /// Runs an operation with a single result and returns `data`.
    pub async fn ask(&mut self, query: &str, variables: Value) -> Result<Value, ClientError> {
        self.subscribe("ask", query, variables).await?;
        let mut answer = self.next().await?;
        let end = self.hear().await?;
        if !matches!(&end, Heard::Message(message) if message["type"] == "complete") {
            return Err(trouble(&format!("{end:?}")));
        }
        match answer.get("errors") {
            Some(errors) => Err(trouble(&errors.to_string())),
            None => Ok(answer["data"].take()),
        }
    }

    /// The payload of the next result.
    pub async fn next(&mut self) -> Result<Value, ClientError> {
        match self.hear().await? {
            Heard::Message(mut message) if message["type"] == "next" => {
                Ok(message["payload"].take())
            }
            other @ (Heard::Message(_) | Heard::Closed(..)) => Err(trouble(&format!("{other:?}"))),
        }
    }

    /// The next message of the server. A minute of silence is an error.
    pub async fn hear(&mut self) -> Result<Heard, ClientError> {
        let heard = tokio::time::timeout(SILENCE, self.listen()).await;
        heard.map_err(|_| trouble("the server does not respond"))?
    }

    /// The next message of the server; answers its pings.
    async fn listen(&mut self) -> Result<Heard, ClientError> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(&text)?;
                    if message["type"] == "ping" {
                        self.say(&json!({ "type": "pong" })).await?;
                        continue;
                    }
                    return Ok(Heard::Message(message));
                }
                Some(Ok(Message::Close(frame))) => {
                    let frame = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                    let (code, reason) = frame.unwrap_or_default();
                    return Ok(Heard::Closed(code, reason));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Err(trouble("the server closed the connection")),
            }
        }
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &Value) -> Result<(), ClientError> {
        self.send(Message::text(message.to_string())).await
    }

    /// Sends any frame.
    pub async fn send(&mut self, message: Message) -> Result<(), ClientError> {
        Ok(self.stream.send(message).await?)
    }

    /// The underlying connection, for clients that misbehave.
    pub fn tcp(&self) -> &TcpStream {
        self.stream.get_ref()
    }
}
