//! Player statistics by a naive fold: every field is read from events as JSON, game by game.

use std::collections::BTreeMap;

use domain::{Event, replay};
use serde_json::{Map, Value, json};
use store::Store;
use uuid::Uuid;

use super::seats::{counts, logs};

pub(super) type Key = (Uuid, String, String);

const POINTS: [&str; 6] = [
    "game_score",
    "round_score",
    "combination_points",
    "save_points",
    "hand_points",
    "bank_points",
];

/// The expected statistics of all players, as JSON.
pub(super) async fn statistics(store: &Store) -> BTreeMap<Key, Value> {
    let mut games = Vec::new();
    for (game, log) in logs(store).await {
        let ended = log.iter().find(|(event, _)| event.name() == "Ended");
        let Some((Event::Ended(outcome), at)) = ended else { continue };
        if counts(&log, outcome.by) {
            games.push((*at, game, log));
        }
    }
    games.sort_by_key(|(at, game, _)| (*at, *game));
    let mut all: BTreeMap<Key, Value> = BTreeMap::new();
    for (at, game, log) in games {
        let Event::Created { ruleset, .. } = &log[0].0 else { panic!() };
        let taken = log.iter().filter_map(|(event, _)| match event {
            Event::SeatTaken { seat, player, .. } => Some((*seat, player.0)),
            _ => None,
        });
        let written: Vec<(String, Value, i64)> =
            log.iter().map(|(event, at)| row(event, *at)).collect();
        for (seat, player) in taken {
            let key = (player, ruleset.rules.game().to_owned(), ruleset.preset.clone());
            let mut more = one_game(&written, seat, ruleset.rules.game());
            more["last"] = json!([at, game]);
            if ruleset.rules.game() == "dice_rogue" {
                add_up(&mut more["counts"], &colours(&log));
            }
            match all.get_mut(&key) {
                None => {
                    more["best_streak"] = more["streak"].clone();
                    all.insert(key, more);
                }
                Some(sum) => add(sum, &more, ruleset.rules.game()),
            }
        }
    }
    all
}

fn row(event: &Event, at: i64) -> (String, Value, i64) {
    let mut written = serde_json::to_value(event).unwrap();
    (event.name().to_owned(), written[event.name()].take(), at)
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// Results of a seat in one game.
fn one_game(log: &[(String, Value, i64)], seat: u8, kind: &str) -> Value {
    let own = |name: &'static str| {
        log.iter()
            .filter(move |(kind, event, _)| kind == name && event["seat"] == seat)
            .map(|(_, event, _)| event)
    };
    let count = |name| own(name).count();
    let sum = |name, field: &str| own(name).map(|event| number(&event[field])).sum::<i64>();
    let most =
        |name, field: &str| own(name).map(|event| number(&event[field])).max().unwrap_or(0).max(0);
    let outcome = &log.iter().find(|(kind, ..)| kind == "Ended").unwrap().1;
    let won = outcome["winners"].as_array().unwrap().contains(&json!(seat));
    let score = &outcome["scores"][usize::from(seat)];
    let mut combinations = BTreeMap::new();
    for combination in own("Saved").flat_map(|save| save["combinations"].as_array().unwrap()) {
        *combinations.entry(combination["name"].as_str().unwrap().to_owned()).or_insert(0) += 1;
    }
    let hot = own("Saved").filter(|save| save["left"] == json!([])).count();
    let character = own("CharacterChosen")
        .next_back()
        .map(|chosen| chosen["character"].as_str().unwrap().to_owned());
    let tally = json!({ "games": 1, "wins": u32::from(won) });
    let (damage, eliminations) = hits(log, seat);
    let hot = if kind == "farkle" { hot } else { 0 };
    let counted = [
        ("hot_dice".to_owned(), i64::try_from(hot).unwrap()),
        ("spent".to_owned(), spent(own("EffectApplied"))),
        ("damage".to_owned(), damage),
        ("eliminations".to_owned(), eliminations),
    ];
    let mut counts: BTreeMap<String, i64> =
        counted.into_iter().filter(|(_, count)| *count != 0).collect();
    for save in own("Saved").filter(|save| save["multiplier"].is_number()) {
        if ["zero_hour", "true_grit", "last_line"].contains(&kind) {
            *counts.entry(format!("multiplied_by_{}", save["multiplier"])).or_default() += 1;
        }
    }
    json!({
        "games": 1, "wins": u32::from(won), "left": count("SeatLeft").min(1), "streak": u32::from(won), "best_streak": 0,
        "scores": score, "best_game": score, "turns": count("TurnEnded"), "turn_time": time(log, seat),
        "time_outs": count("TimedOut"), "points": sum("TurnEnded", "points"), "best_turn": most("TurnEnded", "points"),
        "forfeited": sum("TurnEnded", "forfeited"), "rolls": count("Rolled"), "farkles": count("Farkled"),
        "biggest_save": most("Saved", "points"), "combinations": combinations,
        "money": sum("MoneyAwarded", "amount"), "counts": counts,
        "characters": character.map_or(json!({}), |code| json!({ code: tally })),
        "dice": dice(own("LoadoutChosen").next_back(), own("EffectApplied"), own("MoneyAwarded"), &tally),
    })
}

