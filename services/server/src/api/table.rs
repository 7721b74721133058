//! Tables: creating, joining, leaving and starting games.

use async_graphql::{Context, ID, InputObject, Object};
use domain::{Name, Rejection};

use super::{
    app,
    command::{CommandInput, idempotency, input_path, key_only},
    errors::{bad_input, store_error},
    game::Visibility,
    ids::{Named, game_id},
    moves::{GamePayload, send},
    player,
    rules::ruleset,
    rules_input::{RequestedRules, RulesInput},
    scalars::{DieCode, ItemCode},
};
use crate::{
    accounts::Viewer,
    play::{AppError, MatchRequest, NewGame, PlayerCommand, ServiceCode, UserError},
};

/// A new table.
#[derive(Clone, Debug, InputObject)]
pub(super) struct CreateGameInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The game and its rules.
    rules: RulesInput,
    /// Who can find and watch the game.
    #[graphql(default_with = "Visibility::Public")]
    visibility: Visibility,
    /// Whether you take the first seat.
    #[graphql(default = true)]
    join: bool,
}

/// The game to join.
#[derive(Clone, Debug, InputObject)]
pub(super) struct JoinGameInput {
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The game; not needed with an invite code.
    game_id: Option<ID>,
    /// The invite code of a private game.
    invite_code: Option<String>,
    /// Your seed for the dice: any text up to 64 bytes.
    seed: Option<String>,
}

/// A seed.
#[derive(Clone, Debug, InputObject)]
pub(super) struct ChooseSeedInput {
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
    /// Any text up to 64 bytes.
    seed: String,
}

/// A character.
#[derive(Clone, Debug, InputObject)]
pub(super) struct ChooseCharacterInput {
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
    /// The code of the character, from `Ruleset.items`.
    character: ItemCode,
}

/// The dice to play with. Set exactly one of `dice` and `loadout`.
#[derive(Clone, Debug, InputObject)]
pub(super) struct ChooseLoadoutInput {
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
    /// The codes of up to six dice, one per slot; `STANDARD` is an ordinary die.
    dice: Option<Vec<DieCode>>,
    /// The name of one of your loadouts.
    loadout: Option<String>,
}

/// A game, without further arguments.
#[derive(Clone, Debug, InputObject)]
pub(super) struct GameCommandInput {
    /// Idempotency key and expected version.
    command: Option<CommandInput>,
    /// The game.
    game_id: ID,
}

/// The game to find opponents for.
#[derive(Clone, Debug, InputObject)]
pub(super) struct QuickMatchInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The game and its rules.
    rules: RulesInput,
    /// The number of players at which the game starts.
    #[graphql(default = 2)]
    players: i32,
    /// The codes of the special dice you play with, one per slot. You must own them.
    dice: Option<Vec<DieCode>>,
    /// The character you want. Ignored if another player at the table has it.
    character: Option<ItemCode>,
    /// Your seed for the dice: any text up to 64 bytes.
    seed: Option<String>,
}

/// Creating, joining, leaving and starting games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableMutation;

