//! The wallet and inventory of an account: an event stream like that of a game.
//!
//! Events that move money carry the amount and the new balance. Dice equipped in an unfinished game
//! are locked: they cannot be sold until it is over.

mod decide;
mod event;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Dollars, GameId, Name, Rejection, special_dice::Code};

pub use decide::{AccountCommand, decide_account};
pub use event::{AccountEvent, Entry, Sanction};

/// The state of a wallet and an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The number of its events.
    pub version: u64,
    /// The money in the wallet.
    pub balance: Dollars,
    /// The dice owned, by kind.
    pub dice: BTreeMap<Code, u32>,
    /// The dice equipped in unfinished games.
    pub equipped: BTreeMap<GameId, BTreeMap<Code, u32>>,
    /// Stored loadouts by name.
    pub loadouts: BTreeMap<Name, Vec<Code>>,
    /// The total paid for dice, less the total received for selling them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spent: i64,
    /// The current suspension or ban, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanction: Option<Sanction>,
    /// The number of warnings.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warnings: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
const fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

impl Account {
    /// Folds an event. Total, and independent of rules: events carry results.
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

    /// The number of dice of a kind owned.
    pub fn owned(&self, code: Code) -> u32 {
        self.dice.get(&code).copied().unwrap_or(0)
    }

    /// Rejects a loadout with more dice of a kind than are owned. The same dice can be used in
    /// several games at once.
    pub fn owns(&self, dice: &[Code]) -> Result<(), Rejection> {
        for (code, wanted) in count_dice(dice) {
            let owned = self.owned(code);
            if owned < wanted {
                return Err(Rejection::NotOwned { code, owned, wanted });
            }
        }
        Ok(())
    }

    /// The number of locked dice of a kind: the maximum over all games.
    pub fn locked(&self, code: Code) -> u32 {
        self.equipped.values().filter_map(|dice| dice.get(&code)).max().copied().unwrap_or(0)
    }
}

/// Counts the special dice by kind.
pub fn count_dice(dice: &[Code]) -> BTreeMap<Code, u32> {
    let mut counts = BTreeMap::new();
    for &code in dice.iter().filter(|&&code| code != Code::STANDARD) {
        *counts.entry(code).or_default() += 1;
    }
    counts
}
