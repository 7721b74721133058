//! A game, with everything a client draws.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Object, SimpleObject, dataloader::DataLoader};
use domain::{Event, Game, Stage, fair::seeds_hash};
use store::Loaded;
use uuid::Uuid;

use super::{
    app,
    connection::{GameEventConnection, page_size},
    errors::{bad_input, fault, store_error},
    event::{Action, GameEvent, LastActions},
    ids::Named,
    legal::LegalCommand,
    on_table::{Die, Offer, Selection},
    rules::RulesetView,
    scalars::{Instant, Long, int},
    seat::Seat,
    support::VoidReason,
    viewer_if_any,
};
use crate::{
    accounts::{Role, Viewer},
    app::App,
    clock,
    play::{PlayError, is_seated, seat_of},
};

/// A game.
#[derive(Clone, Debug)]
pub(super) struct GameView {
    pub(super) id: Uuid,
    pub(super) state: Arc<Loaded>,
}

/// How far a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum GameStage {
    /// Seats can be taken.
    Gathering,
    /// It is played.
    Playing,
    /// It is over.
    Ended,
}

/// Who can find and watch a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum Visibility {
    /// Everybody; it is listed in the lobby while seats are free.
    Public,
    /// Who sits there, and who has the invite code.
    Private,
}

/// The time of the seat to move.
#[derive(Clone, Debug, SimpleObject)]
struct Clock {
    /// When the house ends the turn.
    deadline: Instant,
    /// The server's time, to compare your clock with.
    now: Instant,
    /// What is left, in milliseconds.
    milliseconds_left: i32,
}

/// How a game ended.
#[derive(Clone, Debug, SimpleObject)]
struct Outcome {
    /// What decided it: `score`, `goal`, `best_round`, `shared_win`, `last_alive`, `draw`, `missed`, `last_seat`,
    /// `deserted`, `abandoned` or `voided`.
    decided_by: String,
    /// The winning seats; none if there is no winner.
    winners: Vec<Seat>,
    /// The final score of each seat, in seat order.
    scores: Vec<Long>,
}

/// What makes the dice fair: see docs/fair-dice.md.
#[derive(Clone, Debug, SimpleObject)]
struct Fairness {
    /// The promise of the dice, made before any seed was known: a SHA-256 in hexadecimal digits.
    commitment: String,
    /// The hash of the rules, part of everything the dice are made from.
    ruleset_hash: String,
    /// The hash of the sealed list of seeds, once the game has begun.
    seeds_hash: Option<String>,
    /// The secret behind the dice, once the game is over.
    secret: Option<String>,
    /// A signed statement (JWT) of the commitment: proof that the house promised it.
    receipt: Option<String>,
}

impl GameView {
    /// Games that the viewer may see, in the order asked for, in a few round trips for all of them.
    pub(super) async fn load(
        app: &App,
        viewer: Option<Viewer>,
        ids: &[Uuid],
        invite: Option<&str>,
    ) -> Result<Vec<Option<Self>>, PlayError> {
        app.database.check()?;
        let mut states = app.tables.store.games.fresh_all(ids).await?;
        let access = app.tables.access.of(ids).await?;
        let players = states.values().filter_map(|state| state.now.as_ref());
        let players = players.flat_map(|game| game.table.seats.iter().map(|seat| seat.player.0));
        // Names are then at hand for every seat.
        app.accounts.names.of(players.collect::<Vec<_>>()).await?;
        let sees_all = viewer.is_some_and(|v| matches!(v.role, Role::Support | Role::Admin));
        Ok(ids
            .iter()
            .map(|id| {
                let state = states.remove(id)?;
                let game = state.now.as_ref()?;
                let account = viewer.map(|viewer| viewer.account);
                let admitted = access
                    .get(id)
                    .is_some_and(|access| access.admits(invite) || Some(access.creator) == account);
                let sits = viewer.is_some_and(|viewer| seat_of(game, viewer.account).is_some());
                (sees_all || admitted || sits).then_some(Self { id: *id, state })
            })
            .collect())
    }

    pub(super) async fn find(
        app: &App,
        viewer: Viewer,
        id: Uuid,
        invite: Option<&str>,
    ) -> Result<Option<Self>, PlayError> {
        Ok(Self::load(app, Some(viewer), &[id], invite).await?.pop().flatten())
    }

    pub(super) fn game(&self) -> async_graphql::Result<&Game> {
        self.state.now.as_ref().ok_or_else(|| fault("a game without its first event"))
    }

    async fn invite(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Arc<str>>> {
        let access = app(ctx).tables.access.of(&[self.id]).await.map_err(store_error)?;
        Ok(access.get(&self.id).and_then(|access| access.invite.clone()))
    }
}

/// A game, with everything a client draws.
#[Object(name = "Game")]
impl GameView {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Game(self.id).id()
    }

