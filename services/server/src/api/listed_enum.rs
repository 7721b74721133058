//! GraphQL enums whose values the domain lists: a new game or rejection appears in the schema
//! automatically.

use std::borrow::Cow;

use async_graphql::{
    InputType, InputValueError, InputValueResult, Name, OutputType, Value, registry,
};

/// A value of such an enum.
pub(super) trait Listed: Copy + Send + Sync + Sized + 'static {
    /// The name of the enum.
    const TYPE: &'static str;
    /// The description of the enum.
    const DESCRIPTION: &'static str;

    /// All values.
    fn all() -> Vec<Self>;

    /// The name of a value: `NOT_YOUR_TURN`.
    fn name(self) -> Cow<'static, str>;

    /// The description of a value.
    fn description(self) -> String;
}

pub(super) fn register<T: Listed + OutputType>(registry: &mut registry::Registry) -> String {
    registry.create_output_type::<T, _>(registry::MetaTypeId::Enum, |_| meta::<T>())
}

pub(super) fn register_input<T: Listed + InputType>(registry: &mut registry::Registry) -> String {
    registry.create_input_type::<T, _>(registry::MetaTypeId::Enum, |_| meta::<T>())
}

fn meta<T: Listed>() -> registry::MetaType {
    let value = |value: T| {
        let name = value.name().into_owned();
        let meta = registry::MetaEnumValue {
            name: name.clone(),
            description: Some(value.description()),
            deprecation: registry::Deprecation::NoDeprecated,
            visible: None,
            inaccessible: false,
            tags: Vec::new(),
            directive_invocations: Vec::new(),
        };
        (name, meta)
    };
    registry::MetaType::Enum {
        name: T::TYPE.to_owned(),
        description: Some(T::DESCRIPTION.to_owned()),
        enum_values: T::all().into_iter().map(value).collect(),
        visible: None,
        inaccessible: false,
        tags: Vec::new(),
        rust_typename: Some(std::any::type_name::<T>()),
        directive_invocations: Vec::new(),
        requires_scopes: Vec::new(),
    }
}

pub(super) fn parse<T: Listed + InputType>(value: Option<Value>) -> InputValueResult<T> {
    let value = value.unwrap_or_default();
    // Variables come as JSON, which has no enums.
    let name = if let Value::Enum(name) = &value {
        name.as_str()
    } else if let Value::String(name) = &value {
        name.as_str()
    } else {
        return Err(InputValueError::expected_type(value));
    };
    let found = T::all().into_iter().find(|value| value.name() == name);
    found.ok_or_else(|| {
        let all: Vec<_> = T::all().into_iter().map(T::name).collect();
        InputValueError::custom(format!("'{name}' is not one of {}", all.join(", ")))
    })
}

pub(super) fn value<T: Listed>(value: T) -> Value {
    Value::Enum(Name::new(value.name()))
}

/// Makes a listed type a GraphQL enum, for input and output.
macro_rules! listed_enum {
    ($type:ty) => {
        impl async_graphql::InputType for $type {
            type RawValueType = Self;

            fn type_name() -> std::borrow::Cow<'static, str> {
                <Self as $crate::api::listed_enum::Listed>::TYPE.into()
            }

            fn create_type_info(registry: &mut async_graphql::registry::Registry) -> String {
                $crate::api::listed_enum::register_input::<Self>(registry)
            }

            fn parse(value: Option<async_graphql::Value>) -> async_graphql::InputValueResult<Self> {
                $crate::api::listed_enum::parse(value)
            }

            fn to_value(&self) -> async_graphql::Value {
                $crate::api::listed_enum::value(*self)
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }
        }

        $crate::api::listed_enum::listed_output!($type);
    };
}

/// Makes a listed type a GraphQL enum, for output only.
macro_rules! listed_output {
    ($type:ty) => {
        impl async_graphql::OutputType for $type {
            fn type_name() -> std::borrow::Cow<'static, str> {
                <Self as $crate::api::listed_enum::Listed>::TYPE.into()
            }

            fn create_type_info(registry: &mut async_graphql::registry::Registry) -> String {
                $crate::api::listed_enum::register::<Self>(registry)
            }

            async fn resolve(
                &self,
                _: &async_graphql::ContextSelectionSet<'_>,
                _: &async_graphql::Positioned<async_graphql::parser::types::Field>,
            ) -> async_graphql::ServerResult<async_graphql::Value> {
                Ok($crate::api::listed_enum::value(*self))
            }
        }
    };
}

pub(super) use {listed_enum, listed_output};
