//! Commands to an account, and how they are decided.

use serde::{Deserialize, Serialize};

use uuid::Uuid;

use super::{Account, AccountEvent, Sanction, count_dice};
use crate::{
    AwardedFor, Dollars, GameId, Name, PlayerId, Rejection,
    special_dice::{Catalogue, Code, SLOTS},
};

/// A command to an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountCommand {
    /// Opens the wallet with an initial grant.
    Open {
        /// The owner.
        account: PlayerId,
        /// The initial balance.
        grant: Dollars,
    },
    /// Buys dice.
    Buy {
        /// Their kind.
        code: String,
        /// The number of dice.
        quantity: i64,
    },
    /// Sells dice back for half of their price.
    Sell {
        /// Their kind.
        code: String,
        /// The number of dice.
        quantity: i64,
    },
    /// Credits what was earned in a game.
    Credit {
        /// The game.
        game: GameId,
        /// The version of the game's event that awarded it.
        event: u64,
        /// The reason.
        why: AwardedFor,
        /// The amount.
        amount: Dollars,
    },
    /// Takes back what was earned in a voided game, up to the current balance.
    Reverse {
        /// The game.
        game: GameId,
        /// The version of the game's `Voided` event.
        event: u64,
        /// The amount that the game awarded.
        amount: Dollars,
    },
    /// Adjusts the balance manually.
    Adjust {
        /// The amount; negative for a debit.
        change: i64,
        /// The dispute that is the reason.
        dispute: Uuid,
    },
    /// Sanctions the account, or lifts its sanction.
    Sanction {
        /// The sanction.
        sanction: Sanction,
        /// The dispute that is the reason.
        dispute: Uuid,
    },
    /// Stores a loadout under a name, replacing any of that name.
    StoreLoadout {
        /// The name.
        name: String,
        /// The dice, one per slot.
        dice: Vec<String>,
    },
    /// Deletes a stored loadout.
    DropLoadout {
        /// Its name.
        name: String,
    },
    /// Locks at least these dice for a game: dice it has locked stay locked.
    Lock {
        /// The game.
        game: GameId,
        /// The dice, one per slot.
        dice: Vec<Code>,
    },
    /// Locks exactly the dice that are played in a game.
    Settle {
        /// The game.
        game: GameId,
        /// The dice, one per slot.
        dice: Vec<Code>,
    },
    /// Unlocks the dice of a game that is over or no longer uses them.
    Release {
        /// The game.
        game: GameId,
    },
}

/// The maximum number of dice per purchase or sale.
const MOST_AT_ONCE: u32 = 1_000;
/// The maximum number of dice of a kind an account can own.
const MOST_OWNED: u32 = 1_000_000;
/// The maximum number of games in which an account can have dice at once.
const MOST_GAMES: usize = 200;
/// The maximum number of stored loadouts.
const MOST_LOADOUTS: usize = 50;

/// Decides a command; `account` is `None` before its wallet is opened.
pub fn decide_account(
    account: Option<&Account>,
    command: &AccountCommand,
    catalogue: &Catalogue,
) -> Result<Vec<AccountEvent>, Rejection> {
    use AccountCommand as Command;
    let event = match (account, command) {
        (None, Command::Open { account, grant }) => {
            AccountEvent::WalletOpened { account: *account, amount: *grant, balance: *grant }
        }
        (Some(_), Command::Open { .. }) => return Err(Rejection::WalletExists),
        (None, _) => return Err(Rejection::NoWallet),
        (Some(account), Command::Buy { code, quantity }) => {
            buy(account, code, *quantity, catalogue)?
        }
        (Some(account), Command::Sell { code, quantity }) => {
            sell(account, code, *quantity, catalogue)?
        }
        (Some(account), Command::Credit { game, event, why, amount }) => {
            let balance = account.balance.checked_add(*amount).ok_or(Rejection::WalletFull)?;
            let (game, event, why, amount) = (*game, *event, *why, *amount);
            AccountEvent::MoneyCredited { game, event, why, amount, balance }
        }
        (Some(account), Command::Reverse { game, event, amount }) => {
            let (game, event, taken) = (*game, *event, (*amount).min(account.balance));
            let (missing, balance) = (amount - taken, account.balance - taken);
            AccountEvent::MoneyReversed { game, event, amount: taken, missing, balance }
        }
        (Some(account), Command::Adjust { change, dispute }) => {
            let balance = i64::from(account.balance).checked_add(*change);
            let cost = change.unsigned_abs();
            let balance = balance.ok_or(Rejection::WalletFull)?;
            if balance < 0 {
                return Err(Rejection::NotEnoughMoney { cost, balance: account.balance });
            }
            let balance = Dollars::try_from(balance).map_err(|_| Rejection::WalletFull)?;
            AccountEvent::MoneyAdjusted { change: *change, dispute: *dispute, balance }
        }
        (Some(account), Command::Sanction { sanction, dispute }) => {
            match (sanction, account.sanction) {
                (Sanction::Lifted, None) => return Err(Rejection::NotSanctioned),
                (Sanction::Suspension(_) | Sanction::Ban, Some(Sanction::Ban)) => {
                    return Err(Rejection::AlreadyBanned);
                }
                _ => {}
            }
            AccountEvent::Sanctioned { sanction: *sanction, dispute: *dispute }
        }
        (Some(account), Command::StoreLoadout { name, dice }) => {
            store_loadout(account, name, dice, catalogue)?
        }
        (Some(account), Command::DropLoadout { name }) => {
            let known = Name::parse(name).ok().filter(|name| account.loadouts.contains_key(name));
            let name = known.ok_or_else(|| Rejection::NoSuchLoadout { name: name.clone() })?;
            AccountEvent::LoadoutDropped { name }
        }
        (Some(account), Command::Lock { game, dice }) => {
            account.owns(dice)?;
            lock(account, *game, dice)?
        }
        (Some(account), Command::Settle { game, dice }) => {
            account.owns(dice)?;
            AccountEvent::DiceLocked { game: *game, dice: dice.clone() }
        }
        (Some(account), Command::Release { game }) => {
            if !account.equipped.contains_key(game) {
                return Err(Rejection::NothingLocked);
            }
            AccountEvent::DiceReleased { game: *game }
        }
    };
    Ok(vec![event])
}

