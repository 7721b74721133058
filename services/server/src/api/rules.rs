//! Rules as data: presets, and the rules of a game.

use std::sync::Arc;

use async_graphql::{Context, Json, Object, SimpleObject};
use domain::{GAMES, Rejection, Rules, Ruleset, special_dice::Code};
use serde_json::{Map, Value};

use super::{
    app,
    dice::{DieKindView, views},
    scalars::int,
};
use crate::play::{PlayError, Refusal};

/// The rules of a game: which game, which preset, and every parameter.
#[derive(Clone, Debug)]
pub(super) struct RulesetView(pub(super) Arc<Ruleset>);

/// The rules of a game: which game, which preset, and every parameter.
#[Object(name = "Ruleset")]
impl RulesetView {
    /// The game these are the rules of.
    async fn game(&self) -> &'static str {
        self.0.rules.game()
    }

    /// The preset these rules are, or `custom`.
    async fn preset(&self) -> &str {
        &self.0.preset
    }

    /// The version of the preset. A changed preset is a new version; old games keep theirs.
    async fn version(&self) -> i32 {
        int(self.0.version)
    }

    /// The special dice of these rules, as they were when the game was made; none in games with ordinary dice.
    async fn dice(&self) -> Vec<DieKindView> {
        self.0.rules.catalogue().map(views).unwrap_or_default()
    }

    /// Everything the rules name, with its tooltip: characters, cards, evolutions, consumables, colours; nothing in games without such.
    async fn things(&self) -> Vec<Thing> {
        self.0.rules.things().into_iter().map(Into::into).collect()
    }

    /// Whether nobody earns money: so it is where more than seats and clocks was changed.
    async fn practice(&self) -> bool {
        self.0.table.practice
    }

    /// The parameters of the table: seats, clock, awards.
    async fn table(&self) -> Json<Value> {
        Json(camel(&self.0.to_json()["table"]))
    }

    /// The parameters of the game itself: target, scoring, penalties …
    async fn parameters(&self) -> Json<Value> {
        Json(camel(&self.0.to_json()["parameters"]))
    }
}

/// Something that the rules name.
#[derive(Clone, Debug, SimpleObject)]
struct Thing {
    /// What it is: `character`, `card`, `evolution`, `consumable` or `colour`.
    kind: &'static str,
    /// Its code in moves and events.
    code: String,
    /// Its name for people.
    name: String,
    /// What it does, with the numbers it does it with: a tooltip.
    text: String,
    /// What it costs at first, in the money or energy of the game, where it is sold.
    price: Option<i32>,
}

impl From<domain::Thing> for Thing {
    fn from(thing: domain::Thing) -> Self {
        let domain::Thing { kind, code, name, text, price } = thing;
        Self { kind, code: code.to_string(), name, text, price: price.map(int) }
    }
}

/// All presets, of one game or of all.
pub(super) async fn presets(
    ctx: &Context<'_>,
    game: Option<&str>,
) -> Result<Vec<RulesetView>, PlayError> {
    let games = game.map_or_else(|| GAMES.to_vec(), |game| vec![game]);
    let catalogue = app(ctx).tables.wallets.catalogue().await?;
    let mut presets = Vec::new();
    for game in games {
        for preset in Rules::presets(game).map_err(Refusal::from)? {
            let rules = preset.rules.with_catalogue(&catalogue);
            presets.push(RulesetView(Arc::new(Ruleset { rules, ..preset })));
        }
    }
    Ok(presets)
}

/// Parameters of seats and clocks: with others, a game is played for no money, or everybody would play for as much as
/// they like.
const HARMLESS: [&str; 7] = [
    "min_seats",
    "max_seats",
    "turn_seconds",
    "solo_turn_seconds",
    "time_outs_to_forfeit",
    "expiry_hours",
    "practice",
];

/// The rules somebody asked for: a preset with the special dice of today, and with some parameters changed.
pub(super) async fn ruleset(
    ctx: &Context<'_>,
    game: &str,
    preset: Option<&str>,
    changes: Option<&Value>,
) -> Result<Arc<Ruleset>, PlayError> {
    let mut ruleset = changed(game, preset, changes).map_err(Refusal::from)?;
    if ruleset.rules.catalogue().is_some() {
        let catalogue = app(ctx).tables.wallets.catalogue().await?;
        ruleset.rules = ruleset.rules.with_catalogue(&catalogue);
    }
    Ok(Arc::new(ruleset))
}

fn changed(
    game: &str,
    preset: Option<&str>,
    changes: Option<&Value>,
) -> Result<Ruleset, Rejection> {
    let ruleset = Ruleset::preset(game, preset)?;
    let bad = |parameter: &str, value: &Value, allowed: &str| Rejection::BadRule {
        parameter: parameter.to_owned(),
        value: value.to_string().chars().take(100).collect(),
        allowed: allowed.to_owned(),
    };
    let changes = match changes {
        None | Some(Value::Null) => return Ok(ruleset),
        Some(Value::Object(changes)) => snake_keys(changes),
        Some(other) => {
            let allowed = "it must be an object of parameters, as Ruleset shows them";
            return Err(bad("rules", other, allowed));
        }
    };
    if let Some(catalogue) = changes.get("catalogue") {
        return Err(bad(
            "catalogue",
            catalogue,
            "the special dice are the house's; see diceCatalogue",
        ));
    }
    let mut ruleset = ruleset.with(&changes)?;
    ruleset.table.practice |= changes.keys().any(|name| !HARMLESS.contains(&name.as_str()));
    Ok(ruleset)
}

/// Parameters as GraphQL writes them: `turnSeconds`.
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

/// Codes of dice are keys too, and stay as they are.
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
