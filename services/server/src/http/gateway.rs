//! The checks every request passes, on every transport: authentication, rate limits, query cost.

use std::{net::IpAddr, sync::Arc, time::Duration};

use async_graphql::{
    Request, Response, ServerError, Variables,
    parser::types::{ExecutableDocument, OperationType},
};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Peer, Rates, RequestMetrics, rates::REQUEST_COST};
use crate::{
    accounts::Viewer,
    api::{Api, Code, RequestId},
    app::App,
    clock,
    documents::{BadDocument, Documents, Parsed, TrustedDocuments, UntrustedDocument},
    play::evidence::Origin,
    serve::Settings,
};

/// The header with the client's name and version.
pub(super) const CLIENT: HeaderName = HeaderName::from_static("croupier-client");

/// Authenticates, limits and executes requests for all transports.
pub(crate) struct Gateway {
    pub(crate) app: Arc<App>,
    pub(crate) api: Api,
    /// The same schema without validation, for documents that were validated before.
    pub(crate) unchecked: Api,
    pub(crate) documents: Documents,
    pub(crate) trusted: TrustedDocuments,
    pub(crate) rates: Rates,
    pub(crate) settings: Arc<Settings>,
    pub(crate) metrics: MetricsHandle,
    pub(crate) requests: RequestMetrics,
}

/// Renders the node's metrics in the Prometheus format.
pub(crate) struct MetricsHandle(pub(crate) PrometheusHandle);

impl std::fmt::Debug for MetricsHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetricsHandle")
    }
}

/// A GraphQL request as clients send it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GraphqlRequest {
    #[serde(default)]
    pub(super) query: Option<String>,
    /// The hash of a trusted document: `sha256:HEX`.
    #[serde(default)]
    pub(super) document_id: Option<String>,
    #[serde(default)]
    pub(super) operation_name: Option<String>,
    #[serde(default)]
    pub(super) variables: Variables,
    #[serde(default)]
    pub(super) extensions: Option<Map<String, Value>>,
}

/// The caller: identity and origin.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) viewer: Option<Viewer>,
    pub(super) origin: Origin,
}

/// A request that passed all checks.
#[derive(Debug)]
pub(super) struct PreparedRequest {
    pub(super) kind: OperationType,
    pub(super) request: Request,
    pub(super) id: RequestId,
    field: String,
    pub(super) operation: Operation,
    /// The cost, of each event if it is a subscription.
    pub(super) cost: u32,
    shape: Option<u64>,
}

/// The parsed document of a request, and the name of the operation to run.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    parsed: Arc<Parsed>,
    name: Option<String>,
}

/// Why a request is not executed.
#[derive(Clone, Debug)]
pub(super) struct HttpError {
    pub(super) status: StatusCode,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) retry_after: Option<Duration>,
    /// Whether the request itself was well-formed: `application/json` then answers with 200.
    pub(super) well_formed: bool,
    pub(super) locations: Vec<(usize, usize)>,
}

impl HttpError {
    pub(super) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, retry_after: None, well_formed: false, locations: Vec::new() }
    }

    fn rate_limited(subject: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + 1;
        let message = format!("{subject} sends too many requests; try again in {seconds} s");
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, Code::RateLimited, message);
        Self { retry_after: Some(wait), ..error }
    }

    /// The response body of a request error: it has no `data` entry.
    pub(super) fn json(&self, id: RequestId) -> Value {
        let mut extensions = json!({ "code": self.code.name(), "requestId": id.0 });
        if let Some(wait) = self.retry_after {
            extensions["retryAfterSeconds"] = json!(wait.as_secs() + 1);
        }
        let mut error = json!({ "message": self.message, "extensions": extensions });
        if !self.locations.is_empty() {
            let at = |&(line, column): &(usize, usize)| json!({ "line": line, "column": column });
            error["locations"] = self.locations.iter().map(at).collect();
        }
        json!({ "errors": [error] })
    }
}

impl From<BadDocument> for HttpError {
    fn from(bad: BadDocument) -> Self {
        let code = match &bad {
            BadDocument::TooMuch(_) => Code::TooComplex,
            BadDocument::Syntax(_) => Code::BadSyntax,
            BadDocument::Operation(_) => Code::BadInput,
        };
        let locations = match &bad {
            BadDocument::Syntax(error) => {
                error.locations.iter().map(|at| (at.line, at.column)).collect()
            }
            BadDocument::TooMuch(_) | BadDocument::Operation(_) => Vec::new(),
        };
        let error = Self::new(StatusCode::BAD_REQUEST, code, bad.to_string());
        Self { well_formed: true, locations, ..error }
    }
}

