//! What-if games: a game played again with changes, compared with the original.

use std::{collections::BTreeMap, sync::Arc};

use async_graphql::{Context, ID, InputObject, Json, Object, SimpleObject};
use domain::{Event, evolve, in_words};
use serde_json::Value;
use store::{Head, Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    errors::{UserErrorView, bad_input, from_user_error},
    events::{EventBase, GameEvent, follow},
    game::GameView,
    moves::slots,
    replay,
    rules::snake_keys,
    scalars::int,
    viewer,
};
use crate::{
    play::{AppError, ServiceCode, UserError},
    what_if::{self, Changes, WhatIfError},
};

/// The maximum length of `moves` and of `seed`, in bytes.
const MAX_TEXT: usize = 10_000;

/// The changes of a what-if game. Omitted fields stay as in the original.
#[derive(Clone, Debug, InputObject)]
pub(super) struct WhatIfInput {
    /// The number of events of the original to keep. Defaults to all of them.
    version: Option<i32>,
    /// Another preset of the same kind of game.
    preset: Option<String>,
    /// The parameters to change, in the form of `Ruleset.parameters`.
    rules: Option<Json<Value>>,
    /// Other dice for some seats.
    loadouts: Option<Vec<LoadoutInput>>,
    /// The moves after the kept events, in the notation of records: `0: roll; save [0,1] | 1: roll
    /// [6,6,6,2,3,4]; bank`. Without `moves` and `version`, the original commands are replayed with
    /// the same dice, as far as they are still legal.
    moves: Option<String>,
    /// A text from which other dice are derived. Defaults to the dice of the original, if it is
    /// over.
    seed: Option<String>,
}

/// Other dice for a seat.
#[derive(Clone, Debug, InputObject)]
struct LoadoutInput {
    /// The number of the seat.
    seat: i32,
    /// The codes of the dice, one per slot.
    dice: Vec<String>,
}

/// A what-if game. It is not stored, not counted and pays nothing.
#[derive(Clone, Debug)]
pub(super) struct WhatIf {
    steps: Vec<WhatIfStep>,
    game: GameView,
    refused: i32,
}

/// The maximum page size of steps.
const MAX_STEPS: i32 = 500;

/// A what-if game. It is not stored, not counted and pays nothing.
#[Object]
impl WhatIf {
    /// The number of commands.
    async fn length(&self) -> i32 {
        int(self.steps.len())
    }

    /// The commands in order, each with the events of the original and of the fork.
    async fn steps(
        &self,
        #[graphql(desc = "The number of steps, 1 to 500. Defaults to 20.", default = 20)]
        first: i32,
        #[graphql(desc = "The number of steps to skip.", default)] skip: i32,
    ) -> async_graphql::Result<&[WhatIfStep]> {
        let skip = usize::try_from(skip).map_err(|_| bad_input("skip must be 0 or more"))?;
        if !(1..=MAX_STEPS).contains(&first) {
            return Err(bad_input(format!("first must be from 1 to {MAX_STEPS}")));
        }
        let from = skip.min(self.steps.len());
        let to = from.saturating_add(usize::try_from(first).unwrap_or(0)).min(self.steps.len());
        Ok(&self.steps[from..to])
    }

    /// The game after the last command.
    async fn game(&self) -> &GameView {
        &self.game
    }

    /// The number of commands of the original that were not legal any more and were skipped.
    async fn refused(&self) -> i32 {
        self.refused
    }
}

/// A command in the original and in the fork.
#[derive(Clone, Debug, SimpleObject)]
struct WhatIfStep {
    /// The command in the notation of records.
    command: String,
    /// The events of the command in the original. Empty if it is not part of it.
    original: Vec<GameEvent>,
    /// The events of the command in the fork.
    events: Vec<GameEvent>,
    /// Whether the fork differs from the original here.
    differs: bool,
    /// Why the command was rejected and skipped in the fork. Null if it was accepted.
    refusal: Option<UserErrorView>,
    /// The game after the command.
    game: GameView,
}

