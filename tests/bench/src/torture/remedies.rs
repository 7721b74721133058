//! The outcome of remedies, according to the log.

use std::collections::BTreeMap;

use domain::{AccountEvent, DisputeEvent, Event, Remedy};
use store::Recorded;
use uuid::Uuid;

/// The event types that change the state of a remedy.
pub(super) const TYPES: [&str; 6] = [
    "RemedyProposed",
    "RemedyApproved",
    "RemedyDeclined",
    "RemedyApplied",
    "RemedyFailed",
    "RemedyRetried",
];

/// A remedy, and how often it reached which outcome.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) remedy: Remedy,
    pub(super) applied: u32,
    pub(super) failed: u32,
    pub(super) declined: u32,
}

impl Course {
    pub(super) const fn has_ended(&self) -> bool {
        self.applied + self.failed + self.declined > 0
    }
}

/// All remedies, by dispute and number.
pub(super) fn courses<'a>(
    events: impl Iterator<Item = &'a Recorded>,
) -> BTreeMap<(Uuid, u32), Course> {
    let mut courses: BTreeMap<(Uuid, u32), Course> = BTreeMap::new();
    // The events of a dispute are in order: they are in one shard.
    for recorded in events {
        let Event::Dispute(event) = &recorded.event else { continue };
        if let DisputeEvent::RemedyProposed { number, remedy, .. } = event {
            let course = Course { remedy: remedy.clone(), applied: 0, failed: 0, declined: 0 };
            courses.insert((recorded.stream, *number), course);
        }
        let key = |number: &u32| (recorded.stream, *number);
        if let DisputeEvent::RemedyApplied { number } = event
            && let Some(course) = courses.get_mut(&key(number))
        {
            course.applied += 1;
        } else if let DisputeEvent::RemedyFailed { number, .. } = event
            && let Some(course) = courses.get_mut(&key(number))
        {
            course.failed += 1;
        } else if let DisputeEvent::RemedyDeclined { number, .. } = event
            && let Some(course) = courses.get_mut(&key(number))
        {
            course.declined += 1;
        }
    }
    courses
}

/// The other remedy that clients propose here.
const VOID: &str = "void";

/// The effect of a remedy, in the same form as its proposal.
fn effect(recorded: &Recorded) -> Option<(Uuid, String)> {
    let stream = recorded.stream;
    if let Event::Account(AccountEvent::MoneyAdjusted { change, dispute, .. }) = &recorded.event {
        Some((*dispute, format!("{stream} {change}")))
    } else if let Event::Account(AccountEvent::Sanctioned { dispute, .. }) = &recorded.event {
        Some((*dispute, format!("{stream} warned")))
    } else if let Event::Voided { dispute, .. } = &recorded.event {
        dispute.map(|dispute| (dispute, VOID.to_owned()))
    } else {
        None
    }
}

/// Each remedy was completed once, and its effect exists exactly once if it was applied.
pub(super) fn check(log: &[Recorded]) -> Result<(usize, u32), String> {
    let courses = courses(log.iter());
    let mut applied = 0;
    let mut due: BTreeMap<(Uuid, String), i64> = BTreeMap::new();
    for ((dispute, number), course) in &courses {
        if course.applied + course.failed + course.declined != 1 {
            return Err(format!(
                "remedy {number} of dispute {dispute} did not end once: {course:?}"
            ));
        }
        applied += course.applied;
        if course.applied == 1 {
            let effect = if let Remedy::AdjustBalance { player, change } = &course.remedy {
                format!("{} {change}", player.0)
            } else if let Remedy::Warn { player } = &course.remedy {
                format!("{} warned", player.0)
            } else {
                VOID.to_owned()
            };
            *due.entry((*dispute, effect)).or_default() += 1;
        }
    }
    for recorded in log {
        let Some(done) = effect(recorded) else { continue };
        *due.entry(done).or_default() -= 1;
    }
    match due.iter().find(|(_, count)| **count != 0) {
        Some(((dispute, effect), count)) => Err(format!(
            "dispute {dispute}: '{effect}' was applied {count} times more often than it was done"
        )),
        None => Ok((courses.len(), applied)),
    }
}
