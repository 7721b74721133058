//! GraphQL documents: limits on their size and cost, and a cache of parsed ones.
//!
//! Limits are checked before execution: the number of tokens and the nesting before parsing, then
//! depth, aliases and cost. Fragments count wherever they are used but are never expanded, so a
//! document cannot grow exponentially through nested fragments.

mod complete;
mod cost;
mod inputs;
mod introspection;
mod shape;
mod text;
mod trusted;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use async_graphql::{
    Positioned, ServerError, Variables,
    parser::{
        parse_query,
        types::{
            DocumentOperations, ExecutableDocument, OperationDefinition, OperationType, Selection,
            SelectionSet,
        },
    },
};
use quick_cache::{Weighter, sync::Cache};

use complete::{Outputs, complete};
use cost::{Meter, Size};
use inputs::Inputs;
use introspection::SchemaSize;
use shape::shape;
pub(crate) use trusted::{TrustedDocuments, UntrustedDocument};

/// The longest document that is cached, in bytes.
const MAX_CACHED_BYTES: usize = 8 * 1024;
/// Total size of cached documents, in bytes; parsed, they take about fifty times as much.
const CACHE_BYTES: u64 = 512 * 1024;

/// How many shapes of variables are remembered per document.
const MAX_SHAPES: usize = 16;

/// Limits on documents.
#[expect(clippy::struct_field_names, reason = "each is an option of the command line")]
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Limits {
    /// Largest depth of a query; the introspection query of common tools needs 13.
    #[arg(long, env = "CROUPIER_MAX_DEPTH", default_value_t = 20, value_name = "LEVELS",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) max_depth: u32,
    /// Largest cost of a query: 1 per simple field, multiplied by the size of the lists it is in.
    #[arg(long, env = "CROUPIER_MAX_COST", default_value_t = 10_000, value_name = "POINTS",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_cost: u64,
    /// Largest number of aliases in a document.
    #[arg(long, env = "CROUPIER_MAX_ALIASES", default_value_t = 30, value_name = "COUNT")]
    pub(crate) max_aliases: u32,
    /// Largest number of tokens in a document.
    #[arg(long, env = "CROUPIER_MAX_TOKENS", default_value_t = 2_000, value_name = "COUNT")]
    pub(crate) max_tokens: u32,
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) document: ExecutableDocument,
    aliases: u32,
    /// The size of its only operation, if it does not depend on variables.
    fixed_size: OnceLock<Size>,
    /// The shapes of operation and variables that passed validation.
    valid_for: RwLock<Vec<u64>>,
}

impl Parsed {
    /// Whether it has passed validation with this shape.
    pub(crate) fn is_valid_for(&self, shape: Option<u64>) -> bool {
        let valid_for = self.valid_for.read().unwrap_or_else(PoisonError::into_inner);
        shape.is_some_and(|shape| valid_for.contains(&shape))
    }

    fn size(
        &self,
        operation: &OperationDefinition,
        variables: &Variables,
        schema: &SchemaSize,
    ) -> Size {
        if let Some(&size) = self.fixed_size.get() {
            return size;
        }
        let mut meter = Meter::new(&self.document, operation, variables, schema);
        let size = meter.measure_operation();
        if meter.is_fixed() && self.document.operations.iter().count() == 1 {
            self.fixed_size.set(size).ok();
        }
        size
    }

    fn mark_valid(&self, shape: Option<u64>) {
        let mut valid_for = self.valid_for.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) =
            shape.filter(|shape| !valid_for.contains(shape) && valid_for.len() < MAX_SHAPES)
        {
            valid_for.push(shape);
        }
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum BadDocument {
    #[error("{0}")]
    Syntax(ServerError),
    #[error("{0}")]
    TooMuch(String),
    #[error("{0}")]
    Operation(String),
}

/// An operation that is within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedOperation<'a> {
    pub(crate) kind: OperationType,
    /// The first field of the operation, for metrics.
    pub(crate) field: &'a str,
    /// Points of cost.
    pub(crate) cost: u64,
    /// How many passwords it checks or hashes.
    pub(crate) sign_ins: u32,
    /// How many guest accounts it creates.
    pub(crate) guests: u32,
    /// Hash of the operation and the types of its variables.
    pub(crate) shape: Option<u64>,
}

