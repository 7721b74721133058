//! What every request goes through, whichever way it comes: who asks, how often, how much.

use std::{net::IpAddr, sync::Arc, time::Duration};

use async_graphql::{
    Request, Response, ServerError, Variables,
    parser::types::{ExecutableDocument, OperationType},
};
use axum::http::{HeaderMap, StatusCode, header};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{Peer, Rates};
use crate::{
    accounts::Viewer,
    api::{Api, Code, RequestId},
    app::App,
    clock,
    documents::{BadDocument, Documents, Parsed},
    play::evidence::Origin,
    serve::Settings,
};

/// The header in which a client says what it is, and which version.
const CLIENT: &str = "croupier-client";

/// A node's front door.
pub(crate) struct Door {
    pub(crate) app: Arc<App>,
    pub(crate) api: Api,
    /// The same for documents that are known to fit the schema.
    pub(crate) unchecked: Api,
    pub(crate) documents: Documents,
    pub(crate) rates: Rates,
    pub(crate) settings: Arc<Settings>,
    pub(crate) figures: Figures,
}

/// The figures of the node, as Prometheus reads them.
pub(crate) struct Figures(pub(crate) PrometheusHandle);

impl std::fmt::Debug for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Figures")
    }
}

/// A request as clients write it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    pub(super) query: String,
    #[serde(default)]
    pub(super) operation_name: Option<String>,
    #[serde(default)]
    pub(super) variables: Option<Map<String, Value>>,
    #[serde(default)]
    #[expect(dead_code, reason = "clients may send them; they must be a map")]
    pub(super) extensions: Option<Map<String, Value>>,
}

/// Who asks, from where.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) viewer: Option<Viewer>,
    pub(super) origin: Origin,
}

/// A request that may be executed.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) kind: OperationType,
    pub(super) request: Request,
    pub(super) id: RequestId,
    field: String,
    parsed: Arc<Parsed>,
    shape: Option<u64>,
}

