//! Expectations of a scenario, compared with the game.

use domain::{Event, Fact, Game, Slug, Stage};

use super::{
    Broken,
    file::Seat,
    yaml::{Node, Value},
};

/// An expected value.
#[derive(Debug)]
pub(super) struct Expectation {
    subject: Subject,
    value: Node,
}

#[derive(Debug)]
enum Subject {
    /// A fact about a seat, by its index in the scenario's list.
    Seat(usize, String),
    ToMove,
    Winner,
    Round,
    DecidedBy,
    Events,
}

/// The state that expectations are compared with.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) game: &'a Game,
    pub(super) seats: &'a [Seat],
    /// The events of the step before.
    pub(super) events: &'a [Event],
}

/// A value that differs from its expectation.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) subject: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Expectation {
    /// Parses the entries of an `expect`.
    pub(super) fn parse(node: &Node, seats: &[&str]) -> Result<Vec<Self>, Broken> {
        let mut expected = Vec::new();
        for (key, value) in node.entries("expect")? {
            if matches!(&value.value, Value::Map(facts) if facts.is_empty()) {
                return Err(value.error(&format!("the expectation of '{key}' is empty")));
            }
            let subject = match key.as_str() {
                "to_move" => Subject::ToMove,
                "winner" => Subject::Winner,
                "round" => Subject::Round,
                "decided_by" => Subject::DecidedBy,
                "events" => Subject::Events,
                name => {
                    let Some(seat) = seats.iter().position(|&seat| seat == name) else {
                        return Err(value.error(&format!(
                            "unknown expectation '{name}'; expected one of: to_move, winner, \
                             round, decided_by, events, {}",
                            seats.join(", ")
                        )));
                    };
                    for (fact, value) in value.entries(name)? {
                        let subject = Subject::Seat(seat, fact);
                        expected.push(Self { subject, value: value.clone() });
                    }
                    continue;
                }
            };
            expected.push(Self { subject, value: value.clone() });
        }
        if expected.is_empty() {
            return Err(node.error("the expectation is empty"));
        }
        Ok(expected)
    }

    /// The difference to the actual value, if any.
    pub(super) fn compare(&self, context: &Context<'_>) -> Result<Option<Difference>, Broken> {
        let found = self.actual(context)?;
        let same = match (&self.subject, &self.value.value) {
            (Subject::Events, _) => self.same_events(&found)?,
            (Subject::Winner, _) => found == self.names()?,
            (Subject::ToMove, Value::Number(_)) => found.value == text(&self.value.text("a name")?),
            _ => includes(&found, &self.value),
        };
        Ok((!same).then(|| Difference {
            subject: self.subject.label(context.seats),
            expected: show(&self.value),
            found: show(&found),
        }))
    }

    /// A list of names; a single name need not be a list, and null is an empty list.
    fn names(&self) -> Result<Node, Broken> {
        let nodes = match &self.value.value {
            Value::List(names) => names.clone(),
            Value::Null => Vec::new(),
            Value::Flag(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
                vec![self.value.clone()]
            }
        };
        let names = nodes
            .iter()
            .map(|name| Ok(Node { line: name.line, value: text(&name.text("a name")?) }));
        Ok(Node {
            line: self.value.line,
            value: Value::List(names.collect::<Result<_, Broken>>()?),
        })
    }

    /// `Rolled` at the start and `MoneyAwarded` at the end may be omitted.
    fn same_events(&self, found: &Node) -> Result<bool, Broken> {
        let (expected, found) = (self.value.list("events")?, found.list("events")?);
        for name in expected {
            let name = name.text("the name of an event")?;
            if !Event::NAMES.contains(&name.as_str()) {
                let known = Event::NAMES.join(", ");
                return Err(self
                    .value
                    .error(&format!("there is no event '{name}'; the events are: {known}")));
            }
        }
        let rolled = usize::from(found.first().is_some_and(|event| event.value == text("Rolled")));
        let paid =
            found.iter().rev().take_while(|event| event.value == text("MoneyAwarded")).count();
        let ends = [found.len(), found.len() - paid];
        Ok(ends.iter().any(|&end| {
            &found[..end] == expected
                || found.get(rolled..end).is_some_and(|found| found == expected)
        }))
    }

    fn actual(&self, context: &Context<'_>) -> Result<Node, Broken> {
        let table = &context.game.table;
        let name = |seat: u8| match context.seats.get(usize::from(seat)) {
            Some(seat) => text(&seat.name),
            None => Value::Null,
        };
        let list = |items: Vec<Value>| {
            Value::List(items.into_iter().map(|value| Node { line: 0, value }).collect())
        };
        let outcome = match &table.stage {
            Stage::Ended(outcome) => Some(outcome),
            Stage::Gathering | Stage::Playing => None,
        };
        let value = match &self.subject {
            Subject::Seat(seat, fact) => self.fact(context, *seat, fact)?,
            Subject::ToMove => context.game.to_move().map_or(Value::Null, name),
            Subject::Winner => list(
                outcome.map_or_else(Vec::new, |o| o.winners.iter().map(|&s| name(s)).collect()),
            ),
            Subject::Round => Value::Number(table.turn.round.into()),
            Subject::DecidedBy => outcome.map_or(Value::Null, |outcome| {
                let by = serde_json::to_value(outcome.by).unwrap_or_default();
                text(by.as_str().unwrap_or_default())
            }),
            Subject::Events => {
                let events = context.events.iter().filter(|event| !event.is_lifecycle());
                list(events.map(|event| text(event.name())).collect())
            }
        };
        Ok(Node { line: 0, value })
    }

    fn fact(&self, context: &Context<'_>, seat: usize, fact: &str) -> Result<Value, Broken> {
        let facts = context.game.facts(u8::try_from(seat).unwrap_or(u8::MAX));
        let found = facts.iter().find(|(name, _)| *name == fact);
        match found {
            // The game knows the money earned in it, the scenario the money before it.
            Some(("money", Fact::Number(earned))) => {
                Ok(Value::Number(context.seats[seat].money.saturating_add(*earned)))
            }
            Some((_, fact)) => Ok(value(fact)),
            None => {
                let known: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
                Err(self.value.error(&format!(
                    "a seat has no '{fact}' in this game; it has: {}",
                    known.join(", ")
                )))
            }
        }
    }
}

