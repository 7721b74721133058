//! Disputes: opening them, seeing to them, and what is done about them.

use async_graphql::{Context, Enum, ID, InputObject, Object, OneofObject, SimpleObject};
use domain::{Moment, PlayerId, Remedy, RemedyState, Resolution};
use uuid::Uuid;

use super::{
    allowed, app,
    connection::{AuditConnection, DisputeConnection, page_size},
    errors::{Problem, bad_input},
    game::GameView,
    ids::{Named, game_id, player_id},
    moves::slots,
    player,
    player::Player,
    scalars::{Instant, Long, int},
    support::VoidReason,
    viewer,
};
use crate::{
    accounts::{Role, Viewer},
    clock,
    disputes::{Effect, Found, Preview, Text, Wanted, audit, no_dispute},
    play::{Once, PlayError},
};

/// Who sees to disputes.
pub(super) const STAFF: &[Role] = &[Role::Support, Role::Admin];

/// A dispute: a player says that something was wrong with an event of a game.
#[derive(Clone, Debug)]
pub(super) struct DisputeView {
    found: Found,
    staff: bool,
}

/// How a dispute ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Resolution")]
pub(super) enum DisputeResolution {
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
    fn remedy(&self) -> async_graphql::Result<Remedy> {
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

/// Something that was written about a dispute.
#[derive(Clone, Debug, SimpleObject)]
struct DisputeComment {
    /// Its number; 0 is what the dispute was opened with.
    number: i32,
    /// Who wrote it.
    author: Player,
    /// When.
    at: Instant,
    /// Whether it is for staff only.
    internal: bool,
    /// The text; empty if its author is gone.
    text: String,
}

/// Something that is done about it, or is to be.
#[derive(Clone, Debug, SimpleObject)]
struct RemedyView {
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
enum RemedyStatus {
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
    fn of(number: usize, state: &RemedyState) -> Self {
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

impl DisputeView {
    fn new(found: Found, viewer: &Viewer) -> Self {
        Self { found, staff: STAFF.contains(&viewer.role) }
    }
}

/// A dispute: a player says that something was wrong with an event of a game.
#[Object(name = "Dispute")]
impl DisputeView {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Dispute(self.found.id).id()
    }

    /// The game.
    async fn game(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<GameView>> {
        let viewer = viewer(ctx)?;
        Ok(GameView::find(app(ctx), viewer, self.found.dispute.game.0, None).await?)
    }

    /// The version of the disputed event.
    async fn version(&self) -> i32 {
        int(self.found.dispute.version)
    }

    /// Who disputes it.
    async fn player(&self) -> Player {
        Player::new(self.found.dispute.player.0)
    }

    /// Who sees to it; told to staff only.
    async fn assignee(&self) -> Option<Player> {
        let assignee = self.found.dispute.assignee.filter(|_| self.staff);
        assignee.map(|staff| Player::new(staff.0))
    }

    /// How it ended, once it has.
    async fn resolution(&self) -> Option<DisputeResolution> {
        self.found.dispute.resolution.map(Into::into)
    }

    /// What was written, in order; what staff writes to each other is for staff.
    async fn comments(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<DisputeComment>> {
        let texts = app(ctx).disputes.texts(self.found.id).await?.into_iter();
        let view = |text: Text| DisputeComment {
            number: text.number,
            author: Player::new(text.author),
            at: Instant(text.at),
            internal: text.internal,
            text: text.said,
        };
        Ok(texts.filter(|text| self.staff || !text.internal).map(view).collect())
    }

    /// What is done about it. To players only what is done, and to themselves or the game.
    async fn remedies(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RemedyView>> {
        let viewer = viewer(ctx)?;
        let states = self.found.dispute.remedies.iter().enumerate();
        let told = states.filter(|(_, state)| {
            let whom = state.remedy.player().map(|player| player.0);
            self.staff || (state.applied && whom.is_none_or(|player| player == viewer.account))
        });
        Ok(told.map(|(place, state)| RemedyView::of(place + 1, state)).collect())
    }
}

/// What came of a wish about a dispute.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct DisputePayload {
    /// The dispute as it is now; nothing if it was refused.
    dispute: Option<DisputeView>,
    /// Why it was refused. Nothing was changed.
    errors: Vec<Problem>,
}

impl DisputePayload {
    fn of(viewer: &Viewer, done: Result<Found, PlayError>) -> async_graphql::Result<Self> {
        match done {
            Ok(found) => {
                Ok(Self { dispute: Some(DisputeView::new(found, viewer)), errors: Vec::new() })
            }
            Err(PlayError::Refused(refusal)) => {
                Ok(Self { dispute: None, errors: vec![refusal.into()] })
            }
            Err(error) => Err(error.into()),
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

/// Something that staff did, or looked at.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct AuditEntry {
    /// Its number, from 1.
    number: Long,
    /// When.
    at: Instant,
    /// Who.
    by: Player,
    /// What: `void_game`, `look_at_personal_data` …
    action: String,
    /// To what: the id of a game, an account, a dispute.
    subject: Uuid,
    /// Because of which dispute.
    dispute: Option<ID>,
}

/// The dispute of an id.
pub(super) fn dispute_id(id: &ID) -> async_graphql::Result<Uuid> {
    match super::ids::named(id) {
        Ok(Named::Dispute(dispute)) => Ok(dispute),
        _ => Err(bad_input("a dispute's id looks like dispute:UUID, as Dispute.id gives it")),
    }
}

/// A dispute that somebody may see: who opened it, and staff.
pub(super) async fn find(
    ctx: &Context<'_>,
    id: Uuid,
) -> async_graphql::Result<Option<DisputeView>> {
    let viewer = viewer(ctx)?;
    app(ctx).database.check()?;
    let found = app(ctx).disputes.find(id).await?;
    let own = |found: &Found| found.dispute.player.0 == viewer.account;
    let seen = found.filter(|found| own(found) || STAFF.contains(&viewer.role));
    Ok(seen.map(|found| DisputeView::new(found, &viewer)))
}

/// A page of disputes, the oldest first.
pub(super) async fn list(
    ctx: &Context<'_>,
    viewer: Viewer,
    wanted: Wanted,
    first: Option<i32>,
    after: Option<String>,
) -> async_graphql::Result<DisputeConnection> {
    app(ctx).database.check()?;
    let size = page_size(first)?;
    let place = after.as_deref().map(|cursor| {
        let (at, id) = cursor.split_once('.')?;
        Some((at.parse().ok()?, Uuid::try_parse(id).ok()?))
    });
    let wrong = || bad_input("after is a cursor of this list");
    let after_place = place.map(|place| place.ok_or_else(wrong)).transpose()?;
    let most = i64::try_from(size).unwrap_or(i64::MAX);
    let wanted = Wanted { after: after_place, most, ..wanted };
    let (found, more) = app(ctx).disputes.list(wanted).await?;
    let items = found
        .into_iter()
        .map(|((at, id), found)| (format!("{at}.{id}"), DisputeView::new(found, &viewer)));
    Ok(DisputeConnection::page(items.collect(), more, size, after.is_some()))
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

/// A page of the audit log.
pub(super) async fn audit_log(
    ctx: &Context<'_>,
    filter: audit::Filter,
    first: Option<i32>,
    after: Option<String>,
) -> async_graphql::Result<AuditConnection> {
    let size = page_size(first)?;
    let from = after.as_deref().map_or(Ok(0), str::parse::<i64>);
    let from = from.ok().filter(|from| *from >= 0);
    let from = from.ok_or_else(|| bad_input("after is a cursor of this list"))?;
    let most = i64::try_from(size + 1).unwrap_or(i64::MAX);
    let entries = audit::page(&app(ctx).tables.store, filter, from, most).await?;
    let more = entries.len() > size;
    let items = entries.into_iter().map(|entry| {
        let view = AuditEntry {
            number: Long(entry.number),
            at: Instant(entry.at),
            by: Player::new(entry.by),
            action: entry.action.to_string(),
            subject: entry.subject,
            dispute: entry.dispute.map(|dispute| Named::Dispute(dispute).id()),
        };
        (entry.number.to_string(), view)
    });
    Ok(AuditConnection::page(items.collect(), more, size, after.is_some()))
}

/// Somebody of staff who is about to do something: it is written down first.
pub(super) async fn acting(
    ctx: &Context<'_>,
    action: &str,
    dispute: Uuid,
) -> async_graphql::Result<Viewer> {
    let staff = allowed(ctx, STAFF)?;
    app(ctx).database.check()?;
    if app(ctx).disputes.find(dispute).await?.is_some() {
        audit::note(&app(ctx).tables.store, &staff, action, dispute, Some(dispute)).await?;
    }
    Ok(staff)
}

fn once(command_id: Option<Uuid>) -> Once {
    Once { id: command_id, expected: None }
}

/// The number of a remedy as clients write it; one that cannot be is one that does not exist.
fn remedy_number(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// What is done about disputes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DisputeMutation;

/// What is done about disputes.
#[Object]
impl DisputeMutation {
    /// Says that something was wrong with an event of a game that you play or played. An event is disputed once.
    async fn open_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The game.")] game_id: ID,
        #[graphql(desc = "The version of the event.")] version: i32,
        #[graphql(desc = "What was wrong, in 1 to 2,000 characters.")] text: String,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = player(ctx)?;
        let game = self::game_id(&game_id)?;
        app(ctx).database.check()?;
        let (disputes, tables) = (&app(ctx).disputes, &app(ctx).tables);
        let (version, once) = (version.into(), once(command_id));
        let done = disputes.open(tables, &viewer, game, version, &text, once).await;
        DisputePayload::of(&viewer, done)
    }

    /// Writes something about a dispute: its player and staff to each other, or staff among themselves.
    async fn comment_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The text, 1 to 2,000 characters.")] text: String,
        #[graphql(desc = "For staff only.", default)] internal: bool,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let viewer = viewer(ctx)?;
        let id = self::dispute_id(&dispute_id)?;
        let staff = STAFF.contains(&viewer.role);
        if find(ctx, id).await?.is_none() {
            return DisputePayload::of(&viewer, Err(no_dispute()));
        }
        if internal && !staff {
            return Err(super::errors::forbidden(viewer.role, STAFF));
        }
        if staff {
            acting(ctx, "comment_dispute", id).await?;
        }
        let disputes = &app(ctx).disputes;
        let done = disputes.comment(&viewer, id, internal, &text, once(command_id)).await;
        DisputePayload::of(&viewer, done)
    }

    /// Gives a dispute to somebody who sees to it: to you, or to the one you name. For support and admins.
    async fn assign_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "To whom; to you if you do not say.")] to: Option<ID>,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "assign_dispute", id).await?;
        let to = to.as_ref().map_or(Ok(staff.account), player_id)?;
        let account = app(ctx).accounts.find(to).await.map_err(super::errors::account_error)?;
        if !account.is_some_and(|account| STAFF.contains(&account.role)) {
            return Err(bad_input("disputes are seen to by support and admins"));
        }
        let done = app(ctx).disputes.assign(&staff, id, to, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Proposes a remedy. It is carried out in a moment; if it moves much money, a second person must approve it first. `status`
    /// says how far it is, `previewRemedy` what it would do. For support and admins.
    async fn propose_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "What.")] remedy: RemedyInput,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        allowed(ctx, STAFF)?;
        let remedy = remedy.remedy()?;
        let staff = acting(ctx, "propose_remedy", id).await?;
        let app = app(ctx);
        let done = app.disputes.propose(&app.tables, &staff, id, remedy, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Approves a remedy that a colleague proposed; it is carried out in a moment. For support and admins.
    async fn approve_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "approve_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.approve(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Carries out again a remedy that failed, in a moment: something may have changed since. For support and admins.
    async fn retry_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Idempotency key: a retry returns the first result.")] command_id: Option<
            Uuid,
        >,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "retry_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.retry(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Does not agree with a remedy: it is not done. For support and admins.
    async fn decline_remedy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "The number of the remedy.")] number: i32,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "decline_remedy", id).await?;
        let number = remedy_number(number);
        let done = app(ctx).disputes.decline(&staff, id, number, once(command_id)).await;
        DisputePayload::of(&staff, done)
    }

    /// Ends a dispute, with a reason. For support and admins.
    async fn resolve_dispute(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The dispute.")] dispute_id: ID,
        #[graphql(desc = "How.")] reason: DisputeResolution,
        #[graphql(desc = "Your own id of this command: sent again, it is not done again.")]
        command_id: Option<Uuid>,
    ) -> async_graphql::Result<DisputePayload> {
        let id = self::dispute_id(&dispute_id)?;
        let staff = acting(ctx, "resolve_dispute", id).await?;
        let done = app(ctx).disputes.resolve(&staff, id, reason.into(), once(command_id)).await;
        DisputePayload::of(&staff, done)
    }
}
