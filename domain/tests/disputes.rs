//! Disputes: permissions, order of steps, and that nothing is done twice.

use domain::{
    Dispute, DisputeCommand as Command, DisputeEvent, GameId, PlayerId, Rejection, Remedy,
    Resolution, VoidedFor, decide_dispute,
};
use uuid::Uuid;

fn who(number: u128) -> PlayerId {
    PlayerId(Uuid::from_u128(number))
}

const ANN: u128 = 0xA000;
const BOB: u128 = 0xA001;
const SUE: u128 = 0xB000;
const TOM: u128 = 0xB001;

fn open() -> Command {
    Command::Open { game: GameId(Uuid::from_u128(1)), version: 57, player: who(ANN) }
}

fn propose(remedy: Remedy, by: u128, amount: u64) -> Command {
    Command::Propose { remedy, by: who(by), amount, limit: 100 }
}

fn void() -> Remedy {
    Remedy::VoidGame { why: VoidedFor::Malfunction }
}

fn adjust(change: i64) -> Remedy {
    Remedy::AdjustBalance { player: who(ANN), change }
}

/// Runs the commands in order; each is accepted or rejected as given.
#[track_caller]
fn check(rows: &[(Command, Result<&str, Rejection>)]) -> Option<Dispute> {
    let mut dispute = None;
    for (index, (command, expected)) in rows.iter().enumerate() {
        let before = dispute.clone();
        let decided = decide_dispute(dispute.as_ref(), command);
        match (&decided, expected) {
            (Ok(events), Ok(name)) => {
                assert_eq!(
                    events.iter().map(DisputeEvent::name).collect::<Vec<_>>(),
                    [*name],
                    "row {index}"
                );
                for event in events {
                    let written = serde_json::to_string(event).unwrap();
                    assert_eq!(serde_json::from_str::<DisputeEvent>(&written).unwrap(), *event);
                    dispute = Dispute::evolve(dispute, event);
                }
            }
            (Err(found), Err(expected)) => {
                assert_eq!(found, expected, "row {index}");
                assert_eq!(dispute, before, "a refusal changes nothing");
            }
            (found, expected) => panic!("row {index}: {found:?}, expected {expected:?}"),
        }
    }
    dispute
}

#[test]
fn life_of_a_dispute() {
    let dispute = check(&[
        (Command::Assign { to: who(SUE) }, Err(Rejection::NoSuchDispute)),
        (open(), Ok("DisputeOpened")),
        (open(), Err(Rejection::AlreadyDisputed)),
        (Command::Assign { to: who(SUE) }, Ok("DisputeAssigned")),
        (Command::Comment { internal: true, hash: String::new() }, Ok("DisputeCommented")),
        (propose(void(), SUE, 8), Ok("RemedyProposed")),
        (
            Command::Resolve { how: Resolution::Malfunction },
            Err(Rejection::RemediesOpen { open: 1 }),
        ),
        (Command::Applied { number: 1 }, Ok("RemedyApplied")),
        (Command::Applied { number: 1 }, Err(Rejection::RemedyDone { number: 1 })),
        (propose(void(), TOM, 8), Err(Rejection::RemedyRepeated { number: 1 })),
        (Command::Resolve { how: Resolution::Malfunction }, Ok("DisputeResolved")),
        (Command::Resolve { how: Resolution::Mistake }, Err(Rejection::DisputeClosed)),
        (Command::Comment { internal: false, hash: String::new() }, Err(Rejection::DisputeClosed)),
        (propose(adjust(5), SUE, 5), Err(Rejection::DisputeClosed)),
    ])
    .unwrap();
    assert_eq!((dispute.comments, dispute.assignee), (1, Some(who(SUE))));
    assert_eq!(dispute.resolution, Some(Resolution::Malfunction));
    assert!(dispute.remedies[0].applied);
}

