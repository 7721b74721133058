//! A game, with everything a client displays.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, SimpleObject, dataloader::DataLoader};
use domain::{Event, Game, Stage, fair::seeds_hash};
use store::Loaded;
use uuid::Uuid;

use super::{
    app,
    connection::{GameEventConnection, PageArguments},
    dates::{GameDates, GameTimes},
    enums::{OutcomeReason, TurnPhase},
    errors::{bad_input, fault, store_error},
    events::{Action, EventBase, GameEvent, GameEventType, LastActions},
    game_kind::GameKind,
    ids::Named,
    legal::{LegalMove, TableAction, legal_moves, table_actions},
    on_table::{Die, Offer, Selection},
    presence::attendees,
    ruleset::RulesetView,
    scalars::{DateTime, Long, int},
    seat::Seat,
    support::VoidReason,
    viewer_if_any,
};
use crate::{
    accounts::{Role, Viewer},
    app::App,
    clock,
    play::{AppError, is_seated, seat_of},
};

/// A game, with everything a client displays.
#[derive(Clone, Debug)]
pub(super) struct GameView {
    pub(super) id: Uuid,
    pub(super) state: Arc<Loaded>,
}

/// The stage of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum GameStage {
    /// Seats can be taken.
    Gathering,
    /// The game is being played.
    Playing,
    /// The game is over.
    Ended,
}

/// Who can find and watch a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum Visibility {
    /// Everybody. The game is listed in the lobby.
    Public,
    /// The creator, the players, everybody with the invite code, support and admins.
    Private,
}

/// The turn clock of the seat to act.
#[derive(Clone, Debug, SimpleObject)]
struct Clock {
    /// When the turn times out.
    deadline: DateTime,
    /// The current server time, to synchronise your clock with.
    now: DateTime,
    /// The time left, in milliseconds.
    milliseconds_left: i32,
}

/// How a game ended.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Outcome {
    /// What decided the game.
    reason: OutcomeReason,
    /// The winning seats; empty if nobody won.
    winners: Vec<Seat>,
    /// The final score of each seat, in seat order.
    scores: Vec<Long>,
}

impl Outcome {
    pub(super) fn new(outcome: &domain::Outcome, state: &Arc<Loaded>) -> Self {
        let winners = outcome.winners.iter().filter_map(|&seat| Seat::of(state, seat));
        Self {
            reason: outcome.by.into(),
            winners: winners.collect(),
            scores: outcome.scores.iter().map(|&points| Long(points)).collect(),
        }
    }
}

/// The values that prove the dice fair: see docs/fair-dice.md.
#[derive(Clone, Debug, SimpleObject)]
struct Fairness {
    /// The commitment to the secret of the dice, published before any seed was known: a SHA-256
    /// hash in hexadecimal.
    commitment: String,
    /// The hash of the rules, an input of every roll.
    ruleset_hash: String,
    /// The hash of the list of seeds. Null before the game starts.
    seeds_hash: Option<String>,
    /// The secret of the dice. Null before the game ends.
    secret: Option<String>,
    /// A signed statement (JWT) of the commitment, as proof that the server published it.
    receipt: Option<String>,
}

impl GameView {
    /// Games that the viewer may see, in the order of `ids`, in a few round trips for all of them.
    pub(super) async fn load(
        app: &App,
        viewer: Option<Viewer>,
        ids: &[Uuid],
        invite: Option<&str>,
    ) -> Result<Vec<Option<Self>>, AppError> {
        app.database.check()?;
        let mut states = app.games.store.games.fresh_all(ids).await?;
        let access = app.games.access.of(ids).await?;
        let players = states.values().filter_map(|state| state.aggregate.as_ref());
        let players = players.flat_map(|game| game.table.seats.iter().map(|seat| seat.player.0));
        // This caches the names of all seats.
        app.accounts.names.of(players.collect::<Vec<_>>()).await?;
        let sees_all = viewer.is_some_and(|v| matches!(v.role, Role::Support | Role::Admin));
        Ok(ids
            .iter()
            .map(|id| {
                let state = states.remove(id)?;
                let game = state.aggregate.as_ref()?;
                let account = viewer.map(|viewer| viewer.account);
                let admitted = access
                    .get(id)
                    .is_some_and(|access| access.admits(invite) || Some(access.creator) == account);
                let seated = viewer.is_some_and(|viewer| seat_of(game, viewer.account).is_some());
                (sees_all || admitted || seated).then_some(Self { id: *id, state })
            })
            .collect())
    }

