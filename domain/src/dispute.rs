//! Disputes: a player says that something was wrong, and somebody who works for the house sees to it.
//!
//! A dispute is a stream of its own, one for each disputed event. What people write to each other is not in it: texts may be personal,
//! and the log is for ever. What is done about it, the *remedies*, are events of games and accounts that name the dispute.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Dollars, GameId, Moment, PlayerId, Rejection, SeatNo, VoidedFor};

/// Something that happened to a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DisputeEvent {
    /// A player disputes an event of a game.
    DisputeOpened {
        /// The game.
        game: GameId,
        /// The version of the event.
        version: u64,
        /// Who disputes it.
        player: PlayerId,
    },
    /// Somebody sees to it from now on.
    DisputeAssigned {
        /// Who.
        to: PlayerId,
    },
    /// Somebody wrote something, which is kept elsewhere.
    DisputeCommented {
        /// The number of the comment, from 1.
        number: u32,
        /// Whether it is for staff only.
        internal: bool,
    },
    /// Something is to be done.
    RemedyProposed {
        /// The number of the remedy, from 1.
        number: u32,
        /// What.
        remedy: Remedy,
        /// Who says so.
        by: PlayerId,
        /// Whether somebody else must agree.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        second: bool,
    },
    /// Somebody else agrees.
    RemedyApproved {
        /// Which.
        number: u32,
        /// Who.
        by: PlayerId,
    },
    /// Somebody does not agree, or it cannot be done any more: it is not done.
    RemedyDeclined {
        /// Which.
        number: u32,
        /// Who; the nil id is the house, which could not do it.
        by: PlayerId,
    },
    /// It is done.
    RemedyApplied {
        /// Which.
        number: u32,
    },
    /// It could not be done.
    RemedyFailed {
        /// Which.
        number: u32,
        /// Why not.
        reason: String,
    },
    /// One that could not be done is tried again.
    RemedyRetried {
        /// Which.
        number: u32,
        /// Who wants that.
        by: PlayerId,
    },
    /// The dispute is over.
    DisputeResolved {
        /// How.
        how: Resolution,
    },
}

impl DisputeEvent {
    /// The names of all types.
    pub const NAMES: [&'static str; 10] = [
        "DisputeOpened",
        "DisputeAssigned",
        "DisputeCommented",
        "RemedyProposed",
        "RemedyApproved",
        "RemedyDeclined",
        "RemedyApplied",
        "RemedyFailed",
        "RemedyRetried",
        "DisputeResolved",
    ];

    /// The type's name, as the log stores it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::DisputeOpened { .. } => "DisputeOpened",
            Self::DisputeAssigned { .. } => "DisputeAssigned",
            Self::DisputeCommented { .. } => "DisputeCommented",
            Self::RemedyProposed { .. } => "RemedyProposed",
            Self::RemedyApproved { .. } => "RemedyApproved",
            Self::RemedyDeclined { .. } => "RemedyDeclined",
            Self::RemedyApplied { .. } => "RemedyApplied",
            Self::RemedyFailed { .. } => "RemedyFailed",
            Self::RemedyRetried { .. } => "RemedyRetried",
            Self::DisputeResolved { .. } => "DisputeResolved",
        }
    }
}

/// What can be done about something that was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// The disputed game counts no more.
    VoidGame {
        /// Why.
        why: VoidedFor,
    },
    /// The disputed game ends here, and these win.
    FinishGame {
        /// Who wins; nobody is possible.
        winners: Vec<SeatNo>,
    },
    /// Money is given, or taken.
    AdjustBalance {
        /// Whose.
        player: PlayerId,
        /// How much; what is taken is negative.
        change: i64,
    },
    /// A player is warned.
    Warn {
        /// Who.
        player: PlayerId,
    },
    /// A player may not play for a while.
    Suspend {
        /// Who.
        player: PlayerId,
        /// Until when.
        until: Moment,
    },
    /// A player may not play any more.
    Ban {
        /// Who.
        player: PlayerId,
    },
    /// A player may play again.
    Lift {
        /// Who.
        player: PlayerId,
    },
}

