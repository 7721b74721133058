//! Legal moves without a preview of points.

use async_graphql::{ComplexObject, SimpleObject};

use crate::api::{games::neon::ExchangeDirection, on_table::Offer, rules::CatalogItem, seat::Seat};

/// A legal move with a fixed label.
macro_rules! plain_move {
    ($(#[$about:meta])* $name:ident, $label:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(in crate::api) struct $name;

        $(#[$about])*
        #[async_graphql::Object]
        impl $name {
            /// Label for a button.
            pub(in crate::api) async fn label(&self) -> String {
                $label.to_owned()
            }
        }
    };
}

plain_move! {
    /// `resolveDice`: applies the effects of the dice.
    LegalResolveDice, "Resolve the dice"
}

plain_move! {
    /// `decideStay`: stays inside after a hit, or yields.
    LegalDecideStay, "Stay or give way"
}

plain_move! {
    /// `renewMarket`: replaces all open cards of the market.
    LegalRenewMarket, "Renew the market"
}

plain_move! {
    /// `endTurn`: ends the turn, or the visit to the shop.
    LegalEndTurn, "End the turn"
}

/// Adds the label to a legal move with fields: a text, optionally with the name of an item.
macro_rules! labelled {
    ($name:ident, $label:literal $(, $($item:ident).+)?) => {
        #[ComplexObject]
        impl $name {
            /// Label for a button.
            pub(in crate::api) async fn label(&self) -> String {
                format!($label $(, self.$($item).+)?)
            }
        }
    };
}

/// `attack`: attacks with the swords among the dice.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalAttack {
    /// The seats that can be attacked. Empty if `targetSeat` is not needed.
    pub(super) targets: Vec<Seat>,
}

labelled!(LegalAttack, "Attack");

/// `useAbility: { convertHearts }`: converts unused hearts into energy.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalConvertHearts {
    /// The maximum number of hearts.
    pub(super) max: i32,
}

labelled!(LegalConvertHearts, "Convert hearts");

/// `useAbility: { copyDie }`: copies the face of one die onto another.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalCopyDie {
    /// The slots of the dice that can be copied.
    from_slots: Vec<i32>,
    /// The slots of the dice that can be changed.
    to_slots: Vec<i32>,
}

labelled!(LegalCopyDie, "Copy a die");

impl LegalCopyDie {
    pub(super) fn add(&mut self, from: u8, to: u8) {
        for (slots, slot) in [(&mut self.from_slots, from), (&mut self.to_slots, to)] {
            if !slots.contains(&slot.into()) {
                slots.push(slot.into());
            }
        }
    }
}

/// `useAbility: { exchange }`: exchanges energy and health.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalExchange {
    /// The possible directions.
    pub(super) directions: Vec<ExchangeDirection>,
}

labelled!(LegalExchange, "Exchange energy and health");

/// `useAbility: { storeDie }`: stores the face of a die.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalStoreDie {
    /// The slots of the dice that can be stored.
    pub(super) slots: Vec<i32>,
}

labelled!(LegalStoreDie, "Store a die");

/// `useAbility: { placeStored }`: replaces the face of a die with the stored one.
#[derive(Clone, Debug, Default, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalPlaceStored {
    /// The slots of the dice that can be replaced.
    pub(super) slots: Vec<i32>,
}

labelled!(LegalPlaceStored, "Place the stored die");

/// `buyItem`: buys an offer.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalBuyItem {
    /// The offer.
    pub(super) offer: Offer,
    /// The seats that can be targeted. Empty if `targetSeat` is not needed.
    pub(super) targets: Vec<Seat>,
}

labelled!(LegalBuyItem, "Buy {}", offer.item.name);

/// `useItem`: uses a consumable.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalUseItem {
    /// The consumable.
    pub(super) item: CatalogItem,
}

labelled!(LegalUseItem, "Use {}", item.name);

/// `takeEvolution`: takes an unlocked evolution.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalTakeEvolution {
    /// The evolution.
    pub(super) item: CatalogItem,
}

labelled!(LegalTakeEvolution, "Take {}", item.name);

/// `written`: a move that has no type of its own yet.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(in crate::api) struct LegalWritten {
    /// The move as in records: send it as it is.
    pub(super) text: String,
}

labelled!(LegalWritten, "{}", text);
