//! The cost of a document. Fragments are measured once and never expanded.
//!
//! A page counts as often as its size says, whether the size is a number, a variable or the
//! default of a variable. Introspection counts with the sizes of our schema.

use std::{cell::Cell, collections::HashMap};

use async_graphql::{
    Name, Variables,
    parser::types::{
        ExecutableDocument, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
    },
};
use async_graphql_value::{ConstValue, Value};

use super::introspection::SchemaSize;

/// Depth and cost of a part of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) depth: u32,
    pub(super) cost: u64,
    pub(super) sign_ins: u32,
    pub(super) guests: u32,
}

impl Size {
    /// A spread of an unknown fragment: validation rejects it later, so it must not be free.
    const UNKNOWN: Self = Self { depth: 0, cost: 1, sign_ins: 0, guests: 0 };
    /// A cycle of fragments: it exceeds every limit.
    const CYCLE: Self = Self { depth: u32::MAX, cost: u64::MAX, sign_ins: 0, guests: 0 };
}

/// How many fields of the schema's description cost one point.
const INTROSPECTED_FIELDS: u64 = 20;

pub(super) struct Meter<'a> {
    document: &'a ExecutableDocument,
    operation: &'a OperationDefinition,
    variables: &'a Variables,
    schema: &'a SchemaSize,
    /// Whether the fields being measured describe the schema.
    introspects: bool,
    /// Sizes of fragments; `CYCLE` while a fragment is being measured.
    known: HashMap<&'a Name, Size>,
    /// Whether a variable has an influence on the size.
    varies: Cell<bool>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(
        document: &'a ExecutableDocument,
        operation: &'a OperationDefinition,
        variables: &'a Variables,
        schema: &'a SchemaSize,
    ) -> Self {
        let (known, varies) = (HashMap::new(), Cell::new(false));
        Self { document, operation, variables, schema, introspects: false, known, varies }
    }

    /// The size of the operation.
    pub(super) fn measure_operation(&mut self) -> Size {
        self.measure(&self.operation.selection_set.node)
    }

    /// Whether the size is the same for all variables.
    pub(super) fn is_fixed(&self) -> bool {
        !self.varies.get()
    }

    fn measure(&mut self, set: &'a SelectionSet) -> Size {
        let mut total = Size::default();
        for selection in &set.items {
            let part = match &selection.node {
                Selection::Field(field) => self.field(&field.node),
                Selection::InlineFragment(inline) => self.measure(&inline.node.selection_set.node),
                Selection::FragmentSpread(spread) => {
                    match self.document.fragments.get_key_value(&spread.node.fragment_name.node) {
                        Some((name, fragment)) => self.fragment(name, &fragment.node),
                        None => Size::UNKNOWN,
                    }
                }
            };
            total.depth = total.depth.max(part.depth);
            total.cost = total.cost.saturating_add(part.cost);
            total.sign_ins = total.sign_ins.saturating_add(part.sign_ins);
            total.guests = total.guests.saturating_add(part.guests);
        }
        total
    }

    fn fragment(&mut self, name: &'a Name, fragment: &'a FragmentDefinition) -> Size {
        if let Some(&size) = self.known.get(name) {
            return size;
        }
        self.known.insert(name, Size::CYCLE);
        let size = self.measure(&fragment.selection_set.node);
        self.known.insert(name, size);
        size
    }

    fn field(&mut self, field: &'a Field) -> Size {
        if matches!(field.name.node.as_str(), "__schema" | "__type") && !self.introspects {
            return self.introspection(field);
        }
        let mut inner = self.measure(&field.selection_set.node);
        if self.introspects && field.name.node == "ofType" {
            // Tools ask for many wrappers of a type, and most types have one at most.
            inner.cost = inner.cost.div_ceil(2);
        }
        let (own, times) = if self.introspects {
            (1, self.schema.times(&field.name.node))
        } else {
            (own_cost(field), self.times(field))
        };
        Size {
            depth: inner.depth.saturating_add(1),
            cost: own.saturating_add(inner.cost.saturating_mul(times)),
            sign_ins: inner.sign_ins.saturating_add(u32::from(is_sign_in(&field.name.node))),
            guests: inner.guests.saturating_add(u32::from(field.name.node == "signInAsGuest")),
        }
    }

    /// A description of the schema. It is in memory, so many of its fields cost as much as one
    /// that is read from the database.
    fn introspection(&mut self, field: &'a Field) -> Size {
        self.introspects = true;
        let inner = self.measure(&field.selection_set.node);
        self.introspects = false;
        let cost = inner.cost.div_ceil(INTROSPECTED_FIELDS).saturating_add(1);
        Size { depth: inner.depth.saturating_add(1), cost, ..Size::default() }
    }

    fn number(&self, value: &Value) -> Option<u64> {
        let variable = if let Value::Variable(name) = value {
            self.varies.set(true);
            let default = || {
                let definitions = self.operation.variable_definitions.iter();
                let mut named = definitions.filter(|variable| variable.node.name.node == *name);
                named.next().and_then(|variable| variable.node.default_value())
            };
            self.variables.get(name).or_else(default)
        } else {
            None
        };
        match (value, variable) {
            (Value::Number(number), _) | (_, Some(ConstValue::Number(number))) => number.as_u64(),
            _ => None,
        }
    }

    /// How many items a field may have.
    fn times(&self, field: &Field) -> u64 {
        let number = |name| field.get_argument(name).and_then(|size| self.number(&size.node));
        let size = number("first").or_else(|| number("last"));
        match field.name.node.as_str() {
            // A mutation returns a few events; for a game the client gives `first` or `last`.
            "events" if is_page(field) => size.unwrap_or(20),
            "events" => 5,
            "myGames" | "lobby" | "ledger" | "page" | "entries" | "games" | "steps"
            | "disputes" | "myDisputes" | "auditLog" => size.unwrap_or(20),
            "legalMoves" | "numbers" | "dieEffectKinds" => 20,
            "gameKinds" => 7,
            "aroundMe" | "among" | "turns" | "ratingHistory" => 100,
            // Everything with a list of ids; a connection's field of this name has no arguments.
            "nodes" if field.get_argument("ids").is_some() => 100,
            "selections" | "inventory" | "loadouts" | "diceCatalogue" | "seasons" => 20,
            // A line has a histogram or several weeks.
            "lines" => 50,
            "seats" | "dice" | "presets" => 4,
            _ => 1,
        }
    }
}

