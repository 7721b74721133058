//! Relay connections: pages by cursor, forward with `first` and `after`, backward with `last` and
//! `before`.

use async_graphql::{Context, SimpleObject};

use super::{
    audit::AuditEntry, dispute::DisputeView, errors::bad_input, events::GameEvent, game::GameView,
    leaderboard::StandingView, replay::ReplayEntry, scalars::int, wallet::LedgerEntry,
};

/// The largest page.
const MAX_SIZE: usize = 100;
/// The default page size.
const DEFAULT_SIZE: usize = 20;

/// The four arguments of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct PageArguments {
    pub(super) first: Option<i32>,
    pub(super) after: Option<String>,
    pub(super) last: Option<i32>,
    pub(super) before: Option<String>,
}

/// The requested page.
#[derive(Clone, Debug)]
pub(super) struct PageRequest {
    pub(super) size: usize,
    /// The page starts after this item, or ends before it when paging backward.
    pub(super) cursor: Option<String>,
    pub(super) backward: bool,
    /// Whether the client asks for `totalCount`.
    pub(super) counts: bool,
}

impl PageArguments {
    pub(super) fn request(self, ctx: &Context<'_>) -> async_graphql::Result<PageRequest> {
        self.request_up_to(ctx, MAX_SIZE)
    }

    /// The requested page, of at most `max_size` items.
    pub(super) fn request_up_to(
        self,
        ctx: &Context<'_>,
        max_size: usize,
    ) -> async_graphql::Result<PageRequest> {
        let forward = self.first.is_some() || self.after.is_some();
        let backward = self.last.is_some() || self.before.is_some();
        if forward && backward {
            return Err(bad_input(
                "page forward with first and after, or backward with last and before, not both",
            ));
        }
        let (name, size) = if backward { ("last", self.last) } else { ("first", self.first) };
        let size = match size {
            None => DEFAULT_SIZE,
            Some(size) => {
                let valid = usize::try_from(size).ok().filter(|n| (1..=max_size).contains(n));
                let wrong =
                    || bad_input(format!("{name} must be from 1 to {max_size}, not {size}"));
                valid.ok_or_else(wrong)?
            }
        };
        let counts = ctx.look_ahead().field("totalCount").exists();
        let cursor = if backward { self.before } else { self.after };
        Ok(PageRequest { size, cursor, backward, counts })
    }
}

impl PageRequest {
    /// One item more than the page size, to see whether there is another page.
    pub(super) fn limit(&self) -> i64 {
        i64::try_from(self.size + 1).unwrap_or(i64::MAX)
    }

    /// The cursor, parsed by this function.
    pub(super) fn position<T>(
        &self,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> async_graphql::Result<Option<T>> {
        let argument = if self.backward { "before" } else { "after" };
        let wrong = || bad_input(format!("{argument} must be a cursor of this list"));
        let position = |cursor| read(cursor).ok_or_else(wrong);
        self.cursor.as_deref().map(position).transpose()
    }

    /// The SQL comparison and order that continue from the cursor in a list sorted this way.
    pub(super) fn direction(&self, descending: bool) -> (&'static str, &'static str) {
        if self.backward == descending { (">", "ASC") } else { ("<", "DESC") }
    }

    /// The items that were read, at most [`PageRequest::limit`] of them, in the order of the list;
    /// and whether there are more in the direction of reading.
    pub(super) fn trim<T>(&self, mut items: Vec<T>) -> (Vec<T>, bool) {
        let more = items.len() > self.size;
        items.truncate(self.size);
        if self.backward {
            items.reverse();
        }
        (items, more)
    }
}

/// The position of a page in its list.
#[derive(Clone, Debug, Default, SimpleObject)]
pub(super) struct PageInfo {
    /// Whether there are items after this page. When paging backward: whether `before` was given.
    has_next_page: bool,
    /// Whether there are items before this page. When paging forward: whether `after` was given.
    has_previous_page: bool,
    /// The cursor of the first item: pass it as `before` to get the previous page.
    start_cursor: Option<String>,
    /// The cursor of the last item: pass it as `after` to get the next page.
    end_cursor: Option<String>,
}

/// A connection of one type of node.
macro_rules! connection {
    ($connection:ident, $edge:ident, $item:ty) => {
        /// An edge.
        #[derive(Clone, Debug, SimpleObject)]
        pub(super) struct $edge {
            /// Opaque cursor.
            cursor: String,
            /// The node.
            node: $item,
        }

        /// A page of a list.
        #[derive(Clone, Debug, SimpleObject)]
        pub(super) struct $connection {
            /// The edges.
            edges: Vec<$edge>,
            /// The nodes, without cursors.
            nodes: Vec<$item>,
            /// The position of the page in the list.
            page_info: PageInfo,
            /// The number of items in the whole list.
            total_count: i32,
        }

        impl $connection {
            /// A page of these items with their cursors; `more` says whether there are others in
            /// the direction of reading.
            pub(super) fn page(
                request: &PageRequest,
                items: Vec<(String, $item)>,
                more: bool,
                total: i64,
            ) -> Self {
                let continued = request.cursor.is_some();
                let page_info = PageInfo {
                    has_next_page: if request.backward { continued } else { more },
                    has_previous_page: if request.backward { more } else { continued },
                    start_cursor: items.first().map(|item| item.0.clone()),
                    end_cursor: items.last().map(|item| item.0.clone()),
                };
                let nodes = items.iter().map(|item| item.1.clone()).collect();
                let edges =
                    items.into_iter().map(|(cursor, node)| $edge { cursor, node }).collect();
                Self { edges, nodes, page_info, total_count: int(total) }
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
