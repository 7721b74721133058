//! Remedies: what one would do, and carrying it out.
//!
//! A remedy is one command to a game or an account ([`deed`]). A preview tries that command without recording anything; the
//! processor [`Remedies`] executes it. So what a preview says and what is done are decided by the same rules.

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
    play::{PlayError, Refusal, ServiceCode, Tables, derived, seat_of},
};

/// What a remedy would do.
#[derive(Clone, Debug)]
pub(crate) struct Preview {
    /// In words, a line for each thing that changes.
    pub(crate) effects: Vec<Effect>,
    /// How much money it moves, in dollars.
    pub(crate) amount: u64,
    /// Whether a second person must approve it.
    pub(crate) needs_second: bool,
}

/// Something that would change.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// Whose it is, if it is somebody's.
    pub(crate) player: Option<Uuid>,
    pub(crate) what: &'static str,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The command that carries a remedy out.
enum Deed {
    Game(Command),
    Account(Uuid, AccountCommand),
}

fn deed(dispute: Uuid, remedy: &Remedy) -> Deed {
    let sanction = |player: Uuid, sanction| {
        Deed::Account(player, AccountCommand::Sanction { sanction, dispute })
    };
    match remedy {
        Remedy::VoidGame { why } => Deed::Game(Command::Void { why: *why, dispute: Some(dispute) }),
        Remedy::FinishGame { winners } => {
            Deed::Game(Command::Rule { winners: winners.clone(), dispute: Some(dispute) })
        }
        Remedy::AdjustBalance { player, change } => {
            Deed::Account(player.0, AccountCommand::Adjust { change: *change, dispute })
        }
        Remedy::Warn { player } => sanction(player.0, Sanction::Warning),
        Remedy::Lift { player } => sanction(player.0, Sanction::Lifted),
        Remedy::Suspend { player, until } => sanction(player.0, Sanction::Suspension(*until)),
        Remedy::Ban { player } => sanction(player.0, Sanction::Ban),
    }
}

/// What a remedy would do now; what would be refused is refused.
pub(super) async fn preview(
    tables: &Tables,
    id: Uuid,
    dispute: &Dispute,
    remedy: &Remedy,
) -> Result<Preview, PlayError> {
    let state = tables.store.games.fresh(dispute.game.0).await?;
    let game = state.now.as_ref().ok_or_else(Refusal::no_such_game)?;
    if let Some(player) = remedy.player()
        && seat_of(game, player.0).is_none()
    {
        let message = "this player did not play the disputed game";
        return Err(Refusal::new(ServiceCode::NotSeated, message).at("remedy").into());
    }
    let refused = |error| {
        if let PlayError::Refused(refusal) = error { refusal.at("remedy").into() } else { error }
    };
    match deed(id, remedy) {
        Deed::Game(command) => {
            let events = tables.dry_run(dispute.game.0, &command).await.map_err(refused)?;
            of_game(tables, game, remedy, &events).await
        }
        Deed::Account(player, command) => {
            let wallet = tables.wallets.dry_run(player, &command).await.map_err(refused)?;
            Ok(of_account(player, &wallet, &command))
        }
    }
}

/// What a game awarded so far, by player.
pub(super) fn awarded(game: &Game) -> BTreeMap<Uuid, u64> {
    let mut awarded: BTreeMap<Uuid, u64> = BTreeMap::new();
    for seat in &game.table.seats {
        *awarded.entry(seat.player.0).or_default() += u64::from(seat.money);
    }
    awarded
}

/// What these events awarded, by player.
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
    tables: &Tables,
    game: &Game,
    remedy: &Remedy,
    events: &[Event],
) -> Result<Preview, PlayError> {
    let over = matches!(game.table.stage, Stage::Ended(_));
    let (after, moved, sign) = if let Remedy::FinishGame { winners } = remedy {
        let seats: Vec<String> = winners.iter().map(ToString::to_string).collect();
        let won = if seats.is_empty() {
            "nobody wins".to_owned()
        } else {
            format!("won by seat {}", seats.join(" and "))
        };
        (format!("over, {won}"), newly_awarded(game, events), 1)
    } else {
        ("void: out of statistics, ratings and leaderboards".to_owned(), awarded(game), -1)
    };
    let before = if over { "over" } else { "played" }.to_owned();
    let mut effects = vec![Effect { player: None, what: "game", before, after }];
    for (&player, &amount) in moved.iter().filter(|(_, amount)| **amount > 0) {
        let wallet = tables.wallets.of(player).await?;
        let balance = wallet.now.as_ref().map_or(0, |account| i64::from(account.balance));
        // What was awarded is taken back as far as it is there.
        let left = (balance + sign * i64::try_from(amount).unwrap_or(i64::MAX)).max(0);
        let (before, after) = (balance.to_string(), left.to_string());
        effects.push(Effect { player: Some(player), what: "balance", before, after });
    }
    Ok(Preview { effects, amount: moved.values().sum(), needs_second: false })
}

