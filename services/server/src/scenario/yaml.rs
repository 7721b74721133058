//! The subset of YAML that scenarios need, with line numbers.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};

use super::Broken;

/// A value and its line.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Ignores lines.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

pub(super) fn documents(text: &str) -> Result<Vec<Node>, Broken> {
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| Broken::at(error.marker().line(), error.info()))?;
    documents.iter().map(node).collect()
}

fn node(yaml: &MarkedYaml<'_>) -> Result<Node, Broken> {
    let line = yaml.span.start.line();
    let value = match &yaml.data {
        YamlData::Value(Scalar::Null) => Value::Null,
        YamlData::Value(Scalar::Boolean(flag)) => Value::Flag(*flag),
        YamlData::Value(Scalar::Integer(number)) => Value::Number(*number),
        YamlData::Value(Scalar::String(text)) => Value::Text(text.to_string()),
        YamlData::Sequence(items) => Value::List(items.iter().map(node).collect::<Result<_, _>>()?),
        YamlData::Mapping(map) => Value::Map(
            map.iter()
                .map(|(key, value)| Ok((node(key)?, node(value)?)))
                .collect::<Result<_, Broken>>()?,
        ),
        YamlData::Value(Scalar::FloatingPoint(_))
        | YamlData::Representation(..)
        | YamlData::Tagged(..)
        | YamlData::Alias(_)
        | YamlData::BadValue => {
            return Err(Broken::at(
                line,
                "only integers, strings, booleans, lists and maps are supported",
            ));
        }
    };
    Ok(Node { line, value })
}

impl Node {
    pub(super) fn text(&self, what: &str) -> Result<String, Broken> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Null | Value::Flag(_) | Value::List(_) | Value::Map(_) => {
                Err(self.error(&format!("{what} must be a string")))
            }
        }
    }

    pub(super) fn list(&self, what: &str) -> Result<&[Node], Broken> {
        let Value::List(items) = &self.value else {
            return Err(self.error(&format!("{what} must be a list")));
        };
        Ok(items)
    }

    /// The entries of a map.
    pub(super) fn entries(&self, what: &str) -> Result<Vec<(String, &Node)>, Broken> {
        let Value::Map(entries) = &self.value else {
            return Err(self.error(&format!("{what} must be a map")));
        };
        entries.iter().map(|(key, value)| Ok((key.text("a key")?, value))).collect()
    }

    pub(super) fn error(&self, problem: &str) -> Broken {
        Broken::at(self.line, problem)
    }

    /// Converts to JSON, for parameters of rules.
    pub(super) fn to_json(&self) -> Result<serde_json::Value, Broken> {
        Ok(match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Flag(flag) => (*flag).into(),
            Value::Number(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => {
                items.iter().map(Self::to_json).collect::<Result<Vec<_>, _>>()?.into()
            }
            Value::Map(_) => serde_json::Value::Object(self.to_json_map()?),
        })
    }

    pub(super) fn to_json_map(&self) -> Result<serde_json::Map<String, serde_json::Value>, Broken> {
        let entries = self.entries("rules")?;
        entries.into_iter().map(|(key, value)| Ok((key, value.to_json()?))).collect()
    }
}