/// Runs a what-if game, for viewers who may replay the original.
pub(super) async fn find(
    ctx: &Context<'_>,
    game_id: &ID,
    input: WhatIfInput,
) -> async_graphql::Result<Option<WhatIf>> {
    viewer(ctx)?;
    let Some(view) = replay::find(ctx, game_id).await? else { return Ok(None) };
    app(ctx).database.check()?;
    let (id, log) = view.log();
    let changes = changes(input)?;
    let events: Vec<Event> = log.iter().map(|recorded| recorded.event.clone()).collect();
    // A long game takes milliseconds: do not block other requests.
    let fork = tokio::task::spawn_blocking(move || what_if::run(&events, &changes)).await;
    let fork = fork.map_err(|error| AppError::Fault(error.to_string()))?;
    let fork = fork.map_err(|why| {
        let code = match &why {
            WhatIfError::Moves(_) => ServiceCode::BadMoves,
            WhatIfError::Rules(why) => return from_user_error(&UserError::from(why.clone())),
            WhatIfError::Fork(_) => ServiceCode::NoFork,
        };
        from_user_error(&UserError::new(code, why.to_string()))
    })?;
    Ok(Some(compare(id, &log, fork)))
}

fn changes(input: WhatIfInput) -> async_graphql::Result<Changes> {
    let version = input.version.map(|version| {
        usize::try_from(version).map_err(|_| bad_input("version must be 0 or more"))
    });
    let rules = match input.rules.map(|rules| rules.0) {
        None | Some(Value::Null) => serde_json::Map::new(),
        Some(Value::Object(rules)) => snake_keys(&rules),
        Some(_) => return Err(bad_input("rules must be an object of parameters")),
    };
    let mut loadouts = BTreeMap::new();
    for LoadoutInput { seat, dice } in input.loadouts.unwrap_or_default() {
        loadouts.insert(slots(&[seat])[0], dice);
    }
    let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > MAX_TEXT);
    if long(&input.moves) || long(&input.seed) {
        return Err(bad_input(format!("moves and seed must have at most {MAX_TEXT} bytes")));
    }
    Ok(Changes {
        version: version.transpose()?,
        preset: input.preset,
        rules,
        loadouts,
        moves: input.moves,
        seed: input.seed,
    })
}

/// Compares the fork with the original.
fn compare(id: Uuid, log: &[Recorded], fork: domain::WhatIf) -> WhatIf {
    let view = |game: domain::Game| {
        let version = i64::try_from(game.table.version).unwrap_or(i64::MAX);
        let state = Arc::new(Loaded::at(Some(game), Head { version, ..Head::NEW }));
        GameView { id, state }
    };
    let (mut refused, mut before) = (0, None);
    let mut steps = Vec::with_capacity(fork.steps.len());
    for step in fork.steps {
        let original = step.original.clone().and_then(|range| log.get(range)).unwrap_or_default();
        let command = in_words(&step.command, &step.events);
        let game = view(step.game);
        let same = original.len() == step.events.len()
            && original.iter().zip(&step.events).all(|(one, other)| one.event == *other);
        // A fork has its own commitment and secret.
        let differs = !same && !is_about_secrets(&step.events);
        refused += i32::from(step.refused.is_some());
        let first = game.state.head.version - i64::try_from(step.events.len()).unwrap_or(0) + 1;
        let started = match before.take() {
            None => log
                .iter()
                .take_while(|recorded| recorded.version < first)
                .fold(None, |game, recorded| evolve(game, &recorded.event)),
            before => before,
        };
        let events = (first..).zip(step.events);
        let events = follow(
            started,
            events.map(|(version, event)| EventBase::hypothetical(id, version, event)),
        );
        before.clone_from(&game.state.aggregate);
        steps.push(WhatIfStep {
            command,
            events: events.into_iter().filter_map(GameEvent::of).collect(),
            original: original
                .iter()
                .filter_map(|recorded| {
                    GameEvent::of(EventBase::logged(Arc::new(recorded.clone()), None))
                })
                .collect(),
            differs: differs || step.refused.is_some(),
            refusal: step.refused.map(|why| UserError::from(why).into()),
            game,
        });
    }
    WhatIf { steps, game: view(fork.game), refused }
}

fn is_about_secrets(events: &[Event]) -> bool {
    let about = |event: &Event| matches!(event, Event::Created { .. } | Event::SeedRevealed { .. });
    events.iter().any(about)
}