fn of_account(player: Uuid, wallet: &Loaded<Account>, command: &AccountCommand) -> Preview {
    let account = wallet.now.clone().unwrap_or_default();
    let (what, before, after, amount) = if let AccountCommand::Adjust { change, .. } = command {
        let balance = i64::from(account.balance);
        let after = balance.saturating_add(*change);
        ("balance", balance.to_string(), after.to_string(), change.unsigned_abs())
    } else {
        let new = if let AccountCommand::Sanction { sanction, .. } = command {
            Some(*sanction)
        } else {
            account.sanction
        };
        ("account", sanctioned(account.sanction), sanctioned(new), 0)
    };
    let effect = Effect { player: Some(player), what, before, after };
    Preview { effects: vec![effect], amount, needs_second: false }
}

fn sanctioned(sanction: Option<Sanction>) -> String {
    match sanction {
        None | Some(Sanction::Lifted) => "may play".to_owned(),
        Some(Sanction::Warning) => "may play, warned".to_owned(),
        Some(Sanction::Suspension(until)) => format!("suspended until {}", clock::written(until)),
        Some(Sanction::Ban) => "banned".to_owned(),
    }
}

/// The processor that carries remedies out: each once, and each to an end, whatever is killed in between. Every step has an id that
/// follows from the remedy, so that doing it again is answered as it was the first time.
#[derive(Debug)]
pub(crate) struct Remedies {
    pub(crate) app: Arc<App>,
}

/// What makes a remedy due.
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
                    && let Err(error) = self.carry_out(recorded.stream, number).await
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
    /// Carries a remedy out, if it is due, and records that it was applied, or why it failed.
    async fn carry_out(&self, id: Uuid, number: u32) -> Result<(), PlayError> {
        let tables = &self.app.tables;
        let state = tables.store.disputes.fresh(id).await?;
        let Some(dispute) = &state.now else { return Ok(()) };
        let Some(remedy) = dispute.remedy(number).filter(|remedy| remedy.is_due()) else {
            return Ok(());
        };
        // Nobody can guess it who does not know the game's secret, so no player can use it up.
        let what = [b"remedy".as_slice(), id.as_bytes(), &number.to_be_bytes()].concat();
        let command = tables.house_id(dispute.game.0, &what).await?;
        let done = self.execute(id, dispute, &remedy.remedy, remedy.by.0, command).await;
        let (ended, step) = match done {
            Ok(()) => (DisputeCommand::Applied { number }, derived(command, b"applied")),
            Err(PlayError::Refused(refusal)) => {
                let step = [b"failed".as_slice(), &remedy.retries.to_be_bytes()].concat();
                let reason = refusal.message.clone();
                (DisputeCommand::Failed { number, reason }, derived(command, &step))
            }
            // An account or a game that is busy now is tried again at once.
            Err(PlayError::Busy) => return Err(PlayError::Unavailable("it is busy".to_owned())),
            Err(error) => return Err(error),
        };
        execute(&tables.store, id, &ended, Uuid::nil(), step).await?;
        Ok(())
    }

    /// In the name of who proposed it: always the same one, so that it is always the same command.
    async fn execute(
        &self,
        id: Uuid,
        dispute: &Dispute,
        remedy: &Remedy,
        author: Uuid,
        command: Uuid,
    ) -> Result<(), PlayError> {
        let tables = &self.app.tables;
        match deed(id, remedy) {
            Deed::Game(deed) => {
                tables.execute(dispute.game.0, &deed, command, author, None).await?;
            }
            Deed::Account(player, deed) => {
                tables.wallets.remedy(player, &deed, command, author).await?;
            }
        }
        if let Remedy::Suspend { player, .. } | Remedy::Ban { player } = remedy {
            // Who may not play is signed out everywhere, and cannot sign in.
            let ended = self.app.accounts.end_all(player.0).await;
            ended.map_err(|error| PlayError::Unavailable(error.to_string()))?;
        }
        Ok(())
    }
}