impl Remedy {
    /// Whom it is about, if it is about somebody in particular.
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::VoidGame { .. } | Self::FinishGame { .. } => None,
            Self::AdjustBalance { player, .. }
            | Self::Warn { player }
            | Self::Suspend { player, .. }
            | Self::Ban { player }
            | Self::Lift { player } => Some(*player),
        }
    }
}

/// How a dispute ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// Something did not work as it should, and was mended.
    Malfunction,
    /// Somebody cheated.
    Cheating,
    /// Players played into each other's hands.
    Collusion,
    /// It was a mistake of the house.
    Mistake,
    /// Nothing was wrong, and it was explained why.
    Explained,
    /// The claim is not true.
    Unfounded,
}

/// What can be asked of a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DisputeCommand {
    /// Disputes an event.
    Open {
        /// The game.
        game: GameId,
        /// The version of the event.
        version: u64,
        /// Who disputes it.
        player: PlayerId,
    },
    /// Gives it to somebody.
    Assign {
        /// Whom.
        to: PlayerId,
    },
    /// Writes something.
    Comment {
        /// Whether it is for staff only.
        internal: bool,
        /// A hash of the text, so that the same command means the same text.
        hash: String,
    },
    /// Says what is to be done.
    Propose {
        /// What.
        remedy: Remedy,
        /// Who says so.
        by: PlayerId,
        /// How much money it moves.
        amount: u64,
        /// Above this somebody else must agree.
        limit: Dollars,
    },
    /// Agrees.
    Approve {
        /// With which remedy.
        number: u32,
        /// Who.
        by: PlayerId,
    },
    /// Does not agree.
    Decline {
        /// With which remedy.
        number: u32,
        /// Who.
        by: PlayerId,
    },
    /// Says that a remedy is done.
    Applied {
        /// Which.
        number: u32,
    },
    /// Says that a remedy could not be done.
    Failed {
        /// Which.
        number: u32,
        /// Why not.
        reason: String,
    },
    /// Wants a remedy that could not be done to be tried again.
    Retry {
        /// Which.
        number: u32,
        /// Who wants that.
        by: PlayerId,
    },
    /// Ends it.
    Resolve {
        /// How.
        how: Resolution,
    },
}

/// A dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// The game.
    pub game: GameId,
    /// The version of the disputed event.
    pub version: u64,
    /// Who disputes it.
    pub player: PlayerId,
    /// Who sees to it.
    pub assignee: Option<PlayerId>,
    /// How many comments there are.
    pub comments: u32,
    /// What is to be done, or was.
    pub remedies: Vec<RemedyState>,
    /// How it ended, if it has.
    pub resolution: Option<Resolution>,
}

/// A remedy, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemedyState {
    /// What.
    pub remedy: Remedy,
    /// Who said so.
    pub by: PlayerId,
    /// Whether somebody else must agree.
    pub second: bool,
    /// Who agreed.
    pub approved_by: Option<PlayerId>,
    /// Who did not agree.
    pub declined_by: Option<PlayerId>,
    /// Whether it is done.
    pub applied: bool,
    /// Why it could not be done, unless it is tried again.
    pub failed: Option<String>,
    /// How often it was tried again.
    pub retries: u32,
}

impl RemedyState {
    /// Whether it is still to be done, or to be agreed with.
    pub const fn is_open(&self) -> bool {
        !self.applied && self.declined_by.is_none() && self.failed.is_none()
    }

    /// Whether it was decided and is not done yet.
    pub const fn is_due(&self) -> bool {
        self.is_open() && !self.waits()
    }

    /// Whether it waits for somebody else to agree.
    pub const fn waits(&self) -> bool {
        self.is_open() && self.second && self.approved_by.is_none()
    }
}