/// Weighs cached documents by the length of their text.
#[derive(Clone, Debug)]
struct ByTextLength;

impl Weighter<Box<str>, Arc<Parsed>> for ByTextLength {
    fn weight(&self, text: &Box<str>, _: &Arc<Parsed>) -> u64 {
        u64::try_from(text.len()).unwrap_or(u64::MAX)
    }
}

/// Parses, checks and caches documents.
#[derive(Debug)]
pub(crate) struct Documents {
    cache: Cache<Box<str>, Arc<Parsed>, ByTextLength>,
    limits: Limits,
    inputs: Inputs,
    outputs: Outputs,
    schema_size: SchemaSize,
}

impl Documents {
    /// `schema` is the SDL.
    pub(crate) fn new(limits: Limits, schema: &str) -> Self {
        let cache = Cache::with_weighter(1000, CACHE_BYTES, ByTextLength);
        let (inputs, outputs) = (Inputs::of(schema), Outputs::of(schema));
        Self { cache, limits, inputs, outputs, schema_size: SchemaSize::of(schema) }
    }

    /// Parses a document, or returns the cached one.
    pub(crate) fn parse(&self, text: &str) -> Result<Arc<Parsed>, BadDocument> {
        if let Some(parsed) = self.cache.get(text) {
            return Ok(parsed);
        }
        text::check(&self.limits, text)?;
        let document = parse_query(text).map_err(|error| BadDocument::Syntax(error.into()))?;
        let aliases =
            document.operations.iter().map(|(_, operation)| &operation.node.selection_set);
        let fragments = document.fragments.values().map(|fragment| &fragment.node.selection_set);
        let aliases = aliases.chain(fragments).map(|set| count_aliases(&set.node)).sum();
        let (fixed_size, valid_for) = (OnceLock::new(), RwLock::default());
        Ok(Arc::new(Parsed { document, aliases, fixed_size, valid_for }))
    }

    /// Caches a document that passed validation with this shape. Invalid ones are not cached.
    pub(crate) fn cache_valid(&self, text: &str, parsed: &Arc<Parsed>, shape: Option<u64>) {
        parsed.mark_valid(shape);
        if text.len() <= MAX_CACHED_BYTES && !self.cache.contains_key(text) {
            self.cache.insert(text.into(), Arc::clone(parsed));
        }
    }

    /// Propagates errors to null values, as the GraphQL specification requires.
    pub(crate) fn complete(
        &self,
        parsed: &Parsed,
        operation: Option<&str>,
        response: &mut async_graphql::Response,
    ) {
        if response.errors.is_empty() || response.data == async_graphql::Value::Null {
            return;
        }
        if let Ok(operation) = choose(&parsed.document, operation) {
            complete(&self.outputs, &parsed.document, operation, response);
        }
    }

    /// Checks an operation against the limits.
    pub(crate) fn check<'a>(
        &self,
        parsed: &'a Parsed,
        operation: Option<&str>,
        variables: &Variables,
    ) -> Result<CheckedOperation<'a>, BadDocument> {
        let limits = &self.limits;
        let chosen = choose(&parsed.document, operation)?;
        check_limit("aliases", parsed.aliases.into(), limits.max_aliases.into())?;
        let size = parsed.size(chosen, variables, &self.schema_size);
        check_limit("levels of depth", size.depth.into(), limits.max_depth.into())?;
        check_limit("points of cost", size.cost, limits.max_cost)?;
        Ok(CheckedOperation {
            kind: chosen.ty,
            field: first_field(&chosen.selection_set.node),
            cost: size.cost,
            sign_ins: size.sign_ins,
            guests: size.guests,
            shape: shape(&self.inputs, chosen, operation, variables),
        })
    }
}

fn check_limit(what: &str, count: u64, max: u64) -> Result<(), BadDocument> {
    if count <= max {
        return Ok(());
    }
    Err(BadDocument::TooMuch(format!(
        "the document has too many {what}: the limit is {max}; request less at once"
    )))
}

