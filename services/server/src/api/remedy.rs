//! Remedies of disputes: their effects and status.

use async_graphql::{Context, Enum, ID, InputObject, OneofObject, SimpleObject};
use domain::{Moment, PlayerId, Remedy, RemedyState};

use super::{
    app,
    dispute::{acting, dispute_id},
    enums::{RemedyKind, RemedySubject},
    errors::bad_input,
    ids::player_id,
    moves::slots,
    player::Player,
    scalars::{DateTime, Long, int},
    support::VoidReason,
};
use crate::{
    clock,
    disputes::{Effect, Preview},
};

/// A remedy of a dispute. Set exactly one field.
#[derive(Clone, Debug, OneofObject)]
pub(super) enum RemedyInput {
    /// Voids the disputed game.
    VoidGame(VoidReason),
    /// Ends the disputed game; these seats win.
    FinishGame(Vec<i32>),
    /// Credits or debits money.
    AdjustBalance(AdjustInput),
    /// Warns this player.
    Warn(ID),
    /// Suspends a player.
    Suspend(SuspendInput),
    /// Bans this player.
    Ban(ID),
    /// Lifts the suspension or ban of this player.
    Lift(ID),
}

/// An adjustment of a balance.
#[derive(Clone, Debug, InputObject)]
pub(super) struct AdjustInput {
    /// The player.
    player_id: ID,
    /// The change in dollars; negative to debit.
    change: i32,
}

/// A suspension.
#[derive(Clone, Debug, InputObject)]
pub(super) struct SuspendInput {
    /// The player.
    player_id: ID,
    /// The number of days, 1 to 3,650.
    days: i32,
}

impl RemedyInput {
    pub(super) fn remedy(&self) -> async_graphql::Result<Remedy> {
        let parse = |id: &ID| player_id(id).map(PlayerId);
        Ok(match self {
            Self::VoidGame(why) => Remedy::VoidGame { why: (*why).into() },
            Self::FinishGame(winners) => Remedy::FinishGame { winners: slots(winners) },
            Self::AdjustBalance(AdjustInput { player_id, change }) => {
                if *change == 0 {
                    return Err(bad_input("change must not be 0"));
                }
                Remedy::AdjustBalance { player: parse(player_id)?, change: (*change).into() }
            }
            Self::Warn(player) => Remedy::Warn { player: parse(player)? },
            Self::Suspend(SuspendInput { player_id, days }) => {
                if !(1..=3_650).contains(days) {
                    return Err(bad_input("days must be from 1 to 3650"));
                }
                let hours = u32::try_from(*days).unwrap_or(1) * 24;
                let now = clock::now();
                // Rounded to the hour, so that a retry is the same command.
                let hour = Moment(now.0 - now.0 % 3_600_000);
                Remedy::Suspend { player: parse(player_id)?, until: hour.plus_hours(hours) }
            }
            Self::Ban(player) => Remedy::Ban { player: parse(player)? },
            Self::Lift(player) => Remedy::Lift { player: parse(player)? },
        })
    }
}

/// A remedy of a dispute.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Remedy")]
pub(super) struct RemedyView {
    /// The number, from 1.
    number: i32,
    /// The kind of remedy.
    kind: RemedyKind,
    /// The player concerned. Null if it concerns the game.
    player: Option<Player>,
    /// The change of the balance in dollars. Null for other kinds.
    change: Option<Long>,
    /// When the suspension ends. Null for other kinds.
    until: Option<DateTime>,
    /// Who proposed it.
    proposed_by: Player,
    /// Whether a second person must approve it.
    needs_second: bool,
    /// Who approved it. Null if nobody did.
    approved_by: Option<Player>,
    /// Who declined it. Null if nobody did.
    declined_by: Option<Player>,
    /// Whether it is applied.
    applied: bool,
    /// The status.
    status: RemedyStatus,
    /// Why it failed. Null if it did not.
    failure: Option<String>,
}

/// The status of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum RemedyStatus {
    /// A second person must approve it.
    Proposed,
    /// Approved; it is applied shortly.
    Approved,
    /// Declined; it is not applied.
    Declined,
    /// Applied.
    Applied,
    /// Applying it failed; see `failure` and `retryRemedy`.
    Failed,
}

impl RemedyStatus {
    fn of(state: &RemedyState) -> Self {
        match state {
            state if state.applied => Self::Applied,
            state if state.failed.is_some() => Self::Failed,
            state if state.declined_by.is_some() => Self::Declined,
            state if state.waits() => Self::Proposed,
            _ => Self::Approved,
        }
    }
}

impl RemedyView {
    pub(super) fn of(number: usize, state: &RemedyState) -> Self {
        let (change, until) = match &state.remedy {
            Remedy::AdjustBalance { change, .. } => (Some(Long(*change)), None),
            Remedy::Suspend { until, .. } => (None, Some(DateTime(*until))),
            Remedy::VoidGame { .. }
            | Remedy::FinishGame { .. }
            | Remedy::Warn { .. }
            | Remedy::Ban { .. }
            | Remedy::Lift { .. } => (None, None),
        };
        Self {
            number: int(number),
            kind: (&state.remedy).into(),
            player: state.remedy.player().map(|player| Player::new(player.0)),
            change,
            until,
            proposed_by: Player::new(state.by.0),
            needs_second: state.second,
            approved_by: state.approved_by.map(|staff| Player::new(staff.0)),
            declined_by: state.declined_by.map(|staff| Player::new(staff.0)),
            applied: state.applied,
            status: RemedyStatus::of(state),
            failure: state.failed.clone(),
        }
    }
}

/// The preview of a remedy.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct RemedyPreview {
    /// The changes.
    effects: Vec<RemedyEffect>,
    /// The amount of money moved, in dollars.
    amount: Long,
    /// Whether a second person must approve it.
    needs_second: bool,
}

/// A change that a remedy would make.
#[derive(Clone, Debug, SimpleObject)]
struct RemedyEffect {
    /// The player concerned. Null if it concerns the game.
    player: Option<Player>,
    /// What would change.
    subject: RemedySubject,
    /// The current value.
    before: String,
    /// The value after the remedy.
    after: String,
}

impl From<Preview> for RemedyPreview {
    fn from(preview: Preview) -> Self {
        let effect = |Effect { player, what, before, after }| RemedyEffect {
            player: player.map(Player::new),
            subject: match what {
                "balance" => RemedySubject::Balance,
                "account" => RemedySubject::Account,
                _ => RemedySubject::Game,
            },
            before,
            after,
        };
        Self {
            effects: preview.effects.into_iter().map(effect).collect(),
            amount: Long(i64::try_from(preview.amount).unwrap_or(i64::MAX)),
            needs_second: preview.needs_second,
        }
    }
}

/// The preview of a remedy.
pub(super) async fn preview(
    ctx: &Context<'_>,
    id: &ID,
    remedy: &RemedyInput,
) -> async_graphql::Result<RemedyPreview> {
    let (id, remedy) = (dispute_id(id)?, remedy.remedy()?);
    acting(ctx, "preview_remedy", id).await?;
    Ok(app(ctx).disputes.preview(&app(ctx).games, id, &remedy).await?.into())
}
