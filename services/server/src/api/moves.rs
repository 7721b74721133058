//! The moves of all games, and the payload of game commands.

use std::sync::Arc;

use async_graphql::{ComplexObject, Context, ID, InputObject, Object, OneofObject, SimpleObject};
use domain::{Play, parse_play};
use uuid::Uuid;

use super::{
    app,
    command::{CommandInput, idempotency, input_path},
    errors::UserErrorView,
    events::{EventBase, GameEvent, follow, needs_states, with_names},
    game::GameView,
    games::{
        farkle::{BankInput, RollInput, SaveInput},
        neon::{AbilityInput, AttackInput, BuyItemInput, DecideStayInput, TakeEvolutionInput},
        rogue::{ScoreCategoryInput, UseItemInput},
    },
    ids::game_id,
    player, viewer_if_any,
};
use crate::play::{
    AppError, CommandContext, CommandOutcome, PlayerCommand, ServiceCode, UserError,
    evidence::Origin,
};

/// The result of a game command.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(complex)]
pub(super) struct GamePayload {
    /// The game after the command; on an error, the game as it is now. Null if there is no game or
    /// you may not see it.
    game: Option<GameView>,
    #[graphql(skip)]
    outcome: Option<Arc<CommandOutcome>>,
    /// Whether a command with this id had already been executed.
    repeated: bool,
    /// Why the command was rejected. If not empty, nothing was changed.
    user_errors: Vec<UserErrorView>,
}

impl From<CommandOutcome> for GamePayload {
    fn from(outcome: CommandOutcome) -> Self {
        let repeated = outcome.repeated;
        let game = Some(GameView { id: outcome.game, state: Arc::clone(&outcome.state) });
        let outcome = Some(Arc::new(outcome));
        Self { game, outcome, repeated, user_errors: Vec::new() }
    }
}

/// The result of a game command.
#[ComplexObject]
impl GamePayload {
    /// The events of the command, in order.
    async fn events(&self, ctx: &Context<'_>) -> Vec<GameEvent> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let bases = EventBase::all(outcome);
        // The states in between are folded only for clients that ask for them.
        let bases: Vec<EventBase> = match &outcome.before {
            Some(before) if needs_states(ctx) && outcome.is_consecutive() => {
                follow(before.aggregate.clone(), bases)
            }
            _ => bases.collect(),
        };
        bases.into_iter().filter_map(GameEvent::of).collect()
    }
}

impl GamePayload {
    /// The payload of a command: a user error is data, a failure is a GraphQL error.
    pub(super) async fn of(
        ctx: &Context<'_>,
        command: Option<Uuid>,
        game: Option<Uuid>,
        outcome: Result<CommandOutcome, AppError>,
        path: impl Fn(&str) -> Vec<String>,
    ) -> async_graphql::Result<Self> {
        record_evidence(ctx, (ctx.field().name(), command), game, &outcome);
        Self::from_outcome(ctx, game, outcome, path).await
    }

