//! Disputes: a player contests an event of a game, and staff review it.
//!
//! Each disputed event has one dispute stream. The text of comments is stored outside of it,
//! because it can contain personal data and the log is never deleted. *Remedies* are applied as
//! events of games and accounts that reference the dispute.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Dollars, GameId, Moment, PlayerId, Rejection, SeatNo, VoidedFor};

/// An event of a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DisputeEvent {
    /// A player disputes an event of a game.
    DisputeOpened {
        /// The game.
        game: GameId,
        /// The version of the disputed event.
        version: u64,
        /// The player who opened the dispute.
        player: PlayerId,
    },
    /// The dispute was assigned to a member of staff.
    DisputeAssigned {
        /// The new assignee.
        to: PlayerId,
    },
    /// A comment was added; its text is stored elsewhere.
    DisputeCommented {
        /// The number of the comment, starting at 1.
        number: u32,
        /// Whether only staff can read it.
        internal: bool,
    },
    /// A remedy was proposed.
    RemedyProposed {
        /// The number of the remedy, starting at 1.
        number: u32,
        /// The proposed remedy.
        remedy: Remedy,
        /// Who proposed it.
        by: PlayerId,
        /// Whether a second person must approve it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        second: bool,
    },
    /// A second person approved the remedy.
    RemedyApproved {
        /// The number of the remedy.
        number: u32,
        /// Who approved it.
        by: PlayerId,
    },
    /// The remedy was declined, or can no longer be applied.
    RemedyDeclined {
        /// The number of the remedy.
        number: u32,
        /// Who declined it; the nil id stands for the house, which could not apply it.
        by: PlayerId,
    },
    /// The remedy was applied.
    RemedyApplied {
        /// The number of the remedy.
        number: u32,
    },
    /// Applying the remedy failed.
    RemedyFailed {
        /// The number of the remedy.
        number: u32,
        /// The error.
        reason: String,
    },
    /// A failed remedy is to be tried again.
    RemedyRetried {
        /// The number of the remedy.
        number: u32,
        /// Who requested the retry.
        by: PlayerId,
    },
    /// The dispute was closed.
    DisputeResolved {
        /// The outcome.
        how: Resolution,
    },
}

impl DisputeEvent {
    /// The names of all event types.
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

    /// The name of the event type, as stored in the log.
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

/// What staff can do about a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Void the disputed game.
    VoidGame {
        /// The reason.
        why: VoidedFor,
    },
    /// End the disputed game with these winners.
    FinishGame {
        /// The winning seats; may be empty.
        winners: Vec<SeatNo>,
    },
    /// Credit or debit an account.
    AdjustBalance {
        /// The account.
        player: PlayerId,
        /// The amount; negative for a debit.
        change: i64,
    },
    /// Warn a player.
    Warn {
        /// The player.
        player: PlayerId,
    },
    /// Suspend a player.
    Suspend {
        /// The player.
        player: PlayerId,
        /// The end of the suspension.
        until: Moment,
    },
    /// Ban a player.
    Ban {
        /// The player.
        player: PlayerId,
    },
    /// Lift a suspension or a ban.
    Lift {
        /// The player.
        player: PlayerId,
    },
}

impl Remedy {
    /// The player it applies to; `None` for a remedy of the game.
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

/// The outcome of a dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// A malfunction, which was fixed.
    Malfunction,
    /// A player cheated.
    Cheating,
    /// Players colluded.
    Collusion,
    /// A mistake of the house.
    Mistake,
    /// Everything was correct, and the player got an explanation.
    Explained,
    /// The claim is false.
    Unfounded,
}

/// A command to a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DisputeCommand {
    /// Opens a dispute.
    Open {
        /// The game.
        game: GameId,
        /// The version of the disputed event.
        version: u64,
        /// The player who opens it.
        player: PlayerId,
    },
    /// Assigns it to a member of staff.
    Assign {
        /// The new assignee.
        to: PlayerId,
    },
    /// Adds a comment.
    Comment {
        /// Whether only staff can read it.
        internal: bool,
        /// A hash of the text: commands with different texts differ.
        hash: String,
    },
    /// Proposes a remedy.
    Propose {
        /// The remedy.
        remedy: Remedy,
        /// Who proposes it.
        by: PlayerId,
        /// The amount of money it moves.
        amount: u64,
        /// Larger amounts need the approval of a second person.
        limit: Dollars,
    },
    /// Approves a remedy.
    Approve {
        /// The number of the remedy.
        number: u32,
        /// Who approves it.
        by: PlayerId,
    },
    /// Declines a remedy.
    Decline {
        /// The number of the remedy.
        number: u32,
        /// Who declines it.
        by: PlayerId,
    },
    /// Records that a remedy was applied.
    Applied {
        /// The number of the remedy.
        number: u32,
    },
    /// Records that applying a remedy failed.
    Failed {
        /// The number of the remedy.
        number: u32,
        /// The error.
        reason: String,
    },
    /// Tries a failed remedy again.
    Retry {
        /// The number of the remedy.
        number: u32,
        /// Who requests the retry.
        by: PlayerId,
    },
    /// Closes the dispute.
    Resolve {
        /// The outcome.
        how: Resolution,
    },
}

