//! Disputes, as those see them who may.

use async_graphql::{Context, Enum, ID, Object, SimpleObject};
use domain::Resolution;
use uuid::Uuid;

use super::{
    allowed, app,
    connection::{DisputeConnection, page_size},
    errors::bad_input,
    game::GameView,
    ids::Named,
    player::Player,
    remedy::RemedyView,
    scalars::{Instant, int},
    viewer,
};
use crate::{
    accounts::{Role, Viewer},
    disputes::{Found, Text, Wanted, audit},
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

impl DisputeView {
    pub(super) fn new(found: Found, viewer: &Viewer) -> Self {
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
