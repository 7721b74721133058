//! A client that asks until it is answered, at whichever node is there.

use std::{
    collections::VecDeque,
    fmt::Write,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use client::{Http, Trouble};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    chance::Chance,
    journal::{About, Acknowledged, Journal, Refused, count, derived, note, stream_of, told},
};

/// How long one answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a command is asked again and again.
const PERSISTENCE: Duration = Duration::from_mins(1);
/// How many acknowledged commands a client remembers, to ask one of them again.
const REMEMBERED: usize = 40;
/// What nodes say when it may help to ask again.
pub(super) const PASSING: [&str; 3] = ["UNAVAILABLE", "BUSY", "TIMEOUT"];

/// What all clients share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) nodes: Vec<SocketAddr>,
    pub(super) seed: u64,
    pub(super) journal: Journal,
    /// Whether no new games are to be begun.
    stop: AtomicBool,
    /// Games somebody may listen to.
    pub(super) begun: Mutex<VecDeque<String>>,
    /// Games somebody may dispute.
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

/// A game that is over.
#[derive(Clone, Debug)]
pub(super) struct Over {
    pub(super) game: String,
    pub(super) version: i64,
    pub(super) players: [Person; 2],
}

/// Who somebody is.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// Their id; nothing for staff, whose ids are nowhere needed.
    pub(super) id: String,
    pub(super) token: String,
}

/// A mutation with its arguments: the name, the type and the value of each.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) mutation: &'static str,
    pub(super) about: About,
    pub(super) arguments: Vec<(&'static str, &'static str, Value)>,
}

impl Wish {
    pub(super) fn new(mutation: &'static str, about: About) -> Self {
        Self { mutation, about, arguments: Vec::new() }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, kind: &'static str, value: Value) -> Self {
        self.arguments.push((name, kind, value));
        self
    }

    fn body(&self, id: Uuid) -> Result<Vec<u8>, Trouble> {
        let (mut types, mut names, mut variables) = (String::new(), String::new(), Map::new());
        variables.insert("id".to_owned(), json!(id));
        for (name, kind, value) in &self.arguments {
            write!(types, ", ${name}: {kind}")?;
            write!(names, ", {name}: ${name}")?;
            variables.insert((*name).to_owned(), value.clone());
        }
        let (mutation, selection) = (self.mutation, self.about.selection());
        let query = format!(
            "mutation($id: UUID!{types}) {{ {mutation}(commandId: $id{names}) {selection} }}"
        );
        Ok(serde_json::to_vec(&json!({ "query": query, "variables": variables }))?)
    }
}

/// What came of a wish.
#[derive(Debug)]
pub(super) enum Answer {
    /// The payload.
    Done(Value),
    /// The code of the refusal, and everything about it for whoever did not expect it.
    Refused { code: String, details: String },
}

impl Answer {
    /// The payload of a wish that must be fulfilled.
    pub(super) fn done(self) -> Result<Value, Trouble> {
        match self {
            Self::Done(payload) => Ok(payload),
            Self::Refused { details, .. } => Err(format!("a wish was refused: {details}").into()),
        }
    }

    /// Whether it was fulfilled; refusals other than these are trouble.
    pub(super) fn unless(self, expected: &[&str]) -> Result<bool, Trouble> {
        match self {
            Self::Done(_) => Ok(true),
            Self::Refused { code, .. } if expected.contains(&code.as_str()) => Ok(false),
            Self::Refused { details, .. } => Err(format!("a wish was refused: {details}").into()),
        }
    }
}

/// An acknowledged command that may be asked again.
struct Remembered {
    wish: Wish,
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

