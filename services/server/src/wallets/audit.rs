//! Checks all wallets against the log: every balance is the sum of its ledger, and every award of a
//! game is credited once, to the player who earned it.

use std::collections::{HashMap, HashSet};

use domain::{AccountEvent, AwardedFor, Dollars, Event, SeatNo};
use sqlx::Row;
use store::{Positions, Recorded, Store, StoreError, processor::checkpoint};
use uuid::Uuid;

use super::{LEDGER, account_event, payouts};

/// How many events of a shard are read per query.
const PAGE: u32 = 1000;

/// The result of a successful check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Audit {
    pub(crate) wallets: usize,
    pub(crate) lines: usize,
    pub(crate) awards: usize,
    /// Awards that are not credited, or not taken back, yet.
    pub(crate) pending: usize,
    /// Awards whose events are parked.
    pub(crate) parked: usize,
    /// Awards of voided games that were taken back.
    pub(crate) reversed: usize,
}

/// The first inconsistency found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    #[error("wallet {account}, event {version}: {before} {change:+} is not {balance}")]
    Balance { account: Uuid, version: i64, before: i64, change: i64, balance: Dollars },
    #[error("game {game}, event {version}: ${amount} was credited twice, to {accounts:?}")]
    Twice { game: Uuid, version: u64, amount: Dollars, accounts: [Uuid; 2] },
    #[error("game {game}, event {version}: ${amount} awarded to {account} was never credited")]
    Missing { game: Uuid, version: u64, amount: Dollars, account: Uuid },
    #[error("game {game}, event {version}: {found}, but the game awarded {awarded}")]
    Differs { game: Uuid, version: u64, found: String, awarded: String },
    #[error(
        "game {game} is void, but ${kept} of the ${awarded} awarded to {account} were not taken back"
    )]
    Kept { game: Uuid, account: Uuid, awarded: u64, kept: i128 },
    #[error("event {version} of stream {stream} cannot be read: {why}")]
    Unreadable { stream: Uuid, version: i64, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for AuditError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Money credited from a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Credit {
    account: Uuid,
    amount: Dollars,
    why: AwardedFor,
}

#[derive(Default)]
struct Books {
    audit: Audit,
    balances: HashMap<Uuid, i64>,
    /// By game and version of the award.
    credits: HashMap<(Uuid, u64), Credit>,
    players: HashMap<(Uuid, SeatNo), Uuid>,
    /// Totals awarded and taken back, by game and account.
    awarded: HashMap<(Uuid, Uuid), u64>,
    reversed: HashMap<(Uuid, Uuid), u64>,
    /// Voided games, and whether the reversal may still be pending.
    void: HashMap<Uuid, bool>,
}

/// Checks all wallets. Reads the payout checkpoint first, then the wallets, then the games, so that
/// events recorded during the check cannot make it fail.
pub(crate) async fn audit(store: &Store) -> Result<Audit, AuditError> {
    let paid = checkpoint(store.pool(), payouts::NAME).await.map_err(StoreError::from)?;
    let parked = sqlx::query("SELECT stream, version FROM processor_parked WHERE name = $1");
    let parked = parked.bind(payouts::NAME);
    let mut parked_events = HashSet::new();
    for row in parked.fetch_all(store.pool()).await? {
        let (stream, version): (Uuid, i64) = (row.try_get(0)?, row.try_get(1)?);
        parked_events.insert((stream, u64::try_from(version).unwrap_or(0)));
    }
    let mut books = Books::default();
    read(store, &LEDGER, |recorded| books.add_entry(recorded)).await?;
    books.audit.wallets = books.balances.len();
    read(store, &["SeatTaken", "MoneyAwarded", "Voided"], |recorded| {
        books.check_award(recorded, &paid, parked_events.contains(&at(recorded)))
    })
    .await?;
    books.check_void()?;
    match books.credits.iter().next() {
        None => Ok(books.audit),
        Some((&(game, version), credit)) => Err(AuditError::Differs {
            game,
            version,
            found: format!("{credit:?}"),
            awarded: "nothing".to_owned(),
        }),
    }
}

fn at(recorded: &Recorded) -> (Uuid, u64) {
    (recorded.stream, u64::try_from(recorded.version).unwrap_or(0))
}

/// Visits all events of these types, in order within each stream.
async fn read(
    store: &Store,
    types: &[&str],
    mut visit: impl FnMut(&Recorded) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    let mut after = Positions::default();
    loop {
        let found = store.of_types(types, &after, PAGE).await?;
        for event in &found.events {
            let recorded = event.decode().map_err(|why| AuditError::Unreadable {
                stream: event.stream,
                version: event.version,
                why: why.to_string(),
            })?;
            visit(&recorded)?;
        }
        if found.unfinished.is_empty() {
            return Ok(());
        }
        after = found.looked_at;
    }
}

impl Books {
    fn add_entry(&mut self, recorded: &Recorded) -> Result<(), AuditError> {
        let account = recorded.stream;
        let Some(event) = account_event(&recorded.event) else { return Ok(()) };
        let Some(entry) = event.entry() else { return Ok(()) };
        self.audit.lines += 1;
        let before = self.balances.insert(account, entry.balance.into()).unwrap_or(0);
        if before + entry.change != i64::from(entry.balance) {
            let (version, change, balance) = (recorded.version, entry.change, entry.balance);
            return Err(AuditError::Balance { account, version, before, change, balance });
        }
        if let AccountEvent::MoneyCredited { game, event, why, amount, .. } = event {
            let credit = Credit { account, amount: *amount, why: *why };
            if let Some(earlier) = self.credits.insert((game.0, *event), credit) {
                let (game, version, amount) = (game.0, *event, *amount);
                let accounts = [earlier.account, account];
                return Err(AuditError::Twice { game, version, amount, accounts });
            }
        }
        if let AccountEvent::MoneyReversed { game, amount, missing, .. } = event {
            let taken = self.reversed.entry((game.0, account)).or_default();
            *taken += u64::from(*amount) + u64::from(*missing);
        }
        Ok(())
    }

    /// Awards of voided games must be taken back in full (including the part that was already
    /// spent), others not at all.
    fn check_void(&mut self) -> Result<(), AuditError> {
        for (&(game, account), &awarded) in &self.awarded {
            let Some(&is_pending) = self.void.get(&game) else { continue };
            match self.reversed.remove(&(game, account)) {
                Some(taken) if taken == awarded => self.audit.reversed += 1,
                None if is_pending => self.audit.pending += 1,
                taken => {
                    let kept = i128::from(awarded) - i128::from(taken.unwrap_or(0));
                    return Err(AuditError::Kept { game, account, awarded, kept });
                }
            }
        }
        match self.reversed.iter().next() {
            None => Ok(()),
            Some((&(game, account), &taken)) => {
                let kept = -i128::from(taken);
                Err(AuditError::Kept { game, account, awarded: 0, kept })
            }
        }
    }

    fn check_award(
        &mut self,
        recorded: &Recorded,
        paid: &Positions,
        parked: bool,
    ) -> Result<(), AuditError> {
        let (game, version) = at(recorded);
        if let Event::SeatTaken { seat, player, .. } = &recorded.event {
            self.players.insert((game, *seat), player.0);
        }
        if let Event::Voided { .. } = &recorded.event {
            self.void.insert(game, parked || recorded.position > paid.get(recorded.shard));
        }
        let Event::MoneyAwarded { seat, amount, why } = &recorded.event else { return Ok(()) };
        let account = self.players.get(&(game, *seat)).copied().unwrap_or_default();
        *self.awarded.entry((game, account)).or_default() += u64::from(*amount);
        let awarded = Credit { account, amount: *amount, why: *why };
        match self.credits.remove(&(game, version)) {
            Some(credit) if credit == awarded => self.audit.awards += 1,
            Some(credit) => {
                let (found, awarded) = (format!("{credit:?}"), format!("{awarded:?}"));
                return Err(AuditError::Differs { game, version, found, awarded });
            }
            None if parked => self.audit.parked += 1,
            None if recorded.position > paid.get(recorded.shard) => self.audit.pending += 1,
            None => return Err(AuditError::Missing { game, version, amount: *amount, account }),
        }
        Ok(())
    }
}
