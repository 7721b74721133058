//! How large the description of the schema is, to measure introspection queries before they run.

use async_graphql::parser::{
    parse_schema,
    types::{TypeKind, TypeSystemDefinition},
};

/// The number of types, and averages of what they have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchemaSize {
    types: u64,
    /// Fields, input fields, values or members of a type, on average.
    members: u64,
    /// Arguments of a field, on average.
    arguments: u64,
}

impl SchemaSize {
    /// Counts the definitions of an SDL.
    pub(crate) fn of(schema: &str) -> Self {
        let Ok(document) = parse_schema(schema) else { return Self::default() };
        let (mut types, mut members, mut fields, mut arguments) = (0, 0, 0, 0);
        for definition in document.definitions {
            let TypeSystemDefinition::Type(definition) = definition else { continue };
            types += 1;
            members += match definition.node.kind {
                TypeKind::Scalar => 0,
                TypeKind::Object(object) => {
                    fields += object.fields.len();
                    let of = |field: &async_graphql::Positioned<
                        async_graphql::parser::types::FieldDefinition,
                    >| field.node.arguments.len();
                    arguments += object.fields.iter().map(of).sum::<usize>();
                    object.fields.len()
                }
                TypeKind::Interface(interface) => interface.fields.len(),
                TypeKind::Union(union) => union.members.len(),
                TypeKind::Enum(values) => values.values.len(),
                TypeKind::InputObject(input) => input.fields.len(),
            };
        }
        let average = |sum: usize, of: usize| (sum.div_ceil(of.max(1))).max(1) as u64;
        Self {
            types: types as u64,
            members: average(members, types),
            arguments: average(arguments, fields),
        }
    }

    /// How many items a field of the description has.
    pub(super) fn times(&self, field: &str) -> u64 {
        match field {
            "types" => self.types,
            // A type has some of these lists, and the others are empty.
            "fields" | "inputFields" | "enumValues" => self.members,
            "possibleTypes" | "interfaces" | "directives" => 2,
            "args" => self.arguments,
            _ => 1,
        }
    }
}
