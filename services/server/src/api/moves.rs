//! Moves: what the seat to move does.

use async_graphql::{Context, ID, Object, SimpleObject, Value};
use domain::{Play, RejectionCode};
use uuid::Uuid;

use super::{
    app,
    errors::Problem,
    event::{GameEvent, with_names},
    game::GameView,
    ids::game_id,
    player, viewer_if_any,
};
use crate::play::{Done, Once, PlayError, Refusal, RefusalCode, Wish, evidence::Origin, seat_of};

/// What came of a wish: the game as it is now and what happened; or why it was refused.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct GamePayload {
    /// The game as it is now; nothing if it was refused.
    game: Option<GameView>,
    /// What the command made happen, in order.
    events: Vec<GameEvent>,
    /// Whether this command had been done before, under the same `commandId`. It was not done again.
    repeated: bool,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

impl From<Done> for GamePayload {
    fn from(done: Done) -> Self {
        let events = GameEvent::all(&done);
        let repeated = done.repeated;
        let game = Some(GameView { id: done.game, state: done.state });
        Self { game, events, repeated, errors: Vec::new() }
    }
}

impl GamePayload {
    /// The same, with what was wrong called as the mutation calls it.
    pub(super) fn about(mut self, argument: &str, here: &str) -> Self {
        for problem in &mut self.errors {
            problem.about(argument, here);
        }
        self
    }

    /// A refusal becomes data; what broke is an error.
    pub(super) async fn of(
        ctx: &Context<'_>,
        game: Option<Uuid>,
        done: Result<Done, PlayError>,
    ) -> async_graphql::Result<Self> {
        note(ctx, game, &done);
        match done {
            Ok(done) => Ok(done.into()),
            Err(PlayError::Refused(refusal)) => Self::refused(ctx, game, refusal).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn refused(
        ctx: &Context<'_>,
        game: Option<Uuid>,
        mut refusal: Refusal,
    ) -> async_graphql::Result<Self> {
        let state = game.and_then(|game| app(ctx).tables.store.games.remembered(game));
        let table = state.as_ref().and_then(|state| state.now.as_ref()).map(|game| &game.table);
        if let (Some(seat), Some(table)) = (refusal.to_move, table) {
            let table = with_names(app(ctx), table).await?;
            if let Some(to_move) = table.seats.get(usize::from(seat)) {
                refusal.message = format!("it is the turn of {} on seat {seat}", to_move.name);
            }
        }
        let of_loadout = LOADOUT.contains(&refusal.code);
        let mut problem = Problem::from(refusal);
        // Of dice, only codes of a loadout can be wrong at a table.
        if of_loadout {
            problem.about("code", "dice");
        }
        let errors = vec![problem];
        Ok(Self { game: None, events: Vec::new(), repeated: false, errors })
    }
}

/// What can be wrong with the codes of a loadout.
const LOADOUT: [RefusalCode; 3] = [
    RefusalCode::Rules(RejectionCode::UnknownDie),
    RefusalCode::Rules(RejectionCode::RetiredDie),
    RefusalCode::Rules(RejectionCode::NotOwned),
];

/// Keeps what came of a wish as evidence, where it is about a game.
fn note(ctx: &Context<'_>, game: Option<Uuid>, done: &Result<Done, PlayError>) {
    let game = done.as_ref().map_or(game, |done| Some(done.game));
    let origin = ctx.data_opt::<Origin>();
    if let (Some(game), Some(viewer), Some(origin)) = (game, viewer_if_any(ctx), origin) {
        let command = || {
            let given = ctx.field().arguments().ok()?;
            let id = given.into_iter().find(|(name, _)| name == "commandId")?.1;
            let Value::String(id) = id else { return None };
            Uuid::try_parse(&id).ok()
        };
        let command = if done.is_err() { command() } else { None };
        let tables = &app(ctx).tables;
        let state = tables.store.games.remembered(game);
        let version = state.as_ref().map_or(0, |state| state.head.version);
        // What strangers try at a table is no evidence about its game.
        let table = state.as_ref().and_then(|state| state.now.as_ref());
        let sits = table.is_some_and(|table| seat_of(table, viewer.account).is_some());
        if done.is_ok() || sits {
            let asked = (ctx.field().name(), command);
            tables.evidence.of(game, &viewer, origin, asked, version, done);
        }
    }
}

/// Does what a player wants at a table, and tells what came of it.
pub(super) async fn ask(
    ctx: &Context<'_>,
    game: &ID,
    wish: Wish,
    command_id: Option<Uuid>,
    expected_version: Option<i32>,
) -> async_graphql::Result<GamePayload> {
    let viewer = player(ctx)?;
    let game = game_id(game)?;
    let app = app(ctx);
    app.database.check()?;
    let once = Once { id: command_id, expected: expected_version.map(i64::from) };
    let done = app.tables.ask(&viewer, game, wish, once).await;
    GamePayload::of(ctx, Some(game), done).await
}

/// Slots as clients write them; one that cannot be a slot is one that does not exist.
pub(super) fn slots(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().map(|&number| u8::try_from(number).unwrap_or(u8::MAX)).collect()
}

/// The moves of the seat to move.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moves;

/// The moves of the seat to move.
#[Object]
impl Moves {
    /// Rolls the dice in hand; in DiceRogue and NeonPolis all dice, or all but those kept.
    async fn roll(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "Dice that stay as they are, by slot; where dice are kept between rolls."
        )]
        keep: Option<Vec<i32>>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let keep = keep.as_deref().map(self::slots).filter(|keep| !keep.is_empty());
        let play = keep.map_or(Play::Roll, |keep| Play::Reroll { keep });
        let rolled = ask(ctx, &game_id, Wish::Play(play), command_id, expected_version).await?;
        Ok(rolled.about("slots", "keep"))
    }

    /// Scores some of the dice just rolled. All of them must score.
    async fn save(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The dice, by slot.")] slots: Vec<i32>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let play = Play::Save { slots: self::slots(&slots) };
        ask(ctx, &game_id, Wish::Play(play), command_id, expected_version).await
    }

    /// Puts the points of the round on your score and ends your turn.
    async fn bank(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Dice to save first, by slot.")] slots: Option<Vec<i32>>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let play = Play::Bank { slots: slots.as_deref().map(self::slots) };
        ask(ctx, &game_id, Wish::Play(play), command_id, expected_version).await
    }

    /// Gives the roll up: a farkle by choice.
    async fn forfeit(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        ask(ctx, &game_id, Wish::Play(Play::Forfeit), command_id, expected_version).await
    }
}