/// Locks, of each kind, the larger of what is locked and what is wanted.
fn lock(account: &Account, game: GameId, dice: &[Code]) -> Result<AccountEvent, Rejection> {
    let mut locked = account.equipped.get(&game).cloned().unwrap_or_default();
    if locked.is_empty() && account.equipped.len() >= MOST_GAMES {
        return Err(Rejection::TooManyGames { most: MOST_GAMES });
    }
    for (code, wanted) in count_dice(dice) {
        let count = locked.entry(code).or_default();
        *count = wanted.max(*count);
    }
    let each = |(code, count): (Code, u32)| (0..count).map(move |_| code);
    Ok(AccountEvent::DiceLocked { game, dice: locked.into_iter().flat_map(each).collect() })
}

fn buy(
    account: &Account,
    code: &str,
    quantity: i64,
    catalogue: &Catalogue,
) -> Result<AccountEvent, Rejection> {
    let die = catalogue.named(code)?;
    if die.retired {
        return Err(Rejection::RetiredDie { code: die.code });
    }
    let quantity = parse_quantity(quantity)?;
    let (code, price, balance) = (die.code, die.price, account.balance);
    if account.owned(code).saturating_add(quantity) > MOST_OWNED {
        return Err(Rejection::TooManyOwned { code, most: MOST_OWNED });
    }
    let left =
        price.checked_mul(quantity).and_then(|amount| Some((amount, balance.checked_sub(amount)?)));
    let cost = u64::from(price) * u64::from(quantity);
    let (amount, balance) = left.ok_or(Rejection::NotEnoughMoney { cost, balance })?;
    let catalogue = catalogue.version;
    Ok(AccountEvent::DieBought { code, quantity, price, catalogue, amount, balance })
}

/// A die sells for half of its price, rounded down.
fn sell(
    account: &Account,
    code: &str,
    quantity: i64,
    catalogue: &Catalogue,
) -> Result<AccountEvent, Rejection> {
    let die = catalogue.named(code)?;
    let quantity = parse_quantity(quantity)?;
    let (code, owned) = (die.code, account.owned(die.code));
    let Some(left) = owned.checked_sub(quantity) else {
        return Err(Rejection::NotOwned { code, owned, wanted: quantity });
    };
    let locked = account.locked(code);
    if left < locked {
        return Err(Rejection::DieLocked { code, owned, locked });
    }
    let price = die.price / 2;
    let amount = price.checked_mul(quantity).ok_or(Rejection::WalletFull)?;
    let balance = account.balance.checked_add(amount).ok_or(Rejection::WalletFull)?;
    let catalogue = catalogue.version;
    Ok(AccountEvent::DieSold { code, quantity, price, catalogue, amount, balance })
}

fn parse_quantity(quantity: i64) -> Result<u32, Rejection> {
    let valid = u32::try_from(quantity).ok().filter(|number| (1..=MOST_AT_ONCE).contains(number));
    valid.ok_or(Rejection::BadQuantity { quantity, most: MOST_AT_ONCE })
}

fn store_loadout(
    account: &Account,
    name: &str,
    named: &[String],
    catalogue: &Catalogue,
) -> Result<AccountEvent, Rejection> {
    let name = Name::parse(name)?;
    if named.len() > usize::from(SLOTS) {
        return Err(Rejection::TooManyDice { dice: named.len(), slots: SLOTS });
    }
    let mut dice = vec![Code::STANDARD; usize::from(SLOTS)];
    for (die, code) in dice.iter_mut().zip(named) {
        if code != Code::STANDARD.as_str() {
            *die = catalogue.named(code)?.code;
        }
    }
    if !account.loadouts.contains_key(&name) && account.loadouts.len() >= MOST_LOADOUTS {
        return Err(Rejection::TooManyLoadouts { most: MOST_LOADOUTS });
    }
    Ok(AccountEvent::LoadoutStored { name, dice })
}
