//! Tables: opening, joining, leaving, beginning.

use async_graphql::{Context, ID, Json, Object};
use domain::{Name, Rejection};
use serde_json::Value;
use uuid::Uuid;

use super::{
    app,
    errors::{bad_input, store_error},
    game::Visibility,
    ids::{Named, game_id},
    moves::{GamePayload, ask},
    player,
    rules::ruleset,
};
use crate::{
    accounts::Viewer,
    play::{NewGame, Once, PlayError, Refusal, ServiceCode, Wanted, Wish},
};

/// Opening, joining, leaving and beginning games.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableMutation;

/// Opening, joining, leaving and beginning games.
#[Object]
impl TableMutation {
    /// Opens a table. Its dice are promised now (`fairness.commitment`); your seed comes later, by `chooseSeed`, so that
    /// the house cannot choose its secret to fit.
    #[expect(clippy::too_many_arguments, reason = "what a client may say about a new table")]
    async fn create_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What is played.", default = "farkle")] game: String,
        #[graphql(desc = "The preset; the game's default if you do not say.")] preset: Option<
            String,
        >,
        #[graphql(
            desc = "Parameters to change, as `presets` shows them: `{ target: 5000, turnSeconds: 30 }`. With other changes than of seats and clocks nobody earns money."
        )]
        rules: Option<Json<Value>>,
        #[graphql(desc = "Who can find and watch it.", default_with = "Visibility::Public")]
        visibility: Visibility,
        #[graphql(desc = "Whether you sit down at once.", default = true)] join: bool,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let rules = rules.as_ref().map(|rules| &rules.0);
        let created = match ruleset(ctx, &game, preset.as_deref(), rules).await {
            Ok(ruleset) => {
                let private = visibility == Visibility::Private;
                let new = NewGame { ruleset, private, seated: join };
                let once = Once { id: command_id, expected: None };
                app(ctx).tables.create(&viewer, &new, once).await
            }
            Err(error) => Err(error),
        };
        GamePayload::of(ctx, None, created).await
    }

    /// Takes the lowest free seat of a table: of a public one by its id, of a private one by its invite code.
    async fn join_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game; not needed with an invite code.")] game_id: Option<ID>,
        #[graphql(desc = "The code of a private game.")] invite_code: Option<String>,
        #[graphql(desc = "What your client adds to the dice: any text up to 64 bytes.")]
        seed: Option<String>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        player(ctx)?;
        let game = match (game_id, &invite_code) {
            (Some(game), _) => game,
            (None, None) => return Err(bad_input("say which game: gameId or inviteCode")),
            (None, Some(code)) => {
                app(ctx).database.check()?;
                let game = app(ctx).tables.access.invited_to(code).await.map_err(store_error)?;
                let Some(game) = game else {
                    let refusal =
                        Refusal::new(ServiceCode::NoSuchInvite, "no game has this invite code");
                    let refused: Result<_, PlayError> = Err(refusal.at("inviteCode").into());
                    return GamePayload::of(ctx, None, refused).await;
                };
                Named::Game(game).id()
            }
        };
        let wish = Wish::Join { seed, invite: invite_code };
        ask(ctx, &game, wish, command_id, expected_version).await
    }

    /// Gives or replaces what your client adds to the dice; possible until the game begins.
    async fn choose_seed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Any text up to 64 bytes.")] seed: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        ask(ctx, &game_id, Wish::ChooseSeed(seed), command_id, expected_version).await
    }

    /// Chooses whom you play, in games with characters; possible until the game begins. Who does not choose plays the first
    /// one left.
    async fn choose_character(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The code of the character, as `Ruleset.things` lists them.")]
        character: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let wish = Wish::ChooseCharacter(character);
        ask(ctx, &game_id, wish, command_id, expected_version).await
    }

    /// Chooses the dice you play with, out of those you own; possible until the game begins. They are locked until it is
    /// over. Without dice you play with ordinary ones.
    async fn choose_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(
            desc = "The codes of up to six dice, one a slot; `STANDARD` is an ordinary one."
        )]
        dice: Option<Vec<String>>,
        #[graphql(desc = "A loadout you keep under this name, in place of `dice`.")]
        loadout: Option<String>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        let game = self::game_id(&game_id)?;
        let tables = &app(ctx).tables;
        app(ctx).database.check()?;
        let dice = match named_dice(ctx, &viewer, dice, loadout).await? {
            Ok(dice) => dice,
            Err(refusal) => return GamePayload::of(ctx, Some(game), Err(refusal.into())).await,
        };
        let once = Once { id: command_id, expected: expected_version.map(i64::from) };
        let chosen = tables.choose_loadout(&viewer, game, dice, once).await;
        GamePayload::of(ctx, Some(game), chosen).await
    }

    /// Begins the game: the seeds are sealed, seat 0 has the first turn. Anybody who sits there may do it.
    async fn start_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        ask(ctx, &game_id, Wish::Start, command_id, expected_version).await
    }

    /// Gives your seat up. In a running game that forfeits it.
    async fn leave_game(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
        #[graphql(desc = "Only if the game is at this version.")] expected_version: Option<i32>,
    ) -> async_graphql::Result<GamePayload> {
        ask(ctx, &game_id, Wish::Leave, command_id, expected_version).await
    }

    /// Finds an opponent: a seat where somebody waits under the same rules, or a new table at which you wait. The game
    /// begins by itself when enough players sit there; listen to `gameEvents`. Leaving the table stops waiting.
    #[expect(
        clippy::too_many_arguments,
        reason = "what a client may say about the table it looks for"
    )]
    async fn quick_match(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What is played.", default = "farkle")] game: String,
        #[graphql(desc = "The preset; the game's default if you do not say.")] preset: Option<
            String,
        >,
        #[graphql(desc = "Parameters to change, as `presets` shows them.")] rules: Option<
            Json<Value>,
        >,
        #[graphql(desc = "With how many players the game begins.", default = 2)] players: i32,
        #[graphql(
            desc = "The special dice you play with, out of those you own: codes, one a slot."
        )]
        dice: Option<Vec<String>>,
        #[graphql(
            desc = "Whom you play in games with characters, unless somebody at the table does already."
        )]
        character: Option<String>,
        #[graphql(desc = "What your client adds to the dice: any text up to 64 bytes.")]
        seed: Option<String>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<GamePayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let rules = rules.as_ref().map(|rules| &rules.0);
        let found = match ruleset(ctx, &game, preset.as_deref(), rules).await {
            Ok(ruleset) => {
                let seats = ruleset.table.min_seats.max(2)..=ruleset.table.max_seats;
                match u8::try_from(players).ok().filter(|players| seats.contains(players)) {
                    None => Err(wrong_players(*seats.start(), *seats.end()).into()),
                    Some(seats) => {
                        let once = Once { id: command_id, expected: None };
                        let wanted = Wanted { ruleset, seats, seed, dice, character };
                        app(ctx).tables.quick_match(&viewer, &wanted, once).await
                    }
                }
            }
            Err(error) => Err(error),
        };
        GamePayload::of(ctx, None, found).await
    }
}

