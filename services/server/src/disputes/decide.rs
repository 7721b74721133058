//! Proposing, approving, declining and retrying remedies. The processor applies them.

use domain::{DisputeCommand, DisputeEvent, Event, PlayerId, RejectionCode, Remedy, same_remedy};
use uuid::Uuid;

use super::{Disputes, Found, Preview, client_command_id, found, no_dispute, remedy};
use crate::{
    accounts::Viewer,
    play::{AppError, GameService, Idempotency, UserError},
};

impl Disputes {
    /// Proposes a remedy. It is applied soon, unless the amount requires approval by a second
    /// person.
    pub(crate) async fn propose(
        &self,
        games: &GameService,
        staff: &Viewer,
        id: Uuid,
        remedy: Remedy,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let known = self.find(id).await?.ok_or_else(no_dispute)?;
        if let Some(command) = idempotency.id
            && self.was_proposed(id, command, staff, &remedy).await?
        {
            return Ok(known);
        }
        // Fails if the remedy cannot be applied.
        let preview = remedy::preview(games, id, &known.dispute, &remedy).await?;
        let by = PlayerId(staff.account);
        let command =
            DisputeCommand::Propose { remedy, by, amount: preview.amount, limit: self.limit };
        let executed = self.execute_for(id, &command, staff.account, idempotency).await?;
        found(id, &executed.state)
    }

    /// Whether this remedy was already proposed with this command id. Fails if the id was used for
    /// another one.
    async fn was_proposed(
        &self,
        id: Uuid,
        command: Uuid,
        staff: &Viewer,
        remedy: &Remedy,
    ) -> Result<bool, AppError> {
        let Some(receipt) = self.store.receipt(id, client_command_id(command)).await? else {
            return Ok(false);
        };
        let same = receipt.events.iter().any(|event| {
            matches!(event, Event::Dispute(DisputeEvent::RemedyProposed { remedy: first, by, .. })
                if same_remedy(first, remedy) && by.0 == staff.account)
        });
        if same { Ok(true) } else { Err(UserError::command_reused().into()) }
    }

    /// Approves a remedy as the second person; it is applied soon.
    pub(crate) async fn approve(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let command = DisputeCommand::Approve { number, by: PlayerId(staff.account) };
        let executed = self.execute_for(id, &command, staff.account, idempotency).await?;
        found(id, &executed.state)
    }

    /// Retries a failed remedy.
    pub(crate) async fn retry(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let command = DisputeCommand::Retry { number, by: PlayerId(staff.account) };
        let executed = self.execute_for(id, &command, staff.account, idempotency).await?;
        found(id, &executed.state)
    }

    pub(crate) async fn decline(
        &self,
        staff: &Viewer,
        id: Uuid,
        number: u32,
        idempotency: Idempotency,
    ) -> Result<Found, AppError> {
        let command = DisputeCommand::Decline { number, by: PlayerId(staff.account) };
        let executed = self.execute_for(id, &command, staff.account, idempotency).await?;
        found(id, &executed.state)
    }

    /// The effects a remedy would have.
    pub(crate) async fn preview(
        &self,
        games: &GameService,
        id: Uuid,
        remedy: &Remedy,
    ) -> Result<Preview, AppError> {
        let known = self.find(id).await?.ok_or_else(no_dispute)?;
        let preview = remedy::preview(games, id, &known.dispute, remedy).await?;
        Ok(Preview { needs_second: preview.amount > u64::from(self.limit), ..preview })
    }

    /// Fails if the game awarded too much money to be voided by one person.
    pub(crate) async fn check_void_limit(&self, game: Uuid) -> Result<(), AppError> {
        let state = self.store.games.latest(game).await?;
        let awarded = state.aggregate.as_ref().map(remedy::awarded).unwrap_or_default();
        let awarded: u64 = awarded.values().sum();
        if awarded <= u64::from(self.limit) {
            return Ok(());
        }
        let message = format!(
            "this game awarded ${awarded}: above ${} a second person must approve; use \
             proposeRemedy and approveRemedy",
            self.limit
        );
        Err(UserError::new(RejectionCode::SecondPersonNeeded, message).into())
    }
}