    /// Somebody new.
    pub(super) async fn guest(shared: &Arc<Shared>, number: u64) -> Result<Self, Trouble> {
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

    /// Asks something that changes nothing.
    pub(super) async fn ask(&mut self, query: &str, variables: Value) -> Result<Value, Trouble> {
        let body = serde_json::to_vec(&json!({ "query": query, "variables": variables }))?;
        Ok(self.insist(&body).await?.0)
    }

    /// Gives a command, once, however often that takes.
    pub(super) async fn tell(&mut self, wish: Wish) -> Result<Answer, Trouble> {
        let id = Uuid::now_v7();
        let body = wish.body(id)?;
        let (mut data, lost) = self.insist(&body).await?;
        let payload = data[wish.mutation].take();
        let answer = self.noted(&wish, id, &payload, lost)?;
        if matches!(answer, Answer::Done(_)) {
            if self.remembered.len() == REMEMBERED {
                let place = self.chance.place(REMEMBERED);
                self.remembered.swap_remove(place);
            }
            self.remembered.push(Remembered { wish, body, payload });
        }
        if self.chance.one_in(10) {
            self.tell_again().await?;
        }
        Ok(answer)
    }

    /// Writes down what was answered.
    fn noted(&self, wish: &Wish, id: Uuid, payload: &Value, lost: bool) -> Result<Answer, Trouble> {
        let (mutation, about) = (wish.mutation, wish.about);
        if let Some(code) = payload["errors"][0]["code"].as_str() {
            let (code, command) = (code.to_owned(), about.id_in_log(id));
            note(&self.shared.journal.refused, Refused { mutation, code: code.clone(), command });
            let stream = wish.arguments.first().map_or(Value::Null, |(_, _, value)| value.clone());
            return Ok(Answer::Refused {
                code,
                details: format!("{mutation} {id} about {stream}, {payload}, lost before: {lost}"),
            });
        }
        let stream = stream_of(&payload[about.thing()]["id"]).ok_or_else(|| {
            format!("{mutation} was answered without saying about what: {payload}")
        })?;
        // Who waits for a match already is told so.
        if payload["repeated"] == true && !lost && mutation != "quickMatch" {
            return Err(format!("{mutation} is said to be repeated, and was asked once").into());
        }
        let commands = vec![about.id_in_log(id), derived(id, b"join")];
        let told = told(payload);
        note(&self.shared.journal.acknowledged, Acknowledged { mutation, stream, commands, told });
        Ok(Answer::Done(payload.clone()))
    }

    /// A client that lost an answer, maybe long ago, and asks once more.
    async fn tell_again(&mut self) -> Result<(), Trouble> {
        if self.remembered.is_empty() {
            return Ok(());
        }
        let place = self.chance.place(self.remembered.len());
        let body = self.remembered[place].body.clone();
        let mut data = self.insist(&body).await?.0;
        let Remembered { wish, payload: first, .. } = &self.remembered[place];
        let (thing, again) = (wish.about.thing(), data[wish.mutation].take());
        let same_thing = again[thing]["id"] == first[thing]["id"];
        let same_events = told(&again) == told(first) || wish.mutation == "quickMatch";
        let said = wish.about == About::Dispute || again["repeated"] == true;
        if !(same_thing && same_events && said) {
            let mutation = wish.mutation;
            return Err(
                format!("{mutation} was answered {first}, and when asked again {again}").into()
            );
        }
        count(&self.shared.journal.again);
        Ok(())
    }

    /// Asks until there is an answer: `data`, and whether an answer may have been lost before.
    async fn insist(&mut self, body: &[u8]) -> Result<(Value, bool), Trouble> {
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
                        return Err(format!("{asked} was answered {answer}").into());
                    }
                    answer.to_string()
                }
                Ok(Err(trouble)) => trouble.to_string(),
                Err(_) => format!("nothing within {PATIENCE:?}"),
            };
            if begun.elapsed() > PERSISTENCE {
                let asked = String::from_utf8_lossy(body);
                return Err(format!("no node answers {asked}; the last one: {why}").into());
            }
            lost = true;
            count(&self.shared.journal.lost);
            self.line = None;
            self.node = (self.node + 1) % self.shared.nodes.len();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn attempt(&mut self, body: &[u8]) -> Result<Value, Trouble> {
        if self.line.is_none() {
            let line = Http::connect(self.shared.nodes[self.node]).await?;
            let token = &self.person.token;
            self.line = Some(if token.is_empty() { line } else { line.with_token(token) });
        }
        let line = self.line.as_mut().ok_or("no connection")?;
        line.post_body(body).await?.json()
    }
}
