//! Events of accounts: wallet and inventory.

use serde::{Deserialize, Serialize};

use uuid::Uuid;

use crate::{AwardedFor, Dollars, GameId, Moment, Name, PlayerId, special_dice::Code};

/// An event of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountEvent {
    /// The wallet was opened with an initial grant.
    WalletOpened {
        /// The owner.
        account: PlayerId,
        /// The grant.
        amount: Dollars,
        /// The new balance.
        balance: Dollars,
    },
    /// Dice were bought.
    DieBought {
        /// Their kind.
        code: Code,
        /// The number of dice.
        quantity: u32,
        /// The price of one die.
        price: Dollars,
        /// The version of the catalogue with this price.
        catalogue: u32,
        /// The total paid.
        amount: Dollars,
        /// The new balance.
        balance: Dollars,
    },
    /// Dice were sold back.
    DieSold {
        /// Their kind.
        code: Code,
        /// The number of dice.
        quantity: u32,
        /// The price of one die.
        price: Dollars,
        /// The version of the catalogue with this price.
        catalogue: u32,
        /// The total received.
        amount: Dollars,
        /// The new balance.
        balance: Dollars,
    },
    /// Earnings of a game were credited.
    MoneyCredited {
        /// The game.
        game: GameId,
        /// The version of the game's event that awarded it.
        event: u64,
        /// The reason.
        why: AwardedFor,
        /// The amount.
        amount: Dollars,
        /// The new balance.
        balance: Dollars,
    },
    /// The awards of a voided game were taken back.
    MoneyReversed {
        /// The game.
        game: GameId,
        /// The version of the game's `Voided` event.
        event: u64,
        /// The amount taken back.
        amount: Dollars,
        /// The part of the awards that was already spent.
        #[serde(default, skip_serializing_if = "is_zero")]
        missing: Dollars,
        /// The new balance.
        balance: Dollars,
    },
    /// The balance was adjusted manually because of a dispute.
    MoneyAdjusted {
        /// The amount; negative for a debit.
        change: i64,
        /// The dispute.
        dispute: Uuid,
        /// The new balance.
        balance: Dollars,
    },
    /// The account was sanctioned because of a dispute, or its sanction lifted.
    Sanctioned {
        /// The sanction.
        sanction: Sanction,
        /// The dispute.
        dispute: Uuid,
    },
    /// A loadout was stored under a name.
    LoadoutStored {
        /// The name.
        name: Name,
        /// The dice, one per slot.
        dice: Vec<Code>,
    },
    /// A stored loadout was deleted.
    LoadoutDropped {
        /// Its name.
        name: Name,
    },
    /// Dice are equipped in a game and cannot be sold until it is over.
    DiceLocked {
        /// The game.
        game: GameId,
        /// The dice, one per slot.
        dice: Vec<Code>,
    },
    /// The dice of a game were unlocked.
    DiceReleased {
        /// The game.
        game: GameId,
    },
}

/// A sanction against the owner of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sanction {
    /// A warning, without consequences for play.
    Warning,
    /// No play until this time.
    Suspension(Moment),
    /// No play, permanently.
    Ban,
    /// The sanction is lifted.
    Lifted,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
const fn is_zero(amount: &Dollars) -> bool {
    *amount == 0
}

/// An entry of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The amount; negative for a debit.
    pub change: i64,
    /// The balance after it.
    pub balance: Dollars,
    /// The reason: `opening`, `purchase`, `sale`, `finishing`, `winning`, `die`, `reversal` or
    /// `adjustment`.
    pub reason: &'static str,
    /// The kind of die bought or sold.
    pub code: Option<Code>,
    /// The game and the version of its event.
    pub game: Option<(GameId, u64)>,
}

impl AccountEvent {
    /// The names of all event types.
    pub const NAMES: [&'static str; 11] = [
        "WalletOpened",
        "DieBought",
        "DieSold",
        "MoneyCredited",
        "MoneyReversed",
        "MoneyAdjusted",
        "Sanctioned",
        "LoadoutStored",
        "LoadoutDropped",
        "DiceLocked",
        "DiceReleased",
    ];

    /// The name of the event type, as stored in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::WalletOpened { .. } => "WalletOpened",
            Self::DieBought { .. } => "DieBought",
            Self::DieSold { .. } => "DieSold",
            Self::MoneyCredited { .. } => "MoneyCredited",
            Self::MoneyReversed { .. } => "MoneyReversed",
            Self::MoneyAdjusted { .. } => "MoneyAdjusted",
            Self::Sanctioned { .. } => "Sanctioned",
            Self::LoadoutStored { .. } => "LoadoutStored",
            Self::LoadoutDropped { .. } => "LoadoutDropped",
            Self::DiceLocked { .. } => "DiceLocked",
            Self::DiceReleased { .. } => "DiceReleased",
        }
    }

    /// The entry of the ledger, if the event moves money.
    pub fn entry(&self) -> Option<Entry> {
        let plain = |amount: Dollars, balance, reason| Entry {
            change: amount.into(),
            balance,
            reason,
            code: None,
            game: None,
        };
        Some(match self {
            Self::WalletOpened { amount, balance, .. } => plain(*amount, *balance, "opening"),
            Self::DieBought { code, amount, balance, .. } => {
                let entry = plain(*amount, *balance, "purchase");
                Entry { change: -entry.change, code: Some(*code), ..entry }
            }
            Self::DieSold { code, amount, balance, .. } => {
                Entry { code: Some(*code), ..plain(*amount, *balance, "sale") }
            }
            Self::MoneyCredited { game, event, why, amount, balance } => {
                let (reason, code) = match why {
                    AwardedFor::Finishing => ("finishing", None),
                    AwardedFor::Winning => ("winning", None),
                    AwardedFor::Die(die) => ("die", Some(die.code)),
                };
                Entry { code, game: Some((*game, *event)), ..plain(*amount, *balance, reason) }
            }
            Self::MoneyReversed { game, event, amount, balance, .. } => {
                let entry = plain(*amount, *balance, "reversal");
                Entry { change: -entry.change, game: Some((*game, *event)), ..entry }
            }
            Self::MoneyAdjusted { change, balance, .. } => {
                Entry { change: *change, ..plain(0, *balance, "adjustment") }
            }
            Self::LoadoutStored { .. }
            | Self::LoadoutDropped { .. }
            | Self::DiceLocked { .. }
            | Self::DiceReleased { .. }
            | Self::Sanctioned { .. } => return None,
        })
    }
}
