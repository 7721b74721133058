//! Remedies: preview and application.
//!
//! A remedy is one command to a game or an account ([`command_for`]). A preview runs that command
//! without recording anything; the processor [`Remedies`] executes it. So both follow the same
//! rules.

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    Account, AccountCommand, Command, Dispute, DisputeCommand, DisputeEvent, Event, Game, Remedy,
    Sanction, Stage,
};
use futures_util::{FutureExt, future::BoxFuture};
use store::{
    Loaded, Recorded,
    processor::{CommandHandler, HandlerError},
};
use uuid::Uuid;

use super::execute;
use crate::{
    app::App,
    clock,
    play::{AppError, GameService, ServiceCode, UserError, derived, seat_of},
};

/// The effects a remedy would have.
#[derive(Clone, Debug)]
pub(crate) struct Preview {
    pub(crate) effects: Vec<Effect>,
    /// The total amount it moves, in dollars.
    pub(crate) amount: u64,
    /// Whether a second person must approve it.
    pub(crate) needs_second: bool,
}

/// A change that a remedy would make.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The player affected; `None` for the game itself.
    pub(crate) player: Option<Uuid>,
    pub(crate) what: &'static str,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The command that applies a remedy.
enum RemedyCommand {
    Game(Command),
    Account(Uuid, AccountCommand),
}

fn command_for(dispute: Uuid, remedy: &Remedy) -> RemedyCommand {
    let sanction = |player: Uuid, sanction| {
        RemedyCommand::Account(player, AccountCommand::Sanction { sanction, dispute })
    };
    match remedy {
        Remedy::VoidGame { why } => {
            RemedyCommand::Game(Command::Void { why: *why, dispute: Some(dispute) })
        }
        Remedy::FinishGame { winners } => {
            RemedyCommand::Game(Command::Rule { winners: winners.clone(), dispute: Some(dispute) })
        }
        Remedy::AdjustBalance { player, change } => {
            RemedyCommand::Account(player.0, AccountCommand::Adjust { change: *change, dispute })
        }
        Remedy::Warn { player } => sanction(player.0, Sanction::Warning),
        Remedy::Lift { player } => sanction(player.0, Sanction::Lifted),
        Remedy::Suspend { player, until } => sanction(player.0, Sanction::Suspension(*until)),
        Remedy::Ban { player } => sanction(player.0, Sanction::Ban),
    }
}

/// The effects a remedy would have now; fails if it would be refused.
pub(super) async fn preview(
    games: &GameService,
    id: Uuid,
    dispute: &Dispute,
    remedy: &Remedy,
) -> Result<Preview, AppError> {
    let state = games.store.games.latest(dispute.game.0).await?;
    let game = state.aggregate.as_ref().ok_or_else(UserError::no_such_game)?;
    if let Some(player) = remedy.player()
        && seat_of(game, player.0).is_none()
    {
        let message = "this player did not play the disputed game";
        return Err(UserError::new(ServiceCode::NotSeated, message).at("remedy").into());
    }
    let refused = |error| {
        if let AppError::User(refusal) = error { refusal.at("remedy").into() } else { error }
    };
    match command_for(id, remedy) {
        RemedyCommand::Game(command) => {
            let events = games.dry_run(dispute.game.0, &command).await.map_err(refused)?;
            of_game(games, game, remedy, &events).await
        }
        RemedyCommand::Account(player, command) => {
            let wallet = games.wallets.dry_run(player, &command).await.map_err(refused)?;
            Ok(of_account(player, &wallet, &command))
        }
    }
}

/// The money a game has awarded so far, by player.
pub(super) fn awarded(game: &Game) -> BTreeMap<Uuid, u64> {
    let mut awarded: BTreeMap<Uuid, u64> = BTreeMap::new();
    for seat in &game.table.seats {
        *awarded.entry(seat.player.0).or_default() += u64::from(seat.money);
    }
    awarded
}

/// The money these events award, by player.
fn newly_awarded(game: &Game, events: &[Event]) -> BTreeMap<Uuid, u64> {
    let mut earned: BTreeMap<Uuid, u64> = BTreeMap::new();
    for event in events {
        if let Event::MoneyAwarded { seat, amount, .. } = event
            && let Some(seat) = game.table.seats.get(usize::from(*seat))
        {
            *earned.entry(seat.player.0).or_default() += u64::from(*amount);
        }
    }
    earned
}

async fn of_game(
    games: &GameService,
    game: &Game,
    remedy: &Remedy,
    events: &[Event],
) -> Result<Preview, AppError> {
    let is_over = matches!(game.table.stage, Stage::Ended(_));
    let (after, moved, sign) = if let Remedy::FinishGame { winners } = remedy {
        let seats: Vec<String> = winners.iter().map(ToString::to_string).collect();
        let winners = if seats.is_empty() {
            "nobody wins".to_owned()
        } else {
            format!("won by seat {}", seats.join(" and "))
        };
        (format!("over, {winners}"), newly_awarded(game, events), 1)
    } else {
        ("void: out of statistics, ratings and leaderboards".to_owned(), awarded(game), -1)
    };
    let before = if is_over { "over" } else { "played" }.to_owned();
    let mut effects = vec![Effect { player: None, what: "game", before, after }];
    for (&player, &amount) in moved.iter().filter(|(_, amount)| **amount > 0) {
        let wallet = games.wallets.of(player).await?;
        let balance = wallet.aggregate.as_ref().map_or(0, |account| i64::from(account.balance));
        // A reversal takes at most the current balance.
        let left = (balance + sign * i64::try_from(amount).unwrap_or(i64::MAX)).max(0);
        let (before, after) = (balance.to_string(), left.to_string());
        effects.push(Effect { player: Some(player), what: "balance", before, after });
    }
    Ok(Preview { effects, amount: moved.values().sum(), needs_second: false })
}

