//! From games to wallets: awards are credited once and taken back when a game is voided; locked
//! dice are released when it ends.
//!
//! The command id of a credit is derived from its event, so that a retry after a crash has no
//! effect.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{AccountCommand, AwardedFor, Dollars, Event, GameId, LeftBecause, RejectionCode};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use store::{
    ReadError, Recorded, StoreError,
    processor::{CommandHandler, HandlerError},
};
use uuid::Uuid;

use crate::play::{AppError, GameService, derived};

pub(crate) const NAME: &str = "payouts";
/// The events that affect wallets.
pub(crate) const TYPES: [&str; 5] = ["MoneyAwarded", "Started", "SeatLeft", "Ended", "Voided"];
/// Delays between attempts on a busy account, in milliseconds.
const BACK_OFF: [u64; 6] = [5, 10, 20, 50, 100, 200];
/// How many accounts are handled concurrently.
const CONCURRENCY: usize = 64;

const AWARD_PARKED: &str = "an award of this game is parked";

/// What to do with an account because of an event.
#[derive(Clone, Copy, Debug)]
enum Action {
    Credit {
        amount: Dollars,
        why: AwardedFor,
    },
    /// Take back everything that the voided game awarded.
    Reverse {
        amount: Dollars,
    },
    /// Adjust the lock on dice.
    Settle,
}

/// An action on an account.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The index of the event in its batch.
    index: usize,
    game: Uuid,
    version: i64,
    account: Uuid,
    action: Action,
}

/// The handler of the processor.
#[derive(Debug)]
pub(crate) struct Payouts {
    pub(crate) games: Arc<GameService>,
}

impl CommandHandler for Payouts {
    /// Runs the jobs of each account in order, and accounts concurrently.
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>> {
        async move {
            let (mut order, mut failed) = (Vec::new(), Vec::new());
            let mut jobs: HashMap<Uuid, Vec<Job>> = HashMap::new();
            if let Err(error) = self.preload_games(events).await {
                return vec![(0, error.into())];
            }
            for (index, event) in events.iter().enumerate() {
                match self.jobs(index, event).await {
                    Ok(new_jobs) => {
                        for job in new_jobs {
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
                .map(|jobs| self.run_in_order(jobs))
                .buffer_unordered(CONCURRENCY)
                .collect()
                .await;
            let errors = done.into_iter().flatten();
            failed.extend(errors.map(|(job, error)| (job.index, error.into())));
            failed
        }
        .boxed()
    }
}

impl Payouts {
    /// Loads all games of a batch into the cache with one query. A game that cannot be read fails
    /// later, in its own job.
    async fn preload_games(&self, events: &[Arc<Recorded>]) -> Result<(), StoreError> {
        let games = &self.games.store.games;
        let is_cached = |event: &&Arc<Recorded>| {
            games.cached(event.stream).is_some_and(|game| game.head.version >= event.version)
        };
        let mut uncached: Vec<Uuid> =
            events.iter().filter(|event| !is_cached(event)).map(|event| event.stream).collect();
        uncached.sort_unstable();
        uncached.dedup();
        match games.fresh_all(&uncached).await {
            Err(ReadError::Store(error)) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The jobs that follow from an event.
    async fn jobs(&self, index: usize, recorded: &Recorded) -> Result<Vec<Job>, AppError> {
        let (game, version) = (recorded.stream, recorded.version);
        let state = self.games.store.games.at_least(game, version).await?;
        let Some(table) = state.aggregate.as_ref() else {
            return Err(AppError::Fault("the game of this event does not exist".to_owned()));
        };
        let seats = &table.table.seats;
        let job = |account, action| Job { index, game, version, account, action };
        if let Event::MoneyAwarded { seat, amount, why } = &recorded.event {
            let seat = seats.get(usize::from(*seat));
            let seat =
                seat.ok_or(AppError::Fault("the seat of this award does not exist".to_owned()))?;
            let action = Action::Credit { amount: *amount, why: *why };
            return Ok(vec![job(seat.player.0, action)]);
        }
        if let Event::Voided { .. } = &recorded.event {
            if self.has_parked_award(game, version).await? {
                return Err(AppError::Fault(AWARD_PARKED.to_owned()));
            }
            let earned = seats.iter().filter(|seat| seat.money > 0);
            let action = |seat: &domain::Seat| Action::Reverse { amount: seat.money };
            return Ok(earned.map(|seat| job(seat.player.0, action(seat))).collect());
        }
        if let Event::SeatLeft { why: LeftBecause::Quit, .. } = &recorded.event {
            // The seat may have another player by now; the actor is the one who left.
            return Ok(vec![job(recorded.actor, Action::Settle)]);
        }
        // The game has started or ended, or a player was removed.
        let special = table.table.ruleset.rules.catalogue().is_some();
        Ok(seats.iter().filter(|_| special).map(|s| job(s.player.0, Action::Settle)).collect())
    }

    /// Whether an earlier award of the game is parked: it must be credited before it is taken back.
    async fn has_parked_award(&self, game: Uuid, version: i64) -> Result<bool, AppError> {
        const PARKED: &str =
            "SELECT 1 FROM processor_parked WHERE name = $1 AND stream = $2 AND version < $3";
        let query = sqlx::query(PARKED).bind(NAME).bind(game).bind(version);
        Ok(query.fetch_optional(self.games.store.pool()).await?.is_some())
    }

    async fn run_in_order(&self, jobs: Vec<Job>) -> Vec<(Job, AppError)> {
        let mut failed = Vec::new();
        for job in jobs {
            // An award that failed must be credited before it is taken back.
            let must_wait = matches!(job.action, Action::Reverse { .. })
                && failed.iter().any(|(other, _): &(Job, _)| other.game == job.game);
            if must_wait {
                failed.push((job, AppError::Fault(AWARD_PARKED.to_owned())));
                continue;
            }
            match self.run_with_retries(job).await {
                Ok(()) => {}
                // A temporary error ends the batch; it is retried from here in the same order.
                Err(error @ AppError::Unavailable(_)) => {
                    failed.push((job, error));
                    break;
                }
                Err(error) => failed.push((job, error)),
            }
        }
        failed
    }

    /// Retries a busy account a few times; then its event is parked, so that it delays no others.
    async fn run_with_retries(&self, job: Job) -> Result<(), AppError> {
        for pause in BACK_OFF {
            match self.run_job(job).await {
                Err(AppError::Busy) => tokio::time::sleep(Duration::from_millis(pause)).await,
                done => return done,
            }
        }
        self.run_job(job).await
    }

    async fn run_job(&self, job: Job) -> Result<(), AppError> {
        let wallets = &self.games.wallets;
        match job.action {
            Action::Settle => self.games.settle_lock(job.account, job.game).await,
            Action::Reverse { amount } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Reverse { game: GameId(job.game), event, amount };
                let id = derived(job.game, b"reverse");
                wallets.execute_as_system(job.account, &command, id, None).await?;
                Ok(())
            }
            Action::Credit { amount, why } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Credit { game: GameId(job.game), event, why, amount };
                let id = credit_id(job.game, job.version);
                let credit = || wallets.execute_as_system(job.account, &command, id, None);
                let credited = match credit().await {
                    Err(AppError::User(refusal))
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

/// Derived from the event, so that an award is credited once.
fn credit_id(game: Uuid, version: i64) -> Uuid {
    derived(game, &[b"credit", &version.to_le_bytes()[..]].concat())
}
