//! Disputes: what players say was wrong, and what is done about it.
//!
//! A dispute is a stream whose id follows from the game and the version, so an event is disputed once. A remedy is proposed and, if
//! it moves much money, approved by a second person. The processor [`Remedies`] then carries it out and records how it ended.

pub(crate) mod audit;
pub(crate) mod index;
mod remedy;
mod texts;

use domain::{
    Dispute, DisputeCommand, DisputeEvent, Event, GameId, PlayerId, RejectionCode, Remedy,
    Resolution, same_remedy,
};
use sha2::{Digest, Sha256};
use sqlx::{PgPool, Row};
use store::{Executed, Hash, Loaded, Request, Store};
use uuid::Uuid;

pub(crate) use remedy::{Effect, Preview, Remedies, TYPES as REMEDY_TYPES};
pub(crate) use texts::Text;

use crate::{
    accounts::Viewer,
    clock,
    play::{Once, PlayError, Refusal, ServiceCode, Tables, derived},
};

/// The longest text, in characters.
pub(crate) const LONGEST: usize = 2_000;

/// All disputes of this house.
#[derive(Debug)]
pub(crate) struct Disputes {
    store: Store,
    /// Above so many dollars, somebody else must agree.
    limit: u32,
}

/// A dispute as it is now.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) dispute: Dispute,
}

/// A dispute in a list, with its place.
pub(crate) type Listed = ((i64, Uuid), Found);

/// Which disputes to list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Only those of this player.
    pub(crate) player: Option<Uuid>,
    /// Only those that are resolved, or are not.
    pub(crate) resolved: Option<bool>,
    /// Only those that this one sees to.
    pub(crate) assignee: Option<Uuid>,
    /// After this place: when it was opened, and which.
    pub(crate) after: Option<(i64, Uuid)>,
    pub(crate) most: i64,
}

/// The dispute of an event.
pub(crate) fn dispute_of(game: Uuid, version: u64) -> Uuid {
    derived(game, &[b"dispute".as_slice(), &version.to_be_bytes()].concat())
}

impl Disputes {
    pub(crate) fn new(store: Store, limit: u32) -> Self {
        Self { store, limit }
    }

    /// Refuses to make a game void by one person's decision that awarded too much for that.
    pub(crate) async fn check_void_limit(&self, game: Uuid) -> Result<(), PlayError> {
        let state = self.store.games.fresh(game).await?;
        let awarded = state.now.as_ref().map(remedy::awarded).unwrap_or_default();
        let awarded: u64 = awarded.values().sum();
        if awarded <= u64::from(self.limit) {
            return Ok(());
        }
        let message = format!(
            "this game awarded ${awarded}: above ${} a second person must agree, by proposeRemedy and approveRemedy",
            self.limit
        );
        Err(Refusal::new(RejectionCode::SecondPersonNeeded, message).into())
    }

    fn pool(&self) -> &PgPool {
        self.store.pool()
    }

    /// A player disputes an event of a game they sit or sat at.
    pub(crate) async fn open(
        &self,
        tables: &Tables,
        player: &Viewer,
        game: Uuid,
        version: i64,
        text: &str,
        once: Once,
    ) -> Result<Found, PlayError> {
        let text = lawful(text)?;
        tables.seat_of(player, game).await?;
        let state = self.store.games.fresh(game).await?;
        if !(1..=state.head.version).contains(&version) {
            let last = state.head.version;
            let message = format!("version must be from 1 to {last}");
            return Err(Refusal::new(ServiceCode::NoSuchVersion, message).at("version").into());
        }
        let version = u64::try_from(version).unwrap_or(0);
        let id = dispute_of(game, version);
        let who = PlayerId(player.account);
        let command = DisputeCommand::Open { game: GameId(game), version, player: who };
        let state = match self.tell(id, &command, player.account, once).await {
            Ok(opened) => opened.state,
            Err(PlayError::Refused(refusal)) => {
                // Who opened it and lost the answer before the text was kept says it again.
                let state = self.store.disputes.fresh(id).await?;
                let own = state.now.as_ref().is_some_and(|dispute| dispute.player == who);
                if !own || !texts::of(self.pool(), id).await?.is_empty() {
                    return Err(refusal.into());
                }
                state
            }
            Err(error) => return Err(error),
        };
        texts::write(self.pool(), id, 0, player.account, false, text).await?;
        metrics::counter!("croupier_disputes_opened").increment(1);
        found(id, &state)
    }