fn choose<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<&'a OperationDefinition, BadDocument> {
    match (&document.operations, name) {
        (DocumentOperations::Single(only), None) => Ok(&only.node),
        (DocumentOperations::Multiple(operations), None) if operations.len() == 1 => {
            let only = operations.values().next().map(|operation| &operation.node);
            only.ok_or_else(|| BadDocument::Operation("the document has no operation".to_owned()))
        }
        (_, None) => Err(BadDocument::Operation(
            "the document has several operations; choose one with operationName".to_owned(),
        )),
        (DocumentOperations::Multiple(operations), Some(name)) if operations.contains_key(name) => {
            Ok(&operations[name].node)
        }
        (_, Some(name)) => {
            let shown: String = name.chars().take(60).collect();
            Err(BadDocument::Operation(format!("there is no operation named '{shown}'")))
        }
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const LIMITS: Limits =
        Limits { max_depth: 20, max_cost: 10_000, max_aliases: 30, max_tokens: 2000 };

    fn verdict(text: &str) -> String {
        let documents = Documents::new(LIMITS, "");
        let verdict = documents.parse(text).and_then(|parsed| {
            documents
                .check(&parsed, None, &Variables::default())
                .map(|operation| operation.field.to_owned())
        });
        verdict.unwrap_or_else(|error| error.to_string())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = verdict(text);
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn documents_over_a_limit_are_rejected() {
        check("{ viewer { id } }", "viewer");
        check(&format!("{}id{}", "{ a ".repeat(21), "}".repeat(21)), "levels of depth");
        check(&format!("{}id{}", "{ a ".repeat(1000), "}".repeat(1000)), "nested brackets");
        let aliases: Vec<String> = (0..31).map(|n| format!("a{n}: me {{ id }}")).collect();
        check(&format!("{{ {} }}", aliases.join(" ")), "aliases");
        check(&format!("{{ {} }}", "viewer ".repeat(3000)), "tokens");
        check(
            "{ lobby(first: 100) { nodes { seats { player { id name } score state } } } }",
            "lobby",
        );
        check(
            "{ lobby(first: 100) { nodes { events(first: 100) { nodes { summary } } } } }",
            "points of cost",
        );
        check(
            "query($n: Int = 100) { lobby(first: $n) { nodes { events(first: $n) { nodes { summary } } } } }",
            "points of cost",
        );
        check("mutation { a: signIn b: signIn c: signIn d: signIn e: signIn }", "points of cost");
        check(
            "{ viewer(x: \"}}}} \\\" {{{{ ((((\") { id } } # {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
            "viewer",
        );
    }

    #[test]
    fn fragments_are_counted_where_they_are_used_and_never_expanded() {
        let fragment = |n| format!("fragment f{n} on Query {{ ...f{m} ...f{m} }}", m = n + 1);
        let bomb: Vec<String> = (0..60).map(fragment).collect();
        let bomb = bomb.join(" ");
        let last = "fragment f60 on Query { viewer { id } }";
        check(&format!("{{ ...f0 }} {bomb} {last}"), "points of cost");
        // The last fragment does not exist; the document costs the same.
        check(&format!("{{ ...f0 }} {bomb}"), "points of cost");
        check("{ ...f } fragment f on Query { viewer { id } ...f }", "too many");
    }

    #[test]
    fn strings_and_comments_do_not_hide_brackets() {
        let deep = "{ a ".repeat(1000);
        check(&format!("#\r{deep}"), "nested brackets");
        check(&format!("query($x: S = \"\"\"a\"b\"\"\") {deep}"), "nested brackets");
        check(&format!("{{ a(x: \"\") {deep}"), "nested brackets");
        check(&format!("{{ a(x: \"\"\"\\\"\"\" x \"\"\") {deep}"), "nested brackets");
        check("{ viewer(x: \"\"\"{{{{{{ \\\"\"\" \" }}\"\"\") { id } }", "viewer");
    }

    #[test]
    fn the_operation_is_the_one_named() {
        check("query a { viewer { id } } query b { viewer { id } }", "several operations");
        let documents = Documents::new(LIMITS, "");
        let parsed = documents
            .parse("query a { viewer { id } } mutation b { signIn { userErrors { code } } }")
            .unwrap();
        let check = |name| documents.check(&parsed, Some(name), &Variables::default());
        let b = check("b").unwrap();
        assert_eq!((b.kind, b.field, b.sign_ins), (OperationType::Mutation, "signIn", 1));
        assert!(check("c").unwrap_err().to_string().contains("no operation named 'c'"));
    }
}
