//! Replays: what happened in a game, step by step, and why.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use async_graphql::{Context, Enum, ID, Json, Object, SimpleObject};
use domain::{
    Difference, Game, Moment, Purpose, Stage, differences, draws_of, snapshot, write_record,
};
use serde_json::Value;
use store::{Head, Loaded, bundle::Bundle};
use uuid::Uuid;

use super::{
    app,
    connection::{ReplayEntryConnection, USUAL},
    errors::{bad_input, fault, refused},
    event::GameEvent,
    game::GameView,
    player::Player,
    scalars::{Instant, int},
    viewer,
};
use crate::{
    accounts::{Role, Viewer},
    disputes::audit,
    play::{
        PlayError, Refusal, ServiceCode,
        evidence::{Kind, masked},
        seat_of,
    },
    replay::{Entry, Mark, NoReplay, Place, Replay, What},
};

/// The largest page of a timeline: with all states it is a lot to write.
const MOST: usize = 500;

/// Everything that happened in a game.
#[derive(Clone, Debug)]
pub(super) struct ReplayView {
    replay: Arc<Replay>,
    viewer: Viewer,
}

/// A line of the timeline.
#[derive(Clone, Debug)]
pub(super) struct ReplayEntry {
    replay: Arc<Replay>,
    viewer: Viewer,
    /// Its place, from 0.
    place: usize,
    before: Option<Arc<State>>,
    after: Option<Arc<State>>,
}

/// A state of the game, and what it is made of, once somebody wants to know.
#[derive(Debug)]
struct State {
    loaded: Arc<Loaded>,
    tree: OnceLock<Value>,
}

impl State {
    fn tree(&self) -> &Value {
        self.tree.get_or_init(|| self.loaded.now.as_ref().map(snapshot).unwrap_or_default())
    }
}

/// What a line of the timeline is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum ReplayEntryKind {
    /// A command that made events.
    Action,
    /// A command that was refused. Nothing changed.
    Refused,
    /// A player began to follow the game.
    Connected,
    /// A player followed the game no more.
    Disconnected,
}

/// From where a command came. Told of one's own commands, and to staff of everybody's.
#[derive(Clone, Debug, SimpleObject)]
struct Source {
    /// The session.
    session: Uuid,
    /// The address, the first half of it.
    address: String,
    /// What the client calls itself: the header `croupier-client`, or `user-agent`.
    client: String,
}

/// Something that is not as it was before.
#[derive(Clone, Debug, SimpleObject)]
struct StateDifference {
    /// Where in the state: `board.farkle.players.0.score`.
    path: String,
    /// What it was; null where there was nothing.
    before: Json<Value>,
    /// What it is; null where there is nothing any more.
    after: Json<Value>,
}

/// Values of the random source: which draw they are, and what came of it. docs/fair-dice.md says how anybody can draw them again.
#[derive(Clone, Debug, SimpleObject)]
struct DrawView {
    /// What was drawn: `dice`, `colours`, `market`, `grants`.
    purpose: &'static str,
    /// Its number among the draws of this purpose.
    number: i32,
    /// Values go from 1 to this.
    sides: i32,
    /// The values.
    raw: Vec<i32>,
}

/// Why a command was refused.
#[derive(Clone, Debug, SimpleObject)]
struct RefusedCommand {
    /// What was asked: the name of the mutation.
    asked: String,
    /// The name of the refusal.
    code: String,
    /// What was wrong and what would be right.
    message: String,
}

/// How a game is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum ReplayFormat {
    /// A compact text, a line a round: docs/record.md.
    Record,
    /// A list of all events with their envelopes.
    Json,
    /// An event a line.
    Ndjson,
    /// All that proves the game, for `croupier verify`: docs/proof.md. Of a game that is over.
    Proof,
}

