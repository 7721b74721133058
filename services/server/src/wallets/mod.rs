//! Wallets, inventories and the shop.
//!
//! Each wallet is a stream. Commands of its owner are executed like moves of a game; awards of
//! games are credited by the processor [`payouts`].

pub(crate) mod audit;
pub(crate) mod payouts;

use std::{
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{
    Account, AccountCommand, AccountEvent, Dollars, Event, GameId, PlayerId, Rejection,
    RejectionCode,
    special_dice::{Catalogue, CatalogueCommand, CatalogueEvent, Code},
};
use store::{ExecuteError, Executed, Loaded, Request, Store};
use uuid::Uuid;

use crate::{
    accounts::Viewer,
    clock,
    play::{AppError, Idempotency, ServiceCode, UserErrorCode, derived},
};

/// The only stream of the catalogue.
pub(crate) const CATALOGUE: Uuid = Uuid::from_u128(0x6361_7461_6c6f_8775_8563_726f_7570_6965);

/// Handles the commands of wallets and of the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct Wallets {
    store: Store,
    /// The initial balance of a new wallet.
    grant: Dollars,
    catalogue: Arc<Mutex<Option<CachedCatalogue>>>,
}

/// The catalogue and when it was read.
type CachedCatalogue = (Instant, Arc<Catalogue>);

/// How long the cached catalogue is used.
const CACHE_TIME: Duration = Duration::from_millis(200);

/// The outcome of a command to a wallet.
#[derive(Clone, Debug)]
pub(crate) struct WalletOutcome {
    pub(crate) account: Uuid,
    /// Whether this was a retry.
    pub(crate) repeated: bool,
}

/// The outcome of a change of the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct CatalogueOutcome {
    pub(crate) catalogue: Arc<Catalogue>,
    /// The die that was changed.
    pub(crate) code: String,
    /// Whether this was a retry.
    pub(crate) repeated: bool,
}

impl Wallets {
    pub(crate) fn new(store: Store, grant: Dollars) -> Self {
        Self { store, grant, catalogue: Arc::default() }
    }

