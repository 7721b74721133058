//! Wallets, inventories and the shop.
//!
//! A wallet is a stream of its own. What a player does with it goes the same way as a move at a table; what games award
//! comes by the processor [`payouts`].

pub(crate) mod audit;
mod equip;
pub(crate) mod payouts;

use std::{
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{
    Account, AccountCommand, AccountEvent, Dollars, Event, PlayerId, Rejection, RejectionCode,
    special_dice::{Catalogue, CatalogueCommand, CatalogueEvent},
};
use store::{ExecuteError, Executed, Loaded, Request, Store};
use uuid::Uuid;

use crate::{
    accounts::Viewer,
    clock,
    play::{Once, PlayError, RefusalCode, ServiceCode, derived},
};

/// The stream of the catalogue. There is one.
pub(crate) const CATALOGUE: Uuid = Uuid::from_u128(0x6361_7461_6c6f_8775_8563_726f_7570_6965);

/// All wallets of this house.
#[derive(Clone, Debug)]
pub(crate) struct Wallets {
    store: Store,
    /// What a new wallet has in it.
    grant: Dollars,
    /// The catalogue as this node knows it.
    catalogue: Arc<Mutex<Option<ReadAt>>>,
}

/// The catalogue as it was when it was read.
type ReadAt = (Instant, Arc<Catalogue>);

/// How long the catalogue is taken for the current one.
const FRESH: Duration = Duration::from_millis(200);

/// What came of a wish about a wallet.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) account: Uuid,
    /// Whether it had happened before.
    pub(crate) repeated: bool,
}

/// What came of a change of the catalogue.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) catalogue: Arc<Catalogue>,
    /// The die it was about.
    pub(crate) code: String,
    /// Whether it had happened before.
    pub(crate) repeated: bool,
}

impl Wallets {
    pub(crate) fn new(store: Store, grant: Dollars) -> Self {
        Self { store, grant, catalogue: Arc::default() }
    }

