//! What a scenario expects, and how it differs from what is.

use domain::{Event, Fact, Game, Stage, Word};

use super::{
    Broken,
    file::Seat,
    yaml::{Node, Value},
};

/// One value that is expected.
#[derive(Debug)]
pub(super) struct Wanted {
    subject: Subject,
    value: Node,
}

#[derive(Debug)]
enum Subject {
    /// A fact about a seat of the scenario's list.
    Seat(usize, String),
    ToMove,
    Winner,
    Round,
    DecidedBy,
    Events,
}

/// What the expectation looks at.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) game: &'a Game,
    pub(super) seats: &'a [Seat],
    /// What the step before appended.
    pub(super) events: &'a [Event],
}

/// A value that is not as expected.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) subject: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Wanted {
    /// The entries of an `expect`.
    pub(super) fn parse(node: &Node, seats: &[&str]) -> Result<Vec<Self>, Broken> {
        let mut wanted = Vec::new();
        for (key, value) in node.entries("expect")? {
            if matches!(&value.value, Value::Map(facts) if facts.is_empty()) {
                return Err(value.is_not(&format!("nothing is expected of '{key}'")));
            }
            let subject = match key.as_str() {
                "to_move" => Subject::ToMove,
                "winner" => Subject::Winner,
                "round" => Subject::Round,
                "decided_by" => Subject::DecidedBy,
                "events" => Subject::Events,
                name => {
                    let Some(seat) = seats.iter().position(|&seat| seat == name) else {
                        return Err(value.is_not(&format!(
                            "'{name}' cannot be expected; there are: to_move, winner, round, \
                             decided_by, events, {}",
                            seats.join(", ")
                        )));
                    };
                    for (fact, value) in value.entries(name)? {
                        let subject = Subject::Seat(seat, fact);
                        wanted.push(Self { subject, value: value.clone() });
                    }
                    continue;
                }
            };
            wanted.push(Self { subject, value: value.clone() });
        }
        if wanted.is_empty() {
            return Err(node.is_not("nothing is expected"));
        }
        Ok(wanted)
    }

    /// How the value differs from what is, if it does.
    pub(super) fn compare(&self, seen: &Seen<'_>) -> Result<Option<Difference>, Broken> {
        let found = self.look(seen)?;
        let same = match (&self.subject, &self.value.value) {
            (Subject::Events, _) => self.same_events(&found)?,
            (Subject::Winner, _) => found == self.names()?,
            (Subject::ToMove, Value::Number(_)) => found.value == text(&self.value.text("a name")?),
            _ => includes(&found, &self.value),
        };
        Ok((!same).then(|| Difference {
            subject: self.subject.label(seen.seats),
            expected: show(&self.value),
            found: show(&found),
        }))
    }

    /// A list of names, where a single one need not be a list and nothing is nobody.
    fn names(&self) -> Result<Node, Broken> {
        let written = match &self.value.value {
            Value::List(names) => names.clone(),
            Value::Null => Vec::new(),
            Value::Flag(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
                vec![self.value.clone()]
            }
        };
        let names = written
            .iter()
            .map(|name| Ok(Node { line: name.line, value: text(&name.text("a name")?) }));
        Ok(Node {
            line: self.value.line,
            value: Value::List(names.collect::<Result<_, Broken>>()?),
        })
    }

    /// The roll itself may be left out behind a step that rolls, and what the end of the game pays.
    fn same_events(&self, found: &Node) -> Result<bool, Broken> {
        let (wanted, found) = (self.value.list("events")?, found.list("events")?);
        for name in wanted {
            let name = name.text("the name of an event")?;
            if !Event::NAMES.contains(&name.as_str()) {
                let known = Event::NAMES.join(", ");
                return Err(self
                    .value
                    .is_not(&format!("no event is called '{name}'; there are: {known}")));
            }
        }
        let rolled = usize::from(found.first().is_some_and(|event| event.value == text("Rolled")));
        let paid =
            found.iter().rev().take_while(|event| event.value == text("MoneyAwarded")).count();
        let ends = [found.len(), found.len() - paid];
        Ok(ends.iter().any(|&end| {
            &found[..end] == wanted || found.get(rolled..end).is_some_and(|found| found == wanted)
        }))
    }

    fn look(&self, seen: &Seen<'_>) -> Result<Node, Broken> {
        let table = &seen.game.table;
        let name = |seat: u8| match seen.seats.get(usize::from(seat)) {
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
            Subject::Seat(seat, fact) => self.fact(seen, *seat, fact)?,
            Subject::ToMove => seen.game.to_move().map_or(Value::Null, name),
            Subject::Winner => list(
                outcome.map_or_else(Vec::new, |o| o.winners.iter().map(|&s| name(s)).collect()),
            ),
            Subject::Round => Value::Number(table.turn.round.into()),
            Subject::DecidedBy => outcome.map_or(Value::Null, |outcome| {
                let by = serde_json::to_value(outcome.by).unwrap_or_default();
                text(by.as_str().unwrap_or_default())
            }),
            Subject::Events => {
                let events = seen.events.iter().filter(|event| !event.is_lifecycle());
                list(events.map(|event| text(event.name())).collect())
            }
        };
        Ok(Node { line: 0, value })
    }

    fn fact(&self, seen: &Seen<'_>, seat: usize, fact: &str) -> Result<Value, Broken> {
        let facts = seen.game.facts(u8::try_from(seat).unwrap_or(u8::MAX));
        let found = facts.iter().find(|(name, _)| *name == fact);
        match found {
            // The game knows what was earned in it, the scenario what was there before.
            Some(("money", Fact::Number(earned))) => {
                Ok(Value::Number(seen.seats[seat].money.saturating_add(*earned)))
            }
            Some((_, fact)) => Ok(value(fact)),
            None => {
                let known: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
                Err(self.value.is_not(&format!(
                    "a seat has no '{fact}' in this game; there are: {}",
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

/// A fact as a scenario would write it.
fn value(fact: &Fact) -> Value {
    let node = |fact: &Fact| Node { line: 0, value: value(fact) };
    match fact {
        Fact::Number(number) | Fact::Money(number) => Value::Number(*number),
        Fact::Flag(flag) => Value::Flag(*flag),
        Fact::Text(fact) => text(fact),
        Fact::Word(word) => text(word.as_str()),
        Fact::List(facts) => Value::List(facts.iter().map(node).collect()),
        Fact::Map(facts) => {
            let name = |word: &Word| Node { line: 0, value: text(word.as_str()) };
            Value::Map(facts.iter().map(|(word, fact)| (name(word), node(fact))).collect())
        }
    }
}

/// Whether what is found is as wanted; of a map only what is named is compared, and `null` is nothing.
fn includes(found: &Node, wanted: &Node) -> bool {
    match (&found.value, &wanted.value) {
        (Value::Map(found), Value::Map(wanted)) => wanted.iter().all(|(name, wanted)| {
            // `null` is what is not there.
            let there = found.iter().find(|(known, _)| known == name);
            there.map_or(wanted.value == Value::Null, |(_, found)| includes(found, wanted))
        }),
        _ => found == wanted,
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
