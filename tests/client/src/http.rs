//! HTTP/1.1, as far as our server uses it: responses with a content length, or chunked.

use std::net::SocketAddr;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{ClientError, SILENCE, trouble};

/// A connection to a server.
#[derive(Debug)]
pub struct Http {
    stream: TcpStream,
    address: SocketAddr,
    token: Option<String>,
    /// Bytes that were read but not consumed yet.
    read: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The raw head.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Result<Value, ClientError> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Http {
    /// Opens a connection.
    pub async fn connect(address: SocketAddr) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, address, token: None, read: Vec::new() })
    }

    /// Adds a token to the requests.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// Sends a request and returns `data`; errors of the request become `Err`.
    pub async fn ask(&mut self, query: &str, variables: Value) -> Result<Value, ClientError> {
        let mut answer = self.post(query, variables).await?.json()?;
        match answer.get("errors") {
            Some(errors) => Err(trouble(&errors.to_string())),
            None => Ok(answer["data"].take()),
        }
    }

    /// Sends a request and deserializes `data`.
    pub async fn ask_as<T: DeserializeOwned>(
        &mut self,
        query: &str,
        variables: Value,
    ) -> Result<T, ClientError> {
        #[derive(Deserialize)]
        struct Data<T> {
            data: Option<T>,
        }
        let answer = self.post(query, variables).await?;
        let data: Data<T> = serde_json::from_slice(&answer.body)?;
        data.data.ok_or_else(|| trouble(&String::from_utf8_lossy(&answer.body)))
    }

    /// Sends a request and returns the whole response.
    pub async fn post(&mut self, query: &str, variables: Value) -> Result<Answer, ClientError> {
        let body = serde_json::to_vec(&json!({ "query": query, "variables": variables }))?;
        self.post_body(&body).await
    }

    /// Sends a serialized body.
    pub async fn post_body(&mut self, body: &[u8]) -> Result<Answer, ClientError> {
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let mut request = format!(
            "POST /graphql HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncroupier-client: croupier-tests/1\r\n\
             accept: application/graphql-response+json\r\n{}content-length: {}\r\n\r\n",
            self.address,
            token.unwrap_or_default(),
            body.len(),
        )
        .into_bytes();
        request.extend_from_slice(body);
        self.exchange(&request).await
    }

    /// Sends a GET request.
    pub async fn get(&mut self, path: &str) -> Result<Answer, ClientError> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        self.exchange(request.as_bytes()).await
    }

    /// Sends raw bytes and reads a response.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer, ClientError> {
        self.stream.write_all(request).await?;
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8(head)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| trouble("this is not HTTP"))?;
        let mut answer = Answer { status, head, body: Vec::new() };
        if let Some(length) = answer.header("content-length") {
            let length = length.parse()?;
            answer.body = self.exactly(length).await?;
        } else if answer.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk().await? {
                answer.body.extend(chunk);
            }
        }
        Ok(answer)
    }

    /// The next chunk of a chunked response; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        let line = String::from_utf8(self.until(b"\r\n").await?)?;
        let length = usize::from_str_radix(line.trim(), 16)?;
        let mut chunk = self.exactly(length + 2).await?;
        chunk.truncate(length);
        Ok((length > 0).then_some(chunk))
    }

    /// Starts a chunked response and returns its head.
    pub async fn begin_stream(
        &mut self,
        query: &str,
        variables: Value,
    ) -> Result<String, ClientError> {
        let body = serde_json::to_vec(&json!({ "query": query, "variables": variables }))?;
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncroupier-client: croupier-tests/1\r\n\
             accept: text/event-stream\r\n{}content-length: {}\r\n\r\n",
            self.address,
            token.unwrap_or_default(),
            body.len(),
        );
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.write_all(&body).await?;
        Ok(String::from_utf8(self.until(b"\r\n\r\n").await?)?)
    }

    /// Reads up to and including these bytes.
    async fn until(&mut self, end: &[u8]) -> Result<Vec<u8>, ClientError> {
        let mut from = 0;
        loop {
            let found = self.read[from..].windows(end.len()).position(|window| window == end);
            if let Some(at) = found {
                let rest = self.read.split_off(from + at + end.len());
                return Ok(std::mem::replace(&mut self.read, rest));
            }
            from = self.read.len().saturating_sub(end.len());
            self.more().await?;
        }
    }

    async fn exactly(&mut self, length: usize) -> Result<Vec<u8>, ClientError> {
        while self.read.len() < length {
            self.more().await?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    async fn more(&mut self) -> Result<(), ClientError> {
        let read = tokio::time::timeout(SILENCE, self.stream.read_buf(&mut self.read)).await;
        if read.map_err(|_| trouble("the server does not respond"))?? == 0 {
            return Err(trouble("the server closed the connection"));
        }
        Ok(())
    }
}
