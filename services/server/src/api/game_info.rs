//! The games with their presets and parameters, so that a client can build forms without knowing a
//! game.

use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject};
use domain::{Number, Ruleset};

use super::{
    game_kind::GameKind,
    rules::{TableRules, camel_case, presets},
    ruleset::RulesetView,
    scalars::Long,
};

/// A game that can be played.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameInfo(pub(super) GameKind);

/// A game that can be played.
#[Object]
impl GameInfo {
    /// The game.
    async fn kind(&self) -> GameKind {
        self.0
    }

    /// The display name.
    async fn name(&self) -> &'static str {
        domain::Rules::title(self.0.0)
    }

    /// The presets. The first one is the default.
    async fn presets(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RulesetView>> {
        Ok(presets(ctx, Some(self.0)).await?)
    }
}

/// A numeric parameter of a ruleset.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct RuleParameter {
    /// The name in `RulesInput`: `target`.
    name: String,
    /// What it means.
    description: &'static str,
    /// The smallest value.
    min: Long,
    /// The largest value.
    max: Long,
    /// The value in this ruleset. Null if it is disabled.
    value: Option<Long>,
    /// Whether it can be disabled with `null`.
    optional: bool,
    /// Whether it is a parameter of the table (seats, clock, awards) rather than of the game.
    of_table: bool,
}

impl RuleParameter {
    /// The numeric parameters of a ruleset.
    pub(super) fn all(ruleset: &Arc<Ruleset>) -> Vec<Self> {
        ruleset.numbers().into_iter().map(Self::from).collect()
    }
}

impl From<Number> for RuleParameter {
    fn from(number: Number) -> Self {
        Self {
            name: camel_case(number.name),
            description: number.text,
            min: Long(*number.range.start()),
            max: Long(*number.range.end()),
            value: number.value.map(Long),
            optional: number.optional,
            of_table: TableRules::NAMES.contains(&number.name),
        }
    }
}
