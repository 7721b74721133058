//! The log of what staff does, also of what it looks at: a stream of its own, chained and sealed like the rest.

use domain::{Event, Moment, StaffEvent, Word};
use sqlx::Row;
use store::{Audit, Request, Store};
use uuid::Uuid;

use crate::{accounts::Viewer, clock, play::PlayError};

/// The stream. There is one.
pub(crate) const AUDIT: Uuid = Uuid::from_u128(0x6175_6469_746c_8f67_8563_726f_7570_6965);

/// Something that staff did.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: i64,
    pub(crate) at: Moment,
    pub(crate) by: Uuid,
    pub(crate) action: Word,
    pub(crate) subject: Uuid,
    pub(crate) dispute: Option<Uuid>,
}

/// Writes down what somebody who works for the house is about to do. What cannot be written down is not done.
pub(crate) async fn note(
    store: &Store,
    staff: &Viewer,
    action: &str,
    subject: Uuid,
    dispute: Option<Uuid>,
) -> Result<(), PlayError> {
    let action = word(action)?;
    let request = Request::<Audit> {
        stream: AUDIT,
        command: &StaffEvent::StaffActed { action, subject, dispute },
        id: Uuid::now_v7(),
        actor: staff.account,
        now: clock::now(),
        context: (),
        expected: None,
    };
    store.execute(&request).await?;
    Ok(())
}

/// Which entries to list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filter {
    /// Only of this one.
    pub(crate) staff: Option<Uuid>,
    /// Only about this game, account or dispute.
    pub(crate) subject: Option<Uuid>,
}

/// Entries after a number, in order. Without a filter they come from the log itself; with one from the index, a moment later.
pub(crate) async fn page(
    store: &Store,
    filter: Filter,
    after: i64,
    most: i64,
) -> Result<Vec<Entry>, PlayError> {
    const FIND: &str = "
SELECT number, at, staff, action, subject, dispute FROM audit_index
 WHERE generation = (SELECT generation FROM processor WHERE name = 'audit_index' AND state = 'live') AND number > $1
   AND ($2::uuid IS NULL OR staff = $2) AND ($3::uuid IS NULL OR subject = $3)
 ORDER BY number LIMIT $4";
    if filter.staff.is_none() && filter.subject.is_none() {
        let recorded = store.page(AUDIT, after, most).await?;
        return Ok(recorded.into_iter().filter_map(Entry::of).collect());
    }
    let query = sqlx::query(FIND).bind(after).bind(filter.staff).bind(filter.subject);
    let mut entries = Vec::new();
    for row in query.bind(most).fetch_all(store.pool()).await? {
        let action: String = row.try_get(3)?;
        entries.push(Entry {
            number: row.try_get(0)?,
            at: clock::from_sql(row.try_get(1)?),
            by: row.try_get(2)?,
            action: word(&action)?,
            subject: row.try_get(4)?,
            dispute: row.try_get(5)?,
        });
    }
    Ok(entries)
}

impl Entry {
    fn of(recorded: store::Recorded) -> Option<Self> {
        let Event::Staff(StaffEvent::StaffActed { action, subject, dispute }) = recorded.event
        else {
            return None;
        };
        let (number, at, by) = (recorded.version, recorded.at, recorded.actor);
        Some(Self { number, at, by, action, subject, dispute })
    }
}

fn word(action: &str) -> Result<Word, PlayError> {
    action.parse().map_err(|_| PlayError::Fault(format!("{action} is not an action")))
}
