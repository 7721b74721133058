//! A process that plays, writes down what it was told, and is killed.

use std::{
    error::Error,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::{Command, Moment};
use store::{AppendError, ExecuteError, Executed, ReadError, Request, Settings, Store, StoreError};
use uuid::Uuid;

use super::{
    Part,
    chance::Chance,
    journal::{self, Journal, Note, digest},
};
use crate::play::{next_command, secret};

pub(crate) async fn work(part: &Part) -> Result<(), Box<dyn Error>> {
    let path = Journal::path(&part.folder, part.number);
    let notes = journal::read(&path)?;
    let mut worker = Worker {
        store: Store::open(&part.url, &Settings { connections: 4, ..Settings::default() })?,
        journal: Journal::open(&path)?,
        chance: Chance::new(part.seed ^ (notes.len() as u64) << 8 ^ u64::from(part.number)),
        answered: Vec::new(),
    };
    worker.finish_what_was_begun(&notes).await?;
    let mut game = 0;
    while !part.folder.join("stop").exists() {
        // Two workers share each game: they meet, and one of them is told.
        let stream = game_id(part.seed, part.number / 2, game);
        let loaded = match worker.store.load(stream).await {
            Ok(loaded) => loaded,
            Err(ReadError::Store(StoreError::Unavailable(_))) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match next_command(stream, loaded.game.as_ref()) {
            Some(command) => worker.ask(stream, Uuid::new_v4(), command).await?,
            None => game += 1,
        }
        if worker.chance.up_to(10) == 1 {
            worker.ask_something_again().await?;
        }
    }
    worker.store.close().await;
    Ok(())
}

struct Worker {
    store: Store,
    journal: Journal,
    chance: Chance,
    answered: Vec<(Uuid, Uuid, Command)>,
}

impl Worker {
    /// Whoever was killed between question and answer asks again.
    async fn finish_what_was_begun(&mut self, notes: &[Note]) -> Result<(), Box<dyn Error>> {
        if let Some(Note::Asked { stream, id, command }) = notes.last() {
            self.answer(*stream, *id, command.clone()).await?;
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        stream: Uuid,
        id: Uuid,
        command: Command,
    ) -> Result<(), Box<dyn Error>> {
        self.journal.note(&Note::Asked { stream, id, command: command.clone() })?;
        self.answer(stream, id, command).await
    }

    async fn answer(
        &mut self,
        stream: Uuid,
        id: Uuid,
        command: Command,
    ) -> Result<(), Box<dyn Error>> {
        match self.insist(stream, id, &command).await? {
            None => self.journal.note(&Note::Refused { id })?,
            Some(Executed { events, first_version }) => {
                let (count, digest) = (events.len(), digest(&events)?);
                self.journal.note(&Note::Answered { id, first_version, count, digest })?;
                self.answered.push((stream, id, command));
            }
        }
        Ok(())
    }

    /// A client that lost an answer, long ago, and asks once more.
    async fn ask_something_again(&mut self) -> Result<(), Box<dyn Error>> {
        let Ok(count) = u32::try_from(self.answered.len()) else { return Ok(()) };
        if count == 0 {
            return Ok(());
        }
        let (stream, id, command) = self.answered[self.chance.up_to(count) as usize - 1].clone();
        let again = self.insist(stream, id, &command).await?;
        let Executed { events, first_version } = again.ok_or("an answered command was refused")?;
        self.journal.note(&Note::Repeated { id, first_version, digest: digest(&events)? })?;
        Ok(())
    }

    /// Asks until there is an answer; `None` is a refusal.
    async fn insist(
        &self,
        stream: Uuid,
        id: Uuid,
        command: &Command,
    ) -> Result<Option<Executed>, Box<dyn Error>> {
        loop {
            let (now, secret) = (now(), secret(stream));
            let request = Request { stream, command, id, actor: Uuid::nil(), now, secret };
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