    /// The special dice there are now; a change on another node is seen a moment later.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, PlayError> {
        let known = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((read, catalogue)) = known
            && read.elapsed() < FRESH
        {
            return Ok(catalogue);
        }
        let state = self.store.catalogues.fresh(CATALOGUE).await?;
        Ok(self.remember(&state))
    }

    fn remember(&self, state: &Loaded<Catalogue>) -> Arc<Catalogue> {
        let catalogue = Arc::new(state.now.clone().unwrap_or_else(Catalogue::builtin));
        let known = Some((Instant::now(), Arc::clone(&catalogue)));
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = known;
        catalogue
    }

    /// Changes the special dice; games that exist keep theirs.
    pub(crate) async fn change_catalogue(
        &self,
        admin: &Viewer,
        command: &CatalogueCommand,
        once: Once,
    ) -> Result<Listed, PlayError> {
        let request = Request::<Catalogue> {
            stream: CATALOGUE,
            command,
            id: once.id.unwrap_or_else(Uuid::now_v7),
            actor: admin.account,
            now: clock::now(),
            context: (),
            expected: once.expected,
        };
        let done = self.store.execute(&request).await?;
        let code = done.events.iter().filter_map(catalogue_event).find_map(CatalogueEvent::code);
        let code = code.map(|code| code.to_string());
        let catalogue = self.remember(&done.state);
        if !done.repeated {
            let version = catalogue.version;
            tracing::info!(admin = %admin.account, ?code, version, "the catalogue has changed");
        }
        Ok(Listed { catalogue, code: code.unwrap_or_default(), repeated: done.repeated })
    }

    /// A wallet and an inventory as they are now.
    pub(crate) async fn of(&self, account: Uuid) -> Result<Arc<Loaded<Account>>, PlayError> {
        Ok(self.store.accounts.fresh(account).await?)
    }

    /// Opens the wallet of an account, unless it is open.
    pub(crate) async fn open(&self, account: Uuid) -> Result<(), PlayError> {
        if self.of(account).await?.now.is_some() {
            return Ok(());
        }
        let command = AccountCommand::Open { account: PlayerId(account), grant: self.grant };
        let id = derived(account, b"open wallet");
        match self.by_the_house(account, &command, id, None).await {
            // Another node was faster, perhaps with another amount.
            Err(PlayError::Refused(refusal)) if OPEN.contains(&refusal.code) => Ok(()),
            opened => opened.map(|_| ()),
        }
    }

    /// Does what the owner of a wallet wants.
    pub(crate) async fn ask(
        &self,
        owner: Uuid,
        command: &AccountCommand,
        once: Once,
    ) -> Result<Changed, PlayError> {
        let id = once.id.map_or_else(Uuid::now_v7, |id| derived(id, b"asked by the owner"));
        let context = self.catalogue().await?;
        let (stream, actor, now, expected) = (owner, owner, clock::now(), once.expected);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        let done = match self.store.execute(&request).await {
            // An account of the time before there were wallets.
            Err(ExecuteError::Rejected(Rejection::NoWallet)) => {
                self.open(owner).await?;
                self.store.execute(&request).await?
            }
            done => done?,
        };
        Ok(Changed { account: owner, repeated: done.repeated })
    }

    /// Does what somebody who works for the house decided about an account, once.
    pub(crate) async fn remedy(
        &self,
        account: Uuid,
        command: &AccountCommand,
        id: Uuid,
        staff: Uuid,
    ) -> Result<(), PlayError> {
        self.open(account).await?;
        let (stream, now, context) = (account, clock::now(), Arc::clone(&NO_PRICES));
        let (actor, expected) = (staff, None);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        self.store.execute(&request).await?;
        Ok(())
    }

    /// The wallet to which a command of the house could be given now. Nothing is recorded, but that there is a wallet.
    pub(crate) async fn dry_run(
        &self,
        account: Uuid,
        command: &AccountCommand,
    ) -> Result<Arc<Loaded<Account>>, PlayError> {
        let (stream, now, context) = (account, clock::now(), Arc::clone(&NO_PRICES));
        let (id, actor, expected) = (Uuid::nil(), Uuid::nil(), None);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        match self.store.dry_run(&request).await {
            // It could not be opened when its owner signed in; whatever is done to it opens it.
            Err(ExecuteError::Rejected(Rejection::NoWallet)) => {
                self.open(account).await?;
                Ok(self.store.dry_run(&request).await?.0)
            }
            tried => Ok(tried?.0),
        }
    }

    /// Makes a command of the house happen to an account, once. Ids of owners are derived from what clients send, so
    /// nobody can use up an id of the house.
    async fn by_the_house(
        &self,
        account: Uuid,
        command: &AccountCommand,
        id: Uuid,
        expected: Option<i64>,
    ) -> Result<Executed<Account>, PlayError> {
        let (stream, actor, now) = (account, Uuid::nil(), clock::now());
        let context = Arc::clone(&NO_PRICES);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        Ok(self.store.execute(&request).await?)
    }
}

/// Nothing the house does has a price.
static NO_PRICES: LazyLock<Arc<Catalogue>> =
    LazyLock::new(|| Arc::new(Catalogue { version: 0, dice: Vec::new() }));

/// Refusals that mean: the wallet is open.
const OPEN: [RefusalCode; 2] = [
    RefusalCode::Rules(RejectionCode::WalletExists),
    RefusalCode::Service(ServiceCode::CommandIdReused),
];

/// The types of events that are lines of a ledger.
pub(crate) const LEDGER: [&str; 6] =
    ["WalletOpened", "DieBought", "DieSold", "MoneyCredited", "MoneyReversed", "MoneyAdjusted"];

fn catalogue_event(event: &Event) -> Option<&CatalogueEvent> {
    if let Event::Catalogue(event) = event { Some(event) } else { None }
}

/// The event of an account, if it is one.
pub(crate) fn account_event(event: &Event) -> Option<&AccountEvent> {
    if let Event::Account(event) = event { Some(event) } else { None }
}
