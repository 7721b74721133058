//! What if: a game played otherwise, beside the original.

use std::{collections::BTreeMap, sync::Arc};

use async_graphql::{Context, ID, InputObject, Json, Object, SimpleObject};
use domain::{Event, in_words};
use serde_json::Value;
use store::{Head, Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    errors::{Problem, bad_input, refused},
    event::GameEvent,
    game::GameView,
    moves::slots,
    replay,
    rules::snake_keys,
    scalars::int,
};
use crate::{
    play::{PlayError, Refusal, ServiceCode},
    what_if::{Unimaginable, Wanted, imagine},
};

/// The most that moves may be, in characters.
const LONGEST: usize = 10_000;

/// How a game is to be played otherwise. What is not said stays as it was.
#[derive(Clone, Debug, InputObject)]
pub(super) struct WhatIfInput {
    /// How many events of the original stand; all of them if you do not say.
    version: Option<i32>,
    /// Another preset of the same kind of game.
    preset: Option<String>,
    /// Parameters to change, as `Ruleset` shows them.
    rules: Option<Json<Value>>,
    /// Other dice of some seats.
    loadouts: Option<Vec<LoadoutInput>>,
    /// Moves behind the events that stand, in the words of records: `0: roll; save [0,1] | 1: roll [6,6,6,2,3,4]; bank`. Without them,
    /// and without a version, the rest is played as it was: the same dice and choices, where they are still lawful.
    moves: Option<String>,
    /// A text that makes other dice. Without one they are those of the original, if it is over.
    seed: Option<String>,
}

/// Other dice of a seat.
#[derive(Clone, Debug, InputObject)]
struct LoadoutInput {
    /// The seat.
    seat: i32,
    /// The codes of its dice, one a slot.
    dice: Vec<String>,
}

/// A game played otherwise. It is nobody's: it is not stored, not counted and pays nobody.
#[derive(Clone, Debug)]
pub(super) struct WhatIf {
    steps: Vec<WhatIfStep>,
    game: GameView,
    refused: i32,
}

/// The most steps at once.
const MOST: i32 = 500;

/// A game played otherwise. It is nobody's: it is not stored, not counted and pays nobody.
#[Object]
impl WhatIf {
    /// How many commands there are.
    async fn length(&self) -> i32 {
        int(self.steps.len())
    }

    /// The commands, in order, the original beside the fork.
    async fn steps(
        &self,
        #[graphql(desc = "How many, 1 to 500; 20 if you do not say.", default = 20)] first: i32,
        #[graphql(desc = "How many to pass over.", default)] skip: i32,
    ) -> async_graphql::Result<&[WhatIfStep]> {
        let skip = usize::try_from(skip).map_err(|_| bad_input("skip must be 0 or more"))?;
        if !(1..=MOST).contains(&first) {
            return Err(bad_input(format!("first must be from 1 to {MOST}")));
        }
        let from = skip.min(self.steps.len());
        let to = from.saturating_add(usize::try_from(first).unwrap_or(0)).min(self.steps.len());
        Ok(&self.steps[from..to])
    }

    /// The game at the end of them.
    async fn game(&self) -> &GameView {
        &self.game
    }

    /// How many commands of the original were no longer lawful and left out.
    async fn refused(&self) -> i32 {
        self.refused
    }
}

/// A command in the original and in the fork.
#[derive(Clone, Debug, SimpleObject)]
struct WhatIfStep {
    /// What was asked, in the words of records.
    command: String,
    /// What it made happen in the original; nothing if it is not in it.
    original: Vec<GameEvent>,
    /// What it makes happen here.
    made: Vec<GameEvent>,
    /// Whether it is not the same here as in the original.
    differs: bool,
    /// Why it cannot be here, if it cannot: it is left out, and play goes on.
    refusal: Option<Problem>,
    /// The game after it.
    game: GameView,
}

/// Plays a game otherwise, for whoever may replay it.
pub(super) async fn find(
    ctx: &Context<'_>,
    game_id: &ID,
    input: WhatIfInput,
) -> async_graphql::Result<Option<WhatIf>> {
    let Some(view) = replay::find(ctx, game_id).await? else { return Ok(None) };
    app(ctx).database.check()?;
    let (id, log) = view.log();
    let wanted = wanted(input)?;
    let events: Vec<Event> = log.iter().map(|recorded| recorded.event.clone()).collect();
    // A long game takes milliseconds: others need not wait for it.
    let imagined = tokio::task::spawn_blocking(move || imagine(&events, &wanted)).await;
    let imagined = imagined.map_err(|error| PlayError::Fault(error.to_string()))?;
    let imagined = imagined.map_err(|why| {
        let code = match &why {
            Unimaginable::Moves(_) => ServiceCode::BadMoves,
            Unimaginable::Rules(why) => return refused(&Refusal::from(why.clone())),
            Unimaginable::Fork(_) => ServiceCode::NoFork,
        };
        refused(&Refusal::new(code, why.to_string()))
    })?;
    Ok(Some(beside(id, &log, imagined)))
}

fn wanted(input: WhatIfInput) -> async_graphql::Result<Wanted> {
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
    let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > LONGEST);
    if long(&input.moves) || long(&input.seed) {
        return Err(bad_input(format!("moves and seed have at most {LONGEST} bytes")));
    }
    Ok(Wanted {
        version: version.transpose()?,
        preset: input.preset,
        rules,
        loadouts,
        moves: input.moves,
        seed: input.seed,
    })
}

/// Puts the original beside the fork.
fn beside(id: Uuid, log: &[Recorded], imagined: domain::WhatIf) -> WhatIf {
    let view = |game: domain::Game| {
        let version = i64::try_from(game.table.version).unwrap_or(i64::MAX);
        let state = Arc::new(Loaded::at(Some(game), Head { version, ..Head::NEW }));
        GameView { id, state }
    };
    let mut refused = 0;
    let mut steps = Vec::with_capacity(imagined.steps.len());
    for step in imagined.steps {
        let original = step.original.clone().and_then(|range| log.get(range)).unwrap_or_default();
        let command = in_words(&step.command, &step.events);
        let game = view(step.game);
        let same = original.len() == step.events.len()
            && original.iter().zip(&step.events).all(|(one, other)| one.event == *other);
        // Whatever is promised, sealed and revealed is another one in a fork.
        let differs = !same && !is_about_secrets(&step.events);
        refused += i32::from(step.refused.is_some());
        let first = game.state.head.version - i64::try_from(step.events.len()).unwrap_or(0) + 1;
        let events = (first..).zip(step.events).map(|(version, event)| {
            GameEvent::imagined(id, version, event, Arc::clone(&game.state))
        });
        steps.push(WhatIfStep {
            command,
            made: events.collect(),
            original: original
                .iter()
                .map(|recorded| GameEvent::logged(Arc::new(recorded.clone()), None))
                .collect(),
            differs: differs || step.refused.is_some(),
            refusal: step.refused.map(|why| Refusal::from(why).into()),
            game,
        });
    }
    WhatIf { steps, game: view(imagined.game), refused }
}

fn is_about_secrets(events: &[Event]) -> bool {
    let about = |event: &Event| matches!(event, Event::Created { .. } | Event::SeedRevealed { .. });
    events.iter().any(about)
}
