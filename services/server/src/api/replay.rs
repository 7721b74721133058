//! Replays: what happened in a game, step by step, and why.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use async_graphql::{Context, Enum, ID, Json, Object, SimpleObject};
use domain::{Difference, Game, Moment, Stage, differences, draws_of, snapshot, write_record};
use serde_json::Value;
use store::{Head, Loaded, bundle::Bundle};
use uuid::Uuid;

use super::{
    app,
    connection::{PageArguments, ReplayEntryConnection},
    enums::TurnEndReason,
    errors::{bad_input, fault, from_user_error},
    events::{DrawView, EventBase, GameEvent, draw, follow, needs_states},
    game::GameView,
    player::Player,
    scalars::{DateTime, Long, int},
    viewer_if_any,
};
use crate::{
    accounts::{Role, Viewer},
    disputes::audit,
    play::{
        AppError, ServiceCode, UserError,
        evidence::{Kind, masked},
        seat_of,
    },
    replay::{ClientOrigin, Entry, EntryKind, Mark, Replay, ReplayError, Turn},
};

/// The maximum page size of the timeline, because entries can include whole states.
const MAX_PAGE: usize = 500;

/// Everything that happened in a game, step by step.
#[derive(Clone, Debug)]
pub(super) struct ReplayView {
    replay: Arc<Replay>,
    viewer: Option<Viewer>,
}

/// An entry of the timeline.
#[derive(Clone, Debug)]
pub(super) struct ReplayEntry {
    replay: Arc<Replay>,
    viewer: Option<Viewer>,
    /// The index, from 0.
    index: usize,
    before: Option<Arc<State>>,
    after: Option<Arc<State>>,
}

/// A state of the game, with its snapshot computed on demand.
#[derive(Debug)]
struct State {
    loaded: Arc<Loaded>,
    tree: OnceLock<Value>,
}

impl State {
    fn tree(&self) -> &Value {
        self.tree.get_or_init(|| self.loaded.aggregate.as_ref().map(snapshot).unwrap_or_default())
    }
}

/// The kind of an entry of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum ReplayEntryKind {
    /// A command that was executed.
    Action,
    /// A command that was rejected. Nothing changed.
    Refused,
    /// A player subscribed to the game.
    Connected,
    /// A player's subscription to the game ended.
    Disconnected,
}

/// The origin of a command. Visible to the player who sent it, support and admins only.
#[derive(Clone, Debug, SimpleObject)]
struct Source {
    /// The id of the session.
    session: Uuid,
    /// The first half of the IP address.
    address: String,
    /// The client, from the header `croupier-client` or `user-agent`.
    client: String,
}

/// A changed value of the state.
#[derive(Clone, Debug, SimpleObject)]
struct StateDifference {
    /// The path in the state: `board.farkle.players.0.score`.
    path: String,
    /// The value before. Null if it did not exist.
    before: Json<Value>,
    /// The value after. Null if it does not exist any more.
    after: Json<Value>,
}

/// A rejected command.
#[derive(Clone, Debug, SimpleObject)]
struct RefusedCommand {
    /// The operation: the name of the mutation or move.
    asked: String,
    /// The error code.
    code: String,
    /// The error message.
    message: String,
}

/// The format of an exported game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum ReplayFormat {
    /// Compact text, one line per round: see docs/record.md.
    Record,
    /// A JSON array of all events with their metadata.
    Json,
    /// One JSON event per line.
    Ndjson,
    /// Everything needed to verify the game with `croupier verify`: see docs/proof.md. Only for
    /// games that are over.
    Proof,
}

impl ReplayView {
    /// The replay of a game that the viewer can see. A running game can be replayed by support and
    /// admins only.
    pub(super) async fn find(ctx: &Context<'_>, game: Uuid) -> async_graphql::Result<Option<Self>> {
        let viewer = viewer_if_any(ctx);
        let app = app(ctx);
        let Some(view) = GameView::find(app, viewer, game, None).await? else { return Ok(None) };
        let staff = viewer.filter(|viewer| is_support(*viewer));
        if staff.is_none() && !matches!(view.game()?.table.stage, Stage::Ended(_)) {
            let message = "a game can be replayed once it is over";
            return Err(from_user_error(&UserError::new(ServiceCode::GameNotOver, message)));
        }
        if let Some(staff) = staff {
            audit::record(&app.games.store, &staff, "replay_game", game, None).await?;
        }
        // Rejected commands and origins of others are personal data: only support sees them.
        let mut notes = match viewer {
            None => Vec::new(),
            Some(_) => app.games.evidence.of_game(game).await.map_err(AppError::from)?,
        };
        let own = |account| viewer.is_some_and(|viewer| viewer.account == account);
        notes.retain(|note| staff.is_some() || own(note.actor));
        let version = view.state.head.version;
        let recording = app.recordings.load(&app.games.store, game, version).await;
        let replay = Replay::new(game, recording.map_err(AppError::from)?, notes);
        Ok(Some(Self { replay: Arc::new(replay), viewer }))
    }