/// The dice somebody named, one by one or by the name of a loadout.
async fn named_dice(
    ctx: &Context<'_>,
    viewer: &Viewer,
    dice: Option<Vec<String>>,
    loadout: Option<String>,
) -> async_graphql::Result<Result<Vec<String>, Refusal>> {
    let Some(name) = loadout else {
        return dice.map(Ok).ok_or_else(|| bad_input("say which dice: dice or loadout"));
    };
    if dice.is_some() {
        return Err(bad_input("name dice or a loadout, not both"));
    }
    let state = app(ctx).tables.wallets.of(viewer.account).await?;
    let kept = state.now.iter().flat_map(|account| &account.loadouts);
    let wanted = Name::parse(&name).ok();
    let kept = kept.into_iter().find(|(kept, _)| Some(*kept) == wanted.as_ref());
    Ok(match kept {
        Some((_, dice)) => Ok(dice.iter().map(ToString::to_string).collect()),
        None => Err(Rejection::NoSuchLoadout { name }.into()),
    })
}

fn wrong_players(least: u8, most: u8) -> Refusal {
    let message = if most < least {
        "this game is played alone: open it with createGame".to_owned()
    } else {
        format!("players must be from {least} to {most}")
    };
    Refusal::new(ServiceCode::BadPlayers, message).at("players")
}
