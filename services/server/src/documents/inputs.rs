//! The input types of the schema.

use std::{collections::HashMap, hash::BuildHasher};

use async_graphql::parser::{
    parse_schema,
    types::{BaseType, TypeKind, TypeSystemDefinition},
};
use quick_cache::DefaultHashBuilder;

#[derive(Debug)]
pub(super) enum Input {
    Enum,
    /// The types of its fields.
    Object(HashMap<String, BaseType, DefaultHashBuilder>),
}

/// The enums and input objects of the schema, by name. All other input types are scalars.
#[derive(Debug, Default)]
pub(crate) struct Inputs(HashMap<String, Input, DefaultHashBuilder>);

impl Inputs {
    /// Parses the SDL of the schema.
    pub(crate) fn of(schema: &str) -> Self {
        let Ok(document) = parse_schema(schema) else { return Self::default() };
        let definitions = document.definitions.into_iter().filter_map(|definition| {
            let TypeSystemDefinition::Type(definition) = definition else { return None };
            let name = definition.node.name.node.to_string();
            let input = if let TypeKind::InputObject(object) = definition.node.kind {
                let fields = object.fields.into_iter();
                let fields =
                    fields.map(|field| (field.node.name.node.to_string(), field.node.ty.node.base));
                Input::Object(fields.collect())
            } else if let TypeKind::Enum(_) = definition.node.kind {
                Input::Enum
            } else {
                return None;
            };
            Some((name, input))
        });
        Self(definitions.collect())
    }

    /// The hasher for everything about requests.
    pub(super) fn hashes(&self) -> &impl BuildHasher {
        self.0.hasher()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Input> {
        self.0.get(name)
    }
}
