//! What is done about something that was wrong: what it would do, and doing it.

use std::collections::BTreeMap;

use domain::{
    AccountCommand, Command, Dispute, Game, Rejection, Remedy, RemedyState, Sanction, Stage,
    decide_account,
};
use uuid::Uuid;

use crate::{
    accounts::Accounts,
    clock,
    play::{PlayError, Refusal, Tables, seat_of},
};

/// What a remedy would do.
#[derive(Clone, Debug)]
pub(crate) struct Preview {
    /// In words, a line for each thing that changes.
    pub(crate) effects: Vec<Effect>,
    /// How much money it moves, in dollars.
    pub(crate) amount: u64,
    /// Whether somebody else must agree.
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

/// What a remedy would do now; what cannot be done is refused.
pub(super) async fn preview(
    tables: &Tables,
    dispute: &Dispute,
    remedy: &Remedy,
) -> Result<Preview, PlayError> {
    if let Some(player) = remedy.player() {
        let state = tables.store.games.fresh(dispute.game.0).await?;
        if state.now.as_ref().is_none_or(|game| seat_of(game, player.0).is_none()) {
            let message = "this player did not play the disputed game";
            return Err(Refusal::new("NOT_SEATED", message).at("remedy").into());
        }
    }
    let (effects, amount) = match remedy {
        Remedy::VoidGame { .. } => void(tables, dispute).await?,
        Remedy::FinishGame { winners } => finish(tables, dispute, winners).await?,
        Remedy::AdjustBalance { player, change } => {
            let effect = balance(tables, player.0, *change).await?;
            (vec![effect], change.unsigned_abs())
        }
        Remedy::Warn { player } => (vec![sanction(tables, player.0, Sanction::Warning).await?], 0),
        Remedy::Suspend { player, until } => {
            if *until <= clock::now() {
                let refusal = Refusal::new("BAD_MOMENT", "a suspension ends in the future");
                return Err(refusal.at("remedy").into());
            }
            (vec![sanction(tables, player.0, Sanction::Suspension(*until)).await?], 0)
        }
        Remedy::Ban { player } => (vec![sanction(tables, player.0, Sanction::Ban).await?], 0),
        Remedy::Lift { player } => (vec![sanction(tables, player.0, Sanction::Lifted).await?], 0),
    };
    Ok(Preview { effects, amount, needs_second: false })
}

/// What a game awarded so far, by player.
pub(super) fn awarded(game: &Game) -> BTreeMap<Uuid, u64> {
    let mut awarded: BTreeMap<Uuid, u64> = BTreeMap::new();
    for seat in &game.table.seats {
        *awarded.entry(seat.player.0).or_default() += u64::from(seat.money);
    }
    awarded
}

/// What was awarded is taken back, as far as it is there.
async fn void(tables: &Tables, dispute: &Dispute) -> Result<(Vec<Effect>, u64), PlayError> {
    let state = tables.store.games.fresh(dispute.game.0).await?;
    let game = state.now.as_ref().ok_or_else(Refusal::no_such_game)?;
    if game.table.voided.is_some() {
        return Err(Refusal::from(Rejection::AlreadyVoid).into());
    }
    let over = matches!(game.table.stage, Stage::Ended(_));
    let awarded = awarded(game);
    let before = if over { "over" } else { "played" };
    let mut effects = vec![Effect {
        player: None,
        what: "game",
        before: before.to_owned(),
        after: "void: out of statistics, ratings and leaderboards".to_owned(),
    }];
    let mut amount = 0;
    for (player, earned) in awarded.into_iter().filter(|(_, earned)| *earned > 0) {
        let wallet = tables.wallets.of(player).await?;
        let balance = wallet.now.as_ref().map_or(0, |account| account.balance);
        let left = u64::from(balance).saturating_sub(earned);
        amount += earned;
        effects.push(Effect {
            player: Some(player),
            what: "balance",
            before: balance.to_string(),
            after: left.to_string(),
        });
    }
    Ok((effects, amount))
}

async fn finish(
    tables: &Tables,
    dispute: &Dispute,
    winners: &[u8],
) -> Result<(Vec<Effect>, u64), PlayError> {
    let state = tables.store.games.fresh(dispute.game.0).await?;
    let game = state.now.as_ref().ok_or_else(Refusal::no_such_game)?;
    match game.table.stage {
        Stage::Playing => {}
        Stage::Gathering => return Err(Refusal::from(Rejection::NotStarted).into()),
        Stage::Ended(_) => return Err(Refusal::from(Rejection::GameOver).into()),
    }
    for &seat in winners {
        if !game.table.seated().any(|seated| seated == seat) {
            let seats = u8::try_from(game.table.seats.len()).unwrap_or(u8::MAX);
            return Err(Refusal::from(Rejection::NoSuchSeat { seat, seats }).at("remedy").into());
        }
    }
    let after = if winners.is_empty() {
        "over, nobody wins".to_owned()
    } else {
        let seats: Vec<String> = winners.iter().map(ToString::to_string).collect();
        format!("over, won by seat {}", seats.join(" and "))
    };
    let mut effects =
        vec![Effect { player: None, what: "game", before: "played".to_owned(), after }];
    let mut earned: BTreeMap<Uuid, u64> = BTreeMap::new();
    for (seat, amount, _) in game.table.awards(winners) {
        if let Some(seat) = game.table.seats.get(usize::from(seat)) {
            *earned.entry(seat.player.0).or_default() += u64::from(amount);
        }
    }
    let amount = earned.values().sum();
    for (player, earned) in earned {
        let wallet = tables.wallets.of(player).await?;
        let balance = wallet.now.as_ref().map_or(0, |account| account.balance);
        effects.push(Effect {
            player: Some(player),
            what: "balance",
            before: balance.to_string(),
            after: (u64::from(balance) + earned).to_string(),
        });
    }
    Ok((effects, amount))
}

async fn balance(tables: &Tables, player: Uuid, change: i64) -> Result<Effect, PlayError> {
    let command = AccountCommand::Adjust { change, dispute: Uuid::nil() };
    let before = would(tables, player, &command).await?;
    let after = i64::from(before).saturating_add(change);
    Ok(Effect {
        player: Some(player),
        what: "balance",
        before: before.to_string(),
        after: after.to_string(),
    })
}

async fn sanction(tables: &Tables, player: Uuid, sanction: Sanction) -> Result<Effect, PlayError> {
    would(tables, player, &AccountCommand::Sanction { sanction, dispute: Uuid::nil() }).await?;
    let wallet = tables.wallets.of(player).await?;
    let words = |sanction: Option<Sanction>| match sanction {
        None | Some(Sanction::Lifted) => "may play".to_owned(),
        Some(Sanction::Warning) => "may play, warned".to_owned(),
        Some(Sanction::Suspension(until)) => format!("suspended until {}", clock::written(until)),
        Some(Sanction::Ban) => "banned".to_owned(),
    };
    Ok(Effect {
        player: Some(player),
        what: "account",
        before: words(wallet.now.as_ref().and_then(|account| account.sanction)),
        after: words(Some(sanction)),
    })
}

/// Refuses what an account would refuse; gives its balance.
async fn would(tables: &Tables, player: Uuid, command: &AccountCommand) -> Result<u32, PlayError> {
    let wallet = tables.wallets.of(player).await?;
    let nothing_for_sale = domain::farkle::dice::Catalogue { version: 0, dice: Vec::new() };
    let decided = decide_account(wallet.now.as_ref(), command, &nothing_for_sale);
    decided.map_err(|rejection| Refusal::from(rejection).at("remedy"))?;
    Ok(wallet.now.as_ref().map_or(0, |account| account.balance))
}

/// Does it, in the name of who proposed it, once.
pub(super) async fn apply(
    tables: &Tables,
    accounts: &Accounts,
    id: Uuid,
    dispute: &Dispute,
    decided: &RemedyState,
    command: Uuid,
) -> Result<(), PlayError> {
    // Always the same one, whoever finishes what was interrupted: then it is the same command.
    let (remedy, author) = (&decided.remedy, decided.by.0);
    let to_game = async |wish: Command| -> Result<(), PlayError> {
        tables.execute(dispute.game.0, &wish, command, author, None).await.map(|_| ())
    };
    let to_account = async |player: Uuid, wish: AccountCommand| -> Result<(), PlayError> {
        tables.wallets.remedy(player, &wish, command, author).await
    };
    match remedy {
        Remedy::VoidGame { why } => to_game(Command::Void { why: *why, dispute: Some(id) }).await,
        Remedy::FinishGame { winners } => {
            to_game(Command::Rule { winners: winners.clone(), dispute: Some(id) }).await
        }
        Remedy::AdjustBalance { player, change } => {
            to_account(player.0, AccountCommand::Adjust { change: *change, dispute: id }).await
        }
        Remedy::Warn { player } => {
            let sanction = Sanction::Warning;
            to_account(player.0, AccountCommand::Sanction { sanction, dispute: id }).await
        }
        Remedy::Lift { player } => {
            let sanction = Sanction::Lifted;
            to_account(player.0, AccountCommand::Sanction { sanction, dispute: id }).await
        }
        Remedy::Suspend { player, until } => {
            let sanction = Sanction::Suspension(*until);
            to_account(player.0, AccountCommand::Sanction { sanction, dispute: id }).await?;
            keep_out(accounts, player.0).await
        }
        Remedy::Ban { player } => {
            let sanction = Sanction::Ban;
            to_account(player.0, AccountCommand::Sanction { sanction, dispute: id }).await?;
            keep_out(accounts, player.0).await
        }
    }
}

/// Who may not play is signed out everywhere, and cannot sign in.
async fn keep_out(accounts: &Accounts, player: Uuid) -> Result<(), PlayError> {
    let ended = accounts.end_all(player).await;
    ended.map(|_| ()).map_err(|error| PlayError::Unavailable(error.to_string()))
}