/// The state of a dispute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispute {
    /// The disputed game.
    pub game: GameId,
    /// The version of the disputed event.
    pub version: u64,
    /// The player who opened it.
    pub player: PlayerId,
    /// The member of staff responsible for it.
    pub assignee: Option<PlayerId>,
    /// The number of comments.
    pub comments: u32,
    /// All remedies, in the order of their numbers.
    pub remedies: Vec<RemedyState>,
    /// The outcome, once it is closed.
    pub resolution: Option<Resolution>,
}

/// A remedy and its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemedyState {
    /// The remedy.
    pub remedy: Remedy,
    /// Who proposed it.
    pub by: PlayerId,
    /// Whether a second person must approve it.
    pub second: bool,
    /// Who approved it.
    pub approved_by: Option<PlayerId>,
    /// Who declined it.
    pub declined_by: Option<PlayerId>,
    /// Whether it was applied.
    pub applied: bool,
    /// Why it failed; `None` after a retry.
    pub failed: Option<String>,
    /// The number of retries.
    pub retries: u32,
}

impl RemedyState {
    /// Whether it was neither applied, declined nor failed.
    pub const fn is_open(&self) -> bool {
        !self.applied && self.declined_by.is_none() && self.failed.is_none()
    }

    /// Whether it can be applied now.
    pub const fn is_due(&self) -> bool {
        self.is_open() && !self.waits()
    }

    /// Whether it still needs the approval of a second person.
    pub const fn waits(&self) -> bool {
        self.is_open() && self.second && self.approved_by.is_none()
    }
}

impl Dispute {
    /// Folds an event into the state.
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

    /// A remedy by its number, starting at 1.
    pub fn remedy(&self, number: u32) -> Option<&RemedyState> {
        self.remedies.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    fn change(&mut self, number: u32, change: impl FnOnce(&mut RemedyState)) {
        let index = number.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        if let Some(remedy) = index.and_then(|index| self.remedies.get_mut(index)) {
            change(remedy);
        }
    }

    /// A remedy that can still be approved, declined or applied.
    fn open_remedy(&self, number: u32) -> Result<&RemedyState, Rejection> {
        let remedy = self.remedy(number).ok_or(Rejection::NoSuchRemedy { number })?;
        if remedy.is_open() { Ok(remedy) } else { Err(Rejection::RemedyDone { number }) }
    }

    fn next_remedy(&self) -> u32 {
        u32::try_from(self.remedies.len()).unwrap_or(u32::MAX).saturating_add(1)
    }
}

/// Decides a command; `dispute` is `None` before it is opened.
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
        // A remedy that was started can be completed after the dispute is closed.
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
            // A remedy that needs no approval may already be in progress.
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

/// A remedy is not repeated, staff may not decide about themselves, and large amounts need two
/// people.
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

/// Rejects a remedy that is pending or was applied. One that was declined or failed may be proposed
/// again.
fn check_repeated(dispute: &Dispute, remedy: &Remedy) -> Result<(), Rejection> {
    let counts = |known: &RemedyState| known.declined_by.is_none() && known.failed.is_none();
    let same = |known: &RemedyState| counts(known) && same_remedy(&known.remedy, remedy);
    match dispute.remedies.iter().position(same) {
        Some(index) => {
            Err(Rejection::RemedyRepeated { number: u32::try_from(index + 1).unwrap_or(u32::MAX) })
        }
        None => Ok(()),
    }
}

/// Whether both remedies are of the same kind and apply to the same player.
pub fn same_remedy(one: &Remedy, other: &Remedy) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other) && one.player() == other.player()
}

/// An entry of the audit log of staff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StaffEvent {
    /// The actor of the event did this.
    StaffActed {
        /// The action: `void_game`, `look_at_personal_data` …
        action: crate::Slug,
        /// The id of the game, account or dispute.
        subject: Uuid,
        /// The dispute that was the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
}

impl StaffEvent {
    /// The names of all event types.
    pub const NAMES: [&'static str; 1] = ["StaffActed"];

    /// The name of the event type, as stored in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::StaffActed { .. } => "StaffActed",
        }
    }
}