    /// A dispute by its id.
    pub(crate) async fn find(&self, id: Uuid) -> Result<Option<Found>, PlayError> {
        let state = self.store.disputes.fresh(id).await?;
        Ok(state.now.clone().map(|dispute| Found { id, dispute }))
    }

    /// Disputes, the oldest first, with the place of each; and whether there are more after them.
    pub(crate) async fn list(&self, wanted: Wanted) -> Result<(Vec<Listed>, bool), PlayError> {
        const LIST: &str = "
SELECT opened_at, dispute FROM dispute_index
 WHERE generation = (SELECT generation FROM processor WHERE name = 'dispute_index' AND state = 'live')
   AND (opened_at, dispute) > ($1, $2) AND ($3::uuid IS NULL OR player = $3) AND ($4::boolean IS NULL OR resolved = $4)
   AND ($5::uuid IS NULL OR assignee = $5)
 ORDER BY opened_at, dispute LIMIT $6";
        let (at, id) = wanted.after.unwrap_or((i64::MIN, Uuid::nil()));
        let query = sqlx::query(LIST).bind(at).bind(id).bind(wanted.player).bind(wanted.resolved);
        let query = query.bind(wanted.assignee).bind(wanted.most + 1);
        let rows = query.fetch_all(self.pool()).await?;
        let most = usize::try_from(wanted.most).unwrap_or(usize::MAX);
        let more = rows.len() > most;
        let mut places = Vec::with_capacity(rows.len());
        for row in rows.iter().take(most) {
            places.push((row.try_get::<i64, _>(0)?, row.try_get::<Uuid, _>(1)?));
        }
        let ids: Vec<Uuid> = places.iter().map(|(_, id)| *id).collect();
        let mut states = self.store.disputes.fresh_all(&ids).await?;
        let found = places.into_iter().filter_map(|(at, id)| {
            let dispute = states.remove(&id)?.now.clone()?;
            Some(((at, id), Found { id, dispute }))
        });
        Ok((found.collect(), more))
    }

    /// What was written about a dispute, in order.
    pub(crate) async fn texts(&self, id: Uuid) -> Result<Vec<Text>, PlayError> {
        Ok(texts::of(self.pool(), id).await?)
    }

    pub(crate) async fn assign(
        &self,
        staff: &Viewer,
        id: Uuid,
        to: Uuid,
        once: Once,
    ) -> Result<Found, PlayError> {
        let command = DisputeCommand::Assign { to: PlayerId(to) };
        let done = self.tell(id, &command, staff.account, once).await?;
        found(id, &done.state)
    }

    /// Somebody writes something: to everybody who sees the dispute, or to staff only.
    pub(crate) async fn comment(
        &self,
        author: &Viewer,
        id: Uuid,
        internal: bool,
        text: &str,
        once: Once,
    ) -> Result<Found, PlayError> {
        let text = lawful(text)?;
        let hash = Hash(Sha256::digest(text.as_bytes()).into()).to_string();
        let command = DisputeCommand::Comment { internal, hash };
        let done = self.tell(id, &command, author.account, once).await?;
        let number = number_of(&done.events);
        let number =
            number.ok_or_else(|| PlayError::Fault("a comment without a number".to_owned()))?;
        texts::write(self.pool(), id, number, author.account, internal, text).await?;
        found(id, &done.state)
    }

    /// Proposes a remedy. It is carried out soon, unless it moves so much money that a second person must approve it.
    pub(crate) async fn propose(
        &self,
        tables: &Tables,
        staff: &Viewer,
        id: Uuid,
        remedy: Remedy,
        once: Once,
    ) -> Result<Found, PlayError> {
        let known = self.find(id).await?.ok_or_else(no_dispute)?;
        if let Some(command) = once.id
            && self.was_proposed(id, command, staff, &remedy).await?
        {
            return Ok(known);
        }
        // What cannot be done is not proposed.
        let preview = remedy::preview(tables, id, &known.dispute, &remedy).await?;
        let by = PlayerId(staff.account);
        let command =
            DisputeCommand::Propose { remedy, by, amount: preview.amount, limit: self.limit };
        let done = self.tell(id, &command, staff.account, once).await?;
        found(id, &done.state)
    }

