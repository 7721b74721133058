//! Collects commands while the previous batch commits: a single command does not wait, and batches
//! grow under load.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    AppendError, Hash, Recorded, StoreError, StreamId,
    append::{Answer, Prepared, append_batch, recognise_own},
    error::in_time,
};

/// Maximum number of commands per batch.
const MOST_COMMANDS: usize = 256;
/// Maximum number of payload bytes in a batch of several commands.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// With fewer pending commands, one lane is faster than several: its batches are larger and its
/// connection has its plans cached.
const ONE_LANE: usize = 24;

/// Queues commands for their batch.
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
    /// Starts the lanes. Under load a shard always uses the same lane, so lanes do not wait for
    /// each other's locks.
    pub(crate) fn start(
        pool: &PgPool,
        lanes: usize,
        queue: usize,
        published: mpsc::UnboundedSender<Vec<Arc<Recorded>>>,
    ) -> Self {
        let (stop, stopping) = watch::channel(false);
        let lane = |_| {
            let (sender, receiver) = mpsc::channel(queue);
            tokio::spawn(run(pool.clone(), receiver, stopping.clone(), published.clone()));
            sender
        };
        Self { lanes: (0..lanes.max(1)).map(lane).collect(), under_way: Arc::default(), stop }
    }

    /// Commits pending commands and accepts no more.
    pub(crate) async fn close(&self) {
        self.stop.send_replace(true);
        for lane in &self.lanes {
            lane.closed().await;
        }
    }

    /// Commits a command together with the others that are waiting.
    pub(crate) async fn commit(&self, command: Prepared) -> Answer {
        let under_way = Pending::new(&self.under_way);
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

/// Counts a command while its result is awaited.
struct Pending<'a> {
    all: &'a AtomicUsize,
    count: usize,
}

impl<'a> Pending<'a> {
    fn new(all: &'a AtomicUsize) -> Self {
        Self { count: all.fetch_add(1, Ordering::Relaxed) + 1, all }
    }
}

impl Drop for Pending<'_> {
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
    published: mpsc::UnboundedSender<Vec<Arc<Recorded>>>,
) {
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut line: Line = None;
    loop {
        if waiting.is_empty() {
            let count = tokio::select! {
                count = queue.recv_many(&mut waiting, MOST_COMMANDS) => count,
                // Queued commands are still committed, new ones are refused.
                Ok(()) = stop.changed() => {
                    queue.close();
                    queue.recv_many(&mut waiting, MOST_COMMANDS).await
                }
            };
            if count == 0 {
                break;
            }
        }
        // At most one batch is taken out of the queue: the rest stays there, where it counts
        // towards the limit.
        while waiting.len() < MOST_COMMANDS
            && let Ok(more) = queue.try_recv()
        {
            waiting.push(more);
        }
        let batch = next_batch(&mut waiting);
        let won = commit(&pool, &mut line, batch, &published).await;
        refuse_conflicting(&mut waiting, &won);
    }
    if let Some(connection) = line {
        // The connection is discarded, whether or not it closes cleanly.
        connection.close().await.ok();
    }
}

/// At most one command per stream, and a limited number of bytes; the others wait.
fn next_batch(waiting: &mut Vec<Waiting>) -> Vec<Waiting> {
    let mut streams = HashSet::with_capacity(waiting.len());
    let (mut batch, mut later, mut bytes) = (Vec::with_capacity(waiting.len()), Vec::new(), 0);
    for next in waiting.drain(..) {
        bytes += next.command.bytes();
        let fits = batch.is_empty() || bytes <= MOST_BYTES;
        if fits && streams.insert(next.command.stream) {
            batch.push(next);
        } else {
            later.push(next);
        }
    }
    *waiting = later;
    // The locking order.
    batch.sort_unstable_by_key(|next| (next.command.shard, next.command.stream));
    batch
}

/// Fails waiting commands that were decided on the same head as one that was just committed.
fn refuse_conflicting(waiting: &mut Vec<Waiting>, won: &HashMap<StreamId, Hash>) {
    let (lost, left) = waiting.drain(..).partition(|next: &Waiting| {
        won.get(&next.command.stream).is_some_and(|previous| next.command.previous == *previous)
    });
    *waiting = left;
    for Waiting { answer, .. } in lost {
        answer.send(Err(AppendError::Conflict)).ok();
    }
}

/// The connection of a lane, kept across batches: returning it to the pool costs a round trip.
type Line = Option<PgConnection>;

/// Commits a batch, sends the results and publishes the events; returns the streams that changed,
/// with the heads they were based on.
async fn commit(
    pool: &PgPool,
    line: &mut Line,
    batch: Vec<Waiting>,
    published: &mpsc::UnboundedSender<Vec<Arc<Recorded>>>,
) -> HashMap<StreamId, Hash> {
    let commands: Vec<&Prepared> = batch.iter().map(|waiting| &waiting.command).collect();
    metrics::histogram!("croupier_batch_commands")
        .record(f64::from(u32::try_from(commands.len()).unwrap_or(u32::MAX)));
    let kept = line.is_some();
    let mut answers = try_commit(pool, line, &commands).await;
    if kept && matches!(answers, Err(StoreError::Unavailable(_))) {
        // The connection may have broken while it was idle, or after the batch was sent.
        answers = retry_commit(pool, line, &commands).await;
    }
    if commands.len() > 1 && matches!(answers, Err(StoreError::Fault(_))) {
        // One command is invalid; the others must not fail with it.
        answers = Ok(one_by_one(pool, line, &commands).await);
    }
    let (mut won, mut new) = (HashMap::new(), Vec::new());
    let mut results = Vec::with_capacity(batch.len());
    for (number, Waiting { command, answer }) in batch.into_iter().enumerate() {
        let outcome = match &answers {
            Ok(answers) => answers.get(number).cloned().unwrap_or(Err(AppendError::Conflict)),
            Err(error) => Err(error.clone().into()),
        };
        if let Ok(appended) = &outcome {
            won.insert(command.stream, command.previous);
            new.extend(command.recorded(appended));
        }
        results.push((answer, outcome));
    }
    // Publish first: the task that is woken last runs next on this thread, and that should be a
    // request.
    if !new.is_empty() {
        // The node may be stopping, with no receiver left.
        published.send(new).ok();
    }
    for (answer, outcome) in results {
        // The client may have disconnected; the log has the result anyway.
        answer.send(outcome).ok();
    }
    won
}

async fn retry_commit(
    pool: &PgPool,
    line: &mut Line,
    commands: &[&Prepared],
) -> Result<Vec<Answer>, StoreError> {
    let mut answers = try_commit(pool, line, commands).await?;
    if let Some(connection) = line {
        let recognised = in_time(recognise_own(connection, commands, &mut answers)).await;
        if recognised.is_err() {
            *line = None;
        }
        recognised?;
    }
    Ok(answers)
}

async fn one_by_one(pool: &PgPool, line: &mut Line, commands: &[&Prepared]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        let answer = try_commit(pool, line, &[command]).await;
        answers.push(answer.map_or_else(
            |error| Err(error.into()),
            |mut answers| answers.pop().unwrap_or(Err(AppendError::Conflict)),
        ));
    }
    answers
}

async fn try_commit(
    pool: &PgPool,
    line: &mut Line,
    commands: &[&Prepared],
) -> Result<Vec<Answer>, StoreError> {
    let connection = match line {
        Some(connection) => connection,
        None => line.insert(pool.acquire().await?.detach()),
    };
    let answers = in_time(append_batch(connection, commands)).await;
    if answers.is_err() {
        // The connection is in an unknown state.
        *line = None;
    }
    answers
}
