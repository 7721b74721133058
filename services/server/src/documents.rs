//! GraphQL documents: refused if they ask too much, parsed once if they come again.
//!
//! What a document may ask is counted before anything is resolved: its length in tokens and its nesting before it is parsed,
//! then depth, aliases and cost, with fragments counted wherever they are used. A document made of fragments that use each
//! other costs what it would do, and is never expanded.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    str::Bytes,
    sync::{Arc, PoisonError, RwLock},
};

use async_graphql::{
    Name, Positioned, ServerError, Variables,
    parser::{
        parse_query,
        types::{
            BaseType, DocumentOperations, ExecutableDocument, Field, FragmentDefinition,
            OperationDefinition, OperationType, Selection, SelectionSet,
        },
    },
};
use async_graphql_value::{ConstValue, Value};
use quick_cache::{Weighter, sync::Cache};

/// The longest document that is kept, in bytes.
const KEPT_BYTES: usize = 8 * 1024;
/// How many bytes of documents are kept; parsed, they take some fifty times as much.
const KEPT: u64 = 512 * 1024;

/// How many shapes of variables are kept of a document.
const MOST_SHAPES: usize = 16;

/// How much a document may ask.
#[expect(clippy::struct_field_names, reason = "each is an option of the command line")]
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Limits {
    /// How deep a query may nest; introspection by tools needs 13.
    #[arg(long, env = "CROUPIER_MAX_DEPTH", default_value_t = 20, value_name = "LEVELS",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) max_depth: u32,
    /// What a query may cost: a field is 1, what is asked of each item of a list counts for each.
    #[arg(long, env = "CROUPIER_MAX_COST", default_value_t = 10_000, value_name = "POINTS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_cost: u64,
    /// How many fields may be given another name.
    #[arg(long, env = "CROUPIER_MAX_ALIASES", default_value_t = 30, value_name = "COUNT")]
    pub(crate) max_aliases: u32,
    /// How many words and signs a document may have.
    #[arg(long, env = "CROUPIER_MAX_TOKENS", default_value_t = 2_000, value_name = "COUNT")]
    pub(crate) max_tokens: u32,
}

/// A document that was parsed.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) document: ExecutableDocument,
    aliases: u32,
    /// The shapes with which it was found to fit the schema.
    fits: RwLock<Vec<u64>>,
}

impl Parsed {
    /// Whether it is known to fit the schema, asked in this way.
    pub(crate) fn is_known_to_fit(&self, shape: Option<u64>) -> bool {
        let fits = self.fits.read().unwrap_or_else(PoisonError::into_inner);
        shape.is_some_and(|shape| fits.contains(&shape))
    }

    /// It was found to fit the schema, asked in this way.
    fn found_to_fit(&self, shape: Option<u64>) {
        let mut fits = self.fits.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = shape.filter(|shape| !fits.contains(shape) && fits.len() < MOST_SHAPES)
        {
            fits.push(shape);
        }
    }
}

/// Why a document is refused.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum BadDocument {
    #[error("{0}")]
    Syntax(ServerError),
    #[error("{0}")]
    TooMuch(String),
    #[error("{0}")]
    Operation(String),
}

/// An operation that is about to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    pub(crate) kind: OperationType,
    /// The first field of the operation: what it is about.
    pub(crate) field: &'a str,
    /// How often it asks for a password to be checked or made.
    pub(crate) sign_ins: u32,
    /// How many guests it asks for.
    pub(crate) guests: u32,
    /// What the schema says of this operation with variables of these types does not depend on their values.
    pub(crate) shape: Option<u64>,
}

/// A document weighs what its text does.
#[derive(Clone, Debug)]
struct ByText;

impl Weighter<Box<str>, Arc<Parsed>> for ByText {
    fn weight(&self, text: &Box<str>, _: &Arc<Parsed>) -> u64 {
        u64::try_from(text.len()).unwrap_or(u64::MAX)
    }
}

/// The documents of a node.
#[derive(Debug)]
pub(crate) struct Documents {
    kept: Cache<Box<str>, Arc<Parsed>, ByText>,
    limits: Limits,
}

