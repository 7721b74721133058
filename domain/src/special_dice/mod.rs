//! Special dice as data: the catalogue, loadouts, and the effects of each kind ([`effects`]).

mod builtin;
mod catalogue;
mod changes;
mod code;
pub mod effects;
mod kind;
mod loadout;
mod names;

pub use catalogue::Catalogue;
pub use changes::{CatalogueCommand, CatalogueEvent, decide_catalogue};
pub use code::Code;
pub(crate) use kind::ORDINARY;
pub use kind::{Category, DieKind, Tier};
pub(crate) use loadout::SLOTS;
pub use loadout::{Die, DieAt, Loadout};
pub use names::points_made;
pub(crate) use names::{
    BANK_POINTS, COMBINATION_POINTS, DARE_BONUS, HAND_POINTS, HOT_STREAK, SAVE_POINTS, wording,
};
