//! GraphQL documents: refused if they ask too much, parsed once if they come again.
//!
//! What a document may ask is counted before anything is resolved: its length in tokens and its nesting before it is parsed,
//! then depth, aliases and cost, with fragments counted wherever they are used. A document made of fragments that use each
//! other costs what it would do, and is never expanded.

mod cost;
mod shape;
mod text;

use std::sync::{Arc, PoisonError, RwLock};

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

use cost::Meter;
use shape::shape;

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
        text::check(&self.limits, text)?;
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
        let mut meter = Meter::new(&parsed.document, variables);
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
