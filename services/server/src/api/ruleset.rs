//! The rules of a game: the interface, and one type per game.

use std::sync::Arc;

use async_graphql::{Interface, Json};
use domain::{Rules, Ruleset};
use serde_json::Value;

use super::{
    dice::DieKindView,
    game_info::RuleParameter,
    game_kind::GameKind,
    games::{
        dash::{TrueGritRuleset, ZeroHourRuleset},
        farkle::FarkleRuleset,
        neon::NeonPolisRuleset,
        rogue::DiceRogueRuleset,
    },
    rules::{CatalogItem, TableRules},
    scalars::PresetName,
};

/// Declares a ruleset type: the fields of the interface and its own.
macro_rules! ruleset_type {
    ($(#[$about:meta])* $name:ident($($rules:ty)?) { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(in crate::api) struct $name {
            pub(in crate::api) ruleset: std::sync::Arc<domain::Ruleset>,
            $(pub(in crate::api) rules: $rules,)?
        }

        $(#[$about])*
        #[async_graphql::Object]
        impl $name {
            /// The game.
            pub(in crate::api) async fn kind(&self) -> $crate::api::game_kind::GameKind {
                $crate::api::game_kind::GameKind(self.ruleset.rules.game())
            }

            /// The preset, or `custom` for changed rules.
            pub(in crate::api) async fn preset(&self) -> $crate::api::scalars::PresetName {
                $crate::api::scalars::PresetName(self.ruleset.preset.clone())
            }

            /// The version of the preset. Changing a preset creates a new version; existing games
            /// keep theirs.
            pub(in crate::api) async fn version(&self) -> i32 {
                $crate::api::scalars::int(self.ruleset.version)
            }

            /// Whether no money is earned. Always true if parameters other than seats and clocks
            /// were changed.
            pub(in crate::api) async fn practice(&self) -> bool {
                self.ruleset.table.practice
            }

            /// The parameters of the table.
            pub(in crate::api) async fn table(&self) -> $crate::api::rules::TableRules {
                (&self.ruleset.table).into()
            }

            /// The special dice as they were when the game was created. Empty in games with
            /// ordinary dice.
            pub(in crate::api) async fn special_dice(&self) -> Vec<$crate::api::dice::DieKindView> {
                self.ruleset.rules.catalogue().map($crate::api::dice::views).unwrap_or_default()
            }

            /// The items of the rules: characters, cards, evolutions, consumables and colours.
            pub(in crate::api) async fn items(&self) -> Vec<$crate::api::rules::CatalogItem> {
                self.ruleset.rules.items().into_iter().map(Into::into).collect()
            }

            /// The numeric parameters with range and meaning, for forms.
            pub(in crate::api) async fn numbers(&self) -> Vec<$crate::api::game_info::RuleParameter> {
                $crate::api::game_info::RuleParameter::all(&self.ruleset)
            }

            /// All parameters of the game as JSON, in the form of `custom` in `RulesInput`.
            pub(in crate::api) async fn parameters(&self) -> async_graphql::Json<serde_json::Value> {
                async_graphql::Json($crate::api::rules::camel(&self.ruleset.to_json()["parameters"]))
            }

            $($own)*
        }
    };
}

pub(super) use ruleset_type;

/// The rules of a game: preset, version and all parameters.
#[derive(Clone, Debug, Interface)]
#[graphql(
    name = "Ruleset",
    field(name = "kind", ty = "GameKind", desc = "The game."),
    field(name = "preset", ty = "PresetName", desc = "The preset, or `custom` for changed rules."),
    field(
        name = "version",
        ty = "i32",
        desc = "The version of the preset. Changing a preset creates a new version; existing games keep theirs."
    ),
    field(
        name = "practice",
        ty = "bool",
        desc = "Whether no money is earned. Always true if parameters other than seats and clocks were changed."
    ),
    field(name = "table", ty = "TableRules", desc = "The parameters of the table."),
    field(
        name = "special_dice",
        ty = "Vec<DieKindView>",
        desc = "The special dice as they were when the game was created. Empty in games with ordinary dice."
    ),
    field(
        name = "items",
        ty = "Vec<CatalogItem>",
        desc = "The items of the rules: characters, cards, evolutions, consumables and colours."
    ),
    field(
        name = "numbers",
        ty = "Vec<RuleParameter>",
        desc = "The numeric parameters with range and meaning, for forms."
    ),
    field(
        name = "parameters",
        ty = "Json<Value>",
        desc = "All parameters of the game as JSON, in the form of `custom` in `RulesInput`."
    )
)]
pub(super) enum RulesetView {
    Farkle(FarkleRuleset),
    ZeroHour(ZeroHourRuleset),
    TrueGrit(TrueGritRuleset),
    DiceRogue(DiceRogueRuleset),
    NeonPolis(NeonPolisRuleset),
    General(GeneralRuleset),
}

impl RulesetView {
    pub(super) fn new(ruleset: Arc<Ruleset>) -> Self {
        match ruleset.rules.clone() {
            Rules::Farkle(rules) => Self::Farkle(FarkleRuleset { ruleset, rules }),
            Rules::ZeroHour(rules) => Self::ZeroHour(ZeroHourRuleset { ruleset, rules }),
            Rules::TrueGrit(rules) => Self::TrueGrit(TrueGritRuleset { ruleset, rules }),
            Rules::DiceRogue(rules) => Self::DiceRogue(DiceRogueRuleset { ruleset, rules }),
            Rules::NeonPolis(rules) => Self::NeonPolis(NeonPolisRuleset { ruleset, rules }),
            Rules::LastLine(_) | Rules::Pig(_) => Self::General(GeneralRuleset { ruleset }),
        }
    }
}

ruleset_type! {
    /// The rules of a game without its own type. `numbers` and `parameters` list everything.
    GeneralRuleset() {}
}