    /// The game and its events.
    pub(super) fn log(&self) -> (Uuid, Arc<Vec<store::Recorded>>) {
        (self.replay.game, Arc::clone(&self.replay.log))
    }

    /// The entries at these indices, which must be sorted, with the states before and after.
    fn entries_at(&self, indices: &[usize]) -> Vec<ReplayEntry> {
        let bounds = indices.iter().filter_map(|&index| {
            let entry = self.replay.entries.get(index)?;
            Some([entry.before, entry.before + self.replay.events_of(entry).len()])
        });
        let bounds: Vec<usize> = bounds.flatten().collect();
        // The state after one entry is the one before the next: it is computed only once.
        let mut distinct = bounds.clone();
        distinct.dedup();
        let states = self.replay.states(distinct.iter().copied()).into_iter().zip(&distinct);
        let states: HashMap<usize, Arc<State>> = states
            .filter_map(|(game, &version)| {
                let loaded = Arc::new(self.loaded(game?, version));
                Some((version, Arc::new(State { loaded, tree: OnceLock::new() })))
            })
            .collect();
        let around = indices.iter().zip(bounds.chunks_exact(2));
        around
            .map(|(&index, bounds)| ReplayEntry {
                replay: Arc::clone(&self.replay),
                viewer: self.viewer,
                index,
                before: states.get(&bounds[0]).cloned(),
                after: states.get(&bounds[1]).cloned(),
            })
            .collect()
    }

    fn loaded(&self, game: Game, version: usize) -> Loaded {
        let last = version.checked_sub(1).and_then(|last| self.replay.log.get(last));
        let head = last.map_or(Head::NEW, store::Recorded::head);
        Loaded::at(Some(game), head)
    }
}

fn is_support(viewer: Viewer) -> bool {
    matches!(viewer.role, Role::Support | Role::Admin)
}

/// The index of the entry with this number.
fn index_of(argument: &str, number: i32) -> async_graphql::Result<usize> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.ok_or_else(|| bad_input(format!("{argument} must be the number of an entry, from 1")))
}

/// A turn and its entries in the timeline.
#[derive(Clone, Debug, SimpleObject)]
struct ReplayTurn {
    /// The round of the game, from 1.
    round: i32,
    /// The number of the seat whose turn it was.
    seat: i32,
    /// The number of the first entry of the turn.
    first_entry: i32,
    /// The number of the last entry of the turn.
    last_entry: i32,
    /// How the turn ended. Null while it is being played.
    reason: Option<TurnEndReason>,
    /// The points scored in the turn.
    points: Long,
}

impl From<Turn> for ReplayTurn {
    fn from(turn: Turn) -> Self {
        Self {
            round: int(turn.round),
            seat: turn.seat.into(),
            first_entry: int(turn.entries.start + 1),
            last_entry: int(turn.entries.end),
            reason: turn.end.map(Into::into),
            points: Long(turn.points),
        }
    }
}

impl From<ReplayError> for AppError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Store(error) => error.into(),
            ReplayError::Unreadable { .. } => Self::Fault(error.to_string()),
        }
    }
}

/// Everything that happened in a game, step by step.
#[Object(name = "Replay")]
impl ReplayView {
    /// The game as it is now.
    async fn game(&self, ctx: &Context<'_>) -> async_graphql::Result<GameView> {
        let state = app(ctx).games.store.games.latest(self.replay.game).await;
        Ok(GameView { id: self.replay.game, state: state.map_err(AppError::from)? })
    }

    /// The number of entries of the timeline.
    async fn length(&self) -> i32 {
        int(self.replay.entries.len())
    }

    /// The timeline: commands, rejected commands, and connections of players.
    async fn entries(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Page size when paging forward, 1 to 500. Defaults to 20.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Return the items after this cursor.")] after: Option<String>,
        #[graphql(desc = "Page size when paging backward, 1 to 500.")] last: Option<i32>,
        #[graphql(desc = "Return the items before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<ReplayEntryConnection> {
        let request = PageArguments { first, after, last, before }.request_up_to(ctx, MAX_PAGE)?;
        let length = self.replay.entries.len();
        let read = |cursor: &str| cursor.parse::<usize>().ok().filter(|index| *index < length);
        let (from, to) = match (request.backward, request.position(read)?) {
            (false, cursor) => (cursor.map_or(0, |cursor| cursor + 1), length),
            (true, cursor) => (0, cursor.unwrap_or(length)),
        };
        let more = to - from > request.size;
        let page = if request.backward {
            from.max(to.saturating_sub(request.size))..to
        } else {
            from..to.min(from + request.size)
        };
        let indices: Vec<usize> = page.collect();
        let items =
            indices.iter().map(ToString::to_string).zip(self.entries_at(&indices)).collect();
        let total = i64::try_from(length).unwrap_or(i64::MAX);
        Ok(ReplayEntryConnection::page(&request, items, more, total))
    }

