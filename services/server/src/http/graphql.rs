//! GraphQL over HTTP, as its specification says.

use std::sync::Arc;

use async_graphql::parser::types::OperationType;
use axum::{
    body::{Body, to_bytes},
    extract::{FromRequestParts, Query, State, WebSocketUpgrade},
    http::{HeaderName, HeaderValue, Method, Request, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use tracing::Instrument;

use super::{
    Peer, Place,
    door::{Asked, Client, Door, Ready, Refused, is_request_error, request_id, written},
    negotiate::{Media, is_json},
    socket, sse,
};
use crate::api::{Code, RequestId};

/// Where the id of a request is told.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn handle(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    let id = request_id();
    let span = tracing::info_span!("request", id = %id.0);
    let answered = async {
        let response = answer(door, request, id).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    };
    let mut response = answered.instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id.0.to_string()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn answer(door: Arc<Door>, request: Request<Body>, id: RequestId) -> Response {
    let (mut parts, body) = request.into_parts();
    if parts.headers.contains_key(header::UPGRADE) {
        return match WebSocketUpgrade::from_request_parts(&mut parts, &door).await {
            Ok(upgrade) => socket::upgrade(door, upgrade, &parts),
            Err(refused) => refused.into_response(),
        };
    }
    let Some(media) = Media::choose(&parts.headers) else {
        let takes = "application/graphql-response+json, application/json or text/event-stream";
        let message = format!("answers are written as {takes}");
        return refusal(
            &Refused::new(StatusCode::NOT_ACCEPTABLE, Code::BadInput, message),
            Media::GraphqlResponse,
            id,
        );
    };
    match ready(&door, &parts, body, media, id).await {
        Ok((ready, client)) if ready.kind == OperationType::Subscription => {
            sse::stream(door, ready, client.viewer, parts.extensions.get::<Place>().cloned())
        }
        Ok((ready, _)) => {
            let response = door.execute(ready).await;
            if media == Media::EventStream {
                return sse::single(&written(&response));
            }
            let tells = media == Media::GraphqlResponse && is_request_error(&response);
            let status = if tells { StatusCode::BAD_REQUEST } else { StatusCode::OK };
            reply(status, media, written(&response))
        }
        Err(refused) => refusal(&refused, media, id),
    }
}

async fn ready(
    door: &Door,
    parts: &Parts,
    body: Body,
    media: Media,
    id: RequestId,
) -> Result<(Ready, Client), Refused> {
    let client = door.client(&parts.headers, parts.extensions.get::<Peer>().copied())?;
    door.admit(&client)?;
    let asked = match parts.method {
        Method::POST => from_body(door, parts, body).await?,
        Method::GET => from_address(parts)?,
        _ => {
            let message = "GraphQL takes POST, and GET for queries";
            return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadInput, message));
        }
    };
    let ready = door.prepare(asked, &client, id)?;
    match ready.kind {
        OperationType::Mutation if parts.method == Method::GET => {
            let message = "a mutation is sent with POST";
            Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadInput, message))
        }
        OperationType::Subscription if media != Media::EventStream => {
            let message = "a subscription needs a WebSocket (graphql-transport-ws), or accept: text/event-stream";
            let refused = Refused::new(StatusCode::BAD_REQUEST, Code::BadInput, message);
            Err(Refused { well_formed: true, ..refused })
        }
        OperationType::Query | OperationType::Mutation | OperationType::Subscription => {
            Ok((ready, client))
        }
    }
}

async fn from_body(door: &Door, parts: &Parts, body: Body) -> Result<Asked, Refused> {
    if !is_json(&parts.headers) {
        let message = "send content-type: application/json, in UTF-8";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::BadInput, message));
    }
    let most = door.settings.most_body();
    let read = tokio::time::timeout(door.settings.request_time(), to_bytes(body, most)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("a request has at most {most} bytes");
            return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, Code::BadInput, message));
        }
        Err(_) => {
            let message = "the request came too slowly";
            return Err(Refused::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message));
        }
    };
    serde_json::from_slice(&bytes).map_err(|error| malformed(&error.to_string()))
}

/// The parameters of a GET request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InAddress {
    query: String,
    operation_name: Option<String>,
    variables: Option<String>,
    extensions: Option<String>,
}

fn from_address(parts: &Parts) -> Result<Asked, Refused> {
    let Query(given) = Query::<InAddress>::try_from_uri(&parts.uri)
        .map_err(|error| malformed(&error.body_text()))?;
    let map = |text: Option<String>| match text.as_deref() {
        None | Some("") => Ok(None),
        Some(text) => serde_json::from_str(text).map_err(|error| malformed(&error.to_string())),
    };
    Ok(Asked {
        query: given.query,
        operation_name: given.operation_name.filter(|name| !name.is_empty()),
        variables: map(given.variables)?,
        extensions: map(given.extensions)?,
    })
}

fn malformed(why: &str) -> Refused {
    let message = format!("a request is {{ query, operationName, variables, extensions }}: {why}");
    Refused::new(StatusCode::BAD_REQUEST, Code::BadInput, message)
}

fn refusal(refused: &Refused, media: Media, id: RequestId) -> Response {
    // Plain JSON tells what is wrong with a document in the body alone.
    let silent = media == Media::Json && refused.well_formed;
    let status = if silent { StatusCode::OK } else { refused.status };
    let media = if media == Media::EventStream { Media::GraphqlResponse } else { media };
    let mut response = reply(status, media, refused.json(id).to_string().into_bytes());
    let headers = response.headers_mut();
    match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST, GET"));
        }
        StatusCode::UNAUTHORIZED => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        _ => {}
    }
    if let Some(wait) = refused.wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    }
    response
}

fn reply(status: StatusCode, media: Media, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    response
}
