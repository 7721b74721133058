//! Working through the log: each leased range by its own task, batch by batch.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection, PgConnection, Row};
use store::{Envelope, Shard, Store, StoreError};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};
use uuid::Uuid;

use crate::{
    GameRecord, ProjectionError,
    lease::{Lease, ensure_live, release_all, shards, share, take},
    rebuild::{without_care, without_hurry},
    records::{Known, Records},
    seasons,
    status::status,
};

/// What a read model waits for: a game is over, and counts; or it is void, and counts no more.
pub(crate) const TYPES: [&str; 2] = [ENDED, VOIDED];
const ENDED: &str = "Ended";
const VOIDED: &str = "Voided";
/// How many games of a shard are taken in at once while games go on, and when all are folded anew.
const PAGE: u32 = 50;
pub(crate) const LARGE_PAGE: u32 = 250;
/// How long to wait when nothing is new: longer and longer, up to a limit.
const POLL: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(300);
/// How often free ranges are looked for.
const LOOK: Duration = Duration::from_millis(500);
/// How often a lease is renewed where nothing is new.
const RENEW: Duration = Duration::from_secs(1);
/// How often is worked out what follows from what was taken in, by who is behind.
const SETTLE: Duration = Duration::from_secs(3);
/// How often parked games are tried again.
const PARKED: Duration = Duration::from_mins(1);
/// How often this node tells how far the read models are.
const TELL: Duration = Duration::from_secs(2);

/// Works on the live generations, sharing them with other nodes, until the store is closed.
#[derive(Debug)]
pub struct Runner {
    store: Store,
    records: Arc<Records>,
    owner: Uuid,
    page: u32,
}

impl Runner {
    /// A worker that has nothing to do yet.
    pub fn new(store: Store) -> Self {
        let records = Arc::new(Records::new(store.clone()));
        Self { store, records, owner: Uuid::new_v4(), page: PAGE }
    }

    /// One who takes in fewer games at once, and so is behind more often.
    #[cfg(test)]
    pub(crate) fn in_pages_of(self, page: u32) -> Self {
        Self { page, ..self }
    }

    /// Works until it is told to stop, and then gives back what it has: others go on at once.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let (store, owner) = (self.store.clone(), self.owner);
        tokio::select! { () = self.run() => {}, () = stop => {} }
        if let Err(error) = release_all(store.pool(), owner).await {
            tracing::debug!(%error, "ranges are left to run out");
        }
    }

    /// Works as long as the store is open.
    pub async fn run(self) {
        let mut work = JoinSet::new();
        let mut ready = false;
        let mut told = None::<Instant>;
        // Raised when this node has more than its share: a task gives its range back.
        let (too_many, _) = watch::channel(0usize);
        while !self.store.pool().is_closed() {
            while work.try_join_next().is_some() {}
            match self.look(&mut work, &too_many, ready).await {
                Ok(()) => ready = true,
                Err(error) if !self.store.pool().is_closed() => failed(&error, None),
                Err(_) => {}
            }
            metrics::gauge!("croupier_projection_ranges").set(count(work.len()));
            if told.is_none_or(|at| at.elapsed() >= TELL) {
                told = Some(Instant::now());
                self.tell().await;
            }
            sleep(LOOK).await;
        }
        work.abort_all();
    }

    /// How far the read models are, and what is parked, for whoever watches this node.
    async fn tell(&self) {
        let Ok(heads) = self.store.heads().await else { return };
        let Ok(all) = status(self.store.pool(), &heads).await else { return };
        for live in all.iter().filter(|status| status.state == "live") {
            let behind =
                metrics::gauge!("croupier_projection_behind", "model" => live.name.clone());
            behind.set(count(usize::try_from(live.behind()).unwrap_or(0)));
            let parked =
                metrics::gauge!("croupier_projection_parked", "model" => live.name.clone());
            parked.set(count(live.parked.len()));
        }
    }

    /// Takes free ranges up to this node's share, and gives back what is beyond it.
    async fn look(
        &self,
        work: &mut JoinSet<()>,
        too_many: &watch::Sender<usize>,
        ready: bool,
    ) -> Result<(), ProjectionError> {
        let pool = self.store.pool();
        if !ready {
            ensure_live(pool).await?;
        }
        let share = share(pool, self.owner).await?;
        too_many.send_replace(work.len().saturating_sub(share));
        while work.len() < share {
            let Some(lease) = take(pool, self.owner, None).await? else { break };
            let (store, records) = (self.store.clone(), Arc::clone(&self.records));
            let (too_many, page) = (too_many.clone(), self.page);
            work.spawn(async move {
                let mut range = Range::new(store, records, lease, page);
                if let Err(error) = range.keep(&too_many).await {
                    failed(&error, Some(&range.lease));
                }
            });
        }
        Ok(())
    }
}