    /// The entry with this number. Null if there is none.
    async fn entry(
        &self,
        #[graphql(desc = "The number of the entry, from 1.")] number: i32,
    ) -> Option<ReplayEntry> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        (index < self.replay.entries.len()).then(|| self.entries_at(&[index]).pop()).flatten()
    }

    /// The turns of the game, in order, with their entries.
    async fn turns(&self) -> Vec<ReplayTurn> {
        self.replay.turns().into_iter().map(ReplayTurn::from).collect()
    }

    /// The next entry with a mark. Null if there is none.
    async fn next(
        &self,
        #[graphql(desc = "The mark to look for.")] mark: Mark,
        #[graphql(
            desc = "Search after the entry with this number. Defaults to the start of the game."
        )]
        after: Option<i32>,
    ) -> async_graphql::Result<Option<ReplayEntry>> {
        let after = after.map(|after| index_of("after", after)).transpose()?;
        let index = self.replay.next(after, mark);
        Ok(index.and_then(|index| self.entries_at(&[index]).pop()))
    }

    /// The previous entry with a mark. Null if there is none.
    async fn previous(
        &self,
        #[graphql(desc = "The mark to look for.")] mark: Mark,
        #[graphql(desc = "Search before the entry with this number. Defaults to the end.")]
        before: Option<i32>,
    ) -> async_graphql::Result<Option<ReplayEntry>> {
        let before = before.map(|before| index_of("before", before)).transpose()?;
        let index = self.replay.previous(before, mark);
        Ok(index.and_then(|index| self.entries_at(&[index]).pop()))
    }

    /// The whole game as a text file.
    async fn export(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The format.")] format: ReplayFormat,
    ) -> async_graphql::Result<String> {
        let store = &app(ctx).games.store;
        if format == ReplayFormat::Record {
            return write_record(&self.replay.events())
                .map_err(|unproven| bad_input(unproven.to_string()));
        }
        let bundle = Bundle::load(store, self.replay.game).await.map_err(AppError::from)?;
        let bundle = bundle.ok_or_else(|| fault("a game without events"))?;
        let to_fault = |error: serde_json::Error| fault(&error.to_string());
        match format {
            ReplayFormat::Proof | ReplayFormat::Record => bundle.write().map_err(to_fault),
            ReplayFormat::Ndjson => bundle.ndjson().map_err(to_fault),
            ReplayFormat::Json => {
                let lines = bundle.ndjson().map_err(to_fault)?;
                Ok(format!("[{}]", lines.trim_end().replace('\n', ",\n")))
            }
        }
    }
}

impl ReplayEntry {
    fn entry(&self) -> &Entry {
        &self.replay.entries[self.index]
    }

    fn actor_id(&self) -> Uuid {
        match &self.entry().kind {
            EntryKind::Noted(note) => note.actor,
            EntryKind::Action { events, .. } => self.replay.log[events.start].actor,
        }
    }

    fn view(&self, state: Option<&Arc<State>>) -> Option<GameView> {
        state.map(|state| GameView { id: self.replay.game, state: Arc::clone(&state.loaded) })
    }
}

/// An entry of the timeline.
#[Object]
impl ReplayEntry {
    /// The number, from 1.
    async fn number(&self) -> i32 {
        int(self.index + 1)
    }

    /// The kind of entry.
    async fn kind(&self) -> ReplayEntryKind {
        match &self.entry().kind {
            EntryKind::Action { .. } => ReplayEntryKind::Action,
            EntryKind::Noted(note) => match note.kind {
                Kind::Refused | Kind::Seen => ReplayEntryKind::Refused,
                Kind::Connected => ReplayEntryKind::Connected,
                Kind::Disconnected => ReplayEntryKind::Disconnected,
            },
        }
    }

    /// When it happened.
    async fn at(&self) -> DateTime {
        DateTime(self.entry().at)
    }

    /// The version of the game before the entry.
    async fn version_before(&self) -> i32 {
        int(self.entry().before)
    }

