//! GraphQL over HTTP, following the specification.

use std::sync::Arc;

use async_graphql::parser::types::OperationType;
use async_graphql_axum::GraphQLResponse;
use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::{FromRequestParts, Query, State, WebSocketUpgrade},
    http::{HeaderName, HeaderValue, Method, Request, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, de::DeserializeOwned};
use tracing::Instrument;

use super::{
    Connection, Peer,
    gateway::{
        Client, Gateway, GraphqlRequest, HttpError, PreparedRequest, is_request_error, request_id,
        to_json,
    },
    negotiate::{Media, is_json},
    socket, sse,
};
use crate::api::{Code, RequestId};

/// The response header with the request id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn handle(
    State(gateway): State<Arc<Gateway>>,
    request: Request<Body>,
) -> Response {
    let id = request_id();
    let span = tracing::info_span!("request", id = %id.0);
    let answered = async {
        let response = answer(gateway, request, id).await;
        tracing::debug!(status = response.status().as_u16(), "responded");
        response
    };
    let mut response = answered.instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id.0.to_string()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn answer(gateway: Arc<Gateway>, request: Request<Body>, id: RequestId) -> Response {
    let (mut parts, body) = request.into_parts();
    if parts.headers.contains_key(header::UPGRADE) {
        return match WebSocketUpgrade::from_request_parts(&mut parts, &gateway).await {
            Ok(upgrade) => socket::upgrade(gateway, upgrade, &parts),
            Err(error) => error.into_response(),
        };
    }
    let Some(media) = Media::choose(&parts.headers) else {
        let supported = "application/graphql-response+json, application/json or text/event-stream";
        let message = format!("the supported media types are {supported}");
        return error_response(
            &HttpError::new(StatusCode::NOT_ACCEPTABLE, Code::BadInput, message),
            Media::GraphqlResponse,
            id,
        );
    };
    match prepare(&gateway, &parts, body, media, id).await {
        Ok((prepared, client)) if prepared.kind == OperationType::Subscription => {
            sse::stream(gateway, prepared, client, parts.extensions.get::<Connection>().cloned())
        }
        Ok((prepared, _)) => {
            let response = gateway.execute(prepared).await;
            if media == Media::EventStream {
                return sse::single(&to_json(&response));
            }
            if is_request_error(&response) {
                let strict = media == Media::GraphqlResponse;
                let status = if strict { StatusCode::BAD_REQUEST } else { StatusCode::OK };
                return reply(status, media, to_json(&response));
            }
            let mut answer = GraphQLResponse::from(response).into_response();
            let max = gateway.settings.max_response_bytes();
            if answer.body().size_hint().lower() > max {
                let message = format!("the response is larger than {max} bytes; request less");
                let error = HttpError::new(StatusCode::BAD_REQUEST, Code::TooComplex, message);
                return error_response(&HttpError { well_formed: true, ..error }, media, id);
            }
            let media = HeaderValue::from_static(media.content_type());
            answer.headers_mut().insert(header::CONTENT_TYPE, media);
            answer
        }
        Err(error) => error_response(&error, media, id),
    }
}

async fn prepare(
    gateway: &Gateway,
    parts: &Parts,
    body: Body,
    media: Media,
    id: RequestId,
) -> Result<(PreparedRequest, Client), HttpError> {
    let client = gateway.client(&parts.headers, parts.extensions.get::<Peer>().copied())?;
    gateway.admit(&client)?;
    let input = match parts.method {
        Method::POST => from_body(gateway, parts, body).await?,
        Method::GET => from_query(parts)?,
        _ => {
            let message = "use POST, or GET for queries";
            return Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadInput, message));
        }
    };
    let prepared = gateway.prepare(input, &client, id)?;
    match prepared.kind {
        OperationType::Mutation if parts.method == Method::GET => {
            let message = "mutations need POST";
            Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, Code::BadInput, message))
        }
        OperationType::Subscription if media != Media::EventStream => {
            let message = "subscriptions need a WebSocket (graphql-transport-ws) or \
                           accept: text/event-stream";
            let error = HttpError::new(StatusCode::BAD_REQUEST, Code::BadInput, message);
            Err(HttpError { well_formed: true, ..error })
        }
        OperationType::Query | OperationType::Mutation | OperationType::Subscription => {
            Ok((prepared, client))
        }
    }
}

async fn from_body(
    gateway: &Gateway,
    parts: &Parts,
    body: Body,
) -> Result<GraphqlRequest, HttpError> {
    if !is_json(&parts.headers) {
        let message = "send content-type: application/json, in UTF-8";
        return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::BadInput, message));
    }
    let max = gateway.settings.max_body_bytes();
    let read = tokio::time::timeout(gateway.settings.request_timeout(), to_bytes(body, max)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("the request is larger than {max} bytes");
            return Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, Code::BadInput, message));
        }
        Err(_) => {
            let message = "the request body took too long to arrive";
            return Err(HttpError::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message));
        }
    };
    serde_json::from_slice(&bytes).map_err(|error| malformed(&error.to_string()))
}

/// The parameters of a GET request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryParameters {
    query: Option<String>,
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: Option<String>,
    extensions: Option<String>,
}

fn from_query(parts: &Parts) -> Result<GraphqlRequest, HttpError> {
    let Query(parameters) = Query::<QueryParameters>::try_from_uri(&parts.uri)
        .map_err(|error| malformed(&error.body_text()))?;
    Ok(GraphqlRequest {
        query: parameters.query,
        document_id: parameters.document_id,
        operation_name: parameters.operation_name.filter(|name| !name.is_empty()),
        variables: json(parameters.variables)?,
        extensions: json(parameters.extensions)?,
    })
}

/// Parses a parameter that is JSON; it may be missing or empty.
fn json<T: DeserializeOwned + Default>(text: Option<String>) -> Result<T, HttpError> {
    match text.as_deref() {
        None | Some("") => Ok(T::default()),
        Some(text) => serde_json::from_str(text).map_err(|error| malformed(&error.to_string())),
    }
}

fn malformed(why: &str) -> HttpError {
    let message = format!("expected {{ query, operationName, variables, extensions }}: {why}");
    HttpError::new(StatusCode::BAD_REQUEST, Code::BadInput, message)
}

fn error_response(error: &HttpError, media: Media, id: RequestId) -> Response {
    // With application/json, errors of a document are in the body only.
    let body_only = media == Media::Json && error.well_formed;
    let status = if body_only { StatusCode::OK } else { error.status };
    let media = if media == Media::EventStream { Media::GraphqlResponse } else { media };
    let mut response = reply(status, media, error.json(id).to_string().into_bytes());
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
    if let Some(wait) = error.retry_after {
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