/// Somebody else may have taken over, or the database is away: that passes. Anything else is told as what it is.
fn failed(error: &ProjectionError, lease: Option<&Lease>) {
    let model = lease.map_or("all", |lease| lease.model.name);
    match error {
        ProjectionError::Fenced | ProjectionError::Store(StoreError::Unavailable(_)) => {
            tracing::debug!(%error, model, "a range is left for now");
        }
        ProjectionError::Store(StoreError::Fault(_))
        | ProjectionError::Unknown { .. }
        | ProjectionError::Unreadable { .. }
        | ProjectionError::NoWayBack { .. }
        | ProjectionError::Busy { .. } => {
            tracing::error!(%error, model, "a read model cannot be kept");
            metrics::counter!("croupier_projection_failures_total", "model" => model).increment(1);
        }
    }
}

/// A range that is worked on.
pub(crate) struct Range {
    pub(crate) store: Store,
    pub(crate) records: Arc<Records>,
    pub(crate) lease: Lease,
    pub(crate) page: u32,
    /// Whether something was taken in, perhaps by who had the range before, from which nothing was worked out yet.
    unsettled: bool,
    settled: Instant,
}

impl Range {
    pub(crate) fn new(store: Store, records: Arc<Records>, lease: Lease, page: u32) -> Self {
        Self { store, records, lease, page, unsettled: true, settled: Instant::now() }
    }

