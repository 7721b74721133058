//! From games to wallets: what a game awards is credited once, taken back when the game is made void, and dice are given free
//! when it is over.
//!
//! A credit's command id follows from the event, so whatever is done again after a crash is answered as it was the first time.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{AccountCommand, AwardedFor, Dollars, Event, GameId, LeftBecause, RejectionCode};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use store::{
    ReadError, Recorded, StoreError,
    processor::{CommandHandler, HandlerError},
};
use uuid::Uuid;

use crate::play::{PlayError, Tables, derived};

/// The name of the processor.
pub(crate) const NAME: &str = "payouts";
/// The types of events that matter to wallets.
pub(crate) const TYPES: [&str; 5] = ["MoneyAwarded", "Started", "SeatLeft", "Ended", "Voided"];
/// How long to wait before an account that is busy is tried again, each time longer.
const BACK_OFF: [u64; 6] = [5, 10, 20, 50, 100, 200];
/// How many accounts are seen to at once.
const AT_ONCE: usize = 64;

/// Why nothing is taken back yet.
const AWARD_PARKED: &str = "an award of this game is parked";

/// What an event means to an account.
#[derive(Clone, Copy, Debug)]
enum Due {
    Credit {
        amount: Dollars,
        why: AwardedFor,
    },
    /// All that the game awarded: it is void.
    Reverse {
        amount: Dollars,
    },
    Settle,
}

/// Something to be done for an account because of an event.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The place of the event in its batch.
    index: usize,
    game: Uuid,
    version: i64,
    account: Uuid,
    due: Due,
}

/// Pays out.
#[derive(Debug)]
pub(crate) struct Payouts {
    pub(crate) tables: Arc<Tables>,
}

impl CommandHandler for Payouts {
    /// The jobs of an account one after the other, accounts side by side.
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>> {
        async move {
            let (mut order, mut failed) = (Vec::new(), Vec::new());
            let mut jobs: HashMap<Uuid, Vec<Job>> = HashMap::new();
            if let Err(error) = self.remember_games(events).await {
                return vec![(0, error.into())];
            }
            for (index, event) in events.iter().enumerate() {
                match self.jobs(index, event).await {
                    Ok(due) => {
                        for job in due {
                            let of_account = jobs.entry(job.account).or_default();
                            if of_account.is_empty() {
                                order.push(job.account);
                            }
                            of_account.push(job);
                        }
                    }
                    Err(error) => failed.push((index, error.into())),
                }
            }
            let work = order.into_iter().filter_map(|account| jobs.remove(&account));
            let done: Vec<_> = stream::iter(work)
                .map(|jobs| self.do_in_order(jobs))
                .buffer_unordered(AT_ONCE)
                .collect()
                .await;
            let problems = done.into_iter().flatten();
            failed.extend(problems.map(|(job, error)| (job.index, error.into())));
            failed
        }
        .boxed()
    }
}

