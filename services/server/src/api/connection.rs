//! Pages by cursor, as Relay describes them.

use async_graphql::SimpleObject;

use super::{
    audit::AuditEntry, dispute::DisputeView, event::GameEvent, game::GameView,
    leaderboard::StandingView, replay::ReplayEntry, wallet::LedgerEntry,
};

/// The largest page.
pub(super) const MOST: usize = 100;
/// The page of somebody who does not say.
pub(super) const USUAL: usize = 20;

/// Where a page stands among the others.
#[derive(Clone, Debug, Default, SimpleObject)]
pub(super) struct PageInfo {
    /// Whether there is a page behind this one.
    has_next_page: bool,
    /// Whether there is a page before this one: there is if this one was asked for with a cursor.
    has_previous_page: bool,
    /// The cursor of the first item.
    start_cursor: Option<String>,
    /// The cursor of the last item: ask for `after` it to get the next page.
    end_cursor: Option<String>,
}

/// A page of a list of one kind of thing.
macro_rules! connection {
    ($connection:ident, $edge:ident, $item:ty) => {
        /// An item and its place.
        #[derive(Clone, Debug, SimpleObject)]
        pub(super) struct $edge {
            /// Its place.
            cursor: String,
            /// The item.
            node: $item,
        }

        /// A page of a list.
        #[derive(Clone, Debug, SimpleObject)]
        pub(super) struct $connection {
            /// The items with their places.
            edges: Vec<$edge>,
            /// The items alone.
            nodes: Vec<$item>,
            /// Where this page stands.
            page_info: PageInfo,
        }

        impl $connection {
            /// A page of these items, of which one may be more than fits.
            pub(super) fn page(
                mut items: Vec<(String, $item)>,
                has_next_page: bool,
                size: usize,
                after: bool,
            ) -> Self {
                items.truncate(size);
                let page_info = PageInfo {
                    has_next_page,
                    has_previous_page: after,
                    start_cursor: items.first().map(|item| item.0.clone()),
                    end_cursor: items.last().map(|item| item.0.clone()),
                };
                let nodes = items.iter().map(|item| item.1.clone()).collect();
                let edges =
                    items.into_iter().map(|(cursor, node)| $edge { cursor, node }).collect();
                Self { edges, nodes, page_info }
            }
        }
    };
}

connection!(GameConnection, GameEdge, GameView);
connection!(GameEventConnection, GameEventEdge, GameEvent);
connection!(StandingConnection, StandingEdge, StandingView);
connection!(LedgerConnection, LedgerEdge, LedgerEntry);
connection!(ReplayEntryConnection, ReplayEntryEdge, ReplayEntry);
connection!(DisputeConnection, DisputeEdge, DisputeView);
connection!(AuditConnection, AuditEdge, AuditEntry);

/// How many items were asked for: 1 to 100.
pub(super) fn page_size(first: Option<i32>) -> async_graphql::Result<usize> {
    let Some(first) = first else { return Ok(USUAL) };
    let size = usize::try_from(first).ok().filter(|size| (1..=MOST).contains(size));
    size.ok_or_else(|| {
        super::errors::bad_input(format!("first must be from 1 to {MOST}, not {first}"))
    })
}