    /// The version of the game after the entry.
    async fn version_after(&self) -> i32 {
        int(self.entry().before + self.replay.events_of(self.entry()).len())
    }

    /// Who acted. Null for the system.
    async fn actor(&self) -> Option<Player> {
        let actor = self.actor_id();
        (!actor.is_nil()).then(|| Player::new(actor))
    }

    /// The number of the actor's seat. Null if the actor has none.
    async fn seat(&self) -> Option<i32> {
        let state = self.after.as_ref().or(self.before.as_ref())?;
        seat_of(state.loaded.aggregate.as_ref()?, self.actor_id()).map(Into::into)
    }

    /// The time left on the clock of the seat to act, in milliseconds; negative if it had run out.
    /// Null if there is no time limit.
    async fn clock_left(&self) -> Option<i32> {
        let game = self.before.as_ref()?.loaded.aggregate.as_ref()?;
        let deadline = game.table.turn.deadline.filter(|_| game.to_move().is_some())?;
        let left = |Moment(from): Moment, Moment(to): Moment| i128::from(to) - i128::from(from);
        i32::try_from(left(self.entry().at, deadline)).ok()
    }

    /// The id of the command. Null if there is none.
    async fn command_id(&self) -> Option<Uuid> {
        match &self.entry().kind {
            EntryKind::Action { events, .. } => Some(self.replay.log[events.start].command),
            EntryKind::Noted(note) => note.command,
        }
    }

    /// The command in the notation of records: `0: save [0,1,2]`. Null if there is none.
    async fn command(&self) -> Option<&str> {
        match &self.entry().kind {
            EntryKind::Action { words, .. } => {
                Some(words.as_str()).filter(|words| !words.is_empty())
            }
            EntryKind::Noted(note) => note.asked.as_deref(),
        }
    }

    /// The origin of the command. Null if it was not recorded or you may not see it.
    async fn source(&self) -> Option<Source> {
        let viewer = self.viewer?;
        let (own, staff) = (self.actor_id() == viewer.account, is_support(viewer));
        let ClientOrigin { session, address, client } =
            self.entry().origin.clone().filter(|_| own || staff)?;
        Some(Source { session, address: masked(&address), client })
    }

    /// The events of the entry, in order.
    async fn events(&self, ctx: &Context<'_>) -> Vec<GameEvent> {
        let after = self.after.as_ref().map(|state| Arc::clone(&state.loaded));
        let recorded = self.replay.events_of(self.entry()).iter();
        let bases =
            recorded.map(|recorded| EventBase::logged(Arc::new(recorded.clone()), after.clone()));
        // The state after each event is computed only if it is requested.
        let bases: Vec<EventBase> = if needs_states(ctx) {
            let before = self.before.as_ref().and_then(|state| state.loaded.aggregate.clone());
            follow(before, bases)
        } else {
            bases.collect()
        };
        bases.into_iter().filter_map(GameEvent::of).collect()
    }

    /// The game before the entry. Null before the first event.
    async fn before(&self) -> Option<GameView> {
        self.view(self.before.as_ref())
    }

    /// The game after the entry.
    async fn after(&self) -> Option<GameView> {
        self.view(self.after.as_ref())
    }

    /// The changed values of the state.
    async fn differences(&self) -> Vec<StateDifference> {
        let found = self.replay.differences(self.entry(), || {
            let nothing = Value::Null;
            let before = self.before.as_ref().map_or(&nothing, |state| state.tree());
            let after = self.after.as_ref().map_or(&nothing, |state| state.tree());
            differences(before, after)
        });
        let view = |Difference { path, before, after }: &Difference| StateDifference {
            path: path.clone(),
            before: Json(before.clone()),
            after: Json(after.clone()),
        };
        found.iter().map(view).collect()
    }

    /// The random draws of the entry.
    async fn draws(&self) -> Vec<DrawView> {
        let events = self.replay.events_of(self.entry()).iter();
        let draws = events.flat_map(|recorded| draws_of(&recorded.event));
        draws.map(|(drawn, raw)| draw(drawn, &raw)).collect()
    }

    /// Why the command was rejected. Null if it was not.
    async fn refusal(&self) -> Option<RefusedCommand> {
        let EntryKind::Noted(note) = &self.entry().kind else { return None };
        Some(RefusedCommand {
            asked: note.asked.clone()?,
            code: note.code.clone()?,
            message: note.message.clone()?,
        })
    }
}

/// Finds the replay of a game.
pub(super) async fn find(
    ctx: &Context<'_>,
    game_id: &ID,
) -> async_graphql::Result<Option<ReplayView>> {
    ReplayView::find(ctx, super::ids::game_id(game_id)?).await
}
