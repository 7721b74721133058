//! Checking all wallets against the log: every balance is the sum of its ledger, and every award of a game is credited
//! once, to the one who earned it.

use std::collections::{HashMap, HashSet};

use domain::{AccountEvent, AwardedFor, Dollars, Event, SeatNo};
use sqlx::Row;
use store::{Positions, Recorded, Store, StoreError, processor::checkpoint};
use uuid::Uuid;

use super::{LEDGER, account_event, payouts};

/// How many events of a shard are read at once.
const PAGE: u32 = 1000;

/// What was found to be right.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Audit {
    pub(crate) wallets: usize,
    pub(crate) lines: usize,
    pub(crate) awards: usize,
    /// Awards that are on their way.
    pub(crate) pending: usize,
    /// Awards that are parked, with an alert.
    pub(crate) parked: usize,
    /// Awards that were taken back.
    pub(crate) reversed: usize,
}

/// Why the wallets are not right.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("wallet {account}, event {version}: {before} {change:+} is not {balance}")]
    Balance { account: Uuid, version: i64, before: i64, change: i64, balance: Dollars },
    #[error("game {game}, event {version}: ${amount} were credited twice, to {accounts:?}")]
    Twice { game: Uuid, version: u64, amount: Dollars, accounts: [Uuid; 2] },
    #[error("game {game}, event {version}: ${amount} awarded to {account} never reached a wallet")]
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

impl From<sqlx::Error> for Wrong {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Money that came from a game.
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
    /// By game and version of its event.
    credits: HashMap<(Uuid, u64), Credit>,
    players: HashMap<(Uuid, SeatNo), Uuid>,
    /// What games awarded altogether, and what was taken back, by game and account.
    awarded: HashMap<(Uuid, Uuid), u64>,
    reversed: HashMap<(Uuid, Uuid), u64>,
    /// Games that are void, and whether what they awarded may still be on its way back.
    void: HashMap<Uuid, bool>,
}

/// Checks everything. What was paid out is asked first and the wallets are read before the games: whatever happens
/// meanwhile, a credit that was there is seen, and so is the award behind it.
pub(crate) async fn audit(store: &Store) -> Result<Audit, Wrong> {
    let paid = checkpoint(store.pool(), payouts::NAME).await.map_err(StoreError::from)?;
    let parked = sqlx::query("SELECT stream, version FROM processor_parked WHERE name = $1");
    let parked = parked.bind(payouts::NAME);
    let mut waiting = HashSet::new();
    for row in parked.fetch_all(store.pool()).await? {
        let (stream, version): (Uuid, i64) = (row.try_get(0)?, row.try_get(1)?);
        waiting.insert((stream, u64::try_from(version).unwrap_or(0)));
    }
    let mut books = Books::default();
    read(store, &LEDGER, |recorded| books.write_line(recorded)).await?;
    books.audit.wallets = books.balances.len();
    read(store, &["SeatTaken", "MoneyAwarded", "Voided"], |recorded| {
        books.check_award(recorded, &paid, waiting.contains(&at(recorded)))
    })
    .await?;
    books.check_void()?;
    match books.credits.iter().next() {
        None => Ok(books.audit),
        Some((&(game, version), credit)) => Err(Wrong::Differs {
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

/// Every event of these types, in order within its stream.
async fn read(
    store: &Store,
    types: &[&str],
    mut see: impl FnMut(&Recorded) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let mut after = Positions::default();
    loop {
        let found = store.of_types(types, &after, PAGE).await?;
        for event in &found.events {
            let recorded = event.decode().map_err(|why| Wrong::Unreadable {
                stream: event.stream,
                version: event.version,
                why: why.to_string(),
            })?;
            see(&recorded)?;
        }
        if found.unfinished.is_empty() {
            return Ok(());
        }
        after = found.looked_at;
    }
}

impl Books {
    fn write_line(&mut self, recorded: &Recorded) -> Result<(), Wrong> {
        let account = recorded.stream;
        let Some(event) = account_event(&recorded.event) else { return Ok(()) };
        let Some(entry) = event.entry() else { return Ok(()) };
        self.audit.lines += 1;
        let before = self.balances.insert(account, entry.balance.into()).unwrap_or(0);
        if before + entry.change != i64::from(entry.balance) {
            let (version, change, balance) = (recorded.version, entry.change, entry.balance);
            return Err(Wrong::Balance { account, version, before, change, balance });
        }
        if let AccountEvent::MoneyCredited { game, event, why, amount, .. } = event {
            let credit = Credit { account, amount: *amount, why: *why };
            if let Some(earlier) = self.credits.insert((game.0, *event), credit) {
                let (game, version, amount) = (game.0, *event, *amount);
                let accounts = [earlier.account, account];
                return Err(Wrong::Twice { game, version, amount, accounts });
            }
        }
        if let AccountEvent::MoneyReversed { game, amount, missing, .. } = event {
            let taken = self.reversed.entry((game.0, account)).or_default();
            *taken += u64::from(*amount) + u64::from(*missing);
        }
        Ok(())
    }

    /// Of games that are void, everything was taken back, as far as it was there; of others nothing.
    fn check_void(&mut self) -> Result<(), Wrong> {
        for (&(game, account), &awarded) in &self.awarded {
            let Some(&on_its_way) = self.void.get(&game) else { continue };
            match self.reversed.remove(&(game, account)) {
                Some(taken) if taken == awarded => self.audit.reversed += 1,
                None if on_its_way => self.audit.pending += 1,
                taken => {
                    let kept = i128::from(awarded) - i128::from(taken.unwrap_or(0));
                    return Err(Wrong::Kept { game, account, awarded, kept });
                }
            }
        }
        match self.reversed.iter().next() {
            None => Ok(()),
            Some((&(game, account), &taken)) => {
                let kept = -i128::from(taken);
                Err(Wrong::Kept { game, account, awarded: 0, kept })
            }
        }
    }

    fn check_award(
        &mut self,
        recorded: &Recorded,
        paid: &Positions,
        parked: bool,
    ) -> Result<(), Wrong> {
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
                return Err(Wrong::Differs { game, version, found, awarded });
            }
            None if parked => self.audit.parked += 1,
            None if recorded.position > paid.get(recorded.shard) => self.audit.pending += 1,
            None => return Err(Wrong::Missing { game, version, amount: *amount, account }),
        }
        Ok(())
    }
}
