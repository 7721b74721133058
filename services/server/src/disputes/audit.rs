//! The audit log of staff: every action and every access to personal data, in a stream of its own
//! that is chained and sealed like all others.

use domain::{Event, Moment, Slug, StaffEvent};
use sqlx::Row;
use store::{Audit, Request, Store};
use uuid::Uuid;

use crate::{accounts::Viewer, clock, play::AppError};

/// The only stream of its kind.
pub(crate) const AUDIT: Uuid = Uuid::from_u128(0x6175_6469_746c_8f67_8563_726f_7570_6965);

/// An action of staff.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: i64,
    pub(crate) at: Moment,
    pub(crate) by: Uuid,
    pub(crate) action: Slug,
    pub(crate) subject: Uuid,
    pub(crate) dispute: Option<Uuid>,
}

/// The actions by their names in the log, with descriptions.
pub(crate) const ACTIONS: [(&str, &str); 17] = [
    ("approve_remedy", "Approved a remedy."),
    ("assign_dispute", "Assigned a dispute."),
    ("change_catalogue", "Changed the catalogue of special dice."),
    ("comment_dispute", "Commented on a dispute."),
    ("decline_remedy", "Declined a remedy."),
    ("end_sessions", "Ended the sessions of a player."),
    ("erase_account", "Erased an account."),
    ("list_disputes", "Listed disputes."),
    ("look_at_dispute", "Viewed a dispute."),
    ("look_at_personal_data", "Viewed the personal data of a player."),
    ("name_season", "Created a season."),
    ("preview_remedy", "Previewed a remedy."),
    ("propose_remedy", "Proposed a remedy."),
    ("replay_game", "Replayed a game."),
    ("resolve_dispute", "Resolved a dispute."),
    ("retry_remedy", "Retried a remedy."),
    ("void_game", "Voided a game."),
];

/// Records an action of staff before it is done. If recording fails, the action must not be done.
pub(crate) async fn record(
    store: &Store,
    staff: &Viewer,
    action: &str,
    subject: Uuid,
    dispute: Option<Uuid>,
) -> Result<(), AppError> {
    let action = parse_action(action)?;
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
    /// Only actions of this staff member.
    pub(crate) staff: Option<Uuid>,
    /// Only actions on this game, account or dispute.
    pub(crate) subject: Option<Uuid>,
}

/// The rows of the entries that pass a filter.
const ROWS: &str = "
  FROM audit_index
 WHERE generation = (SELECT generation FROM processor WHERE name = 'audit_index' AND state = 'live')
   AND ($1::uuid IS NULL OR staff = $1) AND ($2::uuid IS NULL OR subject = $2)";

/// Entries in the direction of reading, from a number on. Without a filter they come from the log
/// itself, with one from the index, which follows it.
pub(crate) async fn page(
    store: &Store,
    filter: Filter,
    cursor: Option<i64>,
    backward: bool,
    limit: i64,
) -> Result<Vec<Entry>, AppError> {
    let from = cursor.unwrap_or(if backward { i64::MAX } else { 0 });
    if filter.staff.is_none() && filter.subject.is_none() {
        let recorded = if backward {
            store.backwards(AUDIT, from, &StaffEvent::NAMES, limit).await?
        } else {
            store.forwards(AUDIT, from, &StaffEvent::NAMES, limit).await?
        };
        return Ok(recorded.into_iter().filter_map(Entry::of).collect());
    }
    let (comparison, order) = if backward { ("<", "DESC") } else { (">", "ASC") };
    let select = format!(
        "SELECT number, at, staff, action, subject, dispute {ROWS} AND number {comparison} $3
          ORDER BY number {order} LIMIT $4"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(filter.staff).bind(filter.subject);
    let mut entries = Vec::new();
    for row in query.bind(from).bind(limit).fetch_all(store.pool()).await? {
        let action: String = row.try_get(3)?;
        entries.push(Entry {
            number: row.try_get(0)?,
            at: clock::from_sql(row.try_get(1)?),
            by: row.try_get(2)?,
            action: parse_action(&action)?,
            subject: row.try_get(4)?,
            dispute: row.try_get(5)?,
        });
    }
    Ok(entries)
}

/// How many entries pass a filter.
pub(crate) async fn count(store: &Store, filter: Filter) -> Result<i64, AppError> {
    if filter.staff.is_none() && filter.subject.is_none() {
        return Ok(store.count(AUDIT, &StaffEvent::NAMES).await?);
    }
    let select = format!("SELECT count(*) {ROWS}");
    let query = sqlx::query(sqlx::AssertSqlSafe(select)).bind(filter.staff).bind(filter.subject);
    Ok(query.fetch_one(store.pool()).await?.try_get(0)?)
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

fn parse_action(action: &str) -> Result<Slug, AppError> {
    action.parse().map_err(|_| AppError::Fault(format!("{action} is not an action")))
}