impl Subject {
    fn label(&self, seats: &[Seat]) -> String {
        match self {
            Self::Seat(seat, fact) => format!("{}.{fact}", seats[*seat].name),
            Self::ToMove => "to_move".to_owned(),
            Self::Winner => "winner".to_owned(),
            Self::Round => "round".to_owned(),
            Self::DecidedBy => "decided_by".to_owned(),
            Self::Events => "events".to_owned(),
        }
    }
}

/// A fact as a value of a scenario.
fn value(fact: &Fact) -> Value {
    let node = |fact: &Fact| Node { line: 0, value: value(fact) };
    match fact {
        Fact::Number(number) | Fact::Money(number) => Value::Number(*number),
        Fact::Flag(flag) => Value::Flag(*flag),
        Fact::Text(fact) => text(fact),
        Fact::Slug(word) => text(word.as_str()),
        Fact::List(facts) => Value::List(facts.iter().map(node).collect()),
        Fact::Map(facts) => {
            let name = |word: &Slug| Node { line: 0, value: text(word.as_str()) };
            Value::Map(facts.iter().map(|(word, fact)| (name(word), node(fact))).collect())
        }
    }
}

/// Whether the found value matches the expected one. Of a map, only the expected keys are compared.
fn includes(found: &Node, expected: &Node) -> bool {
    match (&found.value, &expected.value) {
        (Value::Map(found), Value::Map(expected)) => expected.iter().all(|(name, expected)| {
            // `null` matches a missing key.
            let entry = found.iter().find(|(known, _)| known == name);
            entry.map_or(expected.value == Value::Null, |(_, found)| includes(found, expected))
        }),
        _ => found == expected,
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn show(node: &Node) -> String {
    match &node.value {
        Value::Null => "nobody".to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Value::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", show(key), show(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
