//! The kinds of dice there are.

/// A kind of die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieKind {
    /// Its code in loadouts, scenarios and events.
    pub code: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What is special about it.
    pub description: &'static str,
    /// What its sides show.
    pub faces: &'static [u8],
}

/// All kinds of dice.
pub const CATALOGUE: &[DieKind] = &[DieKind {
    code: "STANDARD",
    name: "Standard Die",
    description: "An ordinary die: six sides, equally likely.",
    faces: &[1, 2, 3, 4, 5, 6],
}];