/// Creating, joining, leaving and starting games.
#[Object]
impl TableMutation {
    /// Creates a game. The server commits to its secret now (`fairness.commitment`) and cannot fit
    /// it to your seed, which you choose afterwards with `chooseSeed`.
    async fn create_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The rules and the table.")] input: CreateGameInput,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let idempotency = key_only(input.command);
        let rules = RequestedRules::from(input.rules);
        let created = match ruleset(ctx, &rules).await {
            Ok(ruleset) => {
                let private = input.visibility == Visibility::Private;
                let new = NewGame { ruleset, private, seated: input.join };
                app(ctx).games.create(&viewer, &new, idempotency).await
            }
            Err(error) => Err(error),
        };
        GamePayload::of(ctx, idempotency.id, None, created, |argument| rules.path(argument)).await
    }

    /// Takes the lowest free seat of a game: a public one by its id, a private one by its invite
    /// code.
    async fn join_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game and your seed.")] input: JoinGameInput,
    ) -> async_graphql::Result<GamePayload> {
        player(ctx)?;
        let game = match (input.game_id, &input.invite_code) {
            (Some(game), _) => game,
            (None, None) => return Err(bad_input("gameId or inviteCode is required")),
            (None, Some(code)) => {
                app(ctx).database.check()?;
                let game = app(ctx).games.access.invited_to(code).await.map_err(store_error)?;
                let Some(game) = game else {
                    let error =
                        UserError::new(ServiceCode::NoSuchInvite, "no game has this invite code");
                    let rejected: Result<_, AppError> = Err(error.at("inviteCode").into());
                    return GamePayload::of(ctx, None, None, rejected, input_path).await;
                };
                Named::Game(game).id()
            }
        };
        let command = PlayerCommand::Join { seed: input.seed, invite: input.invite_code };
        send(ctx, &game, command, input.command, input_path).await
    }

    /// Sets or replaces your seed for the dice. Possible until the game starts.
    async fn choose_seed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game and the seed.")] input: ChooseSeedInput,
    ) -> async_graphql::Result<GamePayload> {
        send(ctx, &input.game_id, PlayerCommand::ChooseSeed(input.seed), input.command, input_path)
            .await
    }

    /// Chooses a character, in games that have them. Possible until the game starts. Players who do
    /// not choose get the first free one.
    async fn choose_character(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game and the character.")] input: ChooseCharacterInput,
    ) -> async_graphql::Result<GamePayload> {
        let command = PlayerCommand::ChooseCharacter(input.character.0);
        send(ctx, &input.game_id, command, input.command, input_path).await
    }

    /// Chooses the dice you play with, of those you own. Possible until the game starts. They are
    /// locked until the game ends. Defaults to ordinary dice.
    async fn choose_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game and the dice.")] input: ChooseLoadoutInput,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        let game = game_id(&input.game_id)?;
        let games = &app(ctx).games;
        app(ctx).database.check()?;
        let idempotency = idempotency(input.command);
        let by_name = input.loadout.is_some();
        // The only codes that can be wrong here are those of the loadout.
        let path = move |argument: &str| match argument {
            "code" | "dice" if by_name => input_path("loadout"),
            "code" => input_path("dice"),
            other => input_path(other),
        };
        let dice = codes(input.dice);
        let dice = match named_dice(ctx, &viewer, dice, input.loadout).await? {
            Ok(dice) => dice,
            Err(error) => {
                let rejected = Err(error.into());
                return GamePayload::of(ctx, idempotency.id, Some(game), rejected, path).await;
            }
        };
        let chosen = games.choose_loadout(&viewer, game, dice, idempotency).await;
        GamePayload::of(ctx, idempotency.id, Some(game), chosen, path).await
    }

    /// Starts the game: the seeds are sealed and seat 0 has the first turn. Any seated player may
    /// start it.
    async fn start_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] input: GameCommandInput,
    ) -> async_graphql::Result<GamePayload> {
        send(ctx, &input.game_id, PlayerCommand::Start, input.command, input_path).await
    }

    /// Gives up your seat. In a running game, this forfeits it.
    async fn leave_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] input: GameCommandInput,
    ) -> async_graphql::Result<GamePayload> {
        send(ctx, &input.game_id, PlayerCommand::Leave, input.command, input_path).await
    }

    /// Finds opponents: joins a waiting game with the same rules, or creates one and waits. The
    /// game starts automatically when enough players are seated; subscribe to `gameEvents`. Leave
    /// the game to stop waiting.
    async fn quick_match(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game to find opponents for.")] input: QuickMatchInput,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let idempotency = key_only(input.command);
        let rules = RequestedRules::from(input.rules);
        let found = match ruleset(ctx, &rules).await {
            Ok(ruleset) => {
                let seats = ruleset.table.min_seats.max(2)..=ruleset.table.max_seats;
                match u8::try_from(input.players).ok().filter(|players| seats.contains(players)) {
                    None => Err(wrong_players(*seats.start(), *seats.end()).into()),
                    Some(seats) => {
                        let dice = codes(input.dice);
                        let character = input.character.map(|character| character.0);
                        let seed = input.seed;
                        let request = MatchRequest { ruleset, seats, seed, dice, character };
                        app(ctx).games.quick_match(&viewer, &request, idempotency).await
                    }
                }
            }
            Err(error) => Err(error),
        };
        let path = |argument: &str| match argument {
            "code" => input_path("dice"),
            other => rules.path(other),
        };
        GamePayload::of(ctx, idempotency.id, None, found, path).await
    }
}

/// The codes as strings.
fn codes(dice: Option<Vec<DieCode>>) -> Option<Vec<String>> {
    dice.map(|dice| dice.into_iter().map(|code| code.0).collect())
}

/// The dice of the input: listed, or of a saved loadout.
async fn named_dice(
    ctx: &Context<'_>,
    viewer: &Viewer,
    dice: Option<Vec<String>>,
    loadout: Option<String>,
) -> async_graphql::Result<Result<Vec<String>, UserError>> {
    let Some(name) = loadout else {
        return dice.map(Ok).ok_or_else(|| bad_input("dice or loadout is required"));
    };
    if dice.is_some() {
        return Err(bad_input("set either dice or loadout, not both"));
    }
    let state = app(ctx).games.wallets.of(viewer.account).await?;
    let saved = state.aggregate.iter().flat_map(|account| &account.loadouts);
    let parsed = Name::parse(&name).ok();
    let saved = saved.into_iter().find(|(saved, _)| Some(*saved) == parsed.as_ref());
    Ok(match saved {
        Some((_, dice)) => Ok(dice.iter().map(ToString::to_string).collect()),
        None => Err(Rejection::NoSuchLoadout { name }.into()),
    })
}

fn wrong_players(min: u8, max: u8) -> UserError {
    let message = if max < min {
        "this game is single-player: use createGame".to_owned()
    } else {
        format!("players must be from {min} to {max}")
    };
    UserError::new(ServiceCode::BadPlayers, message).at("players")
}
