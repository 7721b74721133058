//! What happens to a wallet and an inventory.

use serde::{Deserialize, Serialize};

use uuid::Uuid;

use crate::{AwardedFor, Dollars, GameId, Moment, Name, PlayerId, special_dice::Code};

/// Something that happened to an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountEvent {
    /// The wallet was opened, with something in it.
    WalletOpened {
        /// Whose it is.
        account: PlayerId,
        /// What is in it.
        amount: Dollars,
        /// The balance with it.
        balance: Dollars,
    },
    /// Dice were bought.
    DieBought {
        /// Their kind.
        code: Code,
        /// How many.
        quantity: u32,
        /// What one of them cost.
        price: Dollars,
        /// The version of the catalogue that says so.
        catalogue: u32,
        /// What was paid.
        amount: Dollars,
        /// The balance after it.
        balance: Dollars,
    },
    /// Dice were sold back.
    DieSold {
        /// Their kind.
        code: Code,
        /// How many.
        quantity: u32,
        /// What one of them brought.
        price: Dollars,
        /// The version of the catalogue that says so.
        catalogue: u32,
        /// What was received.
        amount: Dollars,
        /// The balance with it.
        balance: Dollars,
    },
    /// What was earned in a game arrived.
    MoneyCredited {
        /// The game.
        game: GameId,
        /// The version of the game's event that awarded it.
        event: u64,
        /// What for.
        why: AwardedFor,
        /// How much.
        amount: Dollars,
        /// The balance with it.
        balance: Dollars,
    },
    /// What a game awarded was taken back: it is void.
    MoneyReversed {
        /// The game.
        game: GameId,
        /// The version of the game's event that made it void.
        event: u64,
        /// How much.
        amount: Dollars,
        /// What was awarded beyond it, and spent already.
        #[serde(default, skip_serializing_if = "is_zero")]
        missing: Dollars,
        /// The balance after it.
        balance: Dollars,
    },
    /// Money was given or taken by hand, because of a dispute.
    MoneyAdjusted {
        /// How much; what was taken is negative.
        change: i64,
        /// The dispute.
        dispute: Uuid,
        /// The balance after it.
        balance: Dollars,
    },
    /// What the account may do was changed, because of a dispute.
    Sanctioned {
        /// How.
        sanction: Sanction,
        /// The dispute.
        dispute: Uuid,
    },
    /// A loadout was kept under a name, or changed.
    LoadoutStored {
        /// The name.
        name: Name,
        /// The dice, one a slot.
        dice: Vec<Code>,
    },
    /// A loadout is kept no more.
    LoadoutDropped {
        /// Its name.
        name: Name,
    },
    /// Dice are equipped in a game: they cannot be sold until it is over.
    DiceLocked {
        /// The game.
        game: GameId,
        /// The dice, one a slot.
        dice: Vec<Code>,
    },
    /// The dice of a game can be sold again.
    DiceReleased {
        /// The game.
        game: GameId,
    },
}

/// What is done to an account whose owner did something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sanction {
    /// It is warned.
    Warning,
    /// It may not play until then.
    Suspension(Moment),
    /// It may not play any more.
    Ban,
    /// It may play again.
    Lifted,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_zero(amount: &Dollars) -> bool {
    *amount == 0
}

/// A line of the ledger: money that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How much; what was paid is negative.
    pub change: i64,
    /// The balance after it.
    pub balance: Dollars,
    /// What for: `opening`, `purchase`, `sale`, `finishing`, `winning`, `die`, `reversal` or `adjustment`.
    pub reason: &'static str,
    /// The kind of die it was about.
    pub code: Option<Code>,
    /// The game, and the version of its event.
    pub game: Option<(GameId, u64)>,
}

impl AccountEvent {
    /// The names of all types.
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

    /// The type's name, as the log stores it.
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

    /// The line of the ledger, if money came or went.
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