/// A request that is not executed.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) wait: Option<Duration>,
    /// Whether the request itself could be read: plain JSON answers such ones with 200.
    pub(super) well_formed: bool,
    pub(super) locations: Vec<(usize, usize)>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, message, wait: None, well_formed: false, locations: Vec::new() }
    }

    fn too_often(whose: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + 1;
        let message = format!("{whose} sends too many requests; try again in {seconds} s");
        let refused = Self::new(StatusCode::TOO_MANY_REQUESTS, Code::RateLimited, message);
        Self { wait: Some(wait), ..refused }
    }

    /// The answer as GraphQL writes it: there is no data, not even null.
    pub(super) fn json(&self, id: RequestId) -> Value {
        let mut extensions = json!({ "code": self.code.name(), "requestId": id.0 });
        if let Some(wait) = self.wait {
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

impl From<BadDocument> for Refused {
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
        let refused = Self::new(StatusCode::BAD_REQUEST, code, bad.to_string());
        Self { well_formed: true, locations, ..refused }
    }
}

impl Door {
    /// Who asks: the token in the header, the address of the connection or of the proxy we trust. Asking counts
    /// against the address first: checking a token costs more than refusing.
    pub(super) fn client(
        &self,
        headers: &HeaderMap,
        peer: Option<Peer>,
    ) -> Result<Client, Refused> {
        let address = self.address(headers, peer);
        self.rates.address(address).map_err(|wait| Refused::too_often("this address", wait))?;
        let token = headers.get(header::AUTHORIZATION).map(|value| value.to_str().unwrap_or(""));
        let viewer = token.map(|header| self.viewer(header)).transpose()?;
        let client = headers.get(CLIENT).or_else(|| headers.get(header::USER_AGENT)).cloned();
        Ok(Client { viewer, origin: Origin { address, client } })
    }

    /// Who shows this header, `Bearer TOKEN`.
    pub(super) fn viewer(&self, header: &str) -> Result<Viewer, Refused> {
        let refuse =
            |why: String| Refused::new(StatusCode::UNAUTHORIZED, Code::Unauthenticated, why);
        let token = match header.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
            _ => return Err(refuse("the header must be: authorization: Bearer TOKEN".to_owned())),
        };
        let checked = self.app.accounts.tokens.check(token, clock::now());
        checked.map_err(|bad| refuse(bad.to_string()))
    }

    /// Each proxy we trust adds the address it saw to the end of the header; others may have written anything before.
    fn address(&self, headers: &HeaderMap, peer: Option<Peer>) -> IpAddr {
        let direct = peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.0.ip());
        let Some(hops) = usize::try_from(self.settings.trusted_proxies).ok().filter(|&n| n > 0)
        else {
            return direct;
        };
        let seen =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let seen: Vec<&str> = seen.flat_map(|text| text.split(',')).map(str::trim).collect();
        let place = seen.len().checked_sub(hops);
        place.and_then(|place| seen[place].parse().ok()).unwrap_or(direct)
    }

    /// Checks how often an account asks.
    pub(super) fn admit(&self, client: &Client) -> Result<(), Refused> {
        let Some(viewer) = client.viewer else { return Ok(()) };
        let admitted = self.rates.actor(viewer.account);
        admitted.map_err(|wait| Refused::too_often("this account", wait))
    }

    /// Checks how often an address and an account ask, on a connection that is there already.
    pub(super) fn admit_again(&self, client: &Client) -> Result<(), Refused> {
        let admitted = self.rates.address(client.origin.address);
        admitted.map_err(|wait| Refused::too_often("this address", wait))?;
        self.admit(client)
    }

    /// Checks what somebody asks, and makes it ready.
    pub(super) fn prepare(
        &self,
        asked: Asked,
        client: &Client,
        id: RequestId,
    ) -> Result<Ready, Refused> {
        let parsed = self.documents.parse(&asked.query)?;
        let variables = asked.variables.map(|map| Variables::from_json(Value::Object(map)));
        let variables = variables.unwrap_or_default();
        let checked = self.documents.check(&parsed, asked.operation_name.as_deref(), &variables)?;
        if checked.sign_ins > 0 {
            let tried = self.rates.sign_ins(client.origin.address, checked.sign_ins);
            tried.map_err(|wait| Refused::too_often("this address", wait))?;
        }
        if checked.guests > 0 {
            let asked = self.rates.guests(client.origin.address, checked.guests);
            asked.map_err(|wait| Refused::too_often("this address", wait))?;
        }
        let document: ExecutableDocument = parsed.document.clone();
        let mut request = Request::new(asked.query).variables(variables).data(id);
        if let Some(name) = asked.operation_name {
            request = request.operation_name(name);
        }
        request = request.data(client.origin.clone());
        if let Some(viewer) = client.viewer {
            request = request.data(viewer);
        }
        request.set_parsed_query(document);
        let (kind, field, shape) = (checked.kind, checked.field.to_owned(), checked.shape);
        Ok(Ready { kind, request, id, field, parsed, shape })
    }

    /// Executes a query or a mutation, within the time a request has.
    pub(super) async fn execute(&self, ready: Ready) -> Response {
        let began = std::time::Instant::now();
        let Ready { request, id, field, parsed, shape, .. } = ready;
        // Whether a document fits the schema costs as much to find out as to execute it: once is enough.
        let known = parsed.is_known_to_fit(shape);
        let api = if known { &self.unchecked } else { &self.api };
        let text = if known { String::new() } else { request.query.clone() };
        let executed = tokio::time::timeout(self.settings.request_time(), api.execute(request));
        let response = executed.await.unwrap_or_else(|_| {
            let mut error = ServerError::new("this took too long; try again in a moment", None);
            error.extensions.get_or_insert_default().set("code", Code::Timeout.name());
            Response::from_errors(vec![error])
        });
        if !known && !is_request_error(&response) {
            self.documents.keep(&text, &parsed, shape);
        }
        let response = self.finished(response, id);
        let outcome = if response.errors.is_empty() { "ok" } else { "error" };
        // Only names of the schema become labels: who asks for nonsense must not fill our memory.
        let operation =
            if response.data == async_graphql::Value::Null { "none".to_owned() } else { field };
        metrics::counter!("croupier_requests", "operation" => operation.clone(), "outcome" => outcome)
            .increment(1);
        metrics::histogram!("croupier_request_seconds", "operation" => operation)
            .record(began.elapsed());
        response
    }

    /// Every error gets a code and the id of its request; what the database failed is remembered.
    pub(super) fn finished(&self, mut response: Response, id: RequestId) -> Response {
        for error in &mut response.errors {
            let extensions = error.extensions.get_or_insert_default();
            let code = extensions.get("code").cloned();
            if code.is_none() {
                // What has no place in the answer was found before anything was resolved.
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

/// A new id for a request.
pub(super) fn request_id() -> RequestId {
    RequestId(Uuid::now_v7())
}

/// Whether a response is that of a request which could not be executed at all: then none of its errors is at a field.
pub(super) fn is_request_error(response: &Response) -> bool {
    !response.errors.is_empty() && response.errors.iter().all(|error| error.path.is_empty())
}

/// A response as bytes. What could not be executed has no data, not even null.
pub(super) fn written(response: &Response) -> Vec<u8> {
    let written = if is_request_error(response) {
        serde_json::to_vec(&json!({ "errors": response.errors }))
    } else {
        serde_json::to_vec(response)
    };
    written
        .unwrap_or_else(|_| br#"{"errors":[{"message":"this answer cannot be written"}]}"#.to_vec())
}