    /// Whether this remedy was proposed under this id before. The same id for another one is refused.
    async fn was_proposed(
        &self,
        id: Uuid,
        command: Uuid,
        staff: &Viewer,
        remedy: &Remedy,
    ) -> Result<bool, PlayError> {
        let Some(receipt) = self.store.receipt(id, asked(command)).await? else {
            return Ok(false);
        };
        let same = receipt.events.iter().any(|event| {
            matches!(event, Event::Dispute(DisputeEvent::RemedyProposed { remedy: first, by, .. })
                if same_remedy(first, remedy) && by.0 == staff.account)
        });
        if same { Ok(true) } else { Err(Refusal::command_reused().into()) }
    }

    /// A second person approves a remedy; it is carried out soon.
    pub(crate) async fn approve(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        once: Once,
    ) -> Result<Found, PlayError> {
        let command = DisputeCommand::Approve { number, by: PlayerId(staff.account) };
        let done = self.tell(id, &command, staff.account, once).await?;
        found(id, &done.state)
    }

    /// A remedy that failed is carried out again, soon.
    pub(crate) async fn retry(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        once: Once,
    ) -> Result<Found, PlayError> {
        let command = DisputeCommand::Retry { number, by: PlayerId(staff.account) };
        let done = self.tell(id, &command, staff.account, once).await?;
        found(id, &done.state)
    }

    pub(crate) async fn decline(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        once: Once,
    ) -> Result<Found, PlayError> {
        let command = DisputeCommand::Decline { number, by: PlayerId(staff.account) };
        let done = self.tell(id, &command, staff.account, once).await?;
        found(id, &done.state)
    }

    pub(crate) async fn resolve(
        &self,
        staff: &Viewer,
        id: Uuid,
        how: Resolution,
        once: Once,
    ) -> Result<Found, PlayError> {
        let done = self.tell(id, &DisputeCommand::Resolve { how }, staff.account, once).await?;
        found(id, &done.state)
    }

    /// What a remedy would do.
    pub(crate) async fn preview(
        &self,
        tables: &Tables,
        id: Uuid,
        remedy: &Remedy,
    ) -> Result<Preview, PlayError> {
        let known = self.find(id).await?.ok_or_else(no_dispute)?;
        let preview = remedy::preview(tables, id, &known.dispute, remedy).await?;
        Ok(Preview { needs_second: preview.amount > u64::from(self.limit), ..preview })
    }

    /// What somebody asks. Their ids are derived, so nobody can use up one of the house.
    async fn tell(
        &self,
        id: Uuid,
        command: &DisputeCommand,
        actor: Uuid,
        once: Once,
    ) -> Result<Executed<Dispute>, PlayError> {
        let asked = once.id.map_or_else(Uuid::now_v7, asked);
        self.execute(id, command, actor, asked).await
    }

    async fn execute(
        &self,
        stream: Uuid,
        command: &DisputeCommand,
        actor: Uuid,
        id: Uuid,
    ) -> Result<Executed<Dispute>, PlayError> {
        execute(&self.store, stream, command, actor, id).await
    }
}

/// Records a command about a dispute, once.
async fn execute(
    store: &Store,
    stream: Uuid,
    command: &DisputeCommand,
    actor: Uuid,
    id: Uuid,
) -> Result<Executed<Dispute>, PlayError> {
    let (now, context, expected) = (clock::now(), (), None);
    let request = Request::<Dispute> { stream, command, id, actor, now, context, expected };
    Ok(store.execute(&request).await?)
}

/// The number of the comment that these events are about.
fn number_of(events: &[Event]) -> Option<u32> {
    events.iter().find_map(|event| {
        let Event::Dispute(DisputeEvent::DisputeCommented { number, .. }) = event else {
            return None;
        };
        Some(*number)
    })
}

/// The id under which a command of somebody's is known.
fn asked(command_id: Uuid) -> Uuid {
    derived(command_id, b"asked about a dispute")
}

fn found(id: Uuid, state: &Loaded<Dispute>) -> Result<Found, PlayError> {
    let dispute = state.now.clone().ok_or_else(no_dispute)?;
    Ok(Found { id, dispute })
}

pub(crate) fn no_dispute() -> PlayError {
    Refusal::from(domain::Rejection::NoSuchDispute).at("disputeId").into()
}

/// A text somebody wrote: not empty, not too long, nothing that cannot be stored.
fn lawful(text: &str) -> Result<&str, PlayError> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=LONGEST).contains(&length) && !text.contains('\0') {
        return Ok(text);
    }
    let message = format!("a text has 1 to {LONGEST} characters, this one has {length}");
    Err(Refusal::new(ServiceCode::BadText, message).at("text").into())
}
