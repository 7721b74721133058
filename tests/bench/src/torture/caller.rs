//! A client that retries until it gets a response, at any node.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use client::{ClientError, Http};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    chance::Chance,
    journal::{About, Acknowledged, Journal, Refused, count, derived, note, stream_of, told},
};

/// Timeout of one attempt.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a command is retried.
const PERSISTENCE: Duration = Duration::from_mins(1);
/// Number of acknowledged commands that a client remembers, to retry one of them.
const REMEMBERED: usize = 40;
/// Error codes after which a retry may help.
pub(super) const PASSING: [&str; 3] = ["UNAVAILABLE", "BUSY", "TIMEOUT"];

/// State shared by all clients.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) nodes: Vec<SocketAddr>,
    pub(super) seed: u64,
    pub(super) journal: Journal,
    /// Whether no new games may be started.
    stop: AtomicBool,
    /// Games that may be listened to.
    pub(super) begun: Mutex<VecDeque<String>>,
    /// Games that may be disputed.
    pub(super) over: Mutex<VecDeque<Over>>,
}

impl Shared {
    pub(super) fn new(nodes: Vec<SocketAddr>, seed: u64) -> Self {
        Self { nodes, seed, ..Self::default() }
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) game: String,
    pub(super) version: i64,
    pub(super) players: [Person; 2],
}

/// A signed-in person.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// Their id; empty for staff, whose ids are not needed.
    pub(super) id: String,
    pub(super) token: String,
}

/// A mutation with its arguments.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) mutation: &'static str,
    pub(super) about: About,
    pub(super) arguments: Vec<(&'static str, Value)>,
}

impl Request {
    pub(super) fn new(mutation: &'static str, about: About) -> Self {
        Self { mutation, about, arguments: Vec::new() }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.arguments.push((name, value));
        self
    }

    fn body(&self, id: Uuid) -> Result<Vec<u8>, ClientError> {
        let mut input: Map<String, Value> = self
            .arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        input.insert("command".to_owned(), json!({ "id": id }));
        let (mutation, selection) = (self.mutation, self.about.selection());
        let kind = match mutation {
            "startGame" | "leaveGame" => "GameCommandInput".to_owned(),
            "buyDie" | "sellDie" => "TradeInput".to_owned(),
            "approveRemedy" | "declineRemedy" => "DecideRemedyInput".to_owned(),
            other => format!("{}{}Input", other[..1].to_uppercase(), &other[1..]),
        };
        let query =
            format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {selection} }}");
        Ok(serde_json::to_vec(&json!({ "query": query, "variables": { "input": input } }))?)
    }
}

/// The result of a command.
#[derive(Debug)]
pub(super) enum Answer {
    /// The payload.
    Done(Value),
    /// The code of the refusal, and its details for error messages.
    Refused { code: String, details: String },
}

impl Answer {
    /// The payload of a command that must succeed.
    pub(super) fn done(self) -> Result<Value, ClientError> {
        match self {
            Self::Done(payload) => Ok(payload),
            Self::Refused { details, .. } => {
                Err(format!("a command was refused: {details}").into())
            }
        }
    }

    /// Whether it succeeded; refusals other than the expected ones are errors.
    pub(super) fn unless(self, expected: &[&str]) -> Result<bool, ClientError> {
        match self {
            Self::Done(_) => Ok(true),
            Self::Refused { code, .. } if expected.contains(&code.as_str()) => Ok(false),
            Self::Refused { details, .. } => {
                Err(format!("a command was refused: {details}").into())
            }
        }
    }
}

/// An acknowledged command that may be retried.
struct Remembered {
    request: Request,
    body: Vec<u8>,
    payload: Value,
}

pub(super) struct Caller {
    pub(super) shared: Arc<Shared>,
    pub(super) person: Person,
    pub(super) chance: Chance,
    line: Option<Http>,
    node: usize,
    remembered: Vec<Remembered>,
}

impl Caller {
    pub(super) fn new(shared: &Arc<Shared>, person: Person, number: u64) -> Self {
        let mut chance = Chance::new(shared.seed << 16 ^ number);
        let node = chance.place(shared.nodes.len());
        let (shared, remembered) = (Arc::clone(shared), Vec::new());
        Self { shared, person, chance, line: None, node, remembered }
    }

