//! Special dice as data: the catalogue, what a player may bring of it, and who may not.

mod builtin;
mod catalogue;
mod changes;
mod code;
mod endless;
mod kind;
mod limits;
mod loadout;

pub use catalogue::Catalogue;
pub use changes::{CatalogueCommand, CatalogueEvent, decide_catalogue};
pub use code::Code;
pub use kind::{Category, DieKind, Tier};
pub use limits::LoadoutLimits;
pub(crate) use limits::parse as parse_loadout;
pub use loadout::{Die, DieAt, Loadout};