impl From<UntrustedDocument> for HttpError {
    fn from(untrusted: UntrustedDocument) -> Self {
        let code = match &untrusted {
            UntrustedDocument::Unknown(_) => Code::UnknownDocument,
            UntrustedDocument::NotRegistered => Code::UntrustedDocument,
            UntrustedDocument::Missing => Code::BadInput,
        };
        Self::new(StatusCode::BAD_REQUEST, code, untrusted.to_string())
    }
}

impl Gateway {
    /// Identifies the caller by its token and its address. The rate limit of the address comes
    /// first because checking a token is more expensive.
    pub(super) fn client(
        &self,
        headers: &HeaderMap,
        peer: Option<Peer>,
    ) -> Result<Client, HttpError> {
        let address = self.address(headers, peer);
        self.rates
            .address(address, REQUEST_COST)
            .map_err(|wait| HttpError::rate_limited("this address", wait))?;
        let token = headers.get(header::AUTHORIZATION).map(|value| value.to_str().unwrap_or(""));
        let viewer = token.map(|header| self.viewer(header)).transpose()?;
        let client = headers.get(CLIENT).or_else(|| headers.get(header::USER_AGENT)).cloned();
        Ok(Client { viewer, origin: Origin { address, client } })
    }

    /// Checks an authorization header, `Bearer TOKEN`.
    pub(super) fn viewer(&self, header: &str) -> Result<Viewer, HttpError> {
        let unauthenticated =
            |why: String| HttpError::new(StatusCode::UNAUTHORIZED, Code::Unauthenticated, why);
        let token = match header.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => {
                return Err(unauthenticated(
                    "the header must be: authorization: Bearer TOKEN".to_owned(),
                ));
            }
        };
        let checked = self.app.accounts.tokens.check(token, clock::now());
        checked.map_err(|bad| unauthenticated(bad.to_string()))
    }

    /// Each trusted proxy appends the address it saw to `x-forwarded-for`; earlier entries may be
    /// forged.
    fn address(&self, headers: &HeaderMap, peer: Option<Peer>) -> IpAddr {
        let direct = peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
        let Some(hops) = usize::try_from(self.settings.trusted_proxies).ok().filter(|&n| n > 0)
        else {
            return direct;
        };
        let seen =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let seen: Vec<&str> = seen.flat_map(|text| text.split(',')).map(str::trim).collect();
        let index = seen.len().checked_sub(hops);
        index.and_then(|index| seen[index].parse().ok()).unwrap_or(direct)
    }

    /// Checks the rate limit of the account.
    pub(super) fn admit(&self, client: &Client) -> Result<(), HttpError> {
        let Some(viewer) = client.viewer else { return Ok(()) };
        let admitted = self.rates.actor(viewer.account, REQUEST_COST);
        admitted.map_err(|wait| HttpError::rate_limited("this account", wait))
    }

    /// Takes points of cost from address and account.
    fn charge(&self, client: &Client, cost: u32) -> Result<(), HttpError> {
        if cost == 0 {
            return Ok(());
        }
        let charged = self.rates.address(client.origin.address, cost);
        charged.map_err(|wait| HttpError::rate_limited("this address", wait))?;
        let Some(viewer) = client.viewer else { return Ok(()) };
        let charged = self.rates.actor(viewer.account, cost);
        charged.map_err(|wait| HttpError::rate_limited("this account", wait))
    }

    /// Takes the cost of an event of a subscription. The next event waits until it is paid.
    pub(super) async fn charge_event(&self, client: &Client, cost: u32) {
        // One after the other: who waits for the account must not pay for the address again.
        while let Err(wait) = self.rates.address(client.origin.address, cost) {
            tokio::time::sleep(wait).await;
        }
        let Some(viewer) = client.viewer else { return };
        while let Err(wait) = self.rates.actor(viewer.account, cost) {
            tokio::time::sleep(wait).await;
        }
    }

    /// Checks the rate limits of address and account, for a request on an open WebSocket.
    pub(super) fn admit_again(&self, client: &Client) -> Result<(), HttpError> {
        let admitted = self.rates.address(client.origin.address, REQUEST_COST);
        admitted.map_err(|wait| HttpError::rate_limited("this address", wait))?;
        self.admit(client)
    }

    /// Parses and checks a request.
    pub(super) fn prepare(
        &self,
        input: GraphqlRequest,
        client: &Client,
        id: RequestId,
    ) -> Result<PreparedRequest, HttpError> {
        let query = self.trusted.resolve(
            input.query,
            input.document_id.as_deref(),
            input.extensions.as_ref(),
        )?;
        let parsed = self.documents.parse(&query)?;
        let variables = input.variables;
        let checked = self.documents.check(&parsed, input.operation_name.as_deref(), &variables)?;
        if checked.sign_ins > 0 {
            let allowed = self.rates.sign_ins(client.origin.address, checked.sign_ins);
            allowed.map_err(|wait| HttpError::rate_limited("this address", wait))?;
        }
        if checked.guests > 0 {
            let allowed = self.rates.guests(client.origin.address, checked.guests);
            allowed.map_err(|wait| HttpError::rate_limited("this address", wait))?;
        }
        let cost = u32::try_from(checked.cost).unwrap_or(u32::MAX);
        self.charge(client, cost.saturating_sub(REQUEST_COST))?;
        let document: ExecutableDocument = parsed.document.clone();
        let mut request = Request::new(query).variables(variables).data(id);
        if let Some(name) = &input.operation_name {
            request = request.operation_name(name);
        }
        request = request.data(client.origin.clone());
        if let Some(viewer) = client.viewer {
            request = request.data(viewer);
        }
        request.set_parsed_query(document);
        let (kind, field, shape) = (checked.kind, checked.field.to_owned(), checked.shape);
        let operation = Operation { parsed: Arc::clone(&parsed), name: input.operation_name };
        Ok(PreparedRequest { kind, request, id, field, operation, cost, shape })
    }

    /// Executes a query or a mutation, with a timeout.
    pub(super) async fn execute(&self, prepared: PreparedRequest) -> Response {
        let began = std::time::Instant::now();
        let PreparedRequest { request, id, field, operation, shape, .. } = prepared;
        let parsed = &operation.parsed;
        // Validation costs as much as execution, so each document is validated only once.
        let known = parsed.is_valid_for(shape);
        let api = if known { &self.unchecked } else { &self.api };
        let text = if known { String::new() } else { request.query.clone() };
        let executed = tokio::time::timeout(self.settings.request_timeout(), api.execute(request));
        let response = executed.await.unwrap_or_else(|_| {
            let mut error = ServerError::new("the request timed out; try again", None);
            error.extensions.get_or_insert_default().set("code", Code::Timeout.name());
            Response::from_errors(vec![error])
        });
        if !known && !is_request_error(&response) {
            self.documents.cache_valid(&text, parsed, shape);
        }
        let response = self.finish(response, id, &operation);
        // A field that was answered is a name of the schema.
        let answered = response.data != async_graphql::Value::Null;
        let label = if answered { field.as_str() } else { "none" };
        self.requests.count(label, response.errors.is_empty(), began.elapsed());
        response
    }

    /// Adds a code and the request id to every error. An `UNAVAILABLE` error triggers a check of
    /// the database.
    pub(super) fn finish(
        &self,
        mut response: Response,
        id: RequestId,
        operation: &Operation,
    ) -> Response {
        self.documents.complete(&operation.parsed, operation.name.as_deref(), &mut response);
        for error in &mut response.errors {
            let extensions = error.extensions.get_or_insert_default();
            let code = extensions.get("code").cloned();
            if code.is_none() {
                // Errors without a path were found before execution.
                let early = error.path.is_empty();
                let code = if early { Code::BadDocument } else { Code::BadInput };
                extensions.set("code", code.name());
            } else if code == Some(Code::Unavailable.name().into()) {
                self.app.database.look();
            }
            extensions.set("requestId", id.0.to_string());
        }
        response
    }
}

pub(super) fn request_id() -> RequestId {
    RequestId(Uuid::now_v7())
}

/// Whether the request could not be executed at all: then no error has a path.
pub(super) fn is_request_error(response: &Response) -> bool {
    !response.errors.is_empty() && response.errors.iter().all(|error| error.path.is_empty())
}

/// The response as JSON. A request error has no `data` entry.
pub(super) fn to_json(response: &Response) -> Vec<u8> {
    let json = if is_request_error(response) {
        serde_json::to_vec(&json!({ "errors": response.errors }))
    } else {
        serde_json::to_vec(response)
    };
    json.unwrap_or_else(|_| {
        br#"{"errors":[{"message":"the response cannot be serialized"}]}"#.to_vec()
    })
}
