//! Collects commands while the last batch commits: a lone command waits for nothing, and under load
//! batches grow by themselves.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    AppendError, StoreError,
    append::{Answer, Prepared, append_batch},
};

/// The most commands of one batch.
const MOST_COMMANDS: usize = 256;

/// With fewer commands under way, one lane is faster than several: its batches are larger, and its
/// connection knows the way.
const ONE_LANE: usize = 24;

/// Where commands wait for their batch.
#[derive(Clone, Debug)]
pub(crate) struct Committer {
    lanes: Vec<mpsc::Sender<Waiting>>,
    under_way: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
}

#[derive(Debug)]
struct Waiting {
    command: Prepared,
    answer: oneshot::Sender<Answer>,
}

impl Committer {
    /// Starts the lanes. Under load a shard always takes the same lane, so that lanes do not wait for
    /// each other's locks.
    pub(crate) fn start(
        pool: &PgPool,
        lanes: usize,
        queue: usize,
        committed: impl Fn() + Clone + Send + 'static,
    ) -> Self {
        let (stop, stopping) = watch::channel(false);
        let lane = |_| {
            let (sender, receiver) = mpsc::channel(queue);
            tokio::spawn(run(pool.clone(), receiver, stopping.clone(), committed.clone()));
            sender
        };
        Self { lanes: (0..lanes.max(1)).map(lane).collect(), under_way: Arc::default(), stop }
    }

    /// Commits what is under way and takes nothing more.
    pub(crate) async fn close(&self) {
        self.stop.send_replace(true);
        for lane in &self.lanes {
            lane.closed().await;
        }
    }

    /// Commits a command with whatever else is waiting.
    pub(crate) async fn commit(&self, command: Prepared) -> Answer {
        let under_way = UnderWay::one_more(&self.under_way);
        let lanes = if under_way.count <= ONE_LANE { 1 } else { self.lanes.len() };
        let lane = &self.lanes[command.shard.index() % lanes];
        let (answer, answered) = oneshot::channel();
        lane.try_send(Waiting { command, answer }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => AppendError::Busy,
            mpsc::error::TrySendError::Closed(_) => stopped(),
        })?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// Counts a command as long as somebody waits for its answer.
struct UnderWay<'a> {
    all: &'a AtomicUsize,
    count: usize,
}

impl<'a> UnderWay<'a> {
    fn one_more(all: &'a AtomicUsize) -> Self {
        Self { count: all.fetch_add(1, Ordering::Relaxed) + 1, all }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

fn stopped() -> AppendError {
    StoreError::Unavailable("the store is stopping".to_owned()).into()
}

async fn run(
    pool: PgPool,
    mut queue: mpsc::Receiver<Waiting>,
    mut stop: watch::Receiver<bool>,
    committed: impl Fn(),
) {
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    let mut arrived = Vec::new();
    let mut line: Line = None;
    loop {
        if waiting.is_empty() {
            let count = tokio::select! {
                count = queue.recv_many(&mut arrived, MOST_COMMANDS) => count,
                _ = stop.changed() => 0,
            };
            if count == 0 {
                break;
            }
        }
        while arrived.len() < MOST_COMMANDS
            && let Ok(more) = queue.try_recv()
        {
            arrived.push(more);
        }
        waiting.extend(arrived.drain(..));
        commit(&pool, &mut line, next_batch(&mut waiting)).await;
        committed();
    }
    if let Some(connection) = line {
        // It is of no more use, whether it says goodbye or not.
        connection.close().await.ok();
    }
}

/// One command a stream; the next of the same stream waits for the next batch.
fn next_batch(waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
    let mut streams = HashSet::with_capacity(waiting.len());
    let mut batch = Vec::with_capacity(waiting.len().min(MOST_COMMANDS));
    let mut later = VecDeque::new();
    while let Some(next) = waiting.pop_front() {
        if batch.len() < MOST_COMMANDS && streams.insert(next.command.stream) {
            batch.push(next);
        } else {
            later.push_back(next);
        }
    }
    *waiting = later;
    // The order in which rows are locked.
    batch.sort_unstable_by_key(|next| (next.command.shard, next.command.stream));
    batch
}

/// The connection of a lane, kept from batch to batch: giving it back to the pool costs a round trip.
type Line = Option<PgConnection>;

async fn commit(pool: &PgPool, line: &mut Line, batch: Vec<Waiting>) {
    let commands: Vec<&Prepared> = batch.iter().map(|waiting| &waiting.command).collect();
    let answers = try_commit(pool, line, &commands).await;
    if answers.is_err() {
        // Nobody knows what state it is in.
        *line = None;
    }
    let answers = answers.map_err(|error| AppendError::from(StoreError::from(error)));
    for (number, waiting) in batch.into_iter().enumerate() {
        let answer = match &answers {
            Ok(answers) => answers.get(number).cloned().unwrap_or(Err(AppendError::Conflict)),
            Err(error) => Err(error.clone()),
        };
        // Whoever asked may have gone; the log knows the answer all the same.
        waiting.answer.send(answer).ok();
    }
}

async fn try_commit(
    pool: &PgPool,
    line: &mut Line,
    commands: &[&Prepared],
) -> Result<Vec<Answer>, sqlx::Error> {
    let connection = match line {
        Some(connection) => connection,
        None => line.insert(pool.acquire().await?.detach()),
    };
    append_batch(connection, commands).await
}
