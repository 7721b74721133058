//! The shape of a request: validation depends on the types of variables, not on their values, so
//! requests of the same shape are validated once.

use std::hash::{BuildHasher, Hash, Hasher};

use async_graphql::{
    Variables,
    parser::types::{BaseType, OperationDefinition},
};
use async_graphql_value::ConstValue;

use super::inputs::{Input, Inputs};

/// Hash of the operation and the types of its variables; `None` if validation depends on a value.
pub(super) fn shape(
    inputs: &Inputs,
    operation: &OperationDefinition,
    name: Option<&str>,
    variables: &Variables,
) -> Option<u64> {
    let mut hasher = inputs.hashes().build_hasher();
    name.hash(&mut hasher);
    for definition in &operation.variable_definitions {
        let value = variables.get(&definition.node.name.node);
        hash_value(inputs, &definition.node.var_type.node.base, value, &mut hasher)?;
    }
    Some(hasher.finish())
}

fn hash_value(
    inputs: &Inputs,
    declared: &BaseType,
    value: Option<&ConstValue>,
    hasher: &mut impl Hasher,
) -> Option<()> {
    match (declared, value) {
        (_, None) => 0.hash(hasher),
        (_, Some(ConstValue::Null)) => 1.hash(hasher),
        (BaseType::Named(name), Some(value)) => match (inputs.get(name), value) {
            (Some(Input::Object(fields)), ConstValue::Object(given)) => {
                given.len().hash(hasher);
                for (field, value) in given {
                    field.hash(hasher);
                    hash_value(inputs, fields.get(field.as_str())?, Some(value), hasher)?;
                }
            }
            (Some(Input::Enum), ConstValue::String(value)) => value.hash(hasher),
            (Some(_), _) => return None,
            (None, value) => scalar(name, value)?.hash(hasher),
        },
        (BaseType::List(items), Some(ConstValue::List(values))) => {
            // Lists of scalars have the same shape at any length; other lists are not cached.
            let BaseType::Named(name) = &items.base else { return None };
            if inputs.get(name).is_some() {
                return None;
            }
            let same = |value: &ConstValue| scalar(name, value).is_some();
            values.iter().all(same).then(|| 5.hash(hasher))?;
        }
        (BaseType::List(_), Some(_)) => return None,
    }
    Some(())
}

/// The kind of a scalar value; `None` if the value itself may be invalid.
fn scalar(declared: &str, value: &ConstValue) -> Option<u8> {
    match (declared, value) {
        ("ID" | "String", ConstValue::String(_)) => Some(2),
        ("Int", ConstValue::Number(number)) => {
            number.as_i64().filter(|&number| i32::try_from(number).is_ok()).map(|_| 3)
        }
        ("Boolean", ConstValue::Boolean(_)) => Some(4),
        // Custom scalars written as strings are checked when they are parsed, not by validation.
        ("UUID" | "DieCode" | "ItemCode" | "PresetName", ConstValue::String(_)) => Some(6),
        _ => None,
    }
}