impl Documents {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { kept: Cache::with_weighter(1000, KEPT, ByText), limits }
    }

    /// The document of a text.
    pub(crate) fn parse(&self, text: &str) -> Result<Arc<Parsed>, BadDocument> {
        if let Some(parsed) = self.kept.get(text) {
            return Ok(parsed);
        }
        self.check_text(text)?;
        let document = parse_query(text).map_err(|error| BadDocument::Syntax(error.into()))?;
        let aliases =
            document.operations.iter().map(|(_, operation)| &operation.node.selection_set);
        let fragments = document.fragments.values().map(|fragment| &fragment.node.selection_set);
        let aliases = aliases.chain(fragments).map(|set| count_aliases(&set.node)).sum();
        Ok(Arc::new(Parsed { document, aliases, fits: RwLock::default() }))
    }

    /// Keeps a document that was found to fit the schema, asked in this way. What does not fit is not worth keeping.
    pub(crate) fn keep(&self, text: &str, parsed: &Arc<Parsed>, shape: Option<u64>) {
        parsed.found_to_fit(shape);
        if text.len() <= KEPT_BYTES && !self.kept.contains_key(text) {
            self.kept.insert(text.into(), Arc::clone(parsed));
        }
    }

    /// Checks what an operation of a document asks.
    pub(crate) fn check<'a>(
        &self,
        parsed: &'a Parsed,
        operation: Option<&str>,
        variables: &Variables,
    ) -> Result<Asked<'a>, BadDocument> {
        let limits = &self.limits;
        let chosen = choose(&parsed.document, operation)?;
        too_much("aliases", parsed.aliases.into(), limits.max_aliases.into())?;
        let mut meter = Meter { document: &parsed.document, variables, known: HashMap::new() };
        let size = meter.measure(&chosen.selection_set.node);
        too_much("levels of depth", size.depth.into(), limits.max_depth.into())?;
        too_much("points of cost", size.cost, limits.max_cost)?;
        Ok(Asked {
            kind: chosen.ty,
            field: first_field(&chosen.selection_set.node),
            sign_ins: size.sign_ins,
            guests: size.guests,
            shape: shape(chosen, operation, variables),
        })
    }

    /// Counts words, signs and nesting before the parser, which goes down with each level, sees the text.
    fn check_text(&self, text: &str) -> Result<(), BadDocument> {
        let deepest = 4 * u64::from(self.limits.max_depth);
        let (mut tokens, mut depth) = (0u64, 0u64);
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => continue,
                b'#' => {
                    skip_while(&mut rest, |byte| byte != b'\n' && byte != b'\r');
                    continue;
                }
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                b'"' => skip_string(&mut rest),
                _ if is_word(byte) => skip_while(&mut rest, is_word),
                _ => {}
            }
            tokens += 1;
            too_much("levels of brackets", depth, deepest)?;
            too_much("words and signs", tokens, self.limits.max_tokens.into())?;
        }
        Ok(())
    }
}

/// Passes over a string whose first quote was read: `"…"`, `""`, or a block between three quotes.
fn skip_string(rest: &mut Bytes<'_>) {
    let follows = |rest: &Bytes<'_>, quotes: &[u8]| {
        quotes.iter().zip(rest.clone()).filter(|(quote, byte)| *quote == byte).count()
            == quotes.len()
    };
    let block = follows(rest, b"\"\"");
    if block {
        rest.nth(1);
    }
    while let Some(byte) = rest.next() {
        match byte {
            // In a block only three quotes in a row are escaped, and then nothing that follows ends it.
            b'\\' if !block => {
                rest.next();
            }
            b'\\' if follows(rest, b"\"\"\"") => {
                rest.nth(2);
            }
            b'"' if !block => return,
            b'"' if follows(rest, b"\"\"") => {
                rest.nth(1);
                return;
            }
            _ => {}
        }
    }
}