impl Payouts {
    /// Has all games of a batch in memory, in one round trip; one that cannot be read shows itself later.
    async fn remember_games(&self, events: &[Arc<Recorded>]) -> Result<(), StoreError> {
        let games = &self.tables.store.games;
        let known = |event: &&Arc<Recorded>| {
            games.remembered(event.stream).is_some_and(|game| game.head.version >= event.version)
        };
        let mut unknown: Vec<Uuid> =
            events.iter().filter(|event| !known(event)).map(|event| event.stream).collect();
        unknown.sort_unstable();
        unknown.dedup();
        match games.fresh_all(&unknown).await {
            Err(ReadError::Store(error)) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// What an event means to whom.
    async fn jobs(&self, index: usize, recorded: &Recorded) -> Result<Vec<Job>, PlayError> {
        let (game, version) = (recorded.stream, recorded.version);
        let state = self.tables.store.games.at_least(game, version).await?;
        let Some(table) = state.now.as_ref() else {
            return Err(PlayError::Fault("an award without a game".to_owned()));
        };
        let seats = &table.table.seats;
        let job = |account, due| Job { index, game, version, account, due };
        if let Event::MoneyAwarded { seat, amount, why } = &recorded.event {
            let seat = seats.get(usize::from(*seat));
            let seat = seat.ok_or(PlayError::Fault("an award without a seat".to_owned()))?;
            let due = Due::Credit { amount: *amount, why: *why };
            return Ok(vec![job(seat.player.0, due)]);
        }
        if let Event::Voided { .. } = &recorded.event {
            if self.has_parked_award(game, version).await? {
                return Err(PlayError::Fault(AWARD_PARKED.to_owned()));
            }
            let earned = seats.iter().filter(|seat| seat.money > 0);
            let due = |seat: &domain::Seat| Due::Reverse { amount: seat.money };
            return Ok(earned.map(|seat| job(seat.player.0, due(seat))).collect());
        }
        if let Event::SeatLeft { why: LeftBecause::Quit, .. } = &recorded.event {
            // The seat may have another player by now; who left is who asked.
            return Ok(vec![job(recorded.actor, Due::Settle)]);
        }
        // The game has begun or is over, or a player lost the seat.
        let special = table.table.ruleset.rules.catalogue().is_some();
        Ok(seats.iter().filter(|_| special).map(|s| job(s.player.0, Due::Settle)).collect())
    }

    /// Whether an award of the game before this event is parked: what was not credited yet is not taken back.
    async fn has_parked_award(&self, game: Uuid, version: i64) -> Result<bool, PlayError> {
        const PARKED: &str =
            "SELECT 1 FROM processor_parked WHERE name = $1 AND stream = $2 AND version < $3";
        let query = sqlx::query(PARKED).bind(NAME).bind(game).bind(version);
        Ok(query.fetch_optional(self.tables.store.pool()).await?.is_some())
    }

    async fn do_in_order(&self, jobs: Vec<Job>) -> Vec<(Job, PlayError)> {
        let mut failed = Vec::new();
        for job in jobs {
            // What could not be credited is not taken back before it was.
            let waits = matches!(job.due, Due::Reverse { .. })
                && failed.iter().any(|(other, _): &(Job, _)| other.game == job.game);
            if waits {
                failed.push((job, PlayError::Fault(AWARD_PARKED.to_owned())));
                continue;
            }
            match self.do_patiently(job).await {
                Ok(()) => {}
                // What passes ends the batch: it is done again from where it was, in the same order.
                Err(error @ PlayError::Unavailable(_)) => {
                    failed.push((job, error));
                    break;
                }
                Err(error) => failed.push((job, error)),
            }
        }
        failed
    }

    /// An account that is busy is tried again for a moment; then it is parked, and holds nobody up.
    async fn do_patiently(&self, job: Job) -> Result<(), PlayError> {
        for pause in BACK_OFF {
            match self.do_job(job).await {
                Err(PlayError::Busy) => tokio::time::sleep(Duration::from_millis(pause)).await,
                done => return done,
            }
        }
        self.do_job(job).await
    }

    async fn do_job(&self, job: Job) -> Result<(), PlayError> {
        let wallets = &self.tables.wallets;
        match job.due {
            Due::Settle => self.tables.settle_lock(job.account, job.game).await,
            Due::Reverse { amount } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Reverse { game: GameId(job.game), event, amount };
                let id = derived(job.game, b"reverse");
                wallets.by_the_house(job.account, &command, id, None).await?;
                Ok(())
            }
            Due::Credit { amount, why } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Credit { game: GameId(job.game), event, why, amount };
                let id = credit_id(job.game, job.version);
                let credit = || wallets.by_the_house(job.account, &command, id, None);
                let credited = match credit().await {
                    Err(PlayError::Refused(refusal))
                        if refusal.code == RejectionCode::NoWallet.into() =>
                    {
                        wallets.open(job.account).await?;
                        credit().await?
                    }
                    credited => credited?,
                };
                if !credited.repeated {
                    metrics::counter!("croupier_money_credited").increment(amount.into());
                }
                Ok(())
            }
        }
    }
}

/// The id of the credit of an award: it follows from the event, so the award is credited once.
fn credit_id(game: Uuid, version: i64) -> Uuid {
    derived(game, &[b"credit", &version.to_le_bytes()[..]].concat())
}
