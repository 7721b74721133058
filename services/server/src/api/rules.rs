//! Rules as data: presets, and the rules of a game.

use std::sync::Arc;

use async_graphql::{Context, Enum, SimpleObject};
use domain::{GAMES, Rejection, Rules, Ruleset, special_dice::Code};
use serde_json::{Map, Value};

use super::{
    app,
    game_kind::GameKind,
    rules_input::RequestedRules,
    ruleset::RulesetView,
    scalars::{ItemCode, int},
};
use crate::play::{AppError, UserError};

/// The parameters of a table.
#[derive(Clone, Copy, Debug, SimpleObject)]
pub(super) struct TableRules {
    /// The minimum number of players to start.
    min_seats: i32,
    /// The maximum number of players.
    max_seats: i32,
    /// Seconds per turn; 0 for no limit.
    turn_seconds: i32,
    /// Seconds per turn in a game with one player; 0 for no limit.
    solo_turn_seconds: i32,
    /// The number of consecutive time-outs that forfeits the seat.
    time_outs_to_forfeit: i32,
    /// A game without a command for this many hours is abandoned.
    expiry_hours: i32,
    /// The award for finishing the game, in dollars.
    finish_award: i32,
    /// The additional award for winning, in dollars.
    win_award: i32,
}

impl TableRules {
    /// The names of the parameters.
    pub(super) const NAMES: [&'static str; 8] = [
        "min_seats",
        "max_seats",
        "turn_seconds",
        "solo_turn_seconds",
        "time_outs_to_forfeit",
        "expiry_hours",
        "finish_award",
        "win_award",
    ];
}

impl From<&domain::TableRules> for TableRules {
    fn from(table: &domain::TableRules) -> Self {
        Self {
            min_seats: table.min_seats.into(),
            max_seats: table.max_seats.into(),
            turn_seconds: int(table.turn_seconds),
            solo_turn_seconds: int(table.solo_turn_seconds),
            time_outs_to_forfeit: int(table.time_outs_to_forfeit),
            expiry_hours: int(table.expiry_hours),
            finish_award: int(table.finish_award),
            win_award: int(table.win_award),
        }
    }
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum CatalogItemKind {
    /// A character of NeonPolis.
    Character,
    /// A card of NeonPolis.
    Card,
    /// An evolution of NeonPolis.
    Evolution,
    /// A consumable of DiceRogue.
    Consumable,
    /// A colour of DiceRogue.
    Colour,
    /// Anything else.
    Other,
}

/// An item of the rules.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CatalogItem {
    /// The kind of item.
    kind: CatalogItemKind,
    /// The code in moves and events.
    pub(super) code: ItemCode,
    /// The display name.
    pub(super) name: String,
    /// What the item does, as a tooltip.
    description: String,
    /// The initial price, in the money or energy of the game. Null if it is not for sale.
    price: Option<i32>,
}

impl CatalogItem {
    /// The item with this code.
    pub(super) fn find(rules: &Rules, code: domain::Slug) -> Option<Self> {
        rules.items().into_iter().find(|item| item.code == code).map(Into::into)
    }

    /// An offer that is not an item of the rules.
    pub(super) fn offered(code: domain::Slug, name: String, description: String) -> Self {
        let kind = CatalogItemKind::Other;
        Self { kind, code: code.into(), name, description, price: None }
    }
}

impl From<domain::CatalogItem> for CatalogItem {
    fn from(thing: domain::CatalogItem) -> Self {
        let domain::CatalogItem { kind, code, name, text, price } = thing;
        let kind = match kind {
            "character" => CatalogItemKind::Character,
            "card" => CatalogItemKind::Card,
            "evolution" => CatalogItemKind::Evolution,
            "consumable" => CatalogItemKind::Consumable,
            "colour" => CatalogItemKind::Colour,
            _ => CatalogItemKind::Other,
        };
        Self { kind, code: code.into(), name, description: text, price: price.map(int) }
    }
}

/// All presets of one game, or of all games.
pub(super) async fn presets(
    ctx: &Context<'_>,
    kind: Option<GameKind>,
) -> Result<Vec<RulesetView>, AppError> {
    let games = kind.map_or_else(|| GAMES.to_vec(), |kind| vec![kind.0]);
    let catalogue = app(ctx).games.wallets.catalogue().await?;
    let mut presets = Vec::new();
    for game in games {
        for preset in Rules::presets(game).map_err(UserError::from)? {
            let rules = preset.rules.with_catalogue(&catalogue);
            presets.push(RulesetView::new(Arc::new(Ruleset { rules, ..preset })));
        }
    }
    Ok(presets)
}

/// The parameters of seats and clocks. Changing any other one makes the game a practice game, so
/// that nobody can choose rules that earn more money.
const SEATS_AND_CLOCKS: [&str; 7] = [
    "min_seats",
    "max_seats",
    "turn_seconds",
    "solo_turn_seconds",
    "time_outs_to_forfeit",
    "expiry_hours",
    "practice",
];

/// The requested rules: a preset with the current special dice and the changed parameters.
pub(super) async fn ruleset(
    ctx: &Context<'_>,
    requested: &RequestedRules,
) -> Result<Arc<Ruleset>, AppError> {
    let mut ruleset = with_changes(requested).map_err(UserError::from)?;
    if ruleset.rules.catalogue().is_some() {
        let catalogue = app(ctx).games.wallets.catalogue().await?;
        ruleset.rules = ruleset.rules.with_catalogue(&catalogue);
    }
    Ok(Arc::new(ruleset))
}

fn with_changes(requested: &RequestedRules) -> Result<Ruleset, Rejection> {
    let ruleset = Ruleset::preset(requested.kind, requested.preset.as_deref())?;
    let bad = |parameter: &str, value: &Value, allowed: &str| Rejection::BadRule {
        parameter: parameter.to_owned(),
        value: value.to_string().chars().take(100).collect(),
        allowed: allowed.to_owned(),
    };
    if let Some(other) = &requested.bad {
        return Err(bad(
            "custom",
            other,
            "it must be an object of parameters, as in Ruleset.parameters",
        ));
    }
    if let Some(catalogue) = requested.changes.get("catalogue") {
        let allowed = "the special dice cannot be changed; see diceCatalogue";
        return Err(bad("catalogue", catalogue, allowed));
    }
    if requested.changes.is_empty() {
        return Ok(ruleset);
    }
    let mut ruleset = ruleset.with(&requested.changes)?;
    ruleset.table.practice |=
        requested.changes.keys().any(|name| !SEATS_AND_CLOCKS.contains(&name.as_str()));
    Ok(ruleset)
}

/// Parameters with camelCase keys: `turnSeconds`.
pub(super) fn camel(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let key = |key: &str| if is_code(key) { key.to_owned() } else { camel_case(key) };
            Value::Object(map.iter().map(|(name, value)| (key(name), camel(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(camel).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Whether a key is the code of a die, which is not converted.
fn is_code(key: &str) -> bool {
    key.parse::<Code>().is_ok()
}

/// `turn_seconds` as `turnSeconds`.
pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

pub(super) fn snake_keys(map: &Map<String, Value>) -> Map<String, Value> {
    fn snake(value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(snake_keys(map)),
            Value::Array(list) => Value::Array(list.iter().map(snake).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
    let key = |key: &str| if is_code(key) { key.to_owned() } else { snake_case(key) };
    map.iter().map(|(name, value)| (key(name), snake(value))).collect()
}

/// `turnSeconds` as `turn_seconds`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