impl ReplayView {
    /// The replay of a game: for who played it once it is over, for support at any time.
    pub(super) async fn find(ctx: &Context<'_>, game: Uuid) -> async_graphql::Result<Option<Self>> {
        let viewer = viewer(ctx)?;
        let app = app(ctx);
        let Some(view) = GameView::find(app, viewer, game, None).await? else { return Ok(None) };
        let staff = matches!(viewer.role, Role::Support | Role::Admin);
        if !staff {
            let table = view.game()?;
            if seat_of(table, viewer.account).is_none() {
                return Err(refused(&Refusal::not_seated()));
            }
            if !matches!(table.table.stage, Stage::Ended(_)) {
                let wait = "a game can be replayed by its players when it is over";
                return Err(refused(&Refusal::new(ServiceCode::GameNotOver, wait)));
            }
        }
        if staff {
            audit::note(&app.tables.store, &viewer, "replay_game", game, None).await?;
        }
        let mut notes = app.tables.evidence.of_game(game).await.map_err(PlayError::from)?;
        // What others did wrong, and from where, is between them and the house.
        notes.retain(|note| staff || note.actor == viewer.account);
        let replay = Replay::load(&app.tables.store, game, notes).await.map_err(PlayError::from)?;
        Ok(Some(Self { replay: Arc::new(replay), viewer }))
    }

    /// The game and its events.
    pub(super) fn log(&self) -> (Uuid, Vec<store::Recorded>) {
        (self.replay.game, self.replay.log.clone())
    }

    /// Lines at these places, which must come in order, with the states around them.
    fn lines_at(&self, places: &[usize]) -> Vec<ReplayEntry> {
        let bounds = places.iter().filter_map(|&place| {
            let entry = self.replay.entries.get(place)?;
            Some([entry.before, entry.before + self.replay.events_of(entry).len()])
        });
        let bounds: Vec<usize> = bounds.flatten().collect();
        // The state behind one line is the one before the next: it is made, and looked at, once.
        let mut distinct = bounds.clone();
        distinct.dedup();
        let states = self.replay.states(distinct.iter().copied()).into_iter().zip(&distinct);
        let states: HashMap<usize, Arc<State>> = states
            .filter_map(|(game, &behind)| {
                let loaded = Arc::new(self.loaded(game?, behind));
                Some((behind, Arc::new(State { loaded, tree: OnceLock::new() })))
            })
            .collect();
        let around = places.iter().zip(bounds.chunks_exact(2));
        around
            .map(|(&place, bounds)| ReplayEntry {
                replay: Arc::clone(&self.replay),
                viewer: self.viewer,
                place,
                before: states.get(&bounds[0]).cloned(),
                after: states.get(&bounds[1]).cloned(),
            })
            .collect()
    }

    fn loaded(&self, game: Game, behind: usize) -> Loaded {
        let last = behind.checked_sub(1).and_then(|last| self.replay.log.get(last));
        let head = last.map_or(Head::NEW, store::Recorded::head);
        Loaded::at(Some(game), head)
    }
}

impl From<NoReplay> for PlayError {
    fn from(error: NoReplay) -> Self {
        match error {
            NoReplay::Store(error) => error.into(),
            NoReplay::Unreadable { .. } => Self::Fault(error.to_string()),
        }
    }
}

/// Everything that happened in a game, step by step.
#[Object(name = "Replay")]
impl ReplayView {
    /// The game as it is now.
    async fn game(&self, ctx: &Context<'_>) -> async_graphql::Result<GameView> {
        let state = app(ctx).tables.store.games.fresh(self.replay.game).await;
        Ok(GameView { id: self.replay.game, state: state.map_err(PlayError::from)? })
    }

    /// How many lines the timeline has.
    async fn length(&self) -> i32 {
        int(self.replay.entries.len())
    }

