//! The log of what staff does, also of what it looks at: a stream of its own, chained and sealed like the rest.

use domain::{Event, Moment, StaffEvent, Word};
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
    let action: Word =
        action.parse().map_err(|_| PlayError::Fault(format!("{action} is no word")))?;
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

/// Entries behind a number, in order.
pub(crate) async fn page(store: &Store, after: i64, most: i64) -> Result<Vec<Entry>, PlayError> {
    let recorded = store.page(AUDIT, after, most).await?;
    let entry = |recorded: store::Recorded| {
        let Event::Staff(StaffEvent::StaffActed { action, subject, dispute }) = recorded.event
        else {
            return None;
        };
        let (number, at, by) = (recorded.version, recorded.at, recorded.actor);
        Some(Entry { number, at, by, action, subject, dispute })
    };
    Ok(recorded.into_iter().filter_map(entry).collect())
}
