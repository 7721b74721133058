//! Wallets, inventories and the shop.
//!
//! A wallet is a stream of its own. What a player does with it goes the same way as a move at a table; what games award
//! comes by the [`reactor`].

pub(crate) mod audit;
mod equip;
pub(crate) mod reactor;

use std::sync::Arc;

use domain::{
    Account, AccountCommand, AccountEvent, Dollars, Event, PlayerId,
    farkle::dice::{Catalogue, CatalogueCommand, CatalogueEvent},
};
use store::{Executed, Loaded, Request, Store};
use uuid::Uuid;

use crate::{
    accounts::Viewer,
    clock,
    play::{Once, PlayError, derived},
};

/// The stream of the catalogue. There is one.
const CATALOGUE: Uuid = Uuid::from_u128(0x6361_7461_6c6f_8775_8563_726f_7570_6965);

/// All wallets of this house.
#[derive(Clone, Debug)]
pub(crate) struct Wallets {
    store: Store,
    /// What a new wallet has in it.
    grant: Dollars,
}

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
        Self { store, grant }
    }

    /// The special dice there are now.
    pub(crate) async fn catalogue(&self) -> Result<Arc<Catalogue>, PlayError> {
        let known = match self.store.catalogues.remembered(CATALOGUE) {
            Some(known) => known,
            None => self.store.catalogues.fresh(CATALOGUE).await?,
        };
        Ok(Arc::new(known.now.clone().unwrap_or_else(Catalogue::builtin)))
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
        let catalogue = Arc::new(done.state.now.clone().unwrap_or_else(Catalogue::builtin));
        tracing::info!(admin = %admin.account, ?code, version = catalogue.version, "the catalogue has changed");
        Ok(Listed { catalogue, code: code.unwrap_or_default(), repeated: done.repeated })
    }

    /// A wallet and an inventory as they are now.
    pub(crate) async fn of(&self, account: Uuid) -> Result<Arc<Loaded<Account>>, PlayError> {
        Ok(self.store.accounts.fresh(account).await?)
    }

    /// Opens the wallet of an account, unless it is open.
    pub(crate) async fn open(&self, account: Uuid) -> Result<(), PlayError> {
        if self.store.accounts.remembered(account).is_some_and(|known| known.now.is_some()) {
            return Ok(());
        }
        let command = AccountCommand::Open { account: PlayerId(account), grant: self.grant };
        let id = derived(account, b"open wallet");
        match self.execute(account, &command, id, Uuid::nil()).await {
            Err(PlayError::Refused(refusal)) if refusal.code == "WALLET_EXISTS" => Ok(()),
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
        match self.execute(owner, command, id, owner).await {
            Ok(done) => Ok(Changed::new(owner, &done)),
            // An account of the time before there were wallets.
            Err(PlayError::Refused(refusal)) if refusal.code == "NO_WALLET" => {
                self.open(owner).await?;
                Ok(Changed::new(owner, &self.execute(owner, command, id, owner).await?))
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a command happen to an account, once. Ids of owners are derived from what clients send, so nobody can use
    /// up an id of the house.
    async fn execute(
        &self,
        account: Uuid,
        command: &AccountCommand,
        id: Uuid,
        actor: Uuid,
    ) -> Result<Executed<Account>, PlayError> {
        let context = self.catalogue().await?;
        let (stream, now, expected) = (account, clock::now(), None);
        let request = Request::<Account> { stream, command, id, actor, now, context, expected };
        Ok(self.store.execute(&request).await?)
    }
}

impl Changed {
    fn new(account: Uuid, done: &Executed<Account>) -> Self {
        Self { account, repeated: done.repeated }
    }
}

/// The types of events that are lines of a ledger.
pub(crate) const LEDGER: [&str; 4] = ["WalletOpened", "DieBought", "DieSold", "MoneyCredited"];

fn catalogue_event(event: &Event) -> Option<&CatalogueEvent> {
    if let Event::Catalogue(event) = event { Some(event) } else { None }
}

/// The event of an account, if it is one.
pub(crate) fn account_event(event: &Event) -> Option<&AccountEvent> {
    if let Event::Account(event) = event { Some(event) } else { None }
}