    /// The timeline: commands, refusals, who came and went.
    async fn entries(
        &self,
        #[graphql(desc = "How many, 1 to 500; 20 if you do not say.")] first: Option<i32>,
        #[graphql(desc = "The cursor to go on from.")] after: Option<String>,
    ) -> async_graphql::Result<ReplayEntryConnection> {
        let size = first.map_or(Some(USUAL), |first| usize::try_from(first).ok());
        let size = size.filter(|size| (1..=MOST).contains(size));
        let size = size.ok_or_else(|| bad_input(format!("first must be from 1 to {MOST}")))?;
        let length = self.replay.entries.len();
        let from = match after.as_deref() {
            None => 0,
            Some(cursor) => {
                let place = cursor.parse::<usize>().ok().filter(|&place| place < length);
                place.ok_or_else(|| bad_input("after is a cursor of this timeline"))? + 1
            }
        };
        let places: Vec<usize> = (from..length.min(from + size)).collect();
        let items = places.iter().map(ToString::to_string).zip(self.lines_at(&places)).collect();
        Ok(ReplayEntryConnection::page(items, from + size < length, size, after.is_some()))
    }

    /// The next line with a farkle, a bank, an effect, a time-out or a refusal; nothing if there is none.
    async fn next(
        &self,
        #[graphql(desc = "What to look for.")] mark: Mark,
        #[graphql(
            desc = "The number of the line to look behind; the beginning if you do not say."
        )]
        after: Option<i32>,
    ) -> async_graphql::Result<Option<ReplayEntry>> {
        let after = match after {
            None => None,
            Some(after) => {
                let place = usize::try_from(after).ok().filter(|after| *after >= 1);
                Some(place.ok_or_else(|| bad_input("after is the number of a line, from 1"))? - 1)
            }
        };
        let place = self.replay.next(after, mark);
        Ok(place.and_then(|place| self.lines_at(&[place]).pop()))
    }

    /// The whole game in a file.
    async fn export(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How.")] format: ReplayFormat,
    ) -> async_graphql::Result<String> {
        let store = &app(ctx).tables.store;
        if format == ReplayFormat::Record {
            return write_record(&self.replay.events())
                .map_err(|unproven| bad_input(unproven.to_string()));
        }
        let bundle = Bundle::load(store, self.replay.game).await.map_err(PlayError::from)?;
        let bundle = bundle.ok_or_else(|| fault("a game without events"))?;
        let said = |error: serde_json::Error| fault(&error.to_string());
        match format {
            ReplayFormat::Proof | ReplayFormat::Record => bundle.write().map_err(said),
            ReplayFormat::Ndjson => bundle.ndjson().map_err(said),
            ReplayFormat::Json => {
                let lines = bundle.ndjson().map_err(said)?;
                Ok(format!("[{}]", lines.trim_end().replace('\n', ",\n")))
            }
        }
    }
}

impl ReplayEntry {
    fn entry(&self) -> &Entry {
        &self.replay.entries[self.place]
    }

    fn actor_id(&self) -> Uuid {
        match &self.entry().what {
            What::Noted(note) => note.actor,
            What::Action { events, .. } => self.replay.log[events.start].actor,
        }
    }

    fn view(&self, state: Option<&Arc<State>>) -> Option<GameView> {
        state.map(|state| GameView { id: self.replay.game, state: Arc::clone(&state.loaded) })
    }
}

/// A line of the timeline.
#[Object]
impl ReplayEntry {
    /// Its number, from 1.
    async fn number(&self) -> i32 {
        int(self.place + 1)
    }

    /// What it is about.
    async fn kind(&self) -> ReplayEntryKind {
        match &self.entry().what {
            What::Action { .. } => ReplayEntryKind::Action,
            What::Noted(note) => match note.kind {
                Kind::Refused | Kind::Seen => ReplayEntryKind::Refused,
                Kind::Connected => ReplayEntryKind::Connected,
                Kind::Disconnected => ReplayEntryKind::Disconnected,
            },
        }
    }

    /// When.
    async fn at(&self) -> Instant {
        Instant(self.entry().at)
    }

    /// The version of the game before it.
    async fn version_before(&self) -> i32 {
        int(self.entry().before)
    }

    /// The version of the game behind it.
    async fn version_after(&self) -> i32 {
        int(self.entry().before + self.replay.events_of(self.entry()).len())
    }

    /// Who; nobody is the house.
    async fn actor(&self) -> Option<Player> {
        let actor = self.actor_id();
        (!actor.is_nil()).then(|| Player::new(actor))
    }

