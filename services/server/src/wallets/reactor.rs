//! From games to wallets: what a game awards is credited once, taken back when the game is made void, and dice are given free
//! when it is over.
//!
//! One node at a time looks for such events behind the place where it last stopped. A credit's command id follows from
//! the event, so whatever is done again after a crash is answered by its receipt. What cannot be paid out is parked with an
//! alert and tried again every minute; everything else goes on.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{AccountCommand, AwardedFor, Dollars, Event, GameId, LeftBecause};
use futures_util::{StreamExt, stream};
use sqlx::{PgConnection, Row};
use store::{Envelope, ReadError, StoreError};
use uuid::Uuid;

use crate::play::{PlayError, Refusal, Tables, derived, lock::hold, place::Place};

/// The types of events that matter to wallets.
const TYPES: [&str; 5] = ["MoneyAwarded", "Started", "SeatLeft", "Ended", "Voided"];
/// Up to where everything is paid out or parked.
pub(super) const PAID: Place = Place("reactor_position");
/// How many events of a shard are paid out before the place is written down.
const PAGE: u32 = 50;
/// How long to wait when nothing is new.
const POLL: Duration = Duration::from_millis(20);
/// How long to wait when another node does it, or the database is away.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// How often what is parked is tried again.
const PARKED: Duration = Duration::from_mins(1);
/// How long to wait before an account that is busy is tried again, each time longer.
const BACK_OFF: [u64; 6] = [5, 10, 20, 50, 100, 200];
/// How often the connection that holds the lock shows that it is alive.
const ALIVE: Duration = Duration::from_secs(5);
/// How many accounts are seen to at once.
const AT_ONCE: usize = 64;
/// The lock of the database that makes a node the reactor: its name in numbers.
const LOCK: i64 = 0x0070_6179_5f6f_7574;

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
    game: Uuid,
    version: i64,
    account: Uuid,
    due: Due,
}