/// The cost of a field without its children. Password hashing is the most expensive; writes cost
/// more than reads.
fn own_cost(field: &Field) -> u64 {
    match field.name.node.as_str() {
        "signIn" | "register" => 2_500,
        // A page of a game's events is read from the database; those of a mutation are in memory.
        "events" if is_page(field) => 20,
        // These need another query, or a signature.
        "fairness" | "selections" | "legalMoves" | "gameAfter" | "ledger" | "wallet"
        | "inventory" | "loadouts" | "shop" | "diceCatalogue" | "offers" | "items"
        | "statistics" | "ratings" | "page" | "aroundMe" | "among" | "seasons" | "comments"
        | "previewRemedy" | "totalCount" | "spectators" | "connected" | "ratingHistory"
        | "games" | "next" | "previous" | "turns" => 20,
        // It aggregates months of data; the wallet's field of this name has no arguments.
        "balance" if field.get_argument("by").is_some() => 500,
        // These read all events of a game.
        "verifyGame" | "replay" | "export" | "whatIf" | "myData" | "personalData" => 200,
        // A past state; a replay step's field of this name has no arguments.
        "at" if field.get_argument("version").is_some() => 200,
        "lastAction" => 10,
        "signInAsGuest" | "refreshSession" | "createGame" | "quickMatch" | "chooseLoadout"
        | "nameSeason" | "eraseAccount" | "openDispute" | "proposeRemedy" | "approveRemedy" => 500,
        "play" | "joinGame" | "startGame" | "leaveGame" | "chooseSeed" | "buyDie" | "sellDie"
        | "saveLoadout" | "deleteLoadout" | "addDie" | "changeDie" | "retireDie"
        | "chooseCharacter" | "voidGame" | "commentDispute" | "assignDispute" | "declineRemedy"
        | "resolveDispute" | "retryRemedy" | "endSessions" | "signOut" => 100,
        _ => 1,
    }
}

/// Whether a field takes a page of a list.
fn is_page(field: &Field) -> bool {
    ["first", "after", "last", "before", "types"]
        .iter()
        .any(|argument| field.get_argument(argument).is_some())
}

fn is_sign_in(field: &str) -> bool {
    matches!(field, "signIn" | "register")
}
