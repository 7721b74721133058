//! Evidence for disputes beside the events of a game: refused commands, and the sessions, addresses
//! and clients that players used.
//!
//! Notes are queued in memory and written in batches, so that no move waits for them. A crash loses
//! the last batch. The number of notes per player and game is limited.

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderValue;
use domain::Moment;
use quick_cache::sync::Cache;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::{CommandContext, NewEvent, UserError};
use crate::{accounts::Viewer, clock};

const WRITE_INTERVAL: Duration = Duration::from_millis(200);
/// How many notes are queued; more are counted and dropped.
const QUEUE: usize = 10_000;
/// The limit of notes per player and game; notes of kind `seen` are counted separately.
const MAX_NOTES: i64 = 500;
/// The limit of notes per player and game in one batch.
const MAX_NOTES_PER_WRITE: usize = 50;
/// How many origins of players are kept in memory.
const IN_MEMORY: usize = 50_000;
/// How often expired notes are deleted, and how many per statement.
const EXPIRE: Duration = Duration::from_mins(10);
const EXPIRE_BATCH: i64 = 10_000;
const MAX_CLIENT_CHARS: usize = 100;

/// The origin of a request.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) address: IpAddr,
    /// The header with the client's name.
    pub(crate) client: Option<HeaderValue>,
}

impl Origin {
    /// The client's name without control characters.
    pub(crate) fn client(&self) -> String {
        let named = self.client.as_ref().and_then(|name| name.to_str().ok()).unwrap_or("unknown");
        clean(named, MAX_CLIENT_CHARS)
    }
}

/// Truncates a text and removes control characters; PostgreSQL cannot store NUL.
fn clean(text: &str, max: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(max).collect()
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command was refused.
    Refused,
    /// A player's session, address or client is new.
    Seen,
    Connected,
    Disconnected,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Refused, Self::Seen, Self::Connected, Self::Disconnected];

    const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Seen => "seen",
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A piece of evidence.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) game: Uuid,
    pub(crate) at: Moment,
    pub(crate) kind: Kind,
    pub(crate) actor: Uuid,
    pub(crate) session: Uuid,
    pub(crate) address: String,
    pub(crate) client: String,
    pub(crate) asked: Option<String>,
    pub(crate) command: Option<Uuid>,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) version: i64,
}

impl Note {
    pub(crate) fn new(game: Uuid, kind: Kind, viewer: &Viewer, origin: &Origin) -> Self {
        Self {
            game,
            at: clock::now(),
            kind,
            actor: viewer.account,
            session: viewer.session,
            address: origin.address.to_string(),
            client: origin.client(),
            asked: None,
            command: None,
            code: None,
            message: None,
            version: 0,
        }
    }
}

/// Collects and reads evidence.
#[derive(Debug)]
pub(crate) struct Evidence {
    pool: PgPool,
    queue: Mutex<Vec<Note>>,
    /// Hash of session, address and client, by game and player.
    last_origins: Cache<(Uuid, Uuid), u64>,
    hasher: RandomState,
}

impl Evidence {
    pub(super) fn new(pool: PgPool) -> Self {
        Self {
            pool,
            queue: Mutex::default(),
            last_origins: Cache::new(IN_MEMORY),
            hasher: RandomState::new(),
        }
    }

    /// Adds a note if the session, address or client has changed, with the first event made there.
    pub(super) fn seen(&self, game: Uuid, context: &CommandContext<'_>, first: Option<&NewEvent>) {
        let CommandContext { by, origin, .. } = context;
        let origin_hash = self.hasher.hash_one((by.session, origin.address, &origin.client));
        if self.last_origins.get(&(game, by.account)) != Some(origin_hash) {
            self.last_origins.insert((game, by.account), origin_hash);
            let at = first.map_or_else(clock::now, |event| event.at);
            let version = first.map_or(0, |event| event.version);
            self.note(Note { at, version, ..Note::new(game, Kind::Seen, by, origin) });
        }
    }

    /// Adds a note that a command was refused at this version of the game.
    pub(super) fn refused(
        &self,
        game: Uuid,
        context: &CommandContext<'_>,
        error: &UserError,
        version: i64,
    ) {
        self.note(Note {
            asked: Some(clean(context.operation, 40)),
            command: context.command,
            code: Some(clean(error.code.as_str(), 40)),
            message: Some(clean(&error.message, 300)),
            version,
            ..Note::new(game, Kind::Refused, context.by, context.origin)
        });
    }

