//! A kind of die: a row of the catalogue.

use serde::{Deserialize, Serialize};

use super::Code;
use crate::{Dollars, Rejection, special_dice::effects::Effect, text::is_line};

/// A kind of die: what it is called, what it costs, what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DieKind {
    /// Its code in loadouts, scenarios and events.
    pub code: Code,
    /// Its name for people.
    pub name: String,
    /// What it is good for.
    pub category: Category,
    /// How strong it is.
    pub tier: Tier,
    /// Its colour, `#rrggbb`.
    pub colour: String,
    /// What it costs.
    pub price: Dollars,
    /// What it does, in the shop's words; [`DieKind::text`] has the numbers.
    pub description: String,
    /// What it does.
    pub effect: Effect,
    /// It is neither sold nor played any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retired: bool,
}

/// What dice are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A farkle brings something.
    FarkleLovers,
    /// A farkle takes less.
    FarkleProtection,
    /// Other faces.
    FaceChangers,
    /// More points or money.
    ScoreBoosters,
}

/// How strong dice are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A little help.
    Simple,
    /// A good one.
    Better,
    /// It decides games.
    Amazing,
}

impl Category {
    /// Its name in files and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FarkleLovers => "farkle_lovers",
            Self::FarkleProtection => "farkle_protection",
            Self::FaceChangers => "face_changers",
            Self::ScoreBoosters => "score_boosters",
        }
    }
}

impl Tier {
    /// Its name in files and events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Better => "better",
            Self::Amazing => "amazing",
        }
    }
}

impl DieKind {
    /// What it does, with the numbers it does it with: the tooltip.
    pub fn text(&self) -> String {
        self.effect.kind().text()
    }

    /// What its sides show.
    pub fn faces(&self) -> [u8; 6] {
        self.effect.kind().faces().unwrap_or(ORDINARY)
    }

    /// Refuses a row that makes no sense.
    pub fn check(&self) -> Result<(), Rejection> {
        let bad = |field: &'static str, allowed: &str| {
            Err(Rejection::BadDie { code: self.code, field, allowed: allowed.to_owned() })
        };
        if self.code == Code::STANDARD {
            return bad("code", "STANDARD is the ordinary die, which is not for sale");
        }
        if !is_line(&self.name, 1..=40) {
            return bad("name", "it must be a line of 1 to 40 characters");
        }
        if !is_line(&self.description, 1..=300) {
            return bad("description", "it must be a line of 1 to 300 characters");
        }
        if !is_colour(&self.colour) {
            return bad("colour", "it must look like #cc0000");
        }
        if !(1..=DEAREST).contains(&self.price) {
            return bad("price", "it must be from 1 to 100000 dollars");
        }
        self.effect.kind().check().or_else(|allowed| bad("effect", &allowed))
    }
}

/// What an ordinary die shows.
pub(crate) const ORDINARY: [u8; 6] = [1, 2, 3, 4, 5, 6];

/// No die costs more.
const DEAREST: Dollars = 100_000;

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}
