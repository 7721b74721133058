//! Changes of the catalogue: an event stream of its own, with one version per change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Catalogue, Code, DieKind};
use crate::Rejection;

/// A command to the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogueCommand {
    /// Adds a kind of die.
    Add {
        /// All fields of its row.
        die: Map<String, Value>,
    },
    /// Changes fields of a kind of die.
    Change {
        /// The code of the die.
        code: String,
        /// The fields to change; an effect is replaced as a whole.
        die: Map<String, Value>,
    },
    /// Retires a kind of die: it can no longer be bought or chosen.
    Retire {
        /// The code of the die.
        code: String,
    },
}

/// An event of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogueEvent {
    /// The catalogue before its first change.
    CatalogueOpened {
        /// The built-in catalogue.
        catalogue: Catalogue,
    },
    /// A kind of die was added.
    DieAdded {
        /// Its row.
        die: DieKind,
        /// The new version of the catalogue.
        version: u32,
    },
    /// A kind of die was changed.
    DieChanged {
        /// Its new row.
        die: DieKind,
        /// The new version of the catalogue.
        version: u32,
    },
    /// A kind of die was retired.
    DieRetired {
        /// The code of the die.
        code: Code,
        /// The new version of the catalogue.
        version: u32,
    },
}

impl CatalogueEvent {
    /// The names of all event types.
    pub const NAMES: [&'static str; 4] =
        ["CatalogueOpened", "DieAdded", "DieChanged", "DieRetired"];

    /// The die the event is about, if any.
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::DieAdded { die, .. } | Self::DieChanged { die, .. } => Some(die.code),
            Self::DieRetired { code, .. } => Some(*code),
            Self::CatalogueOpened { .. } => None,
        }
    }

    /// The name of the event type, as stored in the log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CatalogueOpened { .. } => "CatalogueOpened",
            Self::DieAdded { .. } => "DieAdded",
            Self::DieChanged { .. } => "DieChanged",
            Self::DieRetired { .. } => "DieRetired",
        }
    }
}

impl Catalogue {
    /// Folds an event.
    #[must_use]
    pub fn evolve(catalogue: Option<Self>, event: &CatalogueEvent) -> Option<Self> {
        let mut catalogue = match (catalogue, event) {
            (_, CatalogueEvent::CatalogueOpened { catalogue }) => return Some(catalogue.clone()),
            (None, _) => return None,
            (Some(catalogue), _) => catalogue,
        };
        match event {
            CatalogueEvent::DieAdded { die, version } => {
                catalogue.version = *version;
                catalogue.dice.push(die.clone());
            }
            CatalogueEvent::DieChanged { die, version } => {
                catalogue.version = *version;
                catalogue.replace(die.clone());
            }
            CatalogueEvent::DieRetired { code, version } => {
                catalogue.version = *version;
                if let Some(row) = catalogue.dice.iter_mut().find(|row| row.code == *code) {
                    row.retired = true;
                }
            }
            CatalogueEvent::CatalogueOpened { .. } => {}
        }
        Some(catalogue)
    }

    fn replace(&mut self, die: DieKind) {
        if let Some(row) = self.dice.iter_mut().find(|row| row.code == die.code) {
            *row = die;
        }
    }
}

/// Decides a command; `catalogue` is `None` before the first change.
pub fn decide_catalogue(
    catalogue: Option<&Catalogue>,
    command: &CatalogueCommand,
) -> Result<Vec<CatalogueEvent>, Rejection> {
    let builtin = Catalogue::builtin();
    let current = catalogue.unwrap_or(&builtin);
    let version = current.version.saturating_add(1);
    let mut next = current.clone();
    let event = match command {
        CatalogueCommand::Add { die } => {
            let die = read(die)?;
            next.dice.push(die.clone());
            CatalogueEvent::DieAdded { die, version }
        }
        CatalogueCommand::Change { code, die } => {
            let before = current.named(code)?;
            let die = changed(before, die)?;
            if die == *before {
                return Err(Rejection::BadDieData { why: "it is like that already".to_owned() });
            }
            next.replace(die.clone());
            CatalogueEvent::DieChanged { die, version }
        }
        CatalogueCommand::Retire { code } => {
            let die = current.named(code)?;
            if die.retired {
                return Err(Rejection::RetiredDie { code: die.code });
            }
            CatalogueEvent::DieRetired { code: die.code, version }
        }
    };
    next.check()?;
    let opened =
        catalogue.is_none().then_some(CatalogueEvent::CatalogueOpened { catalogue: builtin });
    Ok(opened.into_iter().chain([event]).collect())
}

fn read(die: &Map<String, Value>) -> Result<DieKind, Rejection> {
    // Report an invalid code as such, not as a parse error of the row.
    if let Some(code) = die.get("code").and_then(Value::as_str) {
        code.parse::<Code>()?;
    }
    serde_json::from_value(Value::Object(die.clone()))
        .map_err(|error| Rejection::BadDieData { why: error.to_string() })
}

/// The row with some fields changed. `retired: false` restores a retired die. Its code cannot
/// change.
fn changed(die: &DieKind, changes: &Map<String, Value>) -> Result<DieKind, Rejection> {
    let Ok(Value::Object(mut row)) = serde_json::to_value(die) else {
        return Err(Rejection::BadDieData { why: "the row cannot be written".to_owned() });
    };
    for (field, value) in changes {
        if field == "code" && value.as_str() != Some(die.code.as_str()) {
            let allowed = "it names the die for ever; add another die instead".to_owned();
            return Err(Rejection::BadDie { code: die.code, field: "code", allowed });
        }
        row.insert(field.clone(), value.clone());
    }
    read(&row)
}