    /// Signs in a new guest.
    pub(super) async fn guest(shared: &Arc<Shared>, number: u64) -> Result<Self, ClientError> {
        let nobody = Person { id: String::new(), token: String::new() };
        let mut caller = Self::new(shared, nobody, number);
        let sign_in = "mutation { signInAsGuest { accessToken player { id } } }";
        let session = caller.ask(sign_in, json!({})).await?["signInAsGuest"].take();
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned).ok_or("no session");
        let (id, token) = (text(&session["player"]["id"])?, text(&session["accessToken"])?);
        caller.person = Person { id, token };
        caller.line = None;
        Ok(caller)
    }

    /// Runs a query.
    pub(super) async fn ask(
        &mut self,
        query: &str,
        variables: Value,
    ) -> Result<Value, ClientError> {
        let body = serde_json::to_vec(&json!({ "query": query, "variables": variables }))?;
        Ok(self.insist(&body).await?.0)
    }

    /// Sends a command, retrying until there is a result.
    pub(super) async fn send(&mut self, request: Request) -> Result<Answer, ClientError> {
        let id = Uuid::now_v7();
        let body = request.body(id)?;
        let (mut data, lost) = self.insist(&body).await?;
        let payload = data[request.mutation].take();
        let answer = self.noted(&request, id, &payload, lost)?;
        if matches!(answer, Answer::Done(_)) {
            if self.remembered.len() == REMEMBERED {
                let place = self.chance.place(REMEMBERED);
                self.remembered.swap_remove(place);
            }
            self.remembered.push(Remembered { request, body, payload });
        }
        if self.chance.one_in(10) {
            self.tell_again().await?;
        }
        Ok(answer)
    }

    /// Records the result in the journal.
    fn noted(
        &self,
        request: &Request,
        id: Uuid,
        payload: &Value,
        lost: bool,
    ) -> Result<Answer, ClientError> {
        let (mutation, about) = (request.mutation, request.about);
        if let Some(code) = payload["userErrors"][0]["code"].as_str() {
            let (code, command) = (code.to_owned(), about.id_in_log(id));
            note(&self.shared.journal.refused, Refused { mutation, code: code.clone(), command });
            let stream = request.arguments.first().map_or(Value::Null, |(_, value)| value.clone());
            return Ok(Answer::Refused {
                code,
                details: format!("{mutation} {id} about {stream}, {payload}, lost before: {lost}"),
            });
        }
        let stream = stream_of(&payload[about.thing()]["id"])
            .ok_or_else(|| format!("{mutation} returned no object: {payload}"))?;
        // A player who is already waiting for a match gets `repeated`.
        if payload["repeated"] == true && !lost && mutation != "quickMatch" {
            return Err(format!("{mutation} was sent once, but its payload says repeated").into());
        }
        let commands = vec![about.id_in_log(id), derived(id, b"join")];
        let told = told(payload);
        note(&self.shared.journal.acknowledged, Acknowledged { mutation, stream, commands, told });
        Ok(Answer::Done(payload.clone()))
    }

    /// Retries an acknowledged command, like a client that lost the response, perhaps long ago.
    async fn tell_again(&mut self) -> Result<(), ClientError> {
        if self.remembered.is_empty() {
            return Ok(());
        }
        let place = self.chance.place(self.remembered.len());
        let body = self.remembered[place].body.clone();
        let mut data = self.insist(&body).await?.0;
        let Remembered { request, payload: first, .. } = &self.remembered[place];
        let (thing, again) = (request.about.thing(), data[request.mutation].take());
        let same_thing = again[thing]["id"] == first[thing]["id"];
        let same_events = told(&again) == told(first) || request.mutation == "quickMatch";
        let said = request.about == About::Dispute || again["repeated"] == true;
        if !(same_thing && same_events && said) {
            let mutation = request.mutation;
            return Err(format!("{mutation} returned {first}, and {again} on a retry").into());
        }
        count(&self.shared.journal.again);
        Ok(())
    }

    /// Retries until there is a response: `data`, and whether an earlier response may have been
    /// lost.
    async fn insist(&mut self, body: &[u8]) -> Result<(Value, bool), ClientError> {
        let (begun, mut lost) = (Instant::now(), false);
        loop {
            let why = match tokio::time::timeout(PATIENCE, self.attempt(body)).await {
                Ok(Ok(mut answer)) => {
                    let code = &answer["errors"][0]["extensions"]["code"];
                    if answer.get("errors").is_none() {
                        return Ok((answer["data"].take(), lost));
                    }
                    if !PASSING.iter().any(|passing| code == *passing) {
                        let asked = String::from_utf8_lossy(body);
                        return Err(format!("{asked} returned {answer}").into());
                    }
                    answer.to_string()
                }
                Ok(Err(trouble)) => trouble.to_string(),
                Err(_) => format!("no response within {PATIENCE:?}"),
            };
            if begun.elapsed() > PERSISTENCE {
                let asked = String::from_utf8_lossy(body);
                return Err(format!("no node responds to {asked}; the last error: {why}").into());
            }
            lost = true;
            count(&self.shared.journal.lost);
            self.line = None;
            self.node = (self.node + 1) % self.shared.nodes.len();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn attempt(&mut self, body: &[u8]) -> Result<Value, ClientError> {
        if self.line.is_none() {
            let line = Http::connect(self.shared.nodes[self.node]).await?;
            let token = &self.person.token;
            self.line = Some(if token.is_empty() { line } else { line.with_token(token) });
        }
        let line = self.line.as_mut().ok_or("no connection")?;
        line.post_body(body).await?.json()
    }
}
