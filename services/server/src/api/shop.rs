//! The shop: buying and selling dice, keeping loadouts; and what admins do with the catalogue.

use async_graphql::{Context, Json, Object, SimpleObject};
use domain::{AccountCommand, special_dice::CatalogueCommand};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    allowed, app,
    dice::{DieKindView, views},
    errors::{Problem, bad_input},
    player,
    player::Player,
    rules::snake_keys,
    scalars::int,
};
use crate::{
    accounts::Role,
    disputes::audit,
    play::{Once, PlayError},
    wallets::{Changed, Listed},
};

/// What came of a wish about your wallet, your dice or your loadouts; or why it was refused.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct WalletPayload {
    /// You, with wallet, inventory and loadouts as they are now; nothing if it was refused.
    player: Option<Player>,
    /// Whether this command had been done before, under the same `commandId`. It was not done again.
    repeated: bool,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

/// What came of a change of the catalogue; or why it was refused.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct CataloguePayload {
    /// The die as it is now; nothing if it was refused.
    die: Option<DieKindView>,
    /// The version of the catalogue now.
    version: Option<i32>,
    /// Whether this command had been done before, under the same `commandId`. It was not done again.
    repeated: bool,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

impl WalletPayload {
    fn of(done: Result<Changed, PlayError>) -> async_graphql::Result<Self> {
        match done {
            Ok(changed) => {
                let player = Some(Player { account: changed.account, own: true });
                Ok(Self { player, repeated: changed.repeated, errors: Vec::new() })
            }
            Err(PlayError::Refused(refusal)) => {
                Ok(Self { player: None, repeated: false, errors: vec![refusal.into()] })
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl CataloguePayload {
    fn of(done: Result<Listed, PlayError>) -> async_graphql::Result<Self> {
        match done {
            Ok(Listed { catalogue, code, repeated }) => Ok(Self {
                die: catalogue.named(&code).ok().map(Into::into),
                version: Some(int(catalogue.version)),
                repeated,
                errors: Vec::new(),
            }),
            Err(PlayError::Refused(refusal)) => {
                let errors = vec![refusal.into()];
                Ok(Self { die: None, version: None, repeated: false, errors })
            }
            Err(error) => Err(error.into()),
        }
    }
}

async fn ask(
    ctx: &Context<'_>,
    command: AccountCommand,
    command_id: Option<Uuid>,
) -> async_graphql::Result<WalletPayload> {
    let viewer = player(ctx)?;
    app(ctx).database.check()?;
    let once = Once { id: command_id, expected: None };
    WalletPayload::of(app(ctx).tables.wallets.ask(viewer.account, &command, once).await)
}

async fn change(
    ctx: &Context<'_>,
    command: CatalogueCommand,
    command_id: Option<Uuid>,
) -> async_graphql::Result<CataloguePayload> {
    let admin = allowed(ctx, &[Role::Admin])?;
    app(ctx).database.check()?;
    let once = Once { id: command_id, expected: None };
    let (store, none) = (&app(ctx).tables.store, Uuid::nil());
    audit::note(store, &admin, "change_catalogue", none, None).await?;
    CataloguePayload::of(app(ctx).tables.wallets.change_catalogue(&admin, &command, once).await)
}

/// The fields of a die as the log writes them.
fn fields(die: &Value) -> async_graphql::Result<Map<String, Value>> {
    let fields = die.as_object().map(snake_keys);
    fields.ok_or_else(|| bad_input("die must be an object of fields, as DieKind shows them"))
}

/// The shop, and the catalogue behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShopMutation;

/// The shop, and the catalogue behind it.
#[Object]
impl ShopMutation {
    /// Buys dice for the price that the catalogue says.
    async fn buy_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The code of the die.")] code: String,
        #[graphql(desc = "How many.", default = 1)] quantity: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<WalletPayload> {
        ask(ctx, AccountCommand::Buy { code, quantity: quantity.into() }, command_id).await
    }

    /// Sells dice back for half of what they cost, rounded down. Dice equipped in a game that is not over cannot be sold.
    async fn sell_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The code of the die.")] code: String,
        #[graphql(desc = "How many.", default = 1)] quantity: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<WalletPayload> {
        let viewer = player(ctx)?;
        app(ctx).database.check()?;
        let once = Once { id: command_id, expected: None };
        let what = (code, quantity.into());
        WalletPayload::of(app(ctx).tables.sell(viewer.account, what, once).await)
    }

    /// Keeps a loadout under a name, in place of one that has it. Whether you own the dice is asked when you play them.
    async fn save_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The name: 1 to 32 characters.")] name: String,
        #[graphql(
            desc = "The codes of up to six dice, one a slot; `STANDARD` is an ordinary one."
        )]
        dice: Vec<String>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<WalletPayload> {
        let mut kept = ask(ctx, AccountCommand::StoreLoadout { name, dice }, command_id).await?;
        kept.errors.iter_mut().for_each(|problem| problem.about("code", "dice"));
        Ok(kept)
    }

    /// Keeps a loadout no more.
    async fn delete_loadout(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Its name.")] name: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<WalletPayload> {
        ask(ctx, AccountCommand::DropLoadout { name }, command_id).await
    }

    /// Adds a kind of die to the catalogue. For admins. Games that exist keep the catalogue they began with.
    async fn add_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(
            desc = "All of `code`, `name`, `category`, `tier`, `colour`, `price`, `description` and `effect`, as `diceCatalogue` shows them: `effect: { kind: \"multiply_single\", factor: 4 }`."
        )]
        die: Json<Value>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<CataloguePayload> {
        allowed(ctx, &[Role::Admin])?;
        let die = fields(&die.0)?;
        change(ctx, CatalogueCommand::Add { die }, command_id).await
    }

    /// Changes a kind of die. For admins. Games that exist keep the catalogue they began with.
    async fn change_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The code of the die.")] code: String,
        #[graphql(
            desc = "The fields to change, as in `addDie`; `retired: false` brings a retired die back."
        )]
        die: Json<Value>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<CataloguePayload> {
        allowed(ctx, &[Role::Admin])?;
        let die = fields(&die.0)?;
        change(ctx, CatalogueCommand::Change { code, die }, command_id).await
    }

    /// Sells and plays a kind of die no more. For admins. Who owns such dice can sell them back.
    async fn retire_die(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The code of the die.")] code: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<CataloguePayload> {
        change(ctx, CatalogueCommand::Retire { code }, command_id).await
    }
}

/// The dice of the shop.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Shop {
    /// The version of the catalogue: it goes up with every change.
    version: i32,
    /// The dice for sale.
    dice: Vec<DieKindView>,
}

impl Shop {
    pub(super) async fn load(ctx: &Context<'_>) -> Result<Self, PlayError> {
        let catalogue = app(ctx).tables.wallets.catalogue().await?;
        let mut dice = views(&catalogue);
        dice.retain(DieKindView::is_for_sale);
        Ok(Self { version: int(catalogue.version), dice })
    }
}
