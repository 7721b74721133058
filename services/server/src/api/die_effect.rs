//! The effects of special dice as data: a kind and its parameters. The domain lists the kinds, so a
//! new one needs no change here.

use std::borrow::Cow;

use async_graphql::{InputObject, SimpleObject};
use domain::{Number, special_dice::effects::Effect};
use serde_json::{Map, Value};

use super::{
    listed_enum::{Listed, listed_enum},
    rules::camel_case,
    scalars::Long,
};

/// A kind of effect, by its name in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DieEffectKind(&'static str);

impl Listed for DieEffectKind {
    const TYPE: &'static str = "DieEffectKind";
    const DESCRIPTION: &'static str =
        "A kind of effect of special dice. `dieEffectKinds` lists their parameters.";

    fn all() -> Vec<Self> {
        Effect::kinds().iter().map(|effect| Self(effect.name())).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.0.to_ascii_uppercase().into()
    }

    fn description(self) -> String {
        format!("`{}` in the catalogue.", self.0)
    }
}

listed_enum!(DieEffectKind);

/// The effect of a special die.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DieEffect {
    /// The kind of effect.
    kind: DieEffectKind,
    /// The parameters.
    parameters: Vec<EffectParameter>,
}

/// A parameter of an effect.
#[derive(Clone, Debug, SimpleObject)]
struct EffectParameter {
    /// The name: `factor`.
    name: String,
    /// The value.
    value: Long,
}

/// A kind of effect, for forms.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DieEffectInfo {
    /// The kind of effect.
    kind: DieEffectKind,
    /// The parameters of the effect.
    parameters: Vec<EffectParameterInfo>,
    /// Whether the effect takes the six faces of the die.
    takes_faces: bool,
}

/// A parameter of an effect, for forms.
#[derive(Clone, Debug, SimpleObject)]
struct EffectParameterInfo {
    /// The name: `factor`.
    name: String,
    /// What it means.
    description: &'static str,
    /// The smallest value.
    min: Long,
    /// The largest value.
    max: Long,
}

/// The effect of a special die.
#[derive(Clone, Debug, InputObject)]
pub(super) struct DieEffectInput {
    /// The kind of effect.
    kind: DieEffectKind,
    /// The parameters, as listed by `dieEffectKinds`.
    parameters: Option<Vec<EffectParameterInput>>,
    /// The six faces of the die, for effects that take them.
    faces: Option<Vec<i32>>,
}

/// A parameter of an effect.
#[derive(Clone, Debug, InputObject)]
struct EffectParameterInput {
    /// The name: `factor`.
    name: String,
    /// The value.
    value: Long,
}

impl From<&Effect> for DieEffect {
    fn from(effect: &Effect) -> Self {
        let parameter = |number: Number| {
            let value = Long(number.value.unwrap_or_default());
            EffectParameter { name: camel_case(number.name), value }
        };
        let parameters = effect.numbers().into_iter().map(parameter).collect();
        Self { kind: DieEffectKind(effect.name()), parameters }
    }
}

impl DieEffectInfo {
    /// All kinds of effects.
    pub(super) fn all() -> Vec<Self> {
        Effect::kinds().iter().map(Self::of).collect()
    }

    fn of(effect: &Effect) -> Self {
        let parameter = |number: Number| EffectParameterInfo {
            name: camel_case(number.name),
            description: number.text,
            min: Long(*number.range.start()),
            max: Long(*number.range.end()),
        };
        Self {
            kind: DieEffectKind(effect.name()),
            parameters: effect.numbers().into_iter().map(parameter).collect(),
            takes_faces: matches!(effect, Effect::Faces(_)),
        }
    }
}

impl DieEffectInput {
    /// The effect as in the catalogue, with camelCase names.
    pub(super) fn json(self) -> Value {
        let mut json = Map::new();
        json.insert("kind".to_owned(), self.kind.0.into());
        for EffectParameterInput { name, value } in self.parameters.unwrap_or_default() {
            json.insert(name, value.0.into());
        }
        if let Some(faces) = self.faces {
            json.insert("faces".to_owned(), faces.into());
        }
        json.into()
    }
}