    /// The seat of who acted, if they sit at the table.
    async fn seat(&self) -> Option<i32> {
        let state = self.after.as_ref().or(self.before.as_ref())?;
        seat_of(state.loaded.now.as_ref()?, self.actor_id()).map(Into::into)
    }

    /// What was left on the clock of who had to move, in milliseconds; below 0 if it had run out.
    async fn clock_left(&self) -> Option<i32> {
        let game = self.before.as_ref()?.loaded.now.as_ref()?;
        let deadline = game.table.turn.deadline.filter(|_| game.to_move().is_some())?;
        let left = |Moment(from): Moment, Moment(to): Moment| i128::from(to) - i128::from(from);
        i32::try_from(left(self.entry().at, deadline)).ok()
    }

    /// The id of the command.
    async fn command_id(&self) -> Option<Uuid> {
        match &self.entry().what {
            What::Action { events, .. } => Some(self.replay.log[events.start].command),
            What::Noted(note) => note.command,
        }
    }

    /// The command in the words of records: `0: save [0,1,2]`.
    async fn command(&self) -> Option<&str> {
        match &self.entry().what {
            What::Action { words, .. } => Some(words.as_str()).filter(|words| !words.is_empty()),
            What::Noted(note) => note.asked.as_deref(),
        }
    }

    /// From where it came, if that was noted and you may know.
    async fn source(&self) -> Option<Source> {
        let own = self.actor_id() == self.viewer.account;
        let staff = matches!(self.viewer.role, Role::Support | Role::Admin);
        let Place { session, address, client } =
            self.entry().place.clone().filter(|_| own || staff)?;
        Some(Source { session, address: masked(&address), client })
    }

    /// What it made happen, in order.
    async fn made(&self) -> Vec<GameEvent> {
        let after = self.after.as_ref().map(|state| Arc::clone(&state.loaded));
        let event = |recorded: &store::Recorded| {
            GameEvent::logged(Arc::new(recorded.clone()), after.clone())
        };
        self.replay.events_of(self.entry()).iter().map(event).collect()
    }

    /// The game before it; nothing before the first event.
    async fn before(&self) -> Option<GameView> {
        self.view(self.before.as_ref())
    }

    /// The game behind it.
    async fn after(&self) -> Option<GameView> {
        self.view(self.after.as_ref())
    }

    /// What changed, value by value.
    async fn differences(&self) -> Vec<StateDifference> {
        if self.replay.events_of(self.entry()).is_empty() {
            return Vec::new();
        }
        let nothing = Value::Null;
        let before = self.before.as_ref().map_or(&nothing, |state| state.tree());
        let after = self.after.as_ref().map_or(&nothing, |state| state.tree());
        let found = differences(before, after).into_iter();
        let view = |Difference { path, before, after }| StateDifference {
            path,
            before: Json(before),
            after: Json(after),
        };
        found.map(view).collect()
    }

    /// What was drawn for it.
    async fn draws(&self) -> Vec<DrawView> {
        let events = self.replay.events_of(self.entry()).iter();
        let view = |(draw, raw): (domain::Draw, Vec<u32>)| DrawView {
            purpose: match draw.purpose {
                Purpose::Dice => "dice",
                Purpose::Colours => "colours",
                Purpose::Market => "market",
                Purpose::Grants => "grants",
            },
            number: int(draw.number),
            sides: int(draw.sides),
            raw: raw.into_iter().map(int).collect(),
        };
        events.flat_map(|recorded| draws_of(&recorded.event)).map(view).collect()
    }

    /// Why it was refused, if it was.
    async fn refusal(&self) -> Option<RefusedCommand> {
        let What::Noted(note) = &self.entry().what else { return None };
        Some(RefusedCommand {
            asked: note.asked.clone()?,
            code: note.code.clone()?,
            message: note.message.clone()?,
        })
    }
}

/// Looks for a replay.
pub(super) async fn find(
    ctx: &Context<'_>,
    game_id: &ID,
) -> async_graphql::Result<Option<ReplayView>> {
    ReplayView::find(ctx, super::ids::game_id(game_id)?).await
}
