//! What the schema says of a document does not depend on the values of its variables, only on their types.

use std::hash::{DefaultHasher, Hash, Hasher};

use async_graphql::{
    Variables,
    parser::types::{BaseType, OperationDefinition},
};
use async_graphql_value::ConstValue;

/// The operation and the types of its variables' values; `None` where a value itself must be looked at.
pub(super) fn shape(
    operation: &OperationDefinition,
    name: Option<&str>,
    variables: &Variables,
) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    for definition in &operation.variable_definitions {
        let value = variables.get(&definition.node.name.node);
        shape_of(&definition.node.var_type.node.base, value)?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

fn shape_of(declared: &BaseType, value: Option<&ConstValue>) -> Option<u8> {
    match (declared, value) {
        (_, None) => Some(0),
        (_, Some(ConstValue::Null)) => Some(1),
        (BaseType::Named(name), Some(value)) => match (name.as_str(), value) {
            ("ID" | "String", ConstValue::String(_)) => Some(2),
            ("Int", ConstValue::Number(number)) => {
                number.as_i64().filter(|&number| i32::try_from(number).is_ok()).map(|_| 3)
            }
            ("Boolean", ConstValue::Boolean(_)) => Some(4),
            _ => None,
        },
        (BaseType::List(items), Some(ConstValue::List(values))) => {
            let same = |value| shape_of(&items.base, Some(value)).filter(|&shape| shape > 1);
            values.iter().all(|value| same(value).is_some()).then_some(5)
        }
        (BaseType::List(_), Some(_)) => None,
    }
}