/// Passes over bytes as long as they are such.
fn skip_while(rest: &mut Bytes<'_>, such: impl Fn(u8) -> bool) {
    while rest.clone().next().is_some_and(&such) {
        rest.next();
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn too_much(what: &str, found: u64, most: u64) -> Result<(), BadDocument> {
    if found <= most {
        return Ok(());
    }
    Err(BadDocument::TooMuch(format!(
        "this document has too many {what}: at most {most} are allowed; ask for less at once"
    )))
}

fn choose<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a OperationDefinition, BadDocument> {
    match (&document.operations, name) {
        (DocumentOperations::Single(only), None) => Ok(&only.node),
        (DocumentOperations::Multiple(several), None) if several.len() == 1 => {
            let only = several.values().next().map(|operation| &operation.node);
            only.ok_or_else(|| BadDocument::Operation("there is no operation".to_owned()))
        }
        (_, None) => Err(BadDocument::Operation(
            "this document has several operations; name one as operationName".to_owned(),
        )),
        (DocumentOperations::Multiple(several), Some(name)) if several.contains_key(name) => {
            Ok(&several[name].node)
        }
        (_, Some(name)) => {
            let shown: String = name.chars().take(60).collect();
            Err(BadDocument::Operation(format!("there is no operation named '{shown}'")))
        }
    }
}

/// The operation and the types of its variables' values; `None` where a value itself must be looked at.
fn shape(
    operation: &OperationDefinition,
    name: Option<&str>,
    variables: &Variables,
) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    for definition in &operation.variable_definitions {
        let value = variables.get(&definition.node.name.node);
        shape_of(&definition.node.var_type.node.base, value)?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

fn shape_of(declared: &BaseType, value: Option<&ConstValue>) -> Option<u8> {
    match (declared, value) {
        (_, None) => Some(0),
        (_, Some(ConstValue::Null)) => Some(1),
        (BaseType::Named(name), Some(value)) => match (name.as_str(), value) {
            ("ID" | "String", ConstValue::String(_)) => Some(2),
            ("Int", ConstValue::Number(number)) => {
                number.as_i64().filter(|&number| i32::try_from(number).is_ok()).map(|_| 3)
            }
            ("Boolean", ConstValue::Boolean(_)) => Some(4),
            _ => None,
        },
        (BaseType::List(items), Some(ConstValue::List(values))) => {
            let same = |value| shape_of(&items.base, Some(value)).filter(|&shape| shape > 1);
            values.iter().all(|value| same(value).is_some()).then_some(5)
        }
        (BaseType::List(_), Some(_)) => None,
    }
}

fn is_sign_in(field: &str) -> bool {
    matches!(field, "signIn" | "register")
}

fn count_aliases(set: &SelectionSet) -> u32 {
    let count = |selection: &Positioned<Selection>| match &selection.node {
        Selection::Field(field) => {
            u32::from(field.node.alias.is_some()) + count_aliases(&field.node.selection_set.node)
        }
        Selection::InlineFragment(inline) => count_aliases(&inline.node.selection_set.node),
        Selection::FragmentSpread(_) => 0,
    };
    set.items.iter().map(count).sum()
}

/// The first field of an operation, if it begins with one.
fn first_field(set: &SelectionSet) -> &str {
    match set.items.first().map(|selection| &selection.node) {
        Some(Selection::Field(field)) => field.node.name.node.as_str(),
        Some(Selection::InlineFragment(_) | Selection::FragmentSpread(_)) | None => "",
    }
}

/// How much a part of a document asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    depth: u32,
    cost: u64,
    sign_ins: u32,
    guests: u32,
}

impl Size {
    /// A spread of nothing: validation will say so, and it must not be free until then.
    const NOTHING: Self = Self { depth: 0, cost: 1, sign_ins: 0, guests: 0 };
    /// A circle: it is refused for its depth.
    const ENDLESS: Self = Self { depth: u32::MAX, cost: u64::MAX, sign_ins: 0, guests: 0 };
}

struct Meter<'a> {
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    /// Fragments already measured; one that is being measured has no size yet, and using it there is a circle.
    known: HashMap<&'a Name, Size>,
}

impl<'a> Meter<'a> {
    fn measure(&mut self, set: &'a SelectionSet) -> Size {
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
            cost: own_cost(&field.name.node).saturating_add(inner.cost.saturating_mul(times)),
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
            "myGames" | "lobby" | "events" => asked.unwrap_or(20),
            "selections" | "legalCommands" => 20,
            "seats" | "dice" | "presets" => 4,
            _ => 1,
        }
    }
}

