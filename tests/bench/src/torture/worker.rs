//! A process that plays, writes down what it was told, and is killed.

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::{Command, Moment};
use store::{AppendError, ExecuteError, Executed, ReadError, Request, Settings, Store, StoreError};
use uuid::Uuid;

use super::{
    Part,
    chance::Chance,
    journal::{self, Asked, Journal, Note, digest},
};
use crate::play::{next_command, secret};

/// How many clients of a worker play at once: their commands meet in batches.
const CLIENTS: u32 = 12;

pub(crate) async fn work(part: &Part) -> Result<(), Box<dyn Error>> {
    let path = Journal::path(&part.folder, part.number);
    let notes = journal::read(&path)?;
    let store = Store::open(&part.url, &Settings { connections: 8, ..Settings::default() })?;
    let worker = Arc::new(Worker {
        store,
        journal: Mutex::new(Journal::open(&path)?),
        answered: Mutex::new(journal::answered(&notes)),
    });
    for (stream, id, command) in journal::unanswered(&notes) {
        worker.answer(stream, id, command).await.map_err(|error| error.to_string())?;
    }
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let seed =
                part.seed ^ (notes.len() as u64) << 16 ^ u64::from(part.number * CLIENTS + client);
            let (worker, part) = (Arc::clone(&worker), part.clone());
            tokio::spawn(async move {
                let played = play(&worker, &part, client, Chance::new(seed)).await;
                played.map_err(|error| error.to_string())
            })
        })
        .collect();
    for client in clients {
        client.await??;
    }
    worker.store.close().await;
    Ok(())
}

/// Two workers share each game of a client: they meet, and one of them is told.
async fn play(
    worker: &Worker,
    part: &Part,
    client: u32,
    mut chance: Chance,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut game = 0;
    while !part.folder.join("stop").exists() {
        let stream = game_id(part.seed, part.number / 2 * CLIENTS + client, game);
        let loaded = match worker.store.games.fresh(stream).await {
            Ok(loaded) => loaded,
            Err(ReadError::Store(StoreError::Unavailable(_))) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match next_command(stream, loaded.now.as_ref()) {
            Some(command) => worker.ask(stream, Uuid::new_v4(), command).await?,
            None => game += 1,
        }
        if chance.up_to(10) == 1 {
            worker.ask_something_again(&mut chance).await?;
        }
    }
    Ok(())
}

struct Worker {
    store: Store,
    journal: Mutex<Journal>,
    answered: Mutex<Vec<Asked>>,
}

impl Worker {
    fn note(&self, note: &Note) -> io::Result<()> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).note(note)
    }

    fn answered(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(
        &self,
        stream: Uuid,
        id: Uuid,
        command: Command,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.note(&Note::Asked { stream, id, command: command.clone() })?;
        self.answer(stream, id, command).await
    }

    async fn answer(
        &self,
        stream: Uuid,
        id: Uuid,
        command: Command,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        match self.insist(stream, id, &command).await? {
            None => self.note(&Note::Refused { id })?,
            Some(Executed { events, first_version, .. }) => {
                let (count, digest) = (events.len(), digest(&events)?);
                self.note(&Note::Answered { id, first_version, count, digest })?;
                self.answered().push((stream, id, command));
            }
        }
        Ok(())
    }

    /// A client that lost an answer, maybe lives ago, and asks once more.
    async fn ask_something_again(
        &self,
        chance: &mut Chance,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let asked = {
            let answered = self.answered();
            let count = u32::try_from(answered.len())?;
            (count > 0).then(|| answered[chance.up_to(count) as usize - 1].clone())
        };
        let Some((stream, id, command)) = asked else { return Ok(()) };
        let again = self.insist(stream, id, &command).await?;
        let Executed { events, first_version, .. } =
            again.ok_or("an answered command was refused")?;
        self.note(&Note::Repeated { id, first_version, digest: digest(&events)? })?;
        Ok(())
    }

    /// Asks until there is an answer; `None` is a refusal.
    async fn insist(
        &self,
        stream: Uuid,
        id: Uuid,
        command: &Command,
    ) -> Result<Option<Executed>, Box<dyn Error + Send + Sync>> {
        loop {
            let (now, secret) = (now(), secret(stream));
            let (actor, expected) = (Uuid::nil(), None);
            let request = Request { stream, command, id, actor, now, context: secret, expected };
            match self.store.execute(&request).await {
                Ok(executed) => return Ok(Some(executed)),
                Err(ExecuteError::Rejected(_)) => return Ok(None),
                Err(
                    ExecuteError::Append(
                        AppendError::Conflict
                        | AppendError::Busy
                        | AppendError::Store(StoreError::Unavailable(_)),
                    )
                    | ExecuteError::Read(ReadError::Store(StoreError::Unavailable(_))),
                ) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The same games in every life of a worker, and for its partner.
fn game_id(seed: u64, pair: u32, game: u32) -> Uuid {
    Uuid::from_u64_pair(seed << 32 | u64::from(pair), u64::from(game))
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
