//! Rules for tests.

use domain::{GAMES, Rules, Ruleset};
use serde_json::Value;

/// A preset of Farkle with changed rules.
pub fn ruleset(preset: &str, changes: Value) -> Ruleset {
    let preset = Ruleset::preset("farkle", Some(preset)).unwrap();
    let none = serde_json::Map::new();
    preset.with(changes.as_object().unwrap_or(&none)).unwrap()
}

/// Every preset of every game.
pub fn presets() -> impl Iterator<Item = (&'static str, Ruleset)> {
    GAMES.iter().flat_map(|game| {
        Rules::versions(game).unwrap().into_iter().map(move |preset| (*game, preset))
    })
}

/// Rules under which random play reaches what the presets only show to good players: shops, cards,
/// evolutions.
pub fn generous() -> [(&'static str, Ruleset); 4] {
    let changed = |game, changes: serde_json::Value| {
        let preset = Ruleset::preset(game, None).unwrap();
        (game, preset.with(changes.as_object().unwrap()).unwrap())
    };
    let goals =
        serde_json::json!([{ "target": 0, "reward": 900 }, { "target": 60, "reward": 500 }]);
    [
        changed(
            "dice_rogue",
            serde_json::json!({
                "opening_shop": true, "start_money": 5_000, "rounds": goals, "solo_turn_seconds": 60,
                "colour_table": [{ "odds": 4, "price": 10 }, { "odds": 3, "price": 10 },
                    { "odds": 4, "price": 10 }, { "odds": 4, "price": 10 }, { "odds": 2, "price": 10 }],
            }),
        ),
        changed("neonpolis", serde_json::json!({ "energy": 30, "hp": 40, "goal": 60 })),
        changed("neonpolis", serde_json::json!({ "energy": 30, "hp": 4, "goal": 40 })),
        // As much as can happen at once.
        changed("neonpolis", crowded()),
    ]
}

/// As many effects that apply at the same time as the rules allow, all of them cheap.
fn crowded() -> serde_json::Value {
    let kinds = [
        "damage",
        "armour",
        "enter_damage",
        "hit_energy",
        "kill_vp",
        "set_vp",
        "more_healing",
        "more_energy",
        "start_energy",
        "start_heal",
        "start_inside_vp",
    ];
    let evolutions: Vec<_> = kinds
        .iter()
        .flat_map(|kind| (0..3).map(move |n| (kind, n)))
        .map(|(kind, n)| serde_json::json!({ "code": format!("{kind}_{n}"), "name": *kind, "effect": { *kind: 1 } }))
        .collect();
    serde_json::json!({ "evolutions": evolutions, "evolution_hearts": 1, "cards": [], "hp": 200, "goal": 900 })
}
