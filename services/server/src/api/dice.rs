//! Kinds of dice.

use async_graphql::{ComplexObject, Context, SimpleObject};
use domain::special_dice::{Catalogue, DieKind};

use super::{
    dates::dates,
    die_effect::DieEffect,
    enums::{DieCategory, DieTier},
    scalars::{DateTime, DieCode, int},
};
use crate::wallets::CATALOGUE;

/// A kind of die.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "DieKind", complex)]
pub(super) struct DieKindView {
    /// The code in loadouts and events.
    code: DieCode,
    /// The display name.
    name: String,
    /// The category of its effect.
    category: DieCategory,
    /// The tier: how strong it is.
    tier: DieTier,
    /// The colour, as `#rrggbb`.
    colour: String,
    /// The name of the colour: `red`, `orange` …
    colour_name: &'static str,
    /// The price in dollars.
    price: i32,
    /// The description in the shop.
    description: String,
    /// What the die does, with its numbers, as a tooltip.
    tooltip: String,
    /// The effect as data.
    effect: DieEffect,
    /// The faces of its six sides.
    faces: Vec<i32>,
    /// Whether it is retired: it cannot be bought or played any more.
    retired: bool,
}

/// Dates from the log.
#[ComplexObject]
impl DieKindView {
    /// When it was added to the catalogue. Null for the initial dice.
    async fn added_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(dates(ctx, CATALOGUE, &self.code.0).await?.and_then(|dates| dates.first))
    }

    /// When it was last added or changed. Null if it never was.
    async fn changed_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(dates(ctx, CATALOGUE, &self.code.0).await?.map(|dates| dates.last))
    }
}

impl From<&DieKind> for DieKindView {
    fn from(die: &DieKind) -> Self {
        Self {
            code: die.code.into(),
            name: die.name.clone(),
            category: die.category.into(),
            tier: die.tier.into(),
            colour: die.colour.clone(),
            colour_name: die.colour_name(),
            price: int(die.price),
            description: die.description.clone(),
            tooltip: die.text(),
            effect: (&die.effect).into(),
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
