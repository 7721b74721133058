//! A kind of die: a row of the catalogue.

use serde::{Deserialize, Serialize};

use super::Code;
use crate::{Dollars, Rejection, special_dice::effects::Effect, text::is_line};

/// A kind of die: its name, price and effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DieKind {
    /// Its code in loadouts, scenarios and events.
    pub code: Code,
    /// Its display name.
    pub name: String,
    /// Its category in the shop.
    pub category: Category,
    /// Its strength.
    pub tier: Tier,
    /// Its colour, `#rrggbb`.
    pub colour: String,
    /// Its price.
    pub price: Dollars,
    /// The description in the shop; [`DieKind::text`] has the numbers.
    pub description: String,
    /// Its effect.
    pub effect: Effect,
    /// Whether it can no longer be bought or chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retired: bool,
}

/// Categories of dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A farkle gives something.
    FarkleLovers,
    /// A farkle costs less.
    FarkleProtection,
    /// Different faces.
    FaceChangers,
    /// More points or money.
    ScoreBoosters,
}

/// Strength classes of dice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Weak.
    Simple,
    /// Good.
    Better,
    /// Decisive.
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
    /// The rule text with its numbers, for tooltips.
    pub fn text(&self) -> String {
        self.effect.kind().text()
    }

    /// The name of its colour: the nearest one of a fixed list.
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

    /// The faces of its sides.
    pub fn faces(&self) -> [u8; 6] {
        self.effect.kind().faces().unwrap_or(ORDINARY)
    }

    /// Rejects an invalid row.
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
        self.effect.check().or_else(|allowed| bad("effect", &allowed))
    }
}

/// The faces of a standard die.
pub(crate) const ORDINARY: [u8; 6] = [1, 2, 3, 4, 5, 6];

/// The named colours.
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

/// The maximum price.
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
    fn finds_the_nearest_colour_name() {
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
