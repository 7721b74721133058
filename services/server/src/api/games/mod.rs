//! The types that each game adds to the schema. A game without a file here uses the general ones.

pub(super) mod dash;
pub(super) mod farkle;
pub(super) mod neon;
pub(super) mod rogue;