    async fn from_outcome(
        ctx: &Context<'_>,
        game: Option<Uuid>,
        outcome: Result<CommandOutcome, AppError>,
        path: impl Fn(&str) -> Vec<String>,
    ) -> async_graphql::Result<Self> {
        match outcome {
            Ok(outcome) => Ok(outcome.into()),
            Err(AppError::User(error)) => Self::rejected(ctx, game, error, path).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn rejected(
        ctx: &Context<'_>,
        game: Option<Uuid>,
        mut error: UserError,
        path: impl Fn(&str) -> Vec<String>,
    ) -> async_graphql::Result<Self> {
        let view = match (game, viewer_if_any(ctx)) {
            (Some(game), viewer) => GameView::find(app(ctx), viewer, game, None).await?,
            _ => None,
        };
        let table =
            view.as_ref().and_then(|view| view.state.aggregate.as_ref()).map(|game| &game.table);
        if let (Some(seat), Some(table)) = (error.to_move, table) {
            let table = with_names(app(ctx), table).await?;
            if let Some(to_move) = table.seats.get(usize::from(seat)) {
                error.message = format!("it is the turn of {} on seat {seat}", to_move.name);
            }
        }
        let user_errors = vec![UserErrorView::new(error, path)];
        Ok(Self { game: view, outcome: None, repeated: false, user_errors })
    }
}

/// Records the outcome of a game command as evidence.
fn record_evidence(
    ctx: &Context<'_>,
    (operation, command): (&str, Option<Uuid>),
    game: Option<Uuid>,
    outcome: &Result<CommandOutcome, AppError>,
) {
    let game = outcome.as_ref().map_or(game, |outcome| Some(outcome.game));
    let origin = ctx.data_opt::<Origin>();
    if let (Some(game), Some(by), Some(origin)) = (game, viewer_if_any(ctx), origin) {
        let context = CommandContext { by: &by, origin, operation, command };
        app(ctx).games.note(&context, game, outcome);
    }
}

/// Sends a player's command to a game.
pub(super) async fn send(
    ctx: &Context<'_>,
    game: &ID,
    player_command: PlayerCommand,
    command: Option<CommandInput>,
    path: impl Fn(&str) -> Vec<String>,
) -> async_graphql::Result<GamePayload> {
    send_as(ctx, ctx.field().name(), game, player_command, command, path).await
}

/// The same, with the name of the operation in the evidence.
async fn send_as(
    ctx: &Context<'_>,
    operation: &str,
    game: &ID,
    player_command: PlayerCommand,
    command: Option<CommandInput>,
    path: impl Fn(&str) -> Vec<String>,
) -> async_graphql::Result<GamePayload> {
    let viewer = player(ctx)?;
    let game = game_id(game)?;
    let app = app(ctx);
    app.database.check()?;
    let idempotency = idempotency(command);
    let outcome = app.games.submit(&viewer, game, player_command, idempotency).await;
    record_evidence(ctx, (operation, idempotency.id), Some(game), &outcome);
    GamePayload::from_outcome(ctx, Some(game), outcome, path).await
}

/// Slots as clients send them. A number out of range becomes a slot that does not exist.
pub(super) fn slots(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().copied().map(small).collect()
}

/// A slot or a seat as clients send it. A number out of range becomes one that does not exist.
pub(super) fn small(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// No arguments: `{}`.
#[derive(Clone, Copy, Debug, InputObject)]
pub(super) struct EmptyInput {
    /// Ignored: an input type must have a field.
    #[graphql(name = "_")]
    nothing: Option<bool>,
}

/// A move of the seat to act. Set exactly one field.
#[derive(Clone, Debug, OneofObject)]
pub(super) enum MoveInput {
    /// Rolls dice.
    Roll(RollInput),
    /// Scores dice of the last roll.
    Save(SaveInput),
    /// Adds the points of the turn to the score and ends the turn.
    Bank(BankInput),
    /// Gives up the roll: a farkle by choice.
    Forfeit(EmptyInput),
    /// DiceRogue: scores the dice in a category.
    ScoreCategory(ScoreCategoryInput),
    /// NeonPolis: applies the effects of the dice.
    ResolveDice(EmptyInput),
    /// NeonPolis: attacks with the swords among the dice.
    Attack(AttackInput),
    /// NeonPolis: decides whether to stay inside after a hit.
    DecideStay(DecideStayInput),
    /// NeonPolis: uses the ability of the character.
    UseAbility(AbilityInput),
    /// DiceRogue, NeonPolis: buys an offer.
    BuyItem(BuyItemInput),
    /// NeonPolis: replaces all open cards of the market.
    RenewMarket(EmptyInput),
    /// DiceRogue: uses a consumable.
    UseItem(UseItemInput),
    /// NeonPolis: takes an unlocked evolution.
    TakeEvolution(TakeEvolutionInput),
    /// Ends the turn, or the visit to the shop.
    EndTurn(EmptyInput),
    /// Any move, written as in records. For moves that have no field of their own.
    Written(WrittenMoveInput),
}

/// A move as text.
#[derive(Clone, Debug, InputObject)]
pub(super) struct WrittenMoveInput {
    /// The move without values of dice: `roll`, `save [0,2]`, `attack -> 1`. See docs/record.md.
    text: String,
}

impl MoveInput {
    /// The name in the schema.
    const fn name(&self) -> &'static str {
        match self {
            Self::Roll(_) => "roll",
            Self::Save(_) => "save",
            Self::Bank(_) => "bank",
            Self::Forfeit(_) => "forfeit",
            Self::ScoreCategory(_) => "scoreCategory",
            Self::ResolveDice(_) => "resolveDice",
            Self::Attack(_) => "attack",
            Self::DecideStay(_) => "decideStay",
            Self::UseAbility(_) => "useAbility",
            Self::BuyItem(_) => "buyItem",
            Self::RenewMarket(_) => "renewMarket",
            Self::UseItem(_) => "useItem",
            Self::TakeEvolution(_) => "takeEvolution",
            Self::EndTurn(_) => "endTurn",
            Self::Written(_) => "written",
        }
    }

    /// The move.
    fn play(self) -> Result<Play, UserError> {
        Ok(match self {
            Self::Roll(input) => input.into(),
            Self::Save(input) => input.into(),
            Self::Bank(input) => input.into(),
            Self::Forfeit(_) => Play::Forfeit,
            Self::ScoreCategory(input) => input.into(),
            Self::ResolveDice(_) => Play::Resolve,
            Self::Attack(input) => input.into(),
            Self::DecideStay(input) => input.into(),
            Self::UseAbility(input) => input.into(),
            Self::BuyItem(input) => input.into(),
            Self::RenewMarket(_) => Play::Renew,
            Self::UseItem(input) => input.into(),
            Self::TakeEvolution(input) => input.into(),
            Self::EndTurn(_) => Play::End,
            Self::Written(input) => parse_play(&input.text)
                .map_err(|why| UserError::new(ServiceCode::BadMoves, why).at("text"))?,
        })
    }
}

/// The path of an argument of a move in the input.
fn move_path(name: &str, argument: &str) -> Vec<String> {
    let field = match (name, argument) {
        (_, "gameId" | "commandId" | "expectedVersion") => return input_path(argument),
        ("roll", "slots" | "keep") => Some("keepSlots"),
        ("written", _) => Some("text"),
        ("bank", "slots") => Some("saveSlots"),
        ("save", "slots") => Some("slots"),
        (_, "target") => Some("targetSeat"),
        (_, "code") => Some("code"),
        (_, "category") => Some("category"),
        _ => None,
    };
    let path = ["input", "move", name].into_iter().chain(field);
    path.map(str::to_owned).collect()
}

/// A move in a game.
#[derive(Clone, Debug, InputObject)]
pub(super) struct PlayInput {
    /// The game.
    game_id: ID,
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The move.
    #[graphql(name = "move")]
    play: MoveInput,
}

/// The moves of all games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moves;

/// The moves of all games.
#[Object]
impl Moves {
    /// Makes a move for the seat to act. `Game.legalMoves` lists what would be accepted.
    async fn play(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game, the command and the move.")] input: PlayInput,
    ) -> async_graphql::Result<GamePayload> {
        let name = input.play.name();
        let path = |argument: &str| move_path(name, argument);
        let play = match input.play.play() {
            Ok(play) => PlayerCommand::Play(play),
            Err(error) => {
                player(ctx)?;
                let game = game_id(&input.game_id)?;
                return GamePayload::rejected(ctx, Some(game), error, path).await;
            }
        };
        send_as(ctx, name, &input.game_id, play, input.command, path).await
    }
}