    /// The current special dice; changes on other nodes are visible after a short delay.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, AppError> {
        let known = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((read, catalogue)) = known
            && read.elapsed() < CACHE_TIME
        {
            return Ok(catalogue);
        }
        let state = self.store.catalogues.latest(CATALOGUE).await?;
        Ok(self.cache_catalogue(&state))
    }

    fn cache_catalogue(&self, state: &Loaded<Catalogue>) -> Arc<Catalogue> {
        let catalogue = Arc::new(state.aggregate.clone().unwrap_or_else(Catalogue::builtin));
        let known = Some((Instant::now(), Arc::clone(&catalogue)));
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = known;
        catalogue
    }

    /// Changes the special dice; existing games keep theirs.
    pub(crate) async fn change_catalogue(
        &self,
        admin: &Viewer,
        command: &CatalogueCommand,
        idempotency: Idempotency,
    ) -> Result<CatalogueOutcome, AppError> {
        let request = Request::<Catalogue> {
            stream: CATALOGUE,
            command,
            id: idempotency.id.unwrap_or_else(Uuid::now_v7),
            actor: admin.account,
            now: clock::now(),
            context: (),
            expected: idempotency.expected,
        };
        let executed = self.store.execute(&request).await?;
        let code =
            executed.events.iter().filter_map(catalogue_event).find_map(CatalogueEvent::code);
        let code = code.map(|code| code.to_string());
        let catalogue = self.cache_catalogue(&executed.state);
        if !executed.repeated {
            let version = catalogue.version;
            tracing::info!(admin = %admin.account, ?code, version, "catalogue changed");
        }
        Ok(CatalogueOutcome {
            catalogue,
            code: code.unwrap_or_default(),
            repeated: executed.repeated,
        })
    }

    /// The current wallet and inventory of an account.
    pub(crate) async fn of(&self, account: Uuid) -> Result<Arc<Loaded<Account>>, AppError> {
        Ok(self.store.accounts.latest(account).await?)
    }

    /// Opens the wallet of an account if it has none.
    pub(crate) async fn open(&self, account: Uuid) -> Result<(), AppError> {
        if self.of(account).await?.aggregate.is_some() {
            return Ok(());
        }
        let command = AccountCommand::Open { account: PlayerId(account), grant: self.grant };
        let id = derived(account, b"open wallet");
        match self.execute_as_system(account, &command, id, None).await {
            // Another node was faster, perhaps with another initial balance.
            Err(AppError::User(refusal)) if ALREADY_OPEN.contains(&refusal.code) => Ok(()),
            opened => opened.map(|_| ()),
        }
    }

    /// Executes a command of the wallet's owner.
    pub(crate) async fn submit(
        &self,
        owner: Uuid,
        command: &AccountCommand,
        idempotency: Idempotency,
    ) -> Result<WalletOutcome, AppError> {
        let id = idempotency.id.map_or_else(Uuid::now_v7, |id| derived(id, b"asked by the owner"));
        let context = self.catalogue().await?;
        let (stream, actor, now, expected) = (owner, owner, clock::now(), idempotency.expected);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        let executed = match self.store.execute(&request).await {
            // Opening the wallet failed at sign-in, or the account is older than wallets.
            Err(ExecuteError::Rejected(Rejection::NoWallet)) => {
                self.open(owner).await?;
                self.store.execute(&request).await?
            }
            executed => executed?,
        };
        Ok(WalletOutcome { account: owner, repeated: executed.repeated })
    }

    /// Executes a remedy on an account, idempotent by its id.
    pub(crate) async fn remedy(
        &self,
        account: Uuid,
        command: &AccountCommand,
        id: Uuid,
        staff: Uuid,
    ) -> Result<(), AppError> {
        self.open(account).await?;
        let (stream, now, context) = (account, clock::now(), Arc::clone(&NO_PRICES));
        let (actor, expected) = (staff, None);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        self.store.execute(&request).await?;
        Ok(())
    }

    /// The wallet on which a system command would succeed now. Records nothing, except that it
    /// opens a missing wallet.
    pub(crate) async fn dry_run(
        &self,
        account: Uuid,
        command: &AccountCommand,
    ) -> Result<Arc<Loaded<Account>>, AppError> {
        let (stream, now, context) = (account, clock::now(), Arc::clone(&NO_PRICES));
        let (id, actor, expected) = (Uuid::nil(), Uuid::nil(), None);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        match self.store.dry_run(&request).await {
            // Opening the wallet failed at sign-in.
            Err(ExecuteError::Rejected(Rejection::NoWallet)) => {
                self.open(account).await?;
                Ok(self.store.dry_run(&request).await?.0)
            }
            result => Ok(result?.0),
        }
    }

    /// Locks at least these dice. Uses a new command id each time, so that it never returns an
    /// earlier result: the lock exists afterwards.
    pub(crate) async fn lock(
        &self,
        account: Uuid,
        game: Uuid,
        dice: Vec<Code>,
    ) -> Result<(), AppError> {
        let command = AccountCommand::Lock { game: GameId(game), dice };
        let lock = || self.execute_as_system(account, &command, Uuid::now_v7(), None);
        match lock().await {
            Err(AppError::User(refusal)) if refusal.code == RejectionCode::NoWallet.into() => {
                self.open(account).await?;
                lock().await.map(|_| ())
            }
            locked => locked.map(|_| ()),
        }
    }

    /// Executes a system command on an account, idempotent by its id. Ids of owners' commands are
    /// derived from what clients send, so that clients cannot use the id of a system command.
    pub(crate) async fn execute_as_system(
        &self,
        account: Uuid,
        command: &AccountCommand,
        id: Uuid,
        expected: Option<i64>,
    ) -> Result<Executed<Account>, AppError> {
        let (stream, actor, now) = (account, Uuid::nil(), clock::now());
        let context = Arc::clone(&NO_PRICES);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        Ok(self.store.execute(&request).await?)
    }
}

/// System commands need no prices.
static NO_PRICES: LazyLock<Arc<Catalogue>> =
    LazyLock::new(|| Arc::new(Catalogue { version: 0, dice: Vec::new() }));

/// Errors that mean that the wallet is already open.
const ALREADY_OPEN: [UserErrorCode; 2] = [
    UserErrorCode::Rules(RejectionCode::WalletExists),
    UserErrorCode::Service(ServiceCode::CommandIdReused),
];

/// The events that are entries of a ledger.
pub(crate) const LEDGER: [&str; 6] =
    ["WalletOpened", "DieBought", "DieSold", "MoneyCredited", "MoneyReversed", "MoneyAdjusted"];

fn catalogue_event(event: &Event) -> Option<&CatalogueEvent> {
    if let Event::Catalogue(event) = event { Some(event) } else { None }
}

pub(crate) fn account_event(event: &Event) -> Option<&AccountEvent> {
    if let Event::Account(event) = event { Some(event) } else { None }
}