impl Tables {
    /// Pays out whenever it is this node's turn, until the store is closed.
    pub(crate) async fn pay_out(self: Arc<Self>) {
        while !self.store.pool().is_closed() {
            match hold(self.store.pool(), LOCK).await {
                Ok(Some(mut connection)) => {
                    tracing::info!("this node pays out");
                    metrics::gauge!("croupier_pays_out").set(1.0);
                    if let Err(error) = self.keep_paying(&mut connection).await
                        && !self.store.pool().is_closed()
                    {
                        tracing::warn!(%error, "this node pays out no more");
                    }
                    metrics::gauge!("croupier_pays_out").set(0.0);
                    metrics::gauge!("croupier_awards_parked").set(0.0);
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "nothing can be paid out yet"),
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }

    /// The place is written with the connection that holds the lock: without the lock, it is not.
    async fn keep_paying(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        let mut paid = PAID.read(connection).await?;
        let mut looked_at_parked = None;
        let mut alive = tokio::time::Instant::now();
        loop {
            let found = self.store.of_types(&TYPES, &paid, PAGE).await?;
            self.pay_events(connection, &found.events).await?;
            if found.looked_at != paid {
                PAID.advance(connection, &found.looked_at).await?;
                paid = found.looked_at;
            }
            if looked_at_parked.is_none_or(|at: tokio::time::Instant| at.elapsed() >= PARKED) {
                looked_at_parked = Some(tokio::time::Instant::now());
                self.try_parked(connection).await?;
            }
            if alive.elapsed() >= ALIVE {
                alive = tokio::time::Instant::now();
                sqlx::query("SELECT 1").execute(&mut *connection).await?;
            }
            if !found.more && found.events.is_empty() {
                tokio::time::sleep(POLL).await;
            }
        }
    }

    /// Pays a page of events out: the jobs of an account one after the other, accounts side by side.
    async fn pay_events(
        &self,
        connection: &mut PgConnection,
        events: &[Envelope],
    ) -> Result<(), StoreError> {
        let mut order: Vec<Uuid> = Vec::new();
        let mut jobs: HashMap<Uuid, Vec<Job>> = HashMap::new();
        let mut parked = Vec::new();
        self.remember_games(events).await?;
        for event in events {
            match self.jobs(event).await {
                Ok(due) => {
                    for job in due {
                        let of_account = jobs.entry(job.account).or_default();
                        if of_account.is_empty() {
                            order.push(job.account);
                        }
                        of_account.push(job);
                    }
                }
                Err(error) => parked.push((event.stream, event.version, poison(error)?)),
            }
        }
        let work = order.into_iter().filter_map(|account| jobs.remove(&account));
        let done: Vec<_> = stream::iter(work)
            .map(|jobs| self.do_in_order(jobs))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for failed in done {
            for (job, error) in failed {
                parked.push((job.game, job.version, poison(error)?));
            }
        }
        for (stream, version, why) in parked {
            park(connection, stream, version, &why).await?;
        }
        Ok(())
    }

    /// Has all games of a page in memory, in one round trip; one that cannot be read shows itself later.
    async fn remember_games(&self, events: &[Envelope]) -> Result<(), StoreError> {
        let mut games: Vec<Uuid> = events.iter().map(|event| event.stream).collect();
        games.sort_unstable();
        games.dedup();
        match self.store.games.fresh_all(&games).await {
            Err(ReadError::Store(error)) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// What an event means to whom.
    async fn jobs(&self, event: &Envelope) -> Result<Vec<Job>, PlayError> {
        let recorded = event.decode().map_err(|error| PlayError::Fault(error.to_string()))?;
        let (game, version) = (recorded.stream, recorded.version);
        let state = self.store.games.at_least(game, version).await?;
        let Some(table) = state.now.as_ref() else {
            return Err(PlayError::Fault("an award without a game".to_owned()));
        };
        let seats = &table.table.seats;
        let job = |account, due| Job { game, version, account, due };
        if let Event::MoneyAwarded { seat, amount, why } = &recorded.event {
            let seat = seats.get(usize::from(*seat));
            let seat = seat.ok_or(PlayError::Fault("an award without a seat".to_owned()))?;
            let due = Due::Credit { amount: *amount, why: *why };
            return Ok(vec![job(seat.player.0, due)]);
        }
        if let Event::Voided { .. } = &recorded.event {
            const PARKED: &str = "SELECT 1 FROM reactor_parked WHERE stream = $1 AND version < $2";
            let parked = sqlx::query(PARKED).bind(game).bind(version);
            if parked.fetch_optional(self.store.pool()).await?.is_some() {
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
        // The game has begun or is over, or somebody lost the seat.
        let special = table.table.ruleset.rules.catalogue().is_some();
        Ok(seats.iter().filter(|_| special).map(|s| job(s.player.0, Due::Settle)).collect())
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
                // What passes ends the page: it is done again from where it was, in the same order.
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
        match job.due {
            Due::Settle => self.settle_lock(job.account, job.game).await,
            Due::Reverse { amount } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Reverse { game: GameId(job.game), event, amount };
                let id = derived(job.game, b"reverse");
                self.wallets.by_the_house(job.account, &command, id, None).await?;
                Ok(())
            }
            Due::Credit { amount, why } => {
                let event = u64::try_from(job.version).unwrap_or_default();
                let command = AccountCommand::Credit { game: GameId(job.game), event, why, amount };
                let id = credit_id(job.game, job.version);
                let credit = || self.wallets.by_the_house(job.account, &command, id, None);
                let credited = match credit().await {
                    Err(PlayError::Refused(refusal)) if refusal.code == "NO_WALLET" => {
                        self.wallets.open(job.account).await?;
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

    /// Tries again what could not be paid out.
    async fn try_parked(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        const PARKED: &str =
            "SELECT stream, version FROM reactor_parked ORDER BY parked_at LIMIT 1000";
        const LATER: &str = "
UPDATE reactor_parked SET parked_at = now(), why = $3 WHERE stream = $1 AND version = $2";
        const FREE: &str = "DELETE FROM reactor_parked WHERE stream = $1 AND version = $2";
        let rows = sqlx::query(PARKED).fetch_all(&mut *connection).await?;
        let mut left = 0u32;
        for row in rows {
            let (stream, version): (Uuid, i64) = (row.try_get(0)?, row.try_get(1)?);
            let again = async {
                let event = self.store.envelope(stream, version).await?;
                let event = event.ok_or(PlayError::Fault("the event is gone".to_owned()))?;
                for job in self.jobs(&event).await? {
                    self.do_job(job).await?;
                }
                Ok(())
            };
            match again.await {
                Ok(()) => {
                    let query = sqlx::query(FREE).bind(stream).bind(version);
                    query.execute(&mut *connection).await?;
                    tracing::info!(%stream, version, "what was parked is paid out");
                }
                Err(error) => {
                    let why = poison(error)?;
                    let query = sqlx::query(LATER).bind(stream).bind(version).bind(&why);
                    query.execute(&mut *connection).await?;
                    left += 1;
                    tracing::error!(%stream, version, why, "an award is still parked");
                }
            }
        }
        metrics::gauge!("croupier_awards_parked").set(f64::from(left));
        Ok(())
    }
}

/// The id of the credit of an award: it follows from the event, so the award is credited once.
fn credit_id(game: Uuid, version: i64) -> Uuid {
    derived(game, &[b"credit", &version.to_le_bytes()[..]].concat())
}

/// Why an event cannot be paid out, if it is the event's fault; what passes is tried again.
fn poison(error: PlayError) -> Result<String, StoreError> {
    match error {
        PlayError::Refused(Refusal { message, .. }) => Ok(message),
        PlayError::Fault(why) => Ok(why),
        PlayError::Busy => Ok("the account is busy".to_owned()),
        PlayError::Unavailable(why) => Err(StoreError::Unavailable(why)),
    }
}

async fn park(
    connection: &mut PgConnection,
    stream: Uuid,
    version: i64,
    why: &str,
) -> Result<(), StoreError> {
    const PARK: &str = "
INSERT INTO reactor_parked (stream, version, why) VALUES ($1, $2, $3)
ON CONFLICT (stream, version) DO UPDATE SET why = excluded.why";
    tracing::error!(%stream, version, why, "an award is parked: it cannot be paid out");
    metrics::counter!("croupier_awards_parked_total").increment(1);
    let query = sqlx::query(PARK).bind(stream).bind(version).bind(why);
    query.execute(connection).await?;
    Ok(())
}