/// What a field costs by itself: what hashes passwords costs most, what writes costs more than what reads.
fn own_cost(field: &str) -> u64 {
    match field {
        "signIn" | "register" => 2_500,
        // These ask the database once more, or sign something.
        "events" | "fairness" | "selections" | "legalCommands" => 20,
        "lastAction" => 10,
        "signInAsGuest" | "refreshSession" | "createGame" | "quickMatch" => 500,
        "roll" | "save" | "bank" | "forfeit" | "joinGame" | "startGame" | "leaveGame"
        | "chooseSeed" => 100,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const LIMITS: Limits =
        Limits { max_depth: 20, max_cost: 10_000, max_aliases: 30, max_tokens: 2000 };

    fn verdict(text: &str) -> String {
        let documents = Documents::new(LIMITS);
        let verdict = documents.parse(text).and_then(|parsed| {
            documents
                .check(&parsed, None, &Variables::default())
                .map(|asked| asked.field.to_owned())
        });
        verdict.unwrap_or_else(|error| error.to_string())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = verdict(text);
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn documents_that_ask_too_much_are_refused() {
        check("{ me { id } }", "me");
        check(&format!("{}id{}", "{ a ".repeat(21), "}".repeat(21)), "levels of depth");
        check(&format!("{}id{}", "{ a ".repeat(1000), "}".repeat(1000)), "levels of brackets");
        let aliases: Vec<String> = (0..31).map(|n| format!("a{n}: me {{ id }}")).collect();
        check(&format!("{{ {} }}", aliases.join(" ")), "aliases");
        check(&format!("{{ {} }}", "me ".repeat(3000)), "words and signs");
        check(
            "{ lobby(first: 100) { nodes { seats { player { id name } score facts } } } }",
            "lobby",
        );
        check(
            "{ lobby(first: 100) { nodes { events(first: 100) { nodes { text } } } } }",
            "points of cost",
        );
        check("mutation { a: signIn b: signIn c: signIn d: signIn e: signIn }", "points of cost");
        check(
            "{ me(x: \"}}}} \\\" {{{{ ((((\") { id } } # {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
            "me",
        );
    }

    #[test]
    fn fragments_are_counted_where_they_are_used_and_never_expanded() {
        let fragment = |n| format!("fragment f{n} on Query {{ ...f{m} ...f{m} }}", m = n + 1);
        let bomb: Vec<String> = (0..60).map(fragment).collect();
        let bomb = bomb.join(" ");
        let last = "fragment f60 on Query { me { id } }";
        check(&format!("{{ ...f0 }} {bomb} {last}"), "points of cost");
        // The last one does not exist: it costs all the same.
        check(&format!("{{ ...f0 }} {bomb}"), "points of cost");
        check("{ ...f } fragment f on Query { me { id } ...f }", "too many");
    }

    #[test]
    fn nothing_hides_from_the_count() {
        let deep = "{ a ".repeat(1000);
        check(&format!("#\r{deep}"), "levels of brackets");
        check(&format!("query($x: S = \"\"\"a\"b\"\"\") {deep}"), "levels of brackets");
        check(&format!("{{ a(x: \"\") {deep}"), "levels of brackets");
        check(&format!("{{ a(x: \"\"\"\\\"\"\" x \"\"\") {deep}"), "levels of brackets");
        check("{ me(x: \"\"\"{{{{{{ \\\"\"\" \" }}\"\"\") { id } }", "me");
    }

    #[test]
    fn the_operation_is_the_one_named() {
        check("query a { me { id } } query b { me { id } }", "several operations");
        let documents = Documents::new(LIMITS);
        let parsed = documents
            .parse("query a { me { id } } mutation b { signIn { errors { code } } }")
            .unwrap();
        let check = |name| documents.check(&parsed, Some(name), &Variables::default());
        let b = check("b").unwrap();
        assert_eq!((b.kind, b.field, b.sign_ins), (OperationType::Mutation, "signIn", 1));
        assert!(check("c").unwrap_err().to_string().contains("no operation named 'c'"));
    }
}