    /// Works until somebody else has taken over, or this node has too much.
    async fn keep(&mut self, too_many: &watch::Sender<usize>) -> Result<(), ProjectionError> {
        let (mut renewed, mut parked) = (Instant::now(), None::<Instant>);
        let mut pause = POLL;
        loop {
            if parked.is_none_or(|at| at.elapsed() >= PARKED) {
                parked = Some(Instant::now());
                self.try_parked().await?;
            }
            let new = self.step().await?;
            let gives_back = too_many.send_if_modified(|surplus| {
                let wanted = *surplus > 0;
                *surplus = surplus.saturating_sub(1);
                wanted
            });
            if gives_back {
                return self.lease.release(self.store.pool()).await;
            }
            if new {
                (renewed, pause) = (Instant::now(), POLL);
                continue;
            }
            if renewed.elapsed() >= RENEW {
                renewed = Instant::now();
                // Somebody may have named a season.
                let Lease { model, generation, range, .. } = &self.lease;
                if *range == 0 && model.settle.is_some() {
                    let mut connection = self.store.pool().acquire().await?;
                    let new = seasons::uncounted(&mut connection, model.name, *generation).await?;
                    self.unsettled |= !new.is_empty();
                }
                let here = self.lease.positions.clone();
                let mut connection = self.store.pool().acquire().await?;
                self.lease.advance(&mut connection, &here).await?;
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Takes in the next games that are over; whether there may be more at once.
    pub(crate) async fn step(&mut self) -> Result<bool, ProjectionError> {
        let shards: Vec<Shard> = shards(self.lease.range);
        let found =
            self.store.of_types_in(&shards, &TYPES, &self.lease.positions, self.page).await?;
        let news = read(&self.records, &found.events).await?;
        let some = !news.is_empty();
        self.unsettled |= some;
        // Who is far behind works out what follows now and then, not behind every page.
        let settles = self.unsettled && (!found.more || self.settled.elapsed() >= SETTLE);
        if found.looked_at == self.lease.positions && !settles {
            return Ok(false);
        }
        let mut connection = self.store.pool().acquire().await?;
        let mut transaction = connection.begin().await?;
        // Waiting for others, and working out many days, may take its time.
        without_hurry(&mut transaction).await?;
        if self.lease.building {
            without_care(&mut transaction).await?;
        }
        // First: whoever has lost the range writes nothing at all.
        self.lease.advance(&mut transaction, &found.looked_at).await?;
        if some {
            write(&mut transaction, &self.lease, &self.records, news).await?;
        }
        let mut done = false;
        if settles {
            done = settle(&mut transaction, &self.lease).await?;
        }
        transaction.commit().await?;
        self.lease.positions = found.looked_at;
        if settles {
            (self.unsettled, self.settled) = (!done, Instant::now());
        }
        Ok(found.more || some)
    }

    /// Games that could not be read may be readable now.
    async fn try_parked(&mut self) -> Result<(), ProjectionError> {
        const PARKED: &str =
            "SELECT game, void FROM projection_parked WHERE name = $1 AND generation = $2";
        let query = sqlx::query(PARKED).bind(self.lease.model.name).bind(self.lease.generation);
        let rows = query.fetch_all(self.store.pool()).await?;
        let ours = shards(self.lease.range);
        let (mut games, mut void) = (Vec::new(), Vec::new());
        for row in rows {
            let game: Uuid = row.try_get(0)?;
            if ours.contains(&Shard::of(game)) {
                games.push(game);
                void.push(row.try_get(1)?);
            }
        }
        if games.is_empty() {
            return Ok(());
        }
        let known = self.records.of(&games).await?.into_iter().zip(void);
        let news = games.iter().zip(known).map(|(&game, (known, void))| News { game, known, void });
        let news = news.collect();
        let mut connection = self.store.pool().acquire().await?;
        let mut transaction = connection.begin().await?;
        without_hurry(&mut transaction).await?;
        let here = self.lease.positions.clone();
        self.lease.advance(&mut transaction, &here).await?;
        let forget =
            "DELETE FROM projection_parked WHERE name = $1 AND generation = $2 AND game = ANY ($3)";
        let query = sqlx::query(forget).bind(self.lease.model.name).bind(self.lease.generation);
        query.bind(&games).execute(&mut *transaction).await?;
        write(&mut transaction, &self.lease, &self.records, news).await?;
        self.unsettled |= !settle(&mut transaction, &self.lease).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// A game that is over, or void.
pub(crate) struct News {
    game: Uuid,
    known: Known,
    void: bool,
}

/// What is known of the games of these events.
pub(crate) async fn read<'a>(
    records: &Records,
    events: impl IntoIterator<Item = &'a Envelope>,
) -> Result<Vec<News>, ProjectionError> {
    let (games, void): (Vec<Uuid>, Vec<bool>) =
        events.into_iter().map(|event| (event.stream, event.kind == VOIDED)).unzip();
    let known = records.of(&games).await?.into_iter().zip(void);
    Ok(games
        .into_iter()
        .zip(known)
        .map(|(game, (known, void))| News { game, known, void })
        .collect())
}

/// Takes games in, and those that are void out again; those that cannot be read are parked with an alert.
pub(crate) async fn write(
    connection: &mut PgConnection,
    lease: &Lease,
    records: &Records,
    news: Vec<News>,
) -> Result<(), ProjectionError> {
    let (mut over, mut void) = (Vec::new(), Vec::new());
    for News { game, known, void: is_void } in news {
        if is_void {
            // One that was never taken in need not be any more.
            unpark(connection, lease, game).await?;
        }
        match known {
            Known::Record(record) => if is_void { &mut void } else { &mut over }.push(record),
            Known::Nothing => {}
            Known::Poison(why) => park(connection, lease, game, &why, is_void).await?,
        }
    }
    take_in(connection, lease, over).await?;
    for record in void {
        let mut attempt = connection.begin().await?;
        let gone = std::slice::from_ref(&record);
        match (lease.model.forget)(&mut attempt, lease.target(), gone, records).await {
            Ok(()) => attempt.commit().await?,
            Err(error @ ProjectionError::Unreadable { .. }) => {
                attempt.rollback().await?;
                park(connection, lease, record.game, &error.to_string(), true).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes games in, all at once. If that fails one of them is to blame: they are taken in one by one, and it is parked.
async fn take_in(
    connection: &mut PgConnection,
    lease: &Lease,
    over: Vec<Arc<GameRecord>>,
) -> Result<(), ProjectionError> {
    if over.is_empty() {
        return Ok(());
    }
    let mut attempt = connection.begin().await?;
    match (lease.model.write)(&mut attempt, lease.target(), &over).await {
        Ok(()) => return Ok(attempt.commit().await?),
        Err(ProjectionError::Store(StoreError::Fault(_))) => attempt.rollback().await?,
        Err(error) => return Err(error),
    }
    for record in over {
        let mut attempt = connection.begin().await?;
        let one = std::slice::from_ref(&record);
        match (lease.model.write)(&mut attempt, lease.target(), one).await {
            Ok(()) => attempt.commit().await?,
            Err(ProjectionError::Store(StoreError::Fault(why))) => {
                attempt.rollback().await?;
                park(connection, lease, record.game, &why, false).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Works out what follows from what was written, where it is seen at once; whether nothing is left for later.
async fn settle(connection: &mut PgConnection, lease: &Lease) -> Result<bool, ProjectionError> {
    match lease.model.settle.filter(|_| !lease.building) {
        Some(settle) => settle(connection, lease.target()).await,
        None => Ok(true),
    }
}

async fn unpark(
    connection: &mut PgConnection,
    lease: &Lease,
    game: Uuid,
) -> Result<(), ProjectionError> {
    const UNPARK: &str =
        "DELETE FROM projection_parked WHERE name = $1 AND generation = $2 AND game = $3";
    let query = sqlx::query(UNPARK).bind(lease.model.name).bind(lease.generation).bind(game);
    query.execute(connection).await?;
    Ok(())
}

async fn park(
    connection: &mut PgConnection,
    lease: &Lease,
    game: Uuid,
    why: &str,
    void: bool,
) -> Result<(), ProjectionError> {
    const PARK: &str = "INSERT INTO projection_parked (name, generation, game, why, void) VALUES ($1, $2, $3, $4, $5)
                        ON CONFLICT (name, generation, game) DO NOTHING";
    tracing::error!(%game, %why, model = lease.model.name, "a game is parked");
    metrics::counter!("croupier_projection_parked_total").increment(1);
    let query = sqlx::query(PARK).bind(lease.model.name).bind(lease.generation);
    query.bind(game).bind(why).bind(void).execute(connection).await?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a count is small")]
fn count(number: usize) -> f64 {
    number as f64
}
