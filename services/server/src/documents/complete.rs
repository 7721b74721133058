//! Error propagation: a failed field becomes null, or its nearest nullable ancestor. The library
//! omits the field instead.

use std::collections::HashMap;

use async_graphql::{
    PathSegment, Response,
    parser::{
        parse_schema,
        types::{
            BaseType, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
            SelectionSet, Type, TypeKind, TypeSystemDefinition,
        },
    },
};
use async_graphql_value::ConstValue;

/// The types of all fields of the schema, by parent type and name.
#[derive(Debug, Default)]
pub(crate) struct Outputs(HashMap<String, HashMap<String, Type>>);

impl Outputs {
    /// Parses the SDL of the schema.
    pub(crate) fn of(schema: &str) -> Self {
        let Ok(document) = parse_schema(schema) else { return Self::default() };
        let definitions = document.definitions.into_iter().filter_map(|definition| {
            let TypeSystemDefinition::Type(definition) = definition else { return None };
            let name = definition.node.name.node.to_string();
            let fields = if let TypeKind::Object(object) = definition.node.kind {
                object.fields
            } else if let TypeKind::Interface(interface) = definition.node.kind {
                interface.fields
            } else {
                return None;
            };
            let fields = fields.into_iter();
            let fields = fields.map(|field| (field.node.name.node.to_string(), field.node.ty.node));
            Some((name, fields.collect()))
        });
        Self(definitions.collect())
    }

    fn of_field(&self, parent: &str, field: &str) -> Option<&Type> {
        self.0.get(parent)?.get(field)
    }
}

/// Sets the nearest nullable ancestor of each error to null.
pub(super) fn complete(
    outputs: &Outputs,
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    response: &mut Response,
) {
    let paths: Vec<Vec<PathSegment>> =
        response.errors.iter().map(|error| error.path.clone()).collect();
    for path in paths.iter().filter(|path| !path.is_empty()) {
        if let Some(nullable) = nullable_prefix(outputs, document, operation, path) {
            set_null(&mut response.data, &path[..nullable]);
        }
    }
}

/// The length of the prefix of a path that leads to its deepest nullable value; 0 is `data` itself.
fn nullable_prefix(
    outputs: &Outputs,
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    path: &[PathSegment],
) -> Option<usize> {
    let root = match operation.ty {
        OperationType::Query => "Query",
        OperationType::Mutation => "Mutation",
        OperationType::Subscription => "Subscription",
    };
    let mut base = BaseType::Named(async_graphql::Name::new(root));
    let mut sets = vec![&operation.selection_set.node];
    let mut found = 0;
    for (index, segment) in path.iter().enumerate() {
        let next = match (segment, &base) {
            (PathSegment::Field(key), BaseType::Named(parent)) => {
                let mut fields = Vec::new();
                for set in &sets {
                    collect(document, set, parent, key, &mut fields);
                }
                let mut types =
                    fields.iter().filter_map(|(of, field)| outputs.of_field(of, &field.name.node));
                let next = types.next()?.clone();
                sets = fields.iter().map(|(_, field)| &field.selection_set.node).collect();
                next
            }
            (PathSegment::Index(_), BaseType::List(item)) => (**item).clone(),
            _ => return None,
        };
        if next.nullable {
            found = index + 1;
        }
        base = next.base;
    }
    Some(found)
}

/// Collects the fields of a selection with this response key, and their parent types.
fn collect<'a>(
    document: &'a ExecutableDocument,
    set: &'a SelectionSet,
    parent: &str,
    key: &str,
    found: &mut Vec<(String, &'a Field)>,
) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(field) => {
                if field.node.response_key().node == key {
                    found.push((parent.to_owned(), &field.node));
                }
            }
            Selection::InlineFragment(inline) => {
                let of = inline.node.type_condition.as_ref();
                let of = of.map_or(parent, |condition| condition.node.on.node.as_str());
                collect(document, &inline.node.selection_set.node, of, key, found);
            }
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                    let of = fragment.node.type_condition.node.on.node.as_str();
                    collect(document, &fragment.node.selection_set.node, of, key, found);
                }
            }
        }
    }
}

fn set_null(value: &mut ConstValue, path: &[PathSegment]) {
    match (path, value) {
        ([], value) => *value = ConstValue::Null,
        ([PathSegment::Field(key)], ConstValue::Object(fields)) => {
            fields.insert(async_graphql::Name::new(key), ConstValue::Null);
        }
        ([PathSegment::Field(key), rest @ ..], ConstValue::Object(fields)) => {
            if let Some(value) = fields.get_mut(key.as_str()) {
                set_null(value, rest);
            }
        }
        ([PathSegment::Index(index), rest @ ..], ConstValue::List(items)) => {
            if let Some(value) = items.get_mut(*index) {
                set_null(value, rest);
            }
        }
        // An ancestor is already null.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::{ServerError, parser::parse_query};
    use async_graphql_value::from_value;
    use serde_json::{Value, json};

    use super::*;

    const SCHEMA: &str = "
type Query { game: Game, must: Game!, all: [Game!]!, some: [Game] }
interface Named { name: String! }
type Game implements Named { name: String!, nick: String, seats: [Seat!]! }
type Seat { score: Int!, player: Game }";

    /// Checks the data of a response in which the field at this path failed and is missing.
    #[track_caller]
    fn check(query: &str, data: Value, path: &[&str], expected: Value) {
        let document = parse_query(query).unwrap();
        let (_, operation) = document.operations.iter().next().unwrap();
        let mut error = ServerError::new("it failed", None);
        error.path = path
            .iter()
            .map(|part| match part.parse() {
                Ok(index) => PathSegment::Index(index),
                Err(_) => PathSegment::Field((*part).to_owned()),
            })
            .collect();
        let mut response = Response::new(ConstValue::from_json(data).unwrap());
        response.errors.push(error);
        complete(&Outputs::of(SCHEMA), &document, &operation.node, &mut response);
        assert_eq!(from_value::<Value>(response.data).unwrap(), expected);
    }

    #[test]
    fn a_failed_field_or_its_nullable_ancestor_is_null() {
        check(
            "{ game { nick } }",
            json!({ "game": {} }),
            &["game", "nick"],
            json!({ "game": { "nick": null } }),
        );
        check(
            "{ game { name } }",
            json!({ "game": {} }),
            &["game", "name"],
            json!({ "game": null }),
        );
        check("{ must { name } }", json!({ "must": {} }), &["must", "name"], json!(null));
        let lists = json!({ "all": [{ "seats": [{}, {}] }] });
        check(
            "{ all { seats { score } } }",
            lists.clone(),
            &["all", "0", "seats", "1", "score"],
            json!(null),
        );
        check(
            "{ all { seats { player { name } } } }",
            json!({ "all": [{ "seats": [{ "player": {} }] }] }),
            &["all", "0", "seats", "0", "player", "name"],
            json!({ "all": [{ "seats": [{ "player": null }] }] }),
        );
        check(
            "{ some { name } }",
            json!({ "some": [{}, { "name": "b" }] }),
            &["some", "0", "name"],
            json!({ "some": [null, { "name": "b" }] }),
        );
        // With an alias, in a fragment, on an interface.
        check(
            "{ g: game { ...f } } fragment f on Named { n: name }",
            json!({ "g": {} }),
            &["g", "n"],
            json!({ "g": null }),
        );
        check(
            "{ game { ... on Game { nick } } }",
            json!({ "game": {} }),
            &["game", "nick"],
            json!({ "game": { "nick": null } }),
        );
        check("{ game { nick } }", json!({}), &["game"], json!({ "game": null }));
    }
}
