//! Collects commands while the last batch commits: a lone command waits for nothing, and under load
//! batches grow by themselves.

use std::collections::{HashSet, VecDeque};

use sqlx::PgPool;
use tokio::sync::{mpsc, oneshot};

use crate::{
    AppendError, StoreError,
    append::{Answer, Prepared, append_batch},
};

/// The most commands of one batch.
const MOST_COMMANDS: usize = 256;

/// Where commands wait for their batch.
#[derive(Clone, Debug)]
pub(crate) struct Committer {
    lanes: Vec<mpsc::Sender<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    command: Prepared,
    answer: oneshot::Sender<Answer>,
}

impl Committer {
    /// Starts the lanes. A shard always takes the same lane, so lanes never wait for each other.
    pub(crate) fn start(
        pool: &PgPool,
        lanes: usize,
        queue: usize,
        committed: impl Fn() + Clone + Send + 'static,
    ) -> Self {
        let lane = |_| {
            let (sender, receiver) = mpsc::channel(queue);
            tokio::spawn(run(pool.clone(), receiver, committed.clone()));
            sender
        };
        Self { lanes: (0..lanes.max(1)).map(lane).collect() }
    }

    /// Commits a command with whatever else is waiting.
    pub(crate) async fn commit(&self, command: Prepared) -> Answer {
        let lane = &self.lanes[command.shard.index() % self.lanes.len()];
        let (answer, answered) = oneshot::channel();
        lane.try_send(Waiting { command, answer }).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => AppendError::Busy,
            mpsc::error::TrySendError::Closed(_) => stopped(),
        })?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }
}

fn stopped() -> AppendError {
    StoreError::Unavailable("the store is stopping".to_owned()).into()
}

async fn run(pool: PgPool, mut queue: mpsc::Receiver<Waiting>, committed: impl Fn()) {
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    let mut arrived = Vec::new();
    loop {
        if waiting.is_empty() && queue.recv_many(&mut arrived, MOST_COMMANDS).await == 0 {
            return;
        }
        while let Ok(more) = queue.try_recv() {
            arrived.push(more);
            if arrived.len() >= MOST_COMMANDS {
                break;
            }
        }
        waiting.extend(arrived.drain(..));
        let batch = next_batch(&mut waiting);
        commit(&pool, batch).await;
        committed();
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
    batch
}

async fn commit(pool: &PgPool, batch: Vec<Waiting>) {
    let commands: Vec<&Prepared> = batch.iter().map(|waiting| &waiting.command).collect();
    let answers = match pool.acquire().await {
        Ok(mut connection) => append_batch(&mut connection, &commands).await,
        Err(error) => Err(error),
    };
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
