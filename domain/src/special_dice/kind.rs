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

    /// What its colour is called: the nearest of those that have plain names.
    pub fn colour_name(&self) -> &'static str {
        let rgb = u32::from_str_radix(self.colour.trim_start_matches('#'), 16).unwrap_or(0);
        let channels = |rgb: u32| [rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255];
        let distance = |known: u32| -> u32 {
            let pairs = channels(known).into_iter().zip(channels(rgb));
            pairs.map(|(a, b)| a.abs_diff(b).pow(2)).sum()
        };
        let nearest = COLOURS.iter().min_by_key(|(_, known)| distance(*known));
        nearest.map_or("black", |(name, _)| *name)
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

/// The colours with plain names.
const COLOURS: [(&str, u32); 12] = [
    ("red", 0xcc_0000),
    ("orange", 0xff_a500),
    ("yellow", 0xff_e600),
    ("green", 0x1d_8711),
    ("turquoise", 0x40_e0d0),
    ("blue", 0x41_69e1),
    ("purple", 0x80_0080),
    ("pink", 0xff_69b4),
    ("brown", 0x8b_4513),
    ("black", 0x00_0000),
    ("grey", 0x80_8080),
    ("white", 0xff_ffff),
];

/// No die costs more.
const DEAREST: Dollars = 100_000;

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use crate::special_dice::Catalogue;

    #[test]
    fn colours_have_plain_names() {
        let mut die = Catalogue::builtin().dice[0].clone();
        let named = [
            ("#cc0000", "red"),
            ("#1d8711", "green"),
            ("#4169E1", "blue"),
            ("#FFA500", "orange"),
            ("#101010", "black"),
            ("#fafafa", "white"),
        ];
        for (colour, name) in named {
            die.colour = colour.to_owned();
            assert_eq!(die.colour_name(), name);
        }
    }
}
