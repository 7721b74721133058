//! The moves of NeonPolis, as written by people.

use crate::{
    Ability, BadRecord, Exchange, Play,
    verbs::{Arguments, BUY, END, ROLL_OR_KEEP, Verb, quoted},
};

pub(super) const VERBS: &[Verb] = &[
    ROLL_OR_KEEP,
    RESOLVE,
    ATTACK,
    ABILITY,
    STAY,
    YIELD,
    Verb { forms: "buy CODE, buy CODE -> SEAT", ..BUY },
    RENEW,
    EVOLVE,
    END,
];

const RESOLVE: Verb = Verb {
    name: "resolve",
    forms: "resolve",
    read: |_| Ok(Play::Resolve),
    write: |play, _| (*play == Play::Resolve).then(|| "resolve".to_owned()),
};

const ATTACK: Verb = Verb {
    name: "attack",
    forms: "attack, attack -> SEAT",
    read: |words| Ok(Play::Attack { target: words.target()? }),
    write: |play, _| match play {
        Play::Attack { target: None } => Some("attack".to_owned()),
        Play::Attack { target: Some(seat) } => Some(format!("attack -> {seat}")),
        _ => None,
    },
};

const ABILITY: Verb = Verb {
    name: "ability",
    forms: "ability HOW",
    read: |words| ability(words).map(Play::Ability),
    write: |play, _| match play {
        Play::Ability(ability) => Some(format!("ability {}", write_ability(*ability))),
        _ => None,
    },
};

const STAY: Verb = Verb {
    name: "stay",
    forms: "stay",
    read: |_| Ok(Play::Answer { stay: true }),
    write: |play, _| (*play == Play::Answer { stay: true }).then(|| "stay".to_owned()),
};

const YIELD: Verb = Verb {
    name: "yield",
    forms: "yield",
    read: |_| Ok(Play::Answer { stay: false }),
    write: |play, _| (*play == Play::Answer { stay: false }).then(|| "yield".to_owned()),
};

const RENEW: Verb = Verb {
    name: "renew",
    forms: "renew",
    read: |_| Ok(Play::Renew),
    write: |play, _| (*play == Play::Renew).then(|| "renew".to_owned()),
};

const EVOLVE: Verb = Verb {
    name: "evolve",
    forms: "evolve CODE",
    read: |words| Ok(Play::Evolve { code: words.code("an evolution")? }),
    write: |play, _| match play {
        Play::Evolve { code } => Some(format!("evolve {}", quoted(code))),
        _ => None,
    },
};

fn ability(words: &mut Arguments<'_, '_>) -> Result<Ability, BadRecord> {
    const HOW: &str = "an ability, as in 2 -> 0, store 3, place 0, 2, heal, charge";
    if words.accept("store")? {
        words.value("a slot").map(Ability::Store)
    } else if words.accept("place")? {
        words.value("a slot").map(Ability::Place)
    } else if words.accept("heal")? {
        Ok(Ability::Exchange(Exchange::Heal))
    } else if words.accept("charge")? {
        Ok(Ability::Exchange(Exchange::Charge))
    } else {
        let first = words.value(HOW)?;
        if words.arrow()? {
            Ok(Ability::Copy { from: first, onto: words.value("a slot")? })
        } else {
            Ok(Ability::Convert(first))
        }
    }
}

fn write_ability(ability: Ability) -> String {
    match ability {
        Ability::Copy { from, onto } => format!("{from} -> {onto}"),
        Ability::Store(slot) => format!("store {slot}"),
        Ability::Place(slot) => format!("place {slot}"),
        Ability::Convert(hearts) => hearts.to_string(),
        Ability::Exchange(Exchange::Heal) => "heal".to_owned(),
        Ability::Exchange(Exchange::Charge) => "charge".to_owned(),
    }
}
