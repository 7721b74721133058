//! What a dispute may need beside the events of a game: commands that were refused, and from where players played.
//!
//! It is noted in memory and written a moment later, many rows at once: no move waits for it. A node that is killed loses what it
//! noted in the last moment; a crowd that sends nonsense fills no disk.

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

use super::{Done, PlayError};
use crate::{accounts::Viewer, clock};

/// How long notes are collected before they are written.
const COLLECT: Duration = Duration::from_millis(200);
/// How many notes wait to be written; more are counted and dropped.
const WAITING: usize = 10_000;
/// How many notes there are of a player in a game, at most; those of where they play from are counted apart.
const MOST: i64 = 500;
/// How many notes of a player in a game are written at once, at most.
const AT_ONCE: usize = 50;
/// How many players' places are remembered.
const REMEMBERED: usize = 50_000;
/// How often what has expired is removed, and how much of it at once.
const EXPIRE: Duration = Duration::from_mins(10);
const EXPIRED_AT_ONCE: i64 = 10_000;
/// The longest that a client calls itself, in bytes.
const LONGEST_CLIENT: usize = 100;

/// Where a request comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) address: IpAddr,
    /// What the client calls itself.
    pub(crate) client: Option<HeaderValue>,
}

impl Origin {
    /// What the client calls itself, as text that can be shown.
    pub(crate) fn client(&self) -> String {
        let named = self.client.as_ref().and_then(|name| name.to_str().ok()).unwrap_or("unknown");
        clean(named, LONGEST_CLIENT)
    }
}

/// As much of a text as is kept, without what cannot be shown or stored.
fn clean(text: &str, most: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most).collect()
}

/// What is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Refused,
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
}

/// A note.
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

/// The evidence of this node.
#[derive(Debug)]
pub(crate) struct Evidence {
    pool: PgPool,
    waiting: Mutex<Vec<Note>>,
    /// From where each player last played each game.
    places: Cache<(Uuid, Uuid), u64>,
    hasher: RandomState,
}

impl Evidence {
    pub(super) fn new(pool: PgPool) -> Self {
        Self {
            pool,
            waiting: Mutex::default(),
            places: Cache::new(REMEMBERED),
            hasher: RandomState::new(),
        }
    }

    /// What came of a wish: a refusal is noted, and so is that somebody plays from somewhere else than before.
    pub(crate) fn of(
        &self,
        game: Uuid,
        viewer: &Viewer,
        origin: &Origin,
        (asked, command): (&str, Option<Uuid>),
        version: i64,
        done: &Result<Done, PlayError>,
    ) {
        match done {
            Ok(done) => {
                let place = (viewer.session, origin.address, &origin.client);
                let place = self.hasher.hash_one(place);
                if self.places.get(&(game, viewer.account)) != Some(place) {
                    self.places.insert((game, viewer.account), place);
                    let at = done.made.first().map_or_else(clock::now, |made| made.at);
                    let version = done.made.first().map_or(0, |made| made.version);
                    self.note(Note { at, version, ..Note::new(game, Kind::Seen, viewer, origin) });
                }
            }
            Err(PlayError::Refused(refusal)) => self.note(Note {
                asked: Some(clean(asked, 40)),
                command,
                code: Some(clean(refusal.code.as_str(), 40)),
                message: Some(clean(&refusal.message, 300)),
                version,
                ..Note::new(game, Kind::Refused, viewer, origin)
            }),
            Err(_) => {}
        }
    }

    pub(crate) fn note(&self, note: Note) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING {
            waiting.push(note);
        } else {
            metrics::counter!("croupier_evidence_dropped").increment(1);
        }
    }

    /// Writes what is noted, and removes what has expired, until the store is closed.
    pub(crate) async fn keep(&self, days: u32) {
        let mut expired = None::<tokio::time::Instant>;
        while !self.pool.is_closed() {
            tokio::time::sleep(COLLECT).await;
            if let Err(error) = self.write().await {
                tracing::warn!(%error, "evidence cannot be written at the moment");
            }
            if expired.is_none_or(|at| at.elapsed() >= EXPIRE) {
                expired = Some(tokio::time::Instant::now());
                if let Err(error) = self.expire(days).await {
                    tracing::debug!(%error, "evidence does not expire at the moment");
                }
            }
        }
    }

    /// Writes everything that is noted. What cannot be written waits.
    pub(crate) async fn write(&self) -> Result<(), sqlx::Error> {
        let notes = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting)
        };
        if notes.is_empty() {
            return Ok(());
        }
        let written = self.insert(&at_most(notes.clone())).await;
        if let Err(sqlx::Error::Database(error)) = &written {
            // What the database does not take now it will not take later: the next notes must not wait for it.
            tracing::error!(%error, lost = notes.len(), "evidence is lost");
            metrics::counter!("croupier_evidence_dropped").increment(notes.len() as u64);
        } else if written.is_err() {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let newer = std::mem::replace(&mut *waiting, notes);
            let room = WAITING.saturating_sub(waiting.len());
            waiting.extend(newer.into_iter().take(room));
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
        query.bind(MOST).execute(&self.pool).await?;
        Ok(())
    }

    /// The notes of a game, in order.
    pub(crate) async fn of_game(&self, game: Uuid) -> Result<Vec<Note>, sqlx::Error> {
        of_game(&self.pool, game).await
    }

    /// Removes what is older than so many days.
    async fn expire(&self, days: u32) -> Result<(), sqlx::Error> {
        const EXPIRE: &str = "
DELETE FROM evidence WHERE (game, at, number) IN (SELECT game, at, number FROM evidence WHERE at < $1 ORDER BY at LIMIT $2)";
        let before = clock::now().0.saturating_sub(u64::from(days) * 86_400_000);
        loop {
            let query = sqlx::query(EXPIRE).bind(clock::to_sql(Moment(before)));
            let gone = query.bind(EXPIRED_AT_ONCE).execute(&self.pool).await?.rows_affected();
            if i64::try_from(gone).unwrap_or(0) < EXPIRED_AT_ONCE {
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
            kind: Kind::ALL.into_iter().find(|known| known.name() == kind).unwrap_or(Kind::Seen),
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

/// Of each player only the first few: whoever sends nonsense as fast as they can is seen to do so.
fn at_most(notes: Vec<Note>) -> Vec<Note> {
    let mut counts = std::collections::HashMap::new();
    let few = notes.into_iter().filter(|note| {
        let count = counts.entry((note.game, note.actor)).or_insert(0);
        *count += 1;
        note.kind == Kind::Seen || *count <= AT_ONCE
    });
    few.collect()
}

/// An address of which nobody can tell whose it is: the first half of it.
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
