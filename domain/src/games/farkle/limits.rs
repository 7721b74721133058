//! Limits on the special dice of a loadout.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{endless, scoring::ScoreTable};
use crate::{
    Rejection,
    ruleset::{bad, within},
    special_dice::{Catalogue, Code, DieKind, Loadout, Tier},
};

/// Limits of a loadout; a missing entry means no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadoutLimits {
    /// The maximum number of dice of any one code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_of_one: Option<u8>,
    /// The maximum number of dice by code.
    #[serde(default)]
    pub most_copies: BTreeMap<Code, u8>,
    /// The maximum number of dice by tier.
    #[serde(default)]
    pub most_of_tier: BTreeMap<Tier, u8>,
    /// Dice that must not be combined.
    #[serde(default)]
    pub banned_pairs: Vec<(Code, Code)>,
}

impl LoadoutLimits {
    /// At most two Doubles, and at most two dice of the strongest tier.
    pub(crate) fn competitive() -> Self {
        let double = "DOUBLE".parse().map(|code| (code, 2));
        Self {
            most_copies: double.into_iter().collect(),
            most_of_tier: BTreeMap::from([(Tier::Amazing, 2)]),
            ..Self::default()
        }
    }

    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if let Some(most) = self.most_of_one {
            within("loadout_limits.most_of_one", most, 0..=6)?;
        }
        let most = self.most_copies.values().chain(self.most_of_tier.values());
        most.copied().try_for_each(|most| within("loadout_limits", most, 0..=6))?;
        if self.banned_pairs.len() > 100 {
            return Err(bad("loadout_limits.banned_pairs", self.banned_pairs.len(), "at most 100"));
        }
        Ok(())
    }

    fn allow(&self, dice: &[&DieKind]) -> Result<(), Rejection> {
        let count = |pick: &dyn Fn(&DieKind) -> bool| {
            u8::try_from(dice.iter().filter(|die| pick(die)).count()).unwrap_or(u8::MAX)
        };
        for die in dice {
            let most = [self.most_copies.get(&die.code).copied(), self.most_of_one];
            let most = most.into_iter().flatten().min();
            let copies = count(&|other| other.code == die.code);
            if let Some(most) = most.filter(|&most| copies > most) {
                return Err(Rejection::TooManyCopies { code: die.code, copies, most });
            }
            let of_tier = count(&|other| other.tier == die.tier);
            let most = self.most_of_tier.get(&die.tier).copied();
            if let Some(most) = most.filter(|&most| of_tier > most) {
                let tier = die.tier.name();
                return Err(Rejection::TooManyOfTier { tier, dice: of_tier, most });
            }
        }
        let has = |code| dice.iter().any(|die| die.code == code);
        let both = |one, other| has(one) && has(other);
        let twice = |code| count(&|die| die.code == code) > 1;
        let banned = self
            .banned_pairs
            .iter()
            .find(|&&(one, other)| if one == other { twice(one) } else { both(one, other) });
        banned.map_or(Ok(()), |&(one, other)| Err(Rejection::BannedPair { one, other }))
    }
}

/// Parses and validates a loadout: one code per slot, remaining slots get standard dice.
pub(super) fn parse_loadout(
    named: &[String],
    slots: u8,
    catalogue: &Catalogue,
    limits: &LoadoutLimits,
    table: &ScoreTable,
) -> Result<Vec<Code>, Rejection> {
    if named.len() > usize::from(slots) {
        return Err(Rejection::TooManyDice { dice: named.len(), slots });
    }
    let mut codes = Vec::with_capacity(usize::from(slots));
    let mut special = Vec::new();
    for name in named {
        if name == Code::STANDARD.as_str() {
            codes.push(Code::STANDARD);
            continue;
        }
        let die = catalogue.named(name)?;
        if die.retired {
            return Err(Rejection::RetiredDie { code: die.code });
        }
        codes.push(die.code);
        special.push(die);
    }
    codes.resize(usize::from(slots), Code::STANDARD);
    limits.allow(&special)?;
    if endless::never_farkles(Loadout::of(&codes, catalogue), slots, catalogue, table) {
        return Err(Rejection::EndlessLoadout);
    }
    Ok(codes)
}
