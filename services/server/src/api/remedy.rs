//! Remedies: what is done about a dispute, what it would do, and how far it is.

use async_graphql::{Context, Enum, ID, InputObject, OneofObject, SimpleObject};
use domain::{Moment, PlayerId, Remedy, RemedyState};

use super::{
    app,
    dispute::{acting, dispute_id},
    errors::bad_input,
    ids::player_id,
    moves::slots,
    player::Player,
    scalars::{Instant, Long, int},
    support::VoidReason,
};
use crate::{
    clock,
    disputes::{Effect, Preview},
};

/// What is done about something that was wrong. Give exactly one.
#[derive(Clone, Debug, OneofObject)]
pub(super) enum RemedyInput {
    /// The disputed game counts no more.
    VoidGame(VoidReason),
    /// The disputed game ends here, and these seats win.
    FinishGame(Vec<i32>),
    /// Money is given or taken.
    AdjustBalance(AdjustInput),
    /// This player is warned.
    Warn(ID),
    /// This player may not play for a while.
    Suspend(SuspendInput),
    /// This player may not play any more.
    Ban(ID),
    /// This player may play again.
    Lift(ID),
}

/// Money that is given or taken.
#[derive(Clone, Debug, InputObject)]
pub(super) struct AdjustInput {
    /// Whose.
    player_id: ID,
    /// How much, in dollars; what is taken is negative.
    change: i32,
}

/// A player who may not play for a while.
#[derive(Clone, Debug, InputObject)]
pub(super) struct SuspendInput {
    /// Who.
    player_id: ID,
    /// For how many days, 1 to 3,650.
    days: i32,
}

impl RemedyInput {
    pub(super) fn remedy(&self) -> async_graphql::Result<Remedy> {
        let who = |id: &ID| player_id(id).map(PlayerId);
        Ok(match self {
            Self::VoidGame(why) => Remedy::VoidGame { why: (*why).into() },
            Self::FinishGame(winners) => Remedy::FinishGame { winners: slots(winners) },
            Self::AdjustBalance(AdjustInput { player_id, change }) => {
                if *change == 0 {
                    return Err(bad_input("change must not be 0"));
                }
                Remedy::AdjustBalance { player: who(player_id)?, change: (*change).into() }
            }
            Self::Warn(player) => Remedy::Warn { player: who(player)? },
            Self::Suspend(SuspendInput { player_id, days }) => {
                if !(1..=3_650).contains(days) {
                    return Err(bad_input("days must be from 1 to 3650"));
                }
                let hours = u32::try_from(*days).unwrap_or(1) * 24;
                let now = clock::now();
                // To the hour, so that the same request means the same.
                let hour = Moment(now.0 - now.0 % 3_600_000);
                Remedy::Suspend { player: who(player_id)?, until: hour.plus_hours(hours) }
            }
            Self::Ban(player) => Remedy::Ban { player: who(player)? },
            Self::Lift(player) => Remedy::Lift { player: who(player)? },
        })
    }
}

/// Something that is done about it, or is to be.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct RemedyView {
    /// Its number, from 1.
    number: i32,
    /// What: `void_game`, `finish_game`, `adjust_balance`, `warn`, `suspend`, `ban`, `lift`.
    kind: String,
    /// Whom it is about, if it is about somebody in particular.
    player: Option<Player>,
    /// How much money is given, or taken.
    change: Option<Long>,
    /// Until when, of a suspension.
    until: Option<Instant>,
    /// Who proposed it.
    proposed_by: Player,
    /// Whether somebody else must agree.
    needs_second: bool,
    /// Who agreed.
    approved_by: Option<Player>,
    /// Who did not agree.
    declined_by: Option<Player>,
    /// Whether it is done.
    applied: bool,
    /// How far it is.
    status: RemedyStatus,
    /// Why it failed, if it did.
    failure: Option<String>,
}

/// How far a remedy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum RemedyStatus {
    /// A second person must approve it.
    Proposed,
    /// Decided; it is carried out in a moment.
    Approved,
    /// Somebody declined it: it is not carried out.
    Declined,
    /// It was carried out.
    Applied,
    /// It could not be carried out; `failure` says why, `retryRemedy` tries again.
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
        let written = serde_json::to_value(&state.remedy).unwrap_or_default();
        let kind = written.as_object().and_then(|fields| fields.keys().next().cloned());
        let (change, until) = match &state.remedy {
            Remedy::AdjustBalance { change, .. } => (Some(Long(*change)), None),
            Remedy::Suspend { until, .. } => (None, Some(Instant(*until))),
            Remedy::VoidGame { .. }
            | Remedy::FinishGame { .. }
            | Remedy::Warn { .. }
            | Remedy::Ban { .. }
            | Remedy::Lift { .. } => (None, None),
        };
        Self {
            number: int(number),
            kind: kind.unwrap_or_default(),
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

/// What a remedy would do.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct RemedyPreview {
    /// What would change.
    effects: Vec<RemedyEffect>,
    /// How much money it moves, in dollars.
    amount: Long,
    /// Whether somebody else must agree.
    needs_second: bool,
}

/// Something that would change.
#[derive(Clone, Debug, SimpleObject)]
struct RemedyEffect {
    /// Whose it is, if it is somebody's.
    player: Option<Player>,
    /// What: `game`, `balance`, `account`.
    what: &'static str,
    /// What it is.
    before: String,
    /// What it would be.
    after: String,
}

impl From<Preview> for RemedyPreview {
    fn from(preview: Preview) -> Self {
        let effect = |Effect { player, what, before, after }| RemedyEffect {
            player: player.map(Player::new),
            what,
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

/// What a remedy would do.
pub(super) async fn preview(
    ctx: &Context<'_>,
    id: &ID,
    remedy: &RemedyInput,
) -> async_graphql::Result<RemedyPreview> {
    let (id, remedy) = (dispute_id(id)?, remedy.remedy()?);
    acting(ctx, "preview_remedy", id).await?;
    Ok(app(ctx).disputes.preview(&app(ctx).tables, id, &remedy).await?.into())
}