    pub(super) async fn find(
        app: &App,
        viewer: Option<Viewer>,
        id: Uuid,
        invite: Option<&str>,
    ) -> Result<Option<Self>, AppError> {
        Ok(Self::load(app, viewer, &[id], invite).await?.pop().flatten())
    }

    pub(super) fn game(&self) -> async_graphql::Result<&Game> {
        self.state.aggregate.as_ref().ok_or_else(|| fault("a game without its first event"))
    }

    async fn times(&self, ctx: &Context<'_>) -> async_graphql::Result<GameTimes> {
        let loader = ctx.data_unchecked::<DataLoader<GameDates>>();
        Ok(loader.load_one(self.id).await?.unwrap_or_default())
    }

    async fn invite(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Arc<str>>> {
        let access = app(ctx).games.access.of(&[self.id]).await.map_err(store_error)?;
        Ok(access.get(&self.id).and_then(|access| access.invite.clone()))
    }
}

/// A game, with everything a client displays.
#[Object(name = "Game")]
impl GameView {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Game(self.id).id()
    }

    /// The number of events so far. Send it back as `expectedVersion` to act on exactly this state.
    async fn version(&self) -> i32 {
        int(self.state.head.version)
    }

    /// The kind of game.
    async fn kind(&self) -> async_graphql::Result<GameKind> {
        Ok(GameKind(self.game()?.table.ruleset.rules.game()))
    }

    /// The rules, in full.
    async fn ruleset(&self) -> async_graphql::Result<RulesetView> {
        Ok(RulesetView::new(Arc::clone(&self.game()?.table.ruleset)))
    }

    /// The stage of the game.
    async fn stage(&self) -> async_graphql::Result<GameStage> {
        Ok(match self.game()?.table.stage {
            Stage::Gathering => GameStage::Gathering,
            Stage::Playing => GameStage::Playing,
            Stage::Ended(_) => GameStage::Ended,
        })
    }

    /// What the turn is waiting for. Null unless the game is being played.
    async fn phase(&self) -> async_graphql::Result<Option<TurnPhase>> {
        Ok(self.game()?.phase().map(TurnPhase))
    }

    /// When the game was created.
    async fn created_at(&self, ctx: &Context<'_>) -> async_graphql::Result<DateTime> {
        let created = self.times(ctx).await?.created;
        created.ok_or_else(|| fault("a game without its first event"))
    }