/// The total time from the start of each of its turns to their end.
fn time(log: &[(String, Value, i64)], seat: u8) -> i64 {
    let mut turns =
        log.iter().filter(|(kind, ..)| kind == "TurnStarted" || kind == "TurnEnded").peekable();
    let mut time = 0;
    while let Some((kind, event, began)) = turns.next() {
        if let (true, Some((_, ended, at))) = (kind == "TurnStarted", turns.peek())
            && event["seat"] == seat
            && ended["seat"] == seat
        {
            time += at - began;
        }
    }
    time
}

fn spent<'a>(effects: impl Iterator<Item = &'a Value>) -> i64 {
    let bought = effects
        .filter(|effect| effect["source"] == "renewed" || effect["source"]["bought"].is_string());
    let changes = bought.flat_map(|effect| effect["changes"].as_array().unwrap());
    let paid = changes.filter(|change| change["what"] == "money" || change["what"] == "energy");
    paid.map(|change| (number(&change["before"]) - number(&change["after"])).max(0)).sum()
}

/// What others lost during this seat's turns.
fn hits(log: &[(String, Value, i64)], seat: u8) -> (i64, i64) {
    let (mut turn, mut damage, mut dead) = (None, 0, 0);
    for (kind, event, _) in log {
        match kind.as_str() {
            "TurnStarted" => turn = Some(event["seat"].clone()),
            "TurnEnded" => turn = None,
            "EffectApplied" if turn == Some(json!(seat)) && event["seat"] != seat => {
                let changes = event["changes"].as_array().unwrap();
                let of = |what: &str| changes.iter().find(|change| change["what"] == what);
                damage +=
                    of("hp").map_or(0, |c| (number(&c["before"]) - number(&c["after"])).max(0));
                dead += i64::from(of("alive").is_some_and(|c| c["after"] == 0));
            }
            _ => {}
        }
    }
    (damage, dead)
}

fn dice<'a>(
    loadout: Option<&Value>,
    effects: impl Iterator<Item = &'a Value>,
    awards: impl Iterator<Item = &'a Value>,
    tally: &Value,
) -> Value {
    let mut dice: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for code in loadout.into_iter().flat_map(|chosen| chosen["dice"].as_array().unwrap()) {
        if code != "STANDARD" {
            dice.entry(code.as_str().unwrap().to_owned()).or_default();
        }
    }
    for effect in effects {
        let Some(code) = effect["source"]["die"]["code"].as_str() else { continue };
        let changes = effect["changes"].as_array().unwrap().iter();
        let points = changes.filter(|change| POINTS.iter().any(|points| change["what"] == *points));
        let more: i64 = points.map(|c| number(&c["after"]) - number(&c["before"])).sum();
        if let Some((points, _)) = dice.get_mut(code) {
            *points += more;
        }
    }
    for award in awards {
        if let Some(code) = award["why"]["die"]["code"].as_str() {
            dice.entry(code.to_owned()).or_default().1 += number(&award["amount"]);
        }
    }
    let whole = |(code, (points, money)): (String, (i64, i64))| {
        let mut die = tally.clone();
        die["points"] = json!(points);
        die["money"] = json!(money);
        (code, die)
    };
    Value::Object(dice.into_iter().map(whole).collect::<Map<_, _>>())
}

/// The game's own counts; the dice rolled are counted here too.
fn colours(log: &[(Event, i64)]) -> Value {
    let game = replay(log.iter().map(|(event, _)| event)).unwrap();
    let counted: BTreeMap<String, i64> = game.counted(0).into_iter().collect();
    let by_colour = counted.iter().filter(|(name, _)| name.starts_with("rolled_"));
    let rolls = log.iter().map(|(event, _)| {
        if let Event::Rolled(roll) = event { i64::from(roll.slots.len()) } else { 0 }
    });
    assert_eq!(by_colour.map(|(_, count)| count).sum::<i64>(), rolls.sum::<i64>());
    json!(counted)
}

/// Adds a game: most fields are sums, some are maxima.
fn add(sum: &mut Value, more: &Value, kind: &str) {
    let streak = if more["wins"] == 1 { number(&sum["streak"]) + 1 } else { 0 };
    let best_streak = number(&sum["best_streak"]).max(streak);
    let best = |field: &str| number(&sum[field]).max(number(&more[field]));
    let best_game = if kind == "zero_hour" {
        number(&sum["best_game"]).min(number(&more["best_game"]))
    } else {
        best("best_game")
    };
    let (best_turn, biggest_save) = (best("best_turn"), best("biggest_save"));
    add_up(sum, more);
    sum["last"] = more["last"].clone();
    let set = [
        ("streak", streak),
        ("best_streak", best_streak),
        ("best_game", best_game),
        ("best_turn", best_turn),
        ("biggest_save", biggest_save),
    ];
    for (field, value) in set {
        sum[field] = json!(value);
    }
}

fn add_up(sum: &mut Value, more: &Value) {
    match (sum, more) {
        (Value::Object(sum), Value::Object(more)) => {
            for (key, value) in more {
                match sum.get_mut(key) {
                    Some(sum) => add_up(sum, value),
                    None => {
                        sum.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(sum), Value::Array(more)) => {
            sum.iter_mut().zip(more).for_each(|(sum, more)| add_up(sum, more));
        }
        (sum, more) if more.is_number() => *sum = json!(number(sum) + number(more)),
        _ => {}
    }
}