#[test]
fn large_amounts_need_two_people() {
    let dispute = check(&[
        (open(), Ok("DisputeOpened")),
        (propose(adjust(101), SUE, 101), Ok("RemedyProposed")),
        (Command::Applied { number: 1 }, Err(Rejection::SecondPersonNeeded { number: 1 })),
        (Command::Approve { number: 1, by: who(SUE) }, Err(Rejection::SamePerson)),
        (Command::Approve { number: 2, by: who(TOM) }, Err(Rejection::NoSuchRemedy { number: 2 })),
        (Command::Approve { number: 0, by: who(TOM) }, Err(Rejection::NoSuchRemedy { number: 0 })),
        (Command::Approve { number: 1, by: who(TOM) }, Ok("RemedyApproved")),
        (Command::Approve { number: 1, by: who(TOM) }, Err(Rejection::RemedyDone { number: 1 })),
        (Command::Applied { number: 1 }, Ok("RemedyApplied")),
        (
            propose(Remedy::AdjustBalance { player: who(BOB), change: -100 }, SUE, 100),
            Ok("RemedyProposed"),
        ),
        (Command::Approve { number: 2, by: who(TOM) }, Err(Rejection::RemedyDone { number: 2 })),
        (Command::Decline { number: 2, by: who(TOM) }, Err(Rejection::RemedyDone { number: 2 })),
        (failed(2), Ok("RemedyFailed")),
        (failed(2), Err(Rejection::RemedyDone { number: 2 })),
        (Command::Applied { number: 2 }, Err(Rejection::RemedyDone { number: 2 })),
        // A failed remedy may be proposed again.
        (
            propose(Remedy::AdjustBalance { player: who(BOB), change: -50 }, TOM, 50),
            Ok("RemedyProposed"),
        ),
    ])
    .unwrap();
    assert_eq!(dispute.remedies[0].approved_by, Some(who(TOM)));
    assert!(dispute.remedies[2].is_open() && !dispute.remedies[2].waits());
}

fn failed(number: u32) -> Command {
    Command::Failed { number, reason: "not enough money".to_owned() }
}

fn retry(number: u32) -> Command {
    Command::Retry { number, by: who(TOM) }
}

#[test]
fn failed_remedies_can_be_retried() {
    let dispute = check(&[
        (open(), Ok("DisputeOpened")),
        (propose(adjust(-50), SUE, 50), Ok("RemedyProposed")),
        (retry(1), Err(Rejection::RemedyNotFailed { number: 1 })),
        (retry(2), Err(Rejection::NoSuchRemedy { number: 2 })),
        (failed(1), Ok("RemedyFailed")),
        (retry(1), Ok("RemedyRetried")),
        (failed(1), Ok("RemedyFailed")),
        // After an equal remedy was proposed instead, the first one cannot be retried.
        (propose(adjust(-5), SUE, 5), Ok("RemedyProposed")),
        (retry(1), Err(Rejection::RemedyRepeated { number: 2 })),
        (Command::Applied { number: 2 }, Ok("RemedyApplied")),
        (Command::Resolve { how: Resolution::Mistake }, Ok("DisputeResolved")),
        (retry(1), Err(Rejection::DisputeClosed)),
    ])
    .unwrap();
    let first = &dispute.remedies[0];
    assert_eq!((first.failed.as_deref(), first.retries), (Some("not enough money"), 1));
    assert!(!first.is_open() && !first.is_due());
}

#[test]
fn staff_cannot_decide_about_themselves() {
    check(&[
        (open(), Ok("DisputeOpened")),
        (propose(void(), ANN, 0), Err(Rejection::OwnDispute)),
        (propose(Remedy::Warn { player: who(SUE) }, SUE, 0), Err(Rejection::OwnDispute)),
        (propose(Remedy::Warn { player: who(BOB) }, SUE, 0), Ok("RemedyProposed")),
        (propose(Remedy::Ban { player: who(BOB) }, SUE, 0), Ok("RemedyProposed")),
        (
            propose(Remedy::Ban { player: who(BOB) }, TOM, 0),
            Err(Rejection::RemedyRepeated { number: 2 }),
        ),
    ]);
}

#[test]
fn rejections_say_what_to_do() {
    for (refusal, words) in [
        (Rejection::AlreadyDisputed, "this event is disputed already"),
        (Rejection::SamePerson, "a person other than the proposer must approve it"),
        (
            Rejection::RemediesOpen { open: 2 },
            "2 remedies are not done yet; wait for them or decline them first",
        ),
        (
            Rejection::SecondPersonNeeded { number: 3 },
            "remedy 3 exceeds the limit of one person; a second member of staff must approve it",
        ),
    ] {
        assert_eq!(refusal.to_string(), words);
    }
}