fn of_account(player: Uuid, wallet: &Loaded<Account>, command: &AccountCommand) -> Preview {
    let account = wallet.aggregate.clone().unwrap_or_default();
    let (what, before, after, amount) = if let AccountCommand::Adjust { change, .. } = command {
        let balance = i64::from(account.balance);
        let after = balance.saturating_add(*change);
        ("balance", balance.to_string(), after.to_string(), change.unsigned_abs())
    } else {
        let new_sanction = if let AccountCommand::Sanction { sanction, .. } = command {
            Some(*sanction)
        } else {
            account.sanction
        };
        ("account", describe(account.sanction), describe(new_sanction), 0)
    };
    let effect = Effect { player: Some(player), what, before, after };
    Preview { effects: vec![effect], amount, needs_second: false }
}

fn describe(sanction: Option<Sanction>) -> String {
    match sanction {
        None | Some(Sanction::Lifted) => "may play".to_owned(),
        Some(Sanction::Warning) => "may play, warned".to_owned(),
        Some(Sanction::Suspension(until)) => format!("suspended until {}", clock::rfc3339(until)),
        Some(Sanction::Ban) => "banned".to_owned(),
    }
}

/// The processor that applies remedies, each exactly once. The command ids of all steps are derived
/// from the remedy, so that a retry after a crash returns the first result.
#[derive(Debug)]
pub(crate) struct Remedies {
    pub(crate) app: Arc<App>,
}

/// The events that may make a remedy due.
pub(crate) const TYPES: [&str; 3] = ["RemedyProposed", "RemedyApproved", "RemedyRetried"];

impl CommandHandler for Remedies {
    fn handle<'a>(
        &'a self,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Vec<(usize, HandlerError)>> {
        async move {
            let mut failed = Vec::new();
            for (index, recorded) in events.iter().enumerate() {
                if let Some(number) = number_of(&recorded.event)
                    && let Err(error) = self.apply(recorded.stream, number).await
                {
                    failed.push((index, error.into()));
                }
            }
            failed
        }
        .boxed()
    }
}

fn number_of(event: &Event) -> Option<u32> {
    if let Event::Dispute(
        DisputeEvent::RemedyProposed { number, .. }
        | DisputeEvent::RemedyApproved { number, .. }
        | DisputeEvent::RemedyRetried { number, .. },
    ) = event
    {
        Some(*number)
    } else {
        None
    }
}

impl Remedies {
    /// Applies a remedy if it is due, and records success or failure.
    async fn apply(&self, id: Uuid, number: u32) -> Result<(), AppError> {
        let games = &self.app.games;
        let state = games.store.disputes.latest(id).await?;
        let Some(dispute) = &state.aggregate else { return Ok(()) };
        let Some(remedy) = dispute.remedy(number).filter(|remedy| remedy.is_due()) else {
            return Ok(());
        };
        // Depends on the game's secret, so that players cannot guess and use it first.
        let purpose = [b"remedy".as_slice(), id.as_bytes(), &number.to_be_bytes()].concat();
        let command = games.system_command_id(dispute.game.0, &purpose).await?;
        let result = self.execute(id, dispute, &remedy.remedy, remedy.by.0, command).await;
        let (ended, step) = match result {
            Ok(()) => (DisputeCommand::Applied { number }, derived(command, b"applied")),
            Err(AppError::User(refusal)) => {
                let step = [b"failed".as_slice(), &remedy.retries.to_be_bytes()].concat();
                let reason = refusal.message.clone();
                (DisputeCommand::Failed { number, reason }, derived(command, &step))
            }
            // Retried by the processor.
            Err(AppError::Busy) => {
                return Err(AppError::Unavailable("the account or the game is busy".to_owned()));
            }
            Err(error) => return Err(error),
        };
        execute(&games.store, id, &ended, Uuid::nil(), step).await?;
        Ok(())
    }

    /// Executes the command of a remedy. The actor is always who proposed it, so that a retry is
    /// the same command.
    async fn execute(
        &self,
        id: Uuid,
        dispute: &Dispute,
        remedy: &Remedy,
        author: Uuid,
        command: Uuid,
    ) -> Result<(), AppError> {
        let games = &self.app.games;
        match command_for(id, remedy) {
            RemedyCommand::Game(game_command) => {
                games.execute(dispute.game.0, &game_command, command, author, None).await?;
            }
            RemedyCommand::Account(player, account_command) => {
                games.wallets.remedy(player, &account_command, command, author).await?;
            }
        }
        if let Remedy::Suspend { player, .. } | Remedy::Ban { player } = remedy {
            // Suspended and banned players are signed out everywhere.
            let ended = self.app.accounts.revoke_all(player.0).await;
            ended.map_err(|error| AppError::Unavailable(error.to_string()))?;
        }
        Ok(())
    }
}