    /// When the game started. Null before that.
    async fn started_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(self.times(ctx).await?.started)
    }

    /// When the game ended. Null before that.
    async fn ended_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        Ok(self.times(ctx).await?.ended)
    }

    /// Who can find and watch the game.
    async fn visibility(&self, ctx: &Context<'_>) -> async_graphql::Result<Visibility> {
        let private = self.invite(ctx).await?.is_some();
        Ok(if private { Visibility::Private } else { Visibility::Public })
    }

    /// The code with which others can join and watch. Visible to the creator and to seated players
    /// of a private game only.
    async fn invite_code(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<String>> {
        let account = viewer_if_any(ctx).map(|viewer| viewer.account);
        let Some(account) = account else { return Ok(None) };
        let access = app(ctx).games.access.of(&[self.id]).await.map_err(store_error)?;
        let Some(access) = access.get(&self.id) else { return Ok(None) };
        let entitled = access.creator == account || is_seated(self.game()?, account);
        Ok(access.invite.as_ref().filter(|_| entitled).map(ToString::to_string))
    }

    /// The number of clients without a seat that are subscribed to `gameEvents` of this game, on
    /// all nodes.
    async fn spectators(&self, ctx: &Context<'_>) -> async_graphql::Result<i32> {
        Ok(int(attendees(ctx, self.id).await?.spectators))
    }

    /// The seats, by number.
    async fn seats(&self) -> Vec<Seat> {
        Seat::all(&self.state)
    }

    /// Your seat, also if you have left it. Null if you never had one.
    async fn my_seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Seat>> {
        let Some(viewer) = viewer_if_any(ctx) else { return Ok(None) };
        let number = seat_of(self.game()?, viewer.account);
        Ok(number.and_then(|number| Seat::of(&self.state, number)))
    }

    /// The seat whose turn it is. Null unless the game is being played. While another seat has to
    /// make a decision, that seat is `toMove`.
    async fn turn_of(&self) -> async_graphql::Result<Option<Seat>> {
        let game = self.game()?;
        let seat = game.to_move().map(|_| game.table.turn.seat);
        Ok(seat.and_then(|number| Seat::of(&self.state, number)))
    }

    /// The seat that must act now: the one that has to make a decision, otherwise the one whose
    /// turn it is. Null unless the game is being played.
    async fn to_move(&self) -> async_graphql::Result<Option<Seat>> {
        Ok(self.game()?.to_move().and_then(|number| Seat::of(&self.state, number)))
    }

    /// The current round, from 1. 0 before the game starts.
    async fn round(&self) -> async_graphql::Result<i32> {
        Ok(int(self.game()?.table.turn.round))
    }

    /// The turn clock of the seat to act. Null if there is no time limit.
    async fn clock(&self) -> async_graphql::Result<Option<Clock>> {
        let game = self.game()?;
        let deadline = game.table.turn.deadline.filter(|_| game.to_move().is_some());
        let now = clock::now();
        Ok(deadline.map(|deadline| Clock {
            deadline: DateTime(deadline),
            now: DateTime(now),
            milliseconds_left: int(deadline.0.saturating_sub(now.0)),
        }))
    }

    /// The dice of the seat whose turn it is, by slot.
    async fn dice(&self) -> async_graphql::Result<Vec<Die>> {
        Ok(Die::all(self.game()?))
    }

    /// All scoring selections of the current roll, best first.
    async fn selections(&self) -> async_graphql::Result<Vec<Selection>> {
        let game = self.game()?;
        let rules = &game.table.ruleset.rules;
        Ok(game.selections().iter().map(|found| Selection::new(found, rules)).collect())
    }

    /// The selection that scores the most. Null if nothing scores.
    async fn best_selection(&self) -> async_graphql::Result<Option<Selection>> {
        let game = self.game()?;
        let rules = &game.table.ruleset.rules;
        Ok(game.best_selection().map(|best| Selection::new(&best, rules)))
    }

    /// What can be bought in the game: the open cards of the market, the items of the shop.
    async fn offers(&self) -> async_graphql::Result<Vec<Offer>> {
        let game = self.game()?;
        let rules = &game.table.ruleset.rules;
        Ok(game.offers().into_iter().map(|offer| Offer::new(offer, rules)).collect())
    }

    /// The legal moves of the seat to act (not of the viewer). Empty unless the game is being
    /// played.
    async fn legal_moves(&self) -> Vec<LegalMove> {
        legal_moves(&self.state)
    }

    /// What you can do at the table, apart from moves.
    async fn viewer_can(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<TableAction>> {
        let Some(viewer) = viewer_if_any(ctx) else { return Ok(Vec::new()) };
        let game = self.game()?;
        let seat = seat_of(game, viewer.account).filter(|_| is_seated(game, viewer.account));
        Ok(table_actions(game, seat))
    }

    /// The last command and its events.
    async fn last_action(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Action>> {
        let loader = ctx.data_unchecked::<DataLoader<LastActions>>();
        Ok(loader.load_one(self.id).await?)
    }

    /// The events of the game, in order.
    #[allow(clippy::too_many_arguments, reason = "a field has the arguments that clients need")]
    async fn events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only events of these types.")] types: Option<Vec<GameEventType>>,
        #[graphql(desc = "Page size when paging forward, 1 to 100. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<GameEventConnection> {
        let request = PageArguments { first, after, last, before }.request(ctx)?;
        let versions = 1..=self.state.head.version;
        let read = |cursor: &str| cursor.parse().ok().filter(|version| versions.contains(version));
        let from = request.position(read)?;
        let types: Vec<&str> = match &types {
            None => domain::Event::NAMES.to_vec(),
            Some(types) => types.iter().map(|kind| kind.0).collect(),
        };
        let store = &app(ctx).games.store;
        let (stream, limit) = (self.id, request.limit());
        let found = if request.backward {
            store.backwards(stream, from.unwrap_or(i64::MAX), &types, limit).await
        } else {
            store.forwards(stream, from.unwrap_or(0), &types, limit).await
        };
        let (found, more) = request.trim(found.map_err(AppError::from)?);
        let total = if request.counts { store.count(stream, &types).await } else { Ok(0) };
        let items = found.into_iter().filter_map(|recorded| {
            let event = EventBase::logged(Arc::new(recorded), Some(Arc::clone(&self.state)));
            Some((event.cursor(), GameEvent::of(event)?))
        });
        let total = total.map_err(AppError::from)?;
        Ok(GameEventConnection::page(&request, items.collect(), more, total))
    }

    /// The game as it was after one of its events. Read-only.
    async fn at(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The version of the event, from 1 to the current version.")] version: i32,
    ) -> async_graphql::Result<Self> {
        let last = self.state.head.version;
        if !(1..=last).contains(&i64::from(version)) {
            return Err(bad_input(format!("version must be from 1 to {last}")));
        }
        app(ctx).database.check()?;
        if i64::from(version) == last {
            return Ok(self.clone());
        }
        let state = app(ctx).games.history.at(self.id, version.into()).await?;
        Ok(Self { id: self.id, state: Arc::new(state) })
    }

    /// How the game ended. Null before that.
    async fn outcome(&self) -> async_graphql::Result<Option<Outcome>> {
        let Stage::Ended(outcome) = &self.game()?.table.stage else { return Ok(None) };
        Ok(Some(Outcome::new(outcome, &self.state)))
    }

    /// Why the game was voided. Null if it was not.
    async fn voided(&self) -> async_graphql::Result<Option<VoidReason>> {
        Ok(self.game()?.table.voided.map(VoidReason::from))
    }

    /// The values that prove the dice fair.
    async fn fairness(&self, ctx: &Context<'_>) -> async_graphql::Result<Fairness> {
        let table = &self.game()?.table;
        let started = table.stage != Stage::Gathering;
        let over = matches!(table.stage, Stage::Ended(_));
        let commitment = text(&table.commitment);
        let claims = serde_json::json!({
            "iss": "croupier", "game": self.id, "commitment": commitment,
            "ruleset_hash": text(&table.ruleset_hash),
        });
        Ok(Fairness {
            ruleset_hash: text(&table.ruleset_hash),
            seeds_hash: started
                .then(|| text(&seeds_hash(table.seats.iter().map(|seat| seat.seed.as_ref())))),
            secret: if over { revealed(app(ctx), self).await? } else { None },
            receipt: app(ctx).accounts.tokens.sign(&claims),
            commitment,
        })
    }
}

/// A name or a hash as events serialize it.
pub(super) fn text(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

/// The secret that the last event of the game reveals.
async fn revealed(app: &App, view: &GameView) -> async_graphql::Result<Option<String>> {
    let last = app.games.store.page(view.id, view.state.head.version - 1, 1).await;
    let last = last.map_err(AppError::from)?;
    let secret = last.into_iter().find_map(|recorded| {
        if let Event::SeedRevealed { secret } = recorded.event { Some(text(&secret)) } else { None }
    });
    Ok(secret)
}
