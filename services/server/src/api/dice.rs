//! Kinds of dice.

use async_graphql::{ComplexObject, Context, Json, SimpleObject};
use domain::special_dice::{Catalogue, DieKind};
use serde_json::Value;

use super::{
    dates::dates,
    rules::camel,
    scalars::{Instant, int},
};
use crate::wallets::CATALOGUE;

/// A kind of die.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "DieKind", complex)]
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
    /// What that colour is called: `red`, `orange` …
    colour_name: &'static str,
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

/// What the log knows of it.
#[ComplexObject]
impl DieKindView {
    /// When it was added to the catalogue; nothing for those that were always there.
    async fn added_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Instant>> {
        Ok(dates(ctx, CATALOGUE, &self.code).await?.and_then(|dates| dates.first))
    }

    /// When it was last added or changed; nothing if it never was.
    async fn changed_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Instant>> {
        Ok(dates(ctx, CATALOGUE, &self.code).await?.map(|dates| dates.last))
    }
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
            colour_name: die.colour_name(),
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
