//! An object with a global id.

use std::sync::Arc;

use async_graphql::{Context, ID, Interface};
use uuid::Uuid;

use super::{
    app,
    dispute::{self, DisputeView},
    errors::bad_input,
    events::{
        BankedEvent, CharacterChosenEvent, DecisionMadeEvent, DecisionRequestedEvent,
        EffectAppliedEvent, EventBase, FarkledEvent, GameCreatedEvent, GameEndedEvent, GameEvent,
        GameRuledEvent, GameStartedEvent, GameVoidedEvent, ItemDrawnEvent, LoadoutChosenEvent,
        MoneyAwardedEvent, RolledEvent, SavedEvent, SeatLeftEvent, SeatTakenEvent, SeedChosenEvent,
        SeedRevealedEvent, TurnEndedEvent, TurnStartedEvent, TurnTimedOutEvent,
    },
    game::GameView,
    ids::{Named, named},
    player::Player,
    query::find_player,
    viewer_if_any,
};
use crate::play::AppError;

macro_rules! node {
    ($($kind:ident($event:ident),)*) => {
        /// An object with a global id.
        #[derive(Clone, Debug, Interface)]
        #[graphql(field(name = "id", ty = "ID", desc = "The global id."))]
        pub(super) enum Node {
            Game(GameView),
            Player(Player),
            Dispute(DisputeView),
            $($kind($event),)*
        }

        impl From<GameEvent> for Node {
            fn from(event: GameEvent) -> Self {
                match event { $(GameEvent::$kind(event) => Self::$kind(event),)* }
            }
        }
    };
}

node! {
    Created(GameCreatedEvent),
    SeatTaken(SeatTakenEvent),
    SeedChosen(SeedChosenEvent),
    LoadoutChosen(LoadoutChosenEvent),
    CharacterChosen(CharacterChosenEvent),
    SeatLeft(SeatLeftEvent),
    Started(GameStartedEvent),
    TurnStarted(TurnStartedEvent),
    Rolled(RolledEvent),
    Saved(SavedEvent),
    Banked(BankedEvent),
    Farkled(FarkledEvent),
    EffectApplied(EffectAppliedEvent),
    MoneyAwarded(MoneyAwardedEvent),
    Drawn(ItemDrawnEvent),
    Asked(DecisionRequestedEvent),
    Answered(DecisionMadeEvent),
    TimedOut(TurnTimedOutEvent),
    TurnEnded(TurnEndedEvent),
    Ended(GameEndedEvent),
    SeedRevealed(SeedRevealedEvent),
    Voided(GameVoidedEvent),
    Ruled(GameRuledEvent),
}

/// The maximum number of ids in `nodes`.
const MAX_IDS: usize = 100;

/// The objects with these ids that the viewer can see.
pub(super) async fn find_all(
    ctx: &Context<'_>,
    ids: &[ID],
) -> async_graphql::Result<Vec<Option<Node>>> {
    if ids.len() > MAX_IDS {
        return Err(bad_input(format!("at most {MAX_IDS} ids are allowed")));
    }
    // This caches the games and names of all of them.
    let games: Vec<Uuid> = ids.iter().filter_map(|id| named(id).ok()?.game()).collect();
    GameView::load(app(ctx), viewer_if_any(ctx), &games, None).await?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.push(find(ctx, id).await?);
    }
    Ok(found)
}

/// The object with this id, if the viewer can see it.
pub(super) async fn find(ctx: &Context<'_>, id: &ID) -> async_graphql::Result<Option<Node>> {
    let viewer = viewer_if_any(ctx);
    match named(id)? {
        Named::Game(game) => {
            Ok(GameView::find(app(ctx), viewer, game, None).await?.map(Node::Game))
        }
        Named::Player(id) => Ok(find_player(app(ctx), id).await?.map(Node::Player)),
        Named::Dispute(id) => Ok(dispute::find(ctx, id).await?.map(Node::Dispute)),
        Named::Event(game, version) => {
            let Some(view) = GameView::find(app(ctx), viewer, game, None).await? else {
                return Ok(None);
            };
            Ok(find_event(ctx, &view, game, version).await?.map(Node::from))
        }
    }
}

async fn find_event(
    ctx: &Context<'_>,
    view: &GameView,
    game: Uuid,
    version: i64,
) -> Result<Option<GameEvent>, AppError> {
    if !(1..=view.state.head.version).contains(&version) {
        return Ok(None);
    }
    let found = app(ctx).games.store.page(game, version - 1, 1).await?.pop();
    let base = found.map(|found| EventBase::logged(Arc::new(found), Some(Arc::clone(&view.state))));
    Ok(base.and_then(GameEvent::of))
}
