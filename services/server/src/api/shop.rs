//! The shop: buying and selling dice, saving loadouts, and changing the catalogue.

use async_graphql::{Context, InputObject, Object, SimpleObject};
use domain::{AccountCommand, special_dice::CatalogueCommand};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    allowed, app,
    command::{CommandInput, input_path, key_only},
    dice::{DieKindView, views},
    die_effect::DieEffectInput,
    enums::{DieCategory, DieTier},
    errors::UserErrorView,
    player,
    player::Player,
    rules::snake_keys,
    scalars::{DieCode, int},
};
use crate::{
    accounts::Role,
    disputes::audit,
    play::AppError,
    wallets::{CatalogueOutcome, WalletOutcome},
};

/// The result of a command on your wallet, dice or loadouts.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct WalletPayload {
    /// You, with the current wallet, inventory and loadouts.
    player: Option<Player>,
    /// Whether a command with this id had already been executed.
    repeated: bool,
    /// Why the command was rejected. If not empty, nothing was changed.
    user_errors: Vec<UserErrorView>,
}

/// The result of a change of the catalogue.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CataloguePayload {
    /// The die after the change. Null if the command was rejected.
    die: Option<DieKindView>,
    /// The version of the catalogue after the change. Null if the command was rejected.
    version: Option<i32>,
    /// Whether a command with this id had already been executed.
    repeated: bool,
    /// Why the command was rejected. If not empty, nothing was changed.
    user_errors: Vec<UserErrorView>,
}

impl WalletPayload {
    async fn of(
        ctx: &Context<'_>,
        outcome: Result<WalletOutcome, AppError>,
        path: impl Fn(&str) -> Vec<String>,
    ) -> async_graphql::Result<Self> {
        match outcome {
            Ok(result) => {
                let player = Some(Player { account: result.account, own: true });
                Ok(Self { player, repeated: result.repeated, user_errors: Vec::new() })
            }
            Err(AppError::User(error)) => {
                let player = Some(Player { account: player(ctx)?.account, own: true });
                let user_errors = vec![UserErrorView::new(error, path)];
                Ok(Self { player, repeated: false, user_errors })
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl CataloguePayload {
    fn of(outcome: Result<CatalogueOutcome, AppError>) -> async_graphql::Result<Self> {
        match outcome {
            Ok(CatalogueOutcome { catalogue, code, repeated }) => Ok(Self {
                die: catalogue.named(&code).ok().map(Into::into),
                version: Some(int(catalogue.version)),
                repeated,
                user_errors: Vec::new(),
            }),
            Err(AppError::User(error)) => {
                let user_errors = vec![error.into()];
                Ok(Self { die: None, version: None, repeated: false, user_errors })
            }
            Err(error) => Err(error.into()),
        }
    }
}

async fn submit(
    ctx: &Context<'_>,
    command: AccountCommand,
    id: Option<CommandInput>,
    path: impl Fn(&str) -> Vec<String>,
) -> async_graphql::Result<WalletPayload> {
    let viewer = player(ctx)?;
    app(ctx).database.check()?;
    let outcome = app(ctx).games.wallets.submit(viewer.account, &command, key_only(id)).await;
    WalletPayload::of(ctx, outcome, path).await
}

async fn change(
    ctx: &Context<'_>,
    command: CatalogueCommand,
    id: Option<CommandInput>,
) -> async_graphql::Result<CataloguePayload> {
    let admin = allowed(ctx, &[Role::Admin])?;
    app(ctx).database.check()?;
    let (store, none) = (&app(ctx).games.store, Uuid::nil());
    audit::record(store, &admin, "change_catalogue", none, None).await?;
    let wallets = &app(ctx).games.wallets;
    CataloguePayload::of(wallets.change_catalogue(&admin, &command, key_only(id)).await)
}

/// The fields of a die with the names they have in the log.
fn fields(input: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = input else { return Map::new() };
    fields.retain(|_, value| !value.is_null());
    snake_keys(&fields)
}

/// The dice to buy or sell.
#[derive(Clone, Debug, InputObject)]
struct TradeInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The code of the die.
    code: DieCode,
    /// The number of dice.
    #[graphql(default = 1)]
    quantity: i32,
}

/// The loadout to save.
#[derive(Clone, Debug, InputObject)]
struct SaveLoadoutInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The name: 1 to 32 characters.
    name: String,
    /// The codes of up to six dice, one per slot; `STANDARD` is an ordinary die.
    dice: Vec<DieCode>,
}

/// The loadout to delete.
#[derive(Clone, Debug, InputObject)]
struct DeleteLoadoutInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The name of the loadout.
    name: String,
}

/// A new kind of die.
#[derive(Clone, Debug, InputObject)]
struct AddDieInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The code: 1 to 12 capital letters, digits or `$`.
    code: DieCode,
    /// The display name.
    name: String,
    /// The category of its effect.
    category: DieCategory,
    /// The tier: how strong it is.
    tier: DieTier,
    /// The colour, as `#rrggbb`.
    colour: String,
    /// The price in dollars.
    price: i32,
    /// The description in the shop.
    description: String,
    /// The effect.
    effect: DieEffectInput,
}

