//! Opening, assigning, commenting and resolving disputes.

use domain::{DisputeCommand, DisputeEvent, Event, GameId, PlayerId, Resolution};
use sha2::{Digest, Sha256};
use store::Hash;
use uuid::Uuid;

use super::{Disputes, Found, dispute_of, found, texts};
use crate::{
    accounts::Viewer,
    play::{AppError, GameService, Idempotency, ServiceCode, UserError},
};

/// The longest text.
const MAX_CHARS: usize = 2_000;

impl Disputes {
    /// Opens a dispute about an event of a game in which the player has or had a seat.
    pub(crate) async fn open(
        &self,
        games: &GameService,
        player: &Viewer,
        game: Uuid,
        version: i64,
        text: &str,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let text = check_text(text)?;
        games.seat_of(player, game).await?;
        let state = self.store.games.latest(game).await?;
        if !(1..=state.head.version).contains(&version) {
            let last = state.head.version;
            let message = format!("version must be from 1 to {last}");
            return Err(UserError::new(ServiceCode::NoSuchVersion, message).at("version").into());
        }
        let version = u64::try_from(version).unwrap_or(0);
        let id = dispute_of(game, version);
        let who = PlayerId(player.account);
        let command = DisputeCommand::Open { game: GameId(game), version, player: who };
        let state = match self.execute_for(id, &command, player.account, idempotency).await {
            Ok(opened) => opened.state,
            Err(AppError::User(refusal)) => {
                // After a crash the dispute may exist without its text: a retry adds it.
                let state = self.store.disputes.latest(id).await?;
                let own = state.aggregate.as_ref().is_some_and(|dispute| dispute.player == who);
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

    pub(crate) async fn assign(
        &self,
        staff: &Viewer,
        id: Uuid,
        to: Uuid,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let command = DisputeCommand::Assign { to: PlayerId(to) };
        let executed = self.execute_for(id, &command, staff.account, idempotency).await?;
        found(id, &executed.state)
    }

    /// Adds a comment, for everybody who can see the dispute or only for staff.
    pub(crate) async fn comment(
        &self,
        author: &Viewer,
        id: Uuid,
        internal: bool,
        text: &str,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let text = check_text(text)?;
        let hash = Hash(Sha256::digest(text.as_bytes()).into()).to_string();
        let command = DisputeCommand::Comment { internal, hash };
        let executed = self.execute_for(id, &command, author.account, idempotency).await?;
        let number = number_of(&executed.events);
        let number =
            number.ok_or_else(|| AppError::Fault("the comment has no number".to_owned()))?;
        texts::write(self.pool(), id, number, author.account, internal, text).await?;
        found(id, &executed.state)
    }

    pub(crate) async fn resolve(
        &self,
        staff: &Viewer,
        id: Uuid,
        how: Resolution,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let executed = self
            .execute_for(id, &DisputeCommand::Resolve { how }, staff.account, idempotency)
            .await?;
        found(id, &executed.state)
    }
}

fn number_of(events: &[Event]) -> Option<u32> {
    events.iter().find_map(|event| {
        let Event::Dispute(DisputeEvent::DisputeCommented { number, .. }) = event else {
            return None;
        };
        Some(*number)
    })
}

/// Trims and checks a text; PostgreSQL cannot store NUL.
fn check_text(text: &str) -> Result<&str, AppError> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=MAX_CHARS).contains(&length) && !text.contains('\0') {
        return Ok(text);
    }
    let message = format!("a text must have 1 to {MAX_CHARS} characters; this one has {length}");
    Err(UserError::new(ServiceCode::BadText, message).at("text").into())
}