impl Dispute {
    /// The state after one more event.
    #[must_use]
    pub fn evolve(dispute: Option<Self>, event: &DisputeEvent) -> Option<Self> {
        let Some(mut dispute) = dispute else {
            let DisputeEvent::DisputeOpened { game, version, player } = event else { return None };
            return Some(Self {
                game: *game,
                version: *version,
                player: *player,
                assignee: None,
                comments: 0,
                remedies: Vec::new(),
                resolution: None,
            });
        };
        match event {
            DisputeEvent::DisputeOpened { .. } => {}
            DisputeEvent::DisputeAssigned { to } => dispute.assignee = Some(*to),
            DisputeEvent::DisputeCommented { number, .. } => dispute.comments = *number,
            DisputeEvent::RemedyProposed { remedy, by, second, .. } => {
                dispute.remedies.push(RemedyState {
                    remedy: remedy.clone(),
                    by: *by,
                    second: *second,
                    approved_by: None,
                    declined_by: None,
                    applied: false,
                    failed: None,
                    retries: 0,
                });
            }
            DisputeEvent::RemedyApproved { number, by } => {
                dispute.change(*number, |remedy| remedy.approved_by = Some(*by));
            }
            DisputeEvent::RemedyDeclined { number, by } => {
                dispute.change(*number, |remedy| remedy.declined_by = Some(*by));
            }
            DisputeEvent::RemedyApplied { number } => {
                dispute.change(*number, |remedy| remedy.applied = true);
            }
            DisputeEvent::RemedyFailed { number, reason } => {
                dispute.change(*number, |remedy| remedy.failed = Some(reason.clone()));
            }
            DisputeEvent::RemedyRetried { number, .. } => dispute.change(*number, |remedy| {
                remedy.failed = None;
                remedy.retries += 1;
            }),
            DisputeEvent::DisputeResolved { how } => dispute.resolution = Some(*how),
        }
        Some(dispute)
    }