/// A change of a kind of die. Omitted fields stay unchanged.
#[derive(Clone, Debug, InputObject)]
struct ChangeDieInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The code of the die.
    code: DieCode,
    /// The display name.
    name: Option<String>,
    /// The category of its effect.
    category: Option<DieCategory>,
    /// The tier: how strong it is.
    tier: Option<DieTier>,
    /// The colour, as `#rrggbb`.
    colour: Option<String>,
    /// The price in dollars.
    price: Option<i32>,
    /// The description in the shop.
    description: Option<String>,
    /// The effect.
    effect: Option<DieEffectInput>,
    /// `false` reinstates a retired die.
    retired: Option<bool>,
}

impl AddDieInput {
    fn fields(self) -> Map<String, Value> {
        fields(json!({
            "code": self.code.0, "name": self.name,
            "category": domain::special_dice::Category::from(self.category),
            "tier": domain::special_dice::Tier::from(self.tier), "colour": self.colour,
            "price": self.price, "description": self.description, "effect": self.effect.json(),
        }))
    }
}

impl ChangeDieInput {
    fn fields(self) -> Map<String, Value> {
        fields(json!({
            "name": self.name,
            "category": self.category.map(domain::special_dice::Category::from),
            "tier": self.tier.map(domain::special_dice::Tier::from), "colour": self.colour,
            "price": self.price, "description": self.description,
            "effect": self.effect.map(DieEffectInput::json), "retired": self.retired,
        }))
    }
}

/// The kind of die to retire.
#[derive(Clone, Debug, InputObject)]
struct RetireDieInput {
    /// Idempotency key.
    command: Option<CommandInput>,
    /// The code of the die.
    code: DieCode,
}

/// The shop and the catalogue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShopMutation;

/// The shop and the catalogue.
#[Object]
impl ShopMutation {
    /// Buys dice at the price in the catalogue.
    async fn buy_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dice to buy.")] input: TradeInput,
    ) -> async_graphql::Result<WalletPayload> {
        let (code, quantity) = (input.code.0, input.quantity.into());
        submit(ctx, AccountCommand::Buy { code, quantity }, input.command, input_path).await
    }

    /// Sells dice for half of their price, rounded down. Dice equipped in an unfinished game cannot
    /// be sold.
    async fn sell_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dice to sell.")] input: TradeInput,
    ) -> async_graphql::Result<WalletPayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let dice = (input.code.0, input.quantity.into());
        let sold = app(ctx).games.sell(viewer.account, dice, key_only(input.command)).await;
        WalletPayload::of(ctx, sold, input_path).await
    }

    /// Saves a loadout under a name, replacing one with the same name. Whether you own the dice is
    /// checked when you use it in a game.
    async fn save_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The loadout.")] input: SaveLoadoutInput,
    ) -> async_graphql::Result<WalletPayload> {
        let dice = input.dice.into_iter().map(|code| code.0).collect();
        let command = AccountCommand::StoreLoadout { name: input.name, dice };
        let path = |argument: &str| input_path(if argument == "code" { "dice" } else { argument });
        submit(ctx, command, input.command, path).await
    }

    /// Deletes a loadout.
    async fn delete_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The loadout.")] input: DeleteLoadoutInput,
    ) -> async_graphql::Result<WalletPayload> {
        let command = AccountCommand::DropLoadout { name: input.name };
        let path =
            |argument: &str| input_path(if argument == "loadout" { "name" } else { argument });
        submit(ctx, command, input.command, path).await
    }

    /// Adds a kind of die to the catalogue. Existing games keep the catalogue they were created
    /// with. For admins.
    async fn add_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The die.")] input: AddDieInput,
    ) -> async_graphql::Result<CataloguePayload> {
        allowed(ctx, &[Role::Admin])?;
        let command = input.command;
        change(ctx, CatalogueCommand::Add { die: input.fields() }, command).await
    }

    /// Changes a kind of die. Existing games keep the catalogue they were created with. For admins.
    async fn change_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The change.")] input: ChangeDieInput,
    ) -> async_graphql::Result<CataloguePayload> {
        allowed(ctx, &[Role::Admin])?;
        let (command, code) = (input.command, input.code.0.clone());
        change(ctx, CatalogueCommand::Change { code, die: input.fields() }, command).await
    }

    /// Retires a kind of die: it cannot be bought or played any more, but owners can sell theirs.
    /// For admins.
    async fn retire_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The die.")] input: RetireDieInput,
    ) -> async_graphql::Result<CataloguePayload> {
        change(ctx, CatalogueCommand::Retire { code: input.code.0 }, input.command).await
    }
}

/// The shop.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Shop {
    /// The version of the catalogue, incremented by every change.
    version: i32,
    /// The dice for sale.
    dice: Vec<DieKindView>,
}

impl Shop {
    pub(super) async fn load(ctx: &Context<'_>) -> Result<Self, AppError> {
        let catalogue = app(ctx).games.wallets.catalogue().await?;
        let mut dice = views(&catalogue);
        dice.retain(DieKindView::is_for_sale);
        Ok(Self { version: int(catalogue.version), dice })
    }
}
