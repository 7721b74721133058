//! An account's wallet and inventory: a stream of its own, like a game.
//!
//! Money comes and goes by events that carry the amount and the balance after it, so the balance is their sum. Dice
//! that are equipped in an unfinished game are locked: they stay owned until the game is over.

mod decide;
mod event;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Dollars, GameId, Name, Rejection, special_dice::Code};

pub use decide::{AccountCommand, decide_account};
pub use event::{AccountEvent, Entry, Sanction};

/// A wallet and an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// How many events it has.
    pub version: u64,
    /// The money in the wallet.
    pub balance: Dollars,
    /// The dice owned, by kind.
    pub dice: BTreeMap<Code, u32>,
    /// The dice equipped in unfinished games.
    pub equipped: BTreeMap<GameId, BTreeMap<Code, u32>>,
    /// Loadouts kept under a name.
    pub loadouts: BTreeMap<Name, Vec<Code>>,
    /// What was paid for dice altogether, less what they brought when sold back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spent: i64,
    /// What keeps the owner from playing, if something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanction: Option<Sanction>,
    /// How often the owner was warned.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warnings: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

impl Account {
    /// The state after one more event. Total, and without a rule: events carry results.
    #[must_use]
    pub fn evolve(account: Option<Self>, event: &AccountEvent) -> Self {
        let mut account = account.unwrap_or_default();
        account.version += 1;
        if let Some(entry) = event.entry() {
            account.balance = entry.balance;
        }
        match event {
            AccountEvent::DieBought { code, quantity, amount, .. } => {
                account.spent = account.spent.saturating_add((*amount).into());
                let owned = account.dice.entry(*code).or_default();
                *owned = owned.saturating_add(*quantity);
            }
            AccountEvent::DieSold { code, quantity, amount, .. } => {
                account.spent = account.spent.saturating_sub((*amount).into());
                let left = account.owned(*code).saturating_sub(*quantity);
                account.dice.insert(*code, left);
                account.dice.retain(|_, owned| *owned > 0);
            }
            AccountEvent::LoadoutStored { name, dice } => {
                account.loadouts.insert(name.clone(), dice.clone());
            }
            AccountEvent::LoadoutDropped { name } => {
                account.loadouts.remove(name);
            }
            AccountEvent::DiceLocked { game, dice } => {
                account.equipped.insert(*game, count_dice(dice));
            }
            AccountEvent::DiceReleased { game } => {
                account.equipped.remove(game);
            }
            AccountEvent::WalletOpened { .. }
            | AccountEvent::MoneyCredited { .. }
            | AccountEvent::MoneyReversed { .. }
            | AccountEvent::MoneyAdjusted { .. } => {}
            AccountEvent::Sanctioned { sanction, .. } => match sanction {
                Sanction::Warning => account.warnings = account.warnings.saturating_add(1),
                Sanction::Suspension(_) | Sanction::Ban => account.sanction = Some(*sanction),
                Sanction::Lifted => account.sanction = None,
            },
        }
        account
    }

    /// How many dice of a kind are owned.
    pub fn owned(&self, code: Code) -> u32 {
        self.dice.get(&code).copied().unwrap_or(0)
    }

    /// Refuses dice of which more are brought than are owned. The same dice may lie in several games at once.
    pub fn owns(&self, dice: &[Code]) -> Result<(), Rejection> {
        for (code, wanted) in count_dice(dice) {
            let owned = self.owned(code);
            if owned < wanted {
                return Err(Rejection::NotOwned { code, owned, wanted });
            }
        }
        Ok(())
    }

    /// How many dice of a kind are locked: as many as the game that needs most of them.
    pub fn locked(&self, code: Code) -> u32 {
        self.equipped.values().filter_map(|dice| dice.get(&code)).max().copied().unwrap_or(0)
    }
}

/// How many of each kind of special dice there are.
pub fn count_dice(dice: &[Code]) -> BTreeMap<Code, u32> {
    let mut counts = BTreeMap::new();
    for &code in dice.iter().filter(|&&code| code != Code::STANDARD) {
        *counts.entry(code).or_default() += 1;
    }
    counts
}