    /// Queues a note; drops it if the queue is full.
    pub(crate) fn note(&self, note: Note) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() < QUEUE {
            queue.push(note);
        } else {
            metrics::counter!("croupier_evidence_dropped").increment(1);
        }
    }

    /// Writes queued notes and deletes expired ones until the store is closed.
    pub(crate) async fn run(&self, days: u32) {
        let mut expired = None::<tokio::time::Instant>;
        while !self.pool.is_closed() {
            tokio::time::sleep(WRITE_INTERVAL).await;
            if let Err(error) = self.write().await {
                tracing::warn!(%error, "writing evidence failed; it will be retried");
            }
            if expired.is_none_or(|at| at.elapsed() >= EXPIRE) {
                expired = Some(tokio::time::Instant::now());
                if let Err(error) = self.expire(days).await {
                    tracing::debug!(%error, "deleting expired evidence failed; it will be retried");
                }
            }
        }
    }

    /// Writes all queued notes. If the database is unavailable, they stay in the queue.
    pub(crate) async fn write(&self) -> Result<(), sqlx::Error> {
        let notes = {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *queue)
        };
        if notes.is_empty() {
            return Ok(());
        }
        let written = self.insert(&limit_per_player(notes.clone())).await;
        if let Err(sqlx::Error::Database(error)) = &written {
            // The database rejects these notes, so a retry would fail too and block later ones.
            tracing::error!(%error, lost = notes.len(), "the database rejected evidence");
            metrics::counter!("croupier_evidence_dropped").increment(notes.len() as u64);
        } else if written.is_err() {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let newer = std::mem::replace(&mut *queue, notes);
            let room = QUEUE.saturating_sub(queue.len());
            queue.extend(newer.into_iter().take(room));
        }
        written
    }

    async fn insert(&self, notes: &[Note]) -> Result<(), sqlx::Error> {
        const INSERT: &str = "
INSERT INTO evidence (game, at, kind, actor, session, address, client, asked, command, code, message, version)
SELECT w.* FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::text[],
                       $11::text[], $12::bigint[]) AS w (game, at, kind, actor, session, address, client, asked, command, code, message, version)
 WHERE (SELECT count(*) FROM evidence e WHERE e.game = w.game AND e.actor = w.actor AND (e.kind = 'seen') = (w.kind = 'seen')) < $13
   AND NOT EXISTS (SELECT 1 FROM account a WHERE a.id = w.actor AND a.erased_at IS NOT NULL)";
        let query = sqlx::query(INSERT)
            .bind(notes.iter().map(|note| note.game).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| clock::to_sql(note.at)).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.kind.name()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.actor).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.session).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.address.as_str()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.client.as_str()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.asked.as_deref()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.command).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.code.as_deref()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.message.as_deref()).collect::<Vec<_>>())
            .bind(notes.iter().map(|note| note.version).collect::<Vec<_>>());
        query.bind(MAX_NOTES).execute(&self.pool).await?;
        Ok(())
    }

    /// The notes of a game, in order.
    pub(crate) async fn of_game(&self, game: Uuid) -> Result<Vec<Note>, sqlx::Error> {
        of_game(&self.pool, game).await
    }

    async fn expire(&self, days: u32) -> Result<(), sqlx::Error> {
        const EXPIRE: &str = "
DELETE FROM evidence WHERE (game, at, number) IN (SELECT game, at, number FROM evidence WHERE at < $1 ORDER BY at LIMIT $2)";
        let before = clock::now().0.saturating_sub(u64::from(days) * 86_400_000);
        loop {
            let query = sqlx::query(EXPIRE).bind(clock::to_sql(Moment(before)));
            let deleted = query.bind(EXPIRE_BATCH).execute(&self.pool).await?.rows_affected();
            if i64::try_from(deleted).unwrap_or(0) < EXPIRE_BATCH {
                return Ok(());
            }
        }
    }
}

/// The notes of a game, in order.
pub(crate) async fn of_game(pool: &PgPool, game: Uuid) -> Result<Vec<Note>, sqlx::Error> {
    const NOTES: &str = "
SELECT at, kind, actor, session, address, client, asked, command, code, message, version FROM evidence WHERE game = $1 ORDER BY at, number";
    let rows = sqlx::query(NOTES).bind(game).fetch_all(pool).await?;
    let note = |row: &sqlx::postgres::PgRow| {
        let kind: String = row.try_get(1)?;
        Ok(Note {
            game,
            at: clock::from_sql(row.try_get(0)?),
            kind: Kind::named(&kind).unwrap_or(Kind::Seen),
            actor: row.try_get(2)?,
            session: row.try_get(3)?,
            address: row.try_get(4)?,
            client: row.try_get(5)?,
            asked: row.try_get(6)?,
            command: row.try_get(7)?,
            code: row.try_get(8)?,
            message: row.try_get(9)?,
            version: row.try_get(10)?,
        })
    };
    rows.iter().map(note).collect()
}

/// Keeps the first few notes of each player, so that a flood of refused commands is recorded but
/// bounded.
fn limit_per_player(notes: Vec<Note>) -> Vec<Note> {
    let mut counts = std::collections::HashMap::new();
    let kept = notes.into_iter().filter(|note| {
        let count = counts.entry((note.game, note.actor)).or_insert(0);
        *count += 1;
        note.kind == Kind::Seen || *count <= MAX_NOTES_PER_WRITE
    });
    kept.collect()
}

/// The address with its second half hidden, for privacy.
pub(crate) fn masked(address: &str) -> String {
    match address.parse() {
        Ok(IpAddr::V4(four)) => {
            let [a, b, ..] = four.octets();
            format!("{a}.{b}.*.*")
        }
        Ok(IpAddr::V6(six)) => {
            let [a, b, c, ..] = six.segments();
            format!("{a:x}:{b:x}:{c:x}:*")
        }
        Err(_) => "*".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_masked() {
        let masks = ["192.168.7.9", "2001:db8:1:2::9", "nonsense"].map(masked);
        assert_eq!(masks, ["192.168.*.*", "2001:db8:1:*", "*"]);
    }
}
