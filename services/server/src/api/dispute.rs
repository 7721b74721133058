//! Disputes.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};
use domain::Resolution;
use uuid::Uuid;

use super::{
    allowed, app,
    connection::{DisputeConnection, PageArguments},
    errors::bad_input,
    game::GameView,
    ids::Named,
    player::Player,
    remedy::RemedyView,
    scalars::{DateTime, int},
    viewer, viewer_if_any,
};
use crate::{
    accounts::{Role, Viewer},
    disputes::{DisputeFilter, Found, Page, Text, audit},
};

/// The roles that handle disputes.
pub(super) const STAFF: &[Role] = &[Role::Support, Role::Admin];

/// A dispute: a complaint of a player about an event of a game.
#[derive(Clone, Debug)]
pub(super) struct DisputeView {
    found: Found,
    staff: bool,
}

/// How a dispute was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Resolution")]
pub(super) enum DisputeResolution {
    /// There was a malfunction, and it was fixed.
    Malfunction,
    /// A player cheated.
    Cheating,
    /// Players colluded.
    Collusion,
    /// Staff made a mistake.
    Mistake,
    /// Nothing was wrong; the event was explained.
    Explained,
    /// The complaint is unfounded.
    Unfounded,
}

/// A comment on a dispute.
#[derive(Clone, Debug, SimpleObject)]
struct DisputeComment {
    /// The number; 0 is the text of the complaint.
    number: i32,
    /// The author.
    author: Player,
    /// When it was written.
    at: DateTime,
    /// Whether it is visible to staff only.
    internal: bool,
    /// The text. Empty if the author's account was erased.
    text: String,
}

impl DisputeView {
    pub(super) fn new(found: Found, viewer: &Viewer) -> Self {
        Self { found, staff: STAFF.contains(&viewer.role) }
    }
}

/// A dispute: a complaint of a player about an event of a game.
#[Object(name = "Dispute")]
impl DisputeView {
    /// The global id.
    pub(super) async fn id(&self) -> ID {
        Named::Dispute(self.found.id).id()
    }

    /// The game.
    async fn game(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<GameView>> {
        let viewer = viewer(ctx)?;
        Ok(GameView::find(app(ctx), Some(viewer), self.found.dispute.game.0, None).await?)
    }

    /// The version of the disputed event.
    async fn version(&self) -> i32 {
        int(self.found.dispute.version)
    }

    /// The player who opened the dispute.
    async fn player(&self) -> Player {
        Player::new(self.found.dispute.player.0)
    }

    /// The member of staff who handles the dispute. Visible to support and admins only.
    async fn assignee(&self) -> Option<Player> {
        let assignee = self.found.dispute.assignee.filter(|_| self.staff);
        assignee.map(|staff| Player::new(staff.0))
    }

    /// How the dispute was resolved. Null before that.
    async fn resolution(&self) -> Option<DisputeResolution> {
        self.found.dispute.resolution.map(Into::into)
    }

    /// The comments, in order. Internal ones are visible to support and admins only.
    async fn comments(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<DisputeComment>> {
        let texts = app(ctx).disputes.texts(self.found.id).await?.into_iter();
        let view = |text: Text| DisputeComment {
            number: text.number,
            author: Player::new(text.author),
            at: DateTime(text.at),
            internal: text.internal,
            text: text.said,
        };
        Ok(texts.filter(|text| self.staff || !text.internal).map(view).collect())
    }

    /// The remedies. Players see only applied remedies that concern themselves or the game.
    async fn remedies(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RemedyView>> {
        let viewer = viewer(ctx)?;
        let states = self.found.dispute.remedies.iter().enumerate();
        let visible = states.filter(|(_, state)| {
            let player = state.remedy.player().map(|player| player.0);
            self.staff || (state.applied && player.is_none_or(|player| player == viewer.account))
        });
        Ok(visible.map(|(index, state)| RemedyView::of(index + 1, state)).collect())
    }
}

/// Parses the id of a dispute.
pub(super) fn dispute_id(id: &ID) -> async_graphql::Result<Uuid> {
    match super::ids::named(id) {
        Ok(Named::Dispute(dispute)) => Ok(dispute),
        _ => Err(bad_input("not a valid dispute id; expected dispute:UUID, as in Dispute.id")),
    }
}

/// A dispute that the viewer may see: one's own, or any for staff.
pub(super) async fn find(
    ctx: &Context<'_>,
    id: Uuid,
) -> async_graphql::Result<Option<DisputeView>> {
    let viewer = viewer(ctx)?;
    app(ctx).database.check()?;
    let found = app(ctx).disputes.find(id).await?;
    let own = |found: &Found| found.dispute.player.0 == viewer.account;
    let visible = found.filter(|found| own(found) || STAFF.contains(&viewer.role));
    Ok(visible.map(|found| DisputeView::new(found, &viewer)))
}

/// The same, but `None` instead of an error without a token.
pub(super) async fn visible(
    ctx: &Context<'_>,
    id: Option<Uuid>,
) -> async_graphql::Result<Option<DisputeView>> {
    match (id, viewer_if_any(ctx)) {
        (Some(id), Some(_)) => find(ctx, id).await,
        _ => Ok(None),
    }
}

/// A page of disputes, oldest first.
pub(super) async fn list(
    ctx: &Context<'_>,
    viewer: Viewer,
    filter: DisputeFilter,
    arguments: PageArguments,
) -> async_graphql::Result<DisputeConnection> {
    app(ctx).database.check()?;
    let request = arguments.request(ctx)?;
    let cursor = request.position(|cursor| {
        let (at, id) = cursor.split_once('.')?;
        Some((at.parse().ok()?, Uuid::try_parse(id).ok()?))
    })?;
    let page = Page { cursor, backward: request.backward, limit: request.limit() };
    let (found, more) = request.trim(app(ctx).disputes.list(&filter, page).await?);
    let total = if request.counts { app(ctx).disputes.count(&filter).await? } else { 0 };
    let items = found
        .into_iter()
        .map(|((at, id), found)| (format!("{at}.{id}"), DisputeView::new(found, &viewer)));
    Ok(DisputeConnection::page(&request, items.collect(), more, total))
}

/// The member of staff who is about to act; the action is recorded in the audit log first.
pub(super) async fn acting(
    ctx: &Context<'_>,
    action: &str,
    dispute: Uuid,
) -> async_graphql::Result<Viewer> {
    let staff = allowed(ctx, STAFF)?;
    app(ctx).database.check()?;
    if app(ctx).disputes.find(dispute).await?.is_some() {
        audit::record(&app(ctx).games.store, &staff, action, dispute, Some(dispute)).await?;
    }
    Ok(staff)
}