    /// A remedy by its number, from 1.
    pub fn remedy(&self, number: u32) -> Option<&RemedyState> {
        self.remedies.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    fn change(&mut self, number: u32, change: impl FnOnce(&mut RemedyState)) {
        let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        if let Some(remedy) = place.and_then(|place| self.remedies.get_mut(place)) {
            change(remedy);
        }
    }

    /// A remedy that can still be agreed with or done.
    fn open_remedy(&self, number: u32) -> Result<&RemedyState, Rejection> {
        let remedy = self.remedy(number).ok_or(Rejection::NoSuchRemedy { number })?;
        if remedy.is_open() { Ok(remedy) } else { Err(Rejection::RemedyDone { number }) }
    }

    fn next_remedy(&self) -> u32 {
        u32::try_from(self.remedies.len()).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// What a command makes happen to a dispute; `None` is an event that nobody disputes.
pub fn decide_dispute(
    dispute: Option<&Dispute>,
    command: &DisputeCommand,
) -> Result<Vec<DisputeEvent>, Rejection> {
    use DisputeCommand as Command;
    let event = match (dispute, command) {
        (None, Command::Open { game, version, player }) => {
            DisputeEvent::DisputeOpened { game: *game, version: *version, player: *player }
        }
        (Some(_), Command::Open { .. }) => return Err(Rejection::AlreadyDisputed),
        (None, _) => return Err(Rejection::NoSuchDispute),
        // What was begun before the end can be finished after it.
        (Some(dispute), Command::Applied { number }) => {
            let remedy = dispute.open_remedy(*number)?;
            if remedy.waits() {
                return Err(Rejection::SecondPersonNeeded { number: *number });
            }
            DisputeEvent::RemedyApplied { number: *number }
        }
        (Some(dispute), Command::Failed { number, reason }) => {
            if dispute.open_remedy(*number)?.waits() {
                return Err(Rejection::SecondPersonNeeded { number: *number });
            }
            DisputeEvent::RemedyFailed { number: *number, reason: reason.clone() }
        }
        (Some(dispute), _) if dispute.resolution.is_some() => {
            return Err(Rejection::DisputeClosed);
        }
        (Some(_), Command::Assign { to }) => DisputeEvent::DisputeAssigned { to: *to },
        (Some(dispute), Command::Comment { internal, .. }) => DisputeEvent::DisputeCommented {
            number: dispute.comments.saturating_add(1),
            internal: *internal,
        },
        (Some(dispute), Command::Propose { remedy, by, amount, limit }) => {
            propose(dispute, remedy, *by, *amount, *limit)?
        }
        (Some(dispute), Command::Approve { number, by }) => {
            let remedy = dispute.open_remedy(*number)?;
            if !remedy.waits() {
                return Err(Rejection::RemedyDone { number: *number });
            }
            if remedy.by == *by {
                return Err(Rejection::SamePerson);
            }
            DisputeEvent::RemedyApproved { number: *number, by: *by }
        }
        (Some(dispute), Command::Decline { number, by }) => {
            // What needs nobody else may be under way.
            if !dispute.open_remedy(*number)?.waits() {
                return Err(Rejection::RemedyDone { number: *number });
            }
            DisputeEvent::RemedyDeclined { number: *number, by: *by }
        }
        (Some(dispute), Command::Retry { number, by }) => {
            let remedy = dispute.remedy(*number);
            let remedy = remedy.ok_or(Rejection::NoSuchRemedy { number: *number })?;
            if remedy.failed.is_none() {
                return Err(Rejection::RemedyNotFailed { number: *number });
            }
            check_repeated(dispute, &remedy.remedy)?;
            DisputeEvent::RemedyRetried { number: *number, by: *by }
        }
        (Some(dispute), Command::Resolve { how }) => {
            let open = dispute.remedies.iter().filter(|remedy| remedy.is_open()).count();
            if open > 0 {
                return Err(Rejection::RemediesOpen { open });
            }
            DisputeEvent::DisputeResolved { how: *how }
        }
    };
    Ok(vec![event])
}

/// The same is not done twice; nobody decides about themselves; much money needs two people.
fn propose(
    dispute: &Dispute,
    remedy: &Remedy,
    by: PlayerId,
    amount: u64,
    limit: Dollars,
) -> Result<DisputeEvent, Rejection> {
    check_repeated(dispute, remedy)?;
    if by == dispute.player || remedy.player() == Some(by) {
        return Err(Rejection::OwnDispute);
    }
    Ok(DisputeEvent::RemedyProposed {
        number: dispute.next_remedy(),
        remedy: remedy.clone(),
        by,
        second: amount > u64::from(limit),
    })
}

/// Refuses what another remedy does or did already. What was declined, or failed, may be proposed again.
fn check_repeated(dispute: &Dispute, remedy: &Remedy) -> Result<(), Rejection> {
    let counts = |known: &RemedyState| known.declined_by.is_none() && known.failed.is_none();
    let same = |known: &RemedyState| counts(known) && same_remedy(&known.remedy, remedy);
    match dispute.remedies.iter().position(same) {
        Some(place) => {
            Err(Rejection::RemedyRepeated { number: u32::try_from(place + 1).unwrap_or(u32::MAX) })
        }
        None => Ok(()),
    }
}

/// Whether both do the same to the same.
pub fn same_remedy(one: &Remedy, other: &Remedy) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other) && one.player() == other.player()
}

/// Something that somebody who works for the house did, or looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StaffEvent {
    /// It was done; the actor of the event did it.
    StaffActed {
        /// What: `void_game`, `look_at_personal_data` …
        action: crate::Word,
        /// To what: a game, an account, a dispute.
        subject: Uuid,
        /// Because of which dispute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
}

impl StaffEvent {
    /// The names of all types.
    pub const NAMES: [&'static str; 1] = ["StaffActed"];

    /// The type's name, as the log stores it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::StaffActed { .. } => "StaffActed",
        }
    }
}
