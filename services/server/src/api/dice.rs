//! Kinds of dice.

use async_graphql::{Json, SimpleObject};
use domain::special_dice::{Catalogue, DieKind};
use serde_json::Value;

use super::{rules::camel, scalars::int};

/// A kind of die.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "DieKind")]
pub(super) struct DieKindView {
    /// Its code in loadouts and events.
    code: String,
    /// Its name for people.
    name: String,
    /// What it is good for: `farkle_lovers`, `farkle_protection`, `face_changers` or `score_boosters`.
    category: &'static str,
    /// How strong it is: `simple`, `better` or `amazing`.
    tier: &'static str,
    /// Its colour, `#rrggbb`.
    colour: String,
    /// What it costs, in dollars.
    price: i32,
    /// What the shop says about it.
    description: String,
    /// What it does, with the numbers it does it with: a tooltip.
    text: String,
    /// What it does, as data: its kind and parameters.
    effect: Json<Value>,
    /// What its sides show.
    faces: Vec<i32>,
    /// Whether it is neither sold nor played any more.
    retired: bool,
}

impl From<&DieKind> for DieKindView {
    fn from(die: &DieKind) -> Self {
        let effect = serde_json::to_value(&die.effect).unwrap_or_default();
        Self {
            code: die.code.to_string(),
            name: die.name.clone(),
            category: die.category.name(),
            tier: die.tier.name(),
            colour: die.colour.clone(),
            price: int(die.price),
            description: die.description.clone(),
            text: die.text(),
            effect: Json(camel(&effect)),
            faces: die.faces().map(i32::from).to_vec(),
            retired: die.retired,
        }
    }
}

impl DieKindView {
    pub(super) fn is_for_sale(&self) -> bool {
        !self.retired
    }
}

pub(super) fn views(catalogue: &Catalogue) -> Vec<DieKindView> {
    catalogue.dice.iter().map(Into::into).collect()
}
