//! What a document costs: fragments are measured once and never expanded.

use std::collections::HashMap;

use async_graphql::{
    Name, Variables,
    parser::types::{ExecutableDocument, Field, FragmentDefinition, Selection, SelectionSet},
};
use async_graphql_value::{ConstValue, Value};

/// How much a part of a document asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) depth: u32,
    pub(super) cost: u64,
    pub(super) sign_ins: u32,
    pub(super) guests: u32,
}

impl Size {
    /// A spread of nothing: validation will say so, and it must not be free until then.
    const NOTHING: Self = Self { depth: 0, cost: 1, sign_ins: 0, guests: 0 };
    /// A circle: it is refused for its depth.
    const ENDLESS: Self = Self { depth: u32::MAX, cost: u64::MAX, sign_ins: 0, guests: 0 };
}

pub(super) struct Meter<'a> {
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    /// Fragments already measured; one that is being measured has no size yet, and using it there is a circle.
    known: HashMap<&'a Name, Size>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(document: &'a ExecutableDocument, variables: &'a Variables) -> Self {
        Self { document, variables, known: HashMap::new() }
    }

    pub(super) fn measure(&mut self, set: &'a SelectionSet) -> Size {
        let mut whole = Size::default();
        for selection in &set.items {
            let part = match &selection.node {
                Selection::Field(field) => self.field(&field.node),
                Selection::InlineFragment(inline) => self.measure(&inline.node.selection_set.node),
                Selection::FragmentSpread(spread) => {
                    match self.document.fragments.get_key_value(&spread.node.fragment_name.node) {
                        Some((name, fragment)) => self.fragment(name, &fragment.node),
                        None => Size::NOTHING,
                    }
                }
            };
            whole.depth = whole.depth.max(part.depth);
            whole.cost = whole.cost.saturating_add(part.cost);
            whole.sign_ins = whole.sign_ins.saturating_add(part.sign_ins);
            whole.guests = whole.guests.saturating_add(part.guests);
        }
        whole
    }

    fn fragment(&mut self, name: &'a Name, fragment: &'a FragmentDefinition) -> Size {
        if let Some(&size) = self.known.get(name) {
            return size;
        }
        self.known.insert(name, Size::ENDLESS);
        let size = self.measure(&fragment.selection_set.node);
        self.known.insert(name, size);
        size
    }

    fn field(&mut self, field: &'a Field) -> Size {
        let inner = self.measure(&field.selection_set.node);
        let times = self.times(field);
        Size {
            depth: inner.depth.saturating_add(1),
            cost: own_cost(field).saturating_add(inner.cost.saturating_mul(times)),
            sign_ins: inner.sign_ins.saturating_add(u32::from(is_sign_in(&field.name.node))),
            guests: inner.guests.saturating_add(u32::from(field.name.node == "signInAsGuest")),
        }
    }

    fn number(&self, value: &Value) -> Option<u64> {
        let given = if let Value::Variable(name) = value { self.variables.get(name) } else { None };
        match (value, given) {
            (Value::Number(number), _) | (_, Some(ConstValue::Number(number))) => number.as_u64(),
            _ => None,
        }
    }

    /// How many items a field may have.
    fn times(&self, field: &Field) -> u64 {
        let asked = field.get_argument("first").and_then(|first| self.number(&first.node));
        match field.name.node.as_str() {
            "myGames" | "lobby" | "events" | "ledger" | "page" | "entries" | "steps"
            | "disputes" | "myDisputes" | "auditLog" => asked.unwrap_or(20),
            "legalCommands" => 100,
            "aroundMe" | "among" => 100,
            "selections" | "inventory" | "loadouts" | "diceCatalogue" | "seasons" => 20,
            // A line has a histogram or some weeks.
            "lines" => 50,
            "seats" | "dice" | "presets" => 4,
            _ => 1,
        }
    }
}

/// What a field costs by itself: what hashes passwords costs most, what writes costs more than what reads.
fn own_cost(field: &Field) -> u64 {
    match field.name.node.as_str() {
        // The move; a seat has a field of this name too.
        "score" if field.get_argument("category").is_some() => 100,
        "signIn" | "register" => 2_500,
        // These ask the database once more, or sign something.
        "events" | "fairness" | "selections" | "legalCommands" | "ledger" | "wallet"
        | "inventory" | "loadouts" | "shop" | "diceCatalogue" | "offers" | "things"
        | "statistics" | "ratings" | "page" | "aroundMe" | "among" | "seasons" | "comments"
        | "previewRemedy" => 20,
        // It adds up what happened in months; a wallet has a field of this name too.
        "balance" if field.get_argument("by").is_some() => 500,
        // These read a game whole.
        "verifyGame" | "replay" | "export" | "whatIf" | "myData" | "personalData" => 200,
        // To look back; a step of a replay has a field of this name too.
        "at" if field.get_argument("version").is_some() => 200,
        "lastAction" => 10,
        "signInAsGuest" | "refreshSession" | "createGame" | "quickMatch" | "chooseLoadout"
        | "nameSeason" | "eraseAccount" | "openDispute" | "proposeRemedy" | "approveRemedy" => 500,
        "roll" | "save" | "bank" | "forfeit" | "joinGame" | "startGame" | "leaveGame"
        | "chooseSeed" | "buyDie" | "sellDie" | "saveLoadout" | "deleteLoadout" | "addDie"
        | "changeDie" | "retireDie" | "chooseCharacter" | "resolve" | "useAbility" | "answer"
        | "buyItem" | "renewMarket" | "useItem" | "evolve" | "endTurn" | "voidGame"
        | "commentDispute" | "assignDispute" | "declineRemedy" | "resolveDispute" => 100,
        _ => 1,
    }
}

fn is_sign_in(field: &str) -> bool {
    matches!(field, "signIn" | "register")
}