    /// How many events it has. Send it back as `expectedVersion` to act on exactly this state.
    async fn version(&self) -> i32 {
        int(self.state.head.version)
    }

    /// What is played: `farkle` …
    async fn kind(&self) -> async_graphql::Result<&'static str> {
        Ok(self.game()?.table.ruleset.rules.game())
    }

    /// The rules, in full.
    async fn ruleset(&self) -> async_graphql::Result<RulesetView> {
        Ok(RulesetView(Arc::clone(&self.game()?.table.ruleset)))
    }

    /// How far it is.
    async fn stage(&self) -> async_graphql::Result<GameStage> {
        Ok(match self.game()?.table.stage {
            Stage::Gathering => GameStage::Gathering,
            Stage::Playing => GameStage::Playing,
            Stage::Ended(_) => GameStage::Ended,
        })
    }

    /// What the turn is waiting for, while the game is played: `roll`, `save`, `roll_or_bank`, `roll_or_score`, `score`,
    /// `roll_or_resolve`, `combat`, `answer` or `shop`.
    async fn phase(&self) -> async_graphql::Result<Option<&'static str>> {
        Ok(self.game()?.phase())
    }

    /// Who can find and watch it.
    async fn visibility(&self, ctx: &Context<'_>) -> async_graphql::Result<Visibility> {
        let private = self.invite(ctx).await?.is_some();
        Ok(if private { Visibility::Private } else { Visibility::Public })
    }

    /// The code that lets others in; told to who sits at a private table.
    async fn invite_code(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<String>> {
        let account = viewer_if_any(ctx).map(|viewer| viewer.account);
        let Some(account) = account else { return Ok(None) };
        let access = app(ctx).tables.access.of(&[self.id]).await.map_err(store_error)?;
        let Some(access) = access.get(&self.id) else { return Ok(None) };
        let entitled = access.creator == account || is_seated(self.game()?, account);
        Ok(access.invite.as_ref().filter(|_| entitled).map(ToString::to_string))
    }

    /// The seats, by number.
    async fn seats(&self) -> Vec<Seat> {
        Seat::all(&self.state)
    }

    /// Your seat, if you sit or sat at this table.
    async fn my_seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Seat>> {
        let Some(viewer) = viewer_if_any(ctx) else { return Ok(None) };
        let number = seat_of(self.game()?, viewer.account);
        Ok(number.and_then(|number| Seat::of(&self.state, number)))
    }

    /// The seat that has the turn, while the game is played. While somebody else is asked something, that one is to move.
    async fn turn_of(&self) -> async_graphql::Result<Option<Seat>> {
        let game = self.game()?;
        let seat = game.to_move().map(|_| game.table.turn.seat);
        Ok(seat.and_then(|number| Seat::of(&self.state, number)))
    }

    /// The seat that must act now, while the game is played: who was asked something, otherwise whose turn it is.
    async fn to_move(&self) -> async_graphql::Result<Option<Seat>> {
        Ok(self.game()?.to_move().and_then(|number| Seat::of(&self.state, number)))
    }

    /// The round of the table, from 1; 0 before the first.
    async fn round(&self) -> async_graphql::Result<i32> {
        Ok(int(self.game()?.table.turn.round))
    }

    /// The time of the seat to move, if there is a limit.
    async fn clock(&self) -> async_graphql::Result<Option<Clock>> {
        let game = self.game()?;
        let deadline = game.table.turn.deadline.filter(|_| game.to_move().is_some());
        let now = clock::now();
        Ok(deadline.map(|deadline| Clock {
            deadline: Instant(deadline),
            now: Instant(now),
            milliseconds_left: int(deadline.0.saturating_sub(now.0)),
        }))
    }

    /// The dice of the seat that has the turn, by slot.
    async fn dice(&self) -> async_graphql::Result<Vec<Die>> {
        Ok(Die::all(self.game()?))
    }

    /// Every selection of the roll on the table that scores, explained, the best one first.
    async fn selections(&self) -> async_graphql::Result<Vec<Selection>> {
        let game = self.game()?;
        let rules = &game.table.ruleset.rules;
        Ok(game.selections().iter().map(|found| Selection::new(found, rules)).collect())
    }

    /// The selection that scores the most.
    async fn best_selection(&self) -> async_graphql::Result<Option<Selection>> {
        let game = self.game()?;
        let rules = &game.table.ruleset.rules;
        Ok(game.best_selection().map(|best| Selection::new(&best, rules)))
    }

    /// What can be bought in the game itself: the open cards of a market, the goods of a shop.
    async fn offers(&self) -> async_graphql::Result<Vec<Offer>> {
        Ok(self.game()?.offers().into_iter().map(Into::into).collect())
    }

    /// Every command that is accepted now, by anybody or by you only.
    async fn legal_commands(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only your own commands.", default)] mine: bool,
    ) -> async_graphql::Result<Vec<LegalCommand>> {
        let game = self.game()?;
        let my_seat = viewer_if_any(ctx).and_then(|viewer| seat_of(game, viewer.account));
        Ok(if mine { LegalCommand::mine(game, my_seat) } else { LegalCommand::all(game) })
    }

    /// What the last command did, in words and events.
    async fn last_action(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Action>> {
        let loader = ctx.data_unchecked::<DataLoader<LastActions>>();
        Ok(loader.load_one(self.id).await?)
    }

    /// Everything that happened, in order.
    async fn events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many, 1 to 100; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from: an event's version.")] after: Option<String>,
    ) -> async_graphql::Result<GameEventConnection> {
        let size = page_size(first)?;
        let last = self.state.head.version;
        let from = after.as_deref().map_or(Ok(0), str::parse::<i64>);
        let from = from.ok().filter(|from| (0..=last).contains(from));
        let from = from.ok_or_else(|| bad_input("after is the cursor of an event of this game"))?;
        let most = i64::try_from(size + 1).unwrap_or(i64::MAX);
        let recorded = app(ctx).tables.store.page(self.id, from, most).await;
        let recorded = recorded.map_err(PlayError::from)?;
        let more = recorded.len() > size;
        let items = recorded.into_iter().map(|recorded| {
            let event = GameEvent::logged(Arc::new(recorded), Some(Arc::clone(&self.state)));
            (event.cursor(), event)
        });
        Ok(GameEventConnection::page(items.collect(), more, size, after.is_some()))
    }

    /// The game as it was behind one of its events: a look back, where nothing can be done.
    async fn at(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The version of the event: 1 to the game's own.")] version: i32,
    ) -> async_graphql::Result<Self> {
        let last = self.state.head.version;
        if !(1..=last).contains(&i64::from(version)) {
            return Err(bad_input(format!("version must be from 1 to {last}")));
        }
        app(ctx).database.check()?;
        Ok(self.as_of(&app(ctx).tables.store, version.into()).await?)
    }

    /// How it ended, once it has.
    async fn outcome(&self) -> async_graphql::Result<Option<Outcome>> {
        let Stage::Ended(outcome) = &self.game()?.table.stage else { return Ok(None) };
        let winners = outcome.winners.iter().filter_map(|&seat| Seat::of(&self.state, seat));
        Ok(Some(Outcome {
            decided_by: text(&outcome.by),
            winners: winners.collect(),
            scores: outcome.scores.iter().map(|&points| Long(points)).collect(),
        }))
    }

    /// Why it counts no more, if it was made void.
    async fn voided(&self) -> async_graphql::Result<Option<VoidReason>> {
        Ok(self.game()?.table.voided.map(VoidReason::from))
    }

    /// What makes the dice fair.
    async fn fairness(&self, ctx: &Context<'_>) -> async_graphql::Result<Fairness> {
        let table = &self.game()?.table;
        let begun = table.stage != Stage::Gathering;
        let over = matches!(table.stage, Stage::Ended(_));
        let commitment = text(&table.commitment);
        let promise = serde_json::json!({
            "iss": "croupier", "game": self.id, "commitment": commitment,
            "ruleset_hash": text(&table.ruleset_hash),
        });
        Ok(Fairness {
            ruleset_hash: text(&table.ruleset_hash),
            seeds_hash: begun
                .then(|| text(&seeds_hash(table.seats.iter().map(|seat| seat.seed.as_ref())))),
            secret: if over { revealed(app(ctx), self).await? } else { None },
            receipt: app(ctx).accounts.tokens.sign(&promise),
            commitment,
        })
    }
}

/// A name or a hash as events write it.
pub(super) fn text(value: &impl serde::Serialize) -> String {
    let written = serde_json::to_value(value).unwrap_or_default();
    written.as_str().unwrap_or_default().to_owned()
}

/// The secret that the last event of the game tells.
async fn revealed(app: &App, view: &GameView) -> async_graphql::Result<Option<String>> {
    let last = app.tables.store.page(view.id, view.state.head.version - 1, 1).await;
    let last = last.map_err(PlayError::from)?;
    let told = last.into_iter().find_map(|recorded| {
        if let Event::SeedRevealed { secret } = recorded.event { Some(text(&secret)) } else { None }
    });
    Ok(told)
}
