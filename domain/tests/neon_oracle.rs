//! NeonPolis compared to an independent implementation of its rules: every first roll, random
//! games, and the order of damage effects.

use crate::measures;
use domain::{
    Board, Change, Command, DecidedBy, Dice, Draw, EffectApplied, Event, Fact, Game, Legal,
    Measure, Play, Purpose, Rules, Ruleset, SeatNo, Slug, Stage, decide, evolve,
    fair::Secret,
    legal_commands,
    neon::{ENERGY, HEART, SWORD},
};
use serde_json::{Value, json};
use test_games::{Match, NOW, Numbers, SECRET, join, play, roll};

/// Scripted dice; always draws the first card.
struct Scripted<'a>(&'a [u32]);

impl Dice for Scripted<'_> {
    fn draw(&mut self, draw: Draw, _: u8) -> Vec<u32> {
        if draw.purpose == Purpose::Dice { self.0.to_vec() } else { vec![1] }
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

fn execute(game: &Game, command: &Command, faces: &[u32]) -> (Game, Vec<Event>) {
    let events = decide(Some(game), command, NOW, &mut Scripted(faces)).unwrap();
    let after = events.iter().fold(Some(game.clone()), evolve).unwrap();
    (after, events)
}

/// How swords hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Combat {
    /// When the dice are resolved, from inside everybody: version 1.
    #[default]
    AtOnce,
    /// In a combat phase, from inside one chosen target.
    One,
    /// In a combat phase, from inside everybody.
    All,
}

const COMBATS: [Combat; 3] = [Combat::AtOnce, Combat::One, Combat::All];

impl Combat {
    fn preset(self) -> Ruleset {
        match self {
            Self::AtOnce => {
                let all = Rules::versions("neonpolis").unwrap();
                all.into_iter()
                    .find(|preset| preset.preset == "standard" && preset.version == 1)
                    .unwrap()
            }
            Self::One => Ruleset::preset("neonpolis", Some("standard")).unwrap(),
            Self::All => Ruleset::preset("neonpolis", Some("arena")).unwrap(),
        }
    }
}

fn seated(combat: Combat, changes: Value, characters: &[&str]) -> Match {
    let preset = combat.preset();
    let mut table = Match::under(&preset.with(changes.as_object().unwrap()).unwrap());
    for (seat, character) in (0..).zip(characters) {
        table.execute(&join(seat), &[]).unwrap();
        let character = (*character).to_owned();
        table.execute(&Command::ChooseCharacter { seat, character }, &[]).unwrap();
    }
    table
}

fn fact(game: &Game, seat: SeatNo, name: &str) -> i64 {
    let found = game.facts(seat).into_iter().find(|fact| fact.0 == name).unwrap().1;
    if let Fact::Flag(flag) = found { flag.into() } else { found.to_string().parse().unwrap() }
}

fn of_all(game: &Game, name: &str) -> Vec<i64> {
    (0..).zip(&game.table.seats).map(|(seat, _)| fact(game, seat, name)).collect()
}

fn count(faces: &[u32], face: u8) -> i64 {
    faces.iter().map(|&shown| i64::from(shown == u32::from(face))).sum()
}

/// Three of a number n score n points, each further one scores 1, and sets add up.
fn sets(faces: &[u32]) -> i64 {
    (1..=3)
        .map(|n| (count(faces, n), i64::from(n)))
        .filter(|set| set.0 > 2)
        .map(|set| set.0 + set.1 - 3)
        .sum()
}

fn every_roll() -> impl Iterator<Item = Vec<u32>> {
    (0..46_656u32).map(|number| (0..6).map(|n| number / 6u32.pow(n) % 6 + 1).collect())
}

/// Resolves the dice of a seat and attacks; from inside, with one target, seat 1.
fn resolve(combat: Combat, game: &Game, seat: SeatNo) -> (Game, Vec<Event>) {
    let (game, mut events) = execute(game, &play(seat, Play::Resolve), &[]);
    if combat == Combat::AtOnce || game.phase() != Some("combat") {
        return (game, events);
    }
    let target = (combat == Combat::One && seat == 0).then_some(1);
    let (game, more) = execute(&game, &play(seat, Play::Attack { target }), &[]);
    events.extend(more);
    (game, events)
}

/// Seat 0 is inside: swords hit those outside, hearts do not heal. Then seat 1, outside: swords hit
/// the seat inside, hearts heal.
#[test]
fn every_first_roll_from_inside_and_outside() {
    COMBATS.into_iter().for_each(every_first_roll);
}

fn every_first_roll(combat: Combat) {
    let characters = ["nimbus_gibbon", "quantum_terrapin", "basalt_colossus"];
    let mut table = seated(combat, json!({}), &characters);
    table.execute_fairly(&Command::Start).unwrap();
    let (mut points, mut armed) = (0, 0);
    let all = i64::from(combat != Combat::One);
    for faces in every_roll() {
        let (game, _) = execute(table.game(), &roll(0), &faces);
        let (game, events) = resolve(combat, &game, 0);
        let swords = count(&faces, SWORD);
        assert_eq!(of_all(&game, "vp"), [1 + sets(&faces), 0, 0], "{faces:?}");
        assert_eq!(of_all(&game, "energy"), [count(&faces, ENERGY), 0, 0], "{faces:?}");
        // Stoneplate reduces the first damage by one.
        let plated = 10 - (swords - 1).max(0) * all;
        assert_eq!(of_all(&game, "hp"), [10, 10 - swords, plated], "{faces:?}");
        assert_eq!(of_all(&game, "inside"), [1, 0, 0]);
        assert_eq!(fact(&game, 0, "evolution_unlocked"), i64::from(count(&faces, HEART) >= 3));
        assert!(!events.iter().any(|event| matches!(event, Event::Asked { .. })));
        (points, armed) = (points + sets(&faces), armed + u32::from(swords > 0));
    }
    assert_eq!(points * 7_776, 3_125 * 46_656);
    assert_eq!(armed, 31_031);

    let (game, _) = execute(table.game(), &roll(0), &[4, 4, 4, 1, 1, 2]);
    let (game, _) = resolve(combat, &game, 0);
    let (begun, _) = execute(&game, &play(0, Play::End), &[]);
    for faces in every_roll() {
        let (game, _) = execute(&begun, &roll(1), &faces);
        let (game, _) = resolve(combat, &game, 1);
        let (swords, hearts) = (count(&faces, SWORD), count(&faces, HEART));
        assert_eq!(of_all(&game, "vp"), [1, sets(&faces), 0], "{faces:?}");
        assert_eq!(
            of_all(&game, "hp"),
            [10 - swords, 7 + hearts.min(3), 10 - 2 * all],
            "{faces:?}"
        );
        assert_eq!(of_all(&game, "energy"), [0, count(&faces, ENERGY), 0], "{faces:?}");
        assert_eq!(game.to_move(), Some(u8::from(swords == 0)), "who was hit is asked");
    }
}

/// Sources with fixed changes, in the standard rules.
#[rustfmt::skip]
const FIXED: [(&str, Measure, i64); 20] = [
    ("centre", measures::VP, 2), ("entered", measures::VP, 1), ("item:sky_throne", measures::VP, 1),
    ("item:neon_crown", measures::VP, 1), ("item:billboard", measures::VP, 1), ("item:parade", measures::VP, 1),
    ("item:skyline_deal", measures::VP, 3), ("item:bounty_licence", measures::VP, 3),
    ("renewed", measures::ENERGY, -2), ("item:solar_skin", measures::ENERGY, 1), ("item:dynamo_heart", measures::ENERGY, 1),
    ("item:capacitor", measures::ENERGY, 1), ("ability:ion_wyrm", measures::ENERGY, 1),
    ("item:power_cell", measures::ENERGY, 4), ("item:shock_absorber", measures::ENERGY, 1),
    ("item:nano_medics", measures::HP, 1), ("item:healing_glow", measures::HP, 1), ("item:stim_pack", measures::HP, 1),
    ("bought:titan_frame", measures::HP, 2), ("evolved:deep_lungs", measures::HP, 2),
];

#[rustfmt::skip]
const FACTS: [(&str, Measure); 10] = [
    ("vp", measures::VP), ("hp", measures::HP), ("max_hp", measures::MAX_HP), ("energy", measures::ENERGY),
    ("alive", measures::ALIVE), ("inside", measures::INSIDE), ("armed", measures::ARMED), ("marked", measures::MARKED),
    ("shielded", measures::SHIELDED), ("stored", measures::STORED),
];
#[rustfmt::skip]
const CHARACTERS: [&str; 8] = [
    "nimbus_gibbon", "basalt_colossus", "quantum_terrapin", "starblade_mantis", "ion_wyrm", "abyss_leviathan",
    "prismfang_cobra", "halo_cyclops",
];

/// The expected state, from the events alone.
#[derive(Default)]
struct Books {
    values: Vec<(SeatNo, Measure, i64)>,
    owner: SeatNo,
    dice: Vec<u32>,
    rolls: i64,
    turns: u32,
    /// Per command: the seat inside, the initial damage of a hit for anybody else, and the energy
    /// transferred.
    inside: Option<SeatNo>,
    initial_damage: i64,
    resolving: bool,
    /// How swords hit, and the chosen target of an attack from inside.
    combat: Combat,
    aimed: Option<SeatNo>,
    exchanged: i64,
    /// The seats alive before it, and the sources that must have had an effect by its end.
    standing: Vec<SeatNo>,
    due: Vec<&'static str>,
    hp: i64,
}

impl Books {
    fn known(&self, seat: SeatNo, what: Measure) -> Option<i64> {
        let known = self.values.iter().find(|value| (value.0, value.1) == (seat, what));
        known.map(|value| value.2)
    }

    /// Everybody starts alive, with the health and energy of the rules, and nothing else.
    fn get(&self, seat: SeatNo, what: Measure) -> i64 {
        let full = [measures::HP, measures::MAX_HP].map(|what| (what, self.hp));
        let mut given = full.into_iter().chain([(measures::ALIVE, 1), (measures::ENERGY, 20)]);
        let first = given.find(|given| given.0 == what).map_or(0, |given| given.1);
        self.known(seat, what).unwrap_or(first)
    }

    fn set(&mut self, seat: SeatNo, what: Measure, after: i64) {
        self.values.retain(|value| (value.0, value.1) != (seat, what));
        self.values.push((seat, what, after));
    }

    fn how_many(&self, seat: SeatNo, things: &[&str]) -> i64 {
        things.iter().map(|thing| self.get(seat, measures::held(thing))).sum()
    }

    fn alive(&self, seats: u8) -> Vec<SeatNo> {
        (0..seats).filter(|&seat| self.get(seat, measures::ALIVE) > 0).collect()
    }

    /// Prepares for a command.
    fn expect(&mut self, wanted: &Play, seats: u8) {
        self.standing = self.alive(seats);
        self.values.retain(|value| value.1 != measures::DAMAGE);
        let inside = self.values.iter().find(|value| value.1 == measures::INSIDE && value.2 > 0);
        self.inside = inside.map(|value| value.0);
        let nova = matches!(wanted, Play::Buy { code, .. } if code == "nova_burst");
        self.initial_damage = if nova { 2 } else { 1 };
        let attack = matches!(wanted, Play::Attack { .. });
        self.resolving = attack || (*wanted == Play::Resolve && self.combat == Combat::AtOnce);
        self.aimed = if let Play::Attack { target } = wanted { *target } else { None };
        self.due.extend((attack && self.inside.is_none()).then_some("entered"));
        let due = self.get(self.owner, measures::COMBAT) > 0;
        let barred = matches!(wanted, Play::Buy { .. } | Play::Renew | Play::End);
        assert!(!(due && barred) && (due || !attack), "{wanted:?}");
    }

    /// The initial damage of a hit: the swords, from inside or at the seat inside; otherwise that
    /// of a card.
    fn initial_damage(&self, seat: SeatNo) -> i64 {
        let swords = [Some(seat), Some(self.owner)].contains(&self.inside) && self.resolving;
        if swords { count(&self.dice, SWORD) } else { self.initial_damage }
    }

    fn enter(&mut self, event: &Event, game: &Game) {
        let moves = matches!(event, Event::Rolled(_) | Event::Saved(_) | Event::Asked { .. });
        if let Some(seat) = event.seat().filter(|_| moves) {
            assert_eq!(self.get(seat, measures::ALIVE), 1, "the dead do nothing: {event:?}");
        }
        if let Event::CharacterChosen { seat, character } = event {
            self.set(*seat, measures::ARMED, (character.as_str() == "basalt_colossus").into());
        } else if let Event::TurnStarted { seat, .. } = event {
            self.turn_started(*seat, u8::try_from(game.table.seats.len()).unwrap());
        } else if let Event::Rolled(rolled) = event {
            let dice = 6 + self.how_many(rolled.seat, &["seventh_die", "spare_core", "third_eye"]);
            self.dice.resize(usize::try_from(dice).unwrap(), 0);
            for (slot, face) in rolled.slots.iter().zip(rolled.faces.iter()) {
                self.dice[usize::from(slot)] = face.into();
            }
            self.rolls += 1;
            assert!(!self.dice.contains(&0), "the first roll is of all dice");
            assert!(self.rolls <= 4 + self.how_many(rolled.seat, &["second_wind", "quick_paws"]));
        } else if let Event::Saved(saved) = event {
            let after = self.get(saved.seat, measures::VP) + saved.points;
            assert_eq!((saved.points, saved.turn_score), (sets(&self.dice), after));
            self.set(saved.seat, measures::VP, after);
            self.due.extend((count(&self.dice, ENERGY) > 0).then_some("energy"));
            let hurt = self.get(saved.seat, measures::HP) < self.get(saved.seat, measures::MAX_HP);
            let heals = hurt && count(&self.dice, HEART) > 0 && self.may_heal(saved.seat);
            self.due.extend(heals.then_some("hearts"));
            let swords = count(&self.dice, SWORD) > 0;
            let enters = self.inside.is_none() && self.combat == Combat::AtOnce;
            self.due.extend((swords && enters).then_some("entered"));
        } else if let Event::Answered { stays, .. } = event {
            self.due.extend((!stays).then_some("entered"));
        } else if let Event::EffectApplied(effect) = event {
            for change in &effect.changes {
                self.change(effect, *change, game);
            }
        }
    }

    /// Hearts heal outside, and inside with the right card.
    fn may_heal(&self, seat: SeatNo) -> bool {
        self.get(seat, measures::INSIDE) == 0 || self.how_many(seat, &["field_clinic"]) > 0
    }

    /// The next seat alive has the turn. The seat inside gets its bonus, except in the very first
    /// turn.
    fn turn_started(&mut self, seat: SeatNo, seats: u8) {
        let (alive, last) = (self.alive(seats), self.owner);
        let next = alive.iter().find(|&&seat| seat > last).or(alive.first());
        assert!(self.turns == 0 || Some(&seat) == next);
        let inside = self.turns > 0 && self.get(seat, measures::INSIDE) > 0;
        self.due.extend(inside.then_some("centre"));
        assert_eq!(self.get(last, measures::COMBAT), 0, "an attack is due");
        let of_the_turn = [measures::SPARE_HEARTS, measures::EVOLUTION];
        self.values
            .retain(|value| !of_the_turn.contains(&value.1) && !measures::is_active(value.1));
        (self.owner, self.rolls, self.turns) = (seat, 0, self.turns + 1);
        self.dice.clear();
    }

    fn change(&mut self, effect: &EffectApplied, change: Change, game: &Game) {
        let (seat, Change { what, before, after }) = (effect.seat, change);
        if let Measure::OfDie(_, slot) = what {
            let die = &mut self.dice[usize::from(slot)];
            assert_eq!(i64::from(*die), before);
            *die = after.try_into().unwrap();
            return;
        }
        let hit = what == measures::DAMAGE && self.known(seat, what).is_none();
        let told = if hit { self.initial_damage(seat) } else { self.get(seat, what) };
        assert_eq!(before, told, "{effect:?}");
        if [measures::VP, measures::ENERGY, measures::HP].contains(&what) {
            assert!(self.explains(effect, change, game), "{effect:?} {:?}", self.dice);
        }
        self.set(seat, what, after);
        let fallen = what == measures::ALIVE && after == 0 && self.inside == Some(seat);
        self.due.extend((fallen && self.resolving).then_some("entered"));
        let most = self.get(seat, measures::MAX_HP);
        assert!((0..=most).contains(&self.get(seat, measures::HP)), "{effect:?}");
        assert!(self.get(seat, measures::ENERGY) >= 0, "{effect:?}");
        let inside = self.values.iter().filter(|value| value.1 == measures::INSIDE && value.2 > 0);
        assert!(inside.count() <= 1, "one at most is inside");
    }

    /// Whether the source changes victory points, energy or health as the rules say.
    fn explains(&mut self, effect: &EffectApplied, change: Change, game: &Game) -> bool {
        let source = serde_json::to_string(&effect.source).unwrap().replace(['{', '}', '"'], "");
        let (seat, Change { what, before, after }) = (effect.seat, change);
        let (by, room) = (after - before, self.get(seat, measures::MAX_HP) - before);
        self.due.retain(|due| *due != source);
        let fixed = FIXED.iter().find(|fixed| (fixed.0, fixed.1) == (source.as_str(), what));
        if let Some(fixed) = fixed {
            return by == fixed.2;
        }
        let hearts = count(&self.dice, HEART);
        let whole: i64 = effect.changes.iter().map(|change| change.after - change.before).sum();
        match (what, source.as_str()) {
            (measures::ENERGY, "energy") => seat == self.owner && by == count(&self.dice, ENERGY),
            (measures::ENERGY, "item:energy_tap" | "ability:prismfang_cobra") => {
                self.exchanged += by;
                by.abs() <= if source == "item:energy_tap" { 3 } else { 1 }
            }
            // Besides the exchange, these record their use: 0 → 1.
            (measures::ENERGY, "ability:abyss_leviathan") => {
                whole == 1 && (1..=hearts).contains(&by)
            }
            (measures::HP, "ability:halo_cyclops") if by > 0 && self.combat != Combat::AtOnce => {
                whole == 1 && by == 1 && self.may_heal(seat)
            }
            (_, "ability:halo_cyclops") => whole == 1 && by.abs() == 1,
            (measures::ENERGY, bought) => {
                let Board::NeonPolis(board) = &game.board else { return false };
                let code = bought.strip_prefix("bought:").and_then(|code| code.parse().ok());
                let price = code.and_then(|code: Slug| board.rules.card(code)).unwrap().price;
                let discount = self.how_many(seat, &["black_market"]);
                by == -(price - discount).max(1)
            }
            (measures::HP, "hearts") => self.may_heal(seat) && by == hearts.min(room),
            (measures::HP, "item:med_drop") => by == room.min(2),
            (measures::HP, "item:full_repair") => by == room.min(5),
            (measures::HP, _) => {
                let damage =
                    self.known(seat, measures::DAMAGE).unwrap_or(self.initial_damage(seat));
                let of_one = self.combat == Combat::One && source == "swords";
                let named =
                    self.inside != Some(self.owner) || [None, Some(seat)].contains(&self.aimed);
                -by == damage.min(before) && damage > 0 && (!of_one || named)
            }
            _ => false,
        }
    }
}

/// A player with 20 points wins at once; otherwise the last one alive; of players eliminated
/// together the one with the most points, unless tied.
fn winners(books: &Books, seats: u8) -> Option<(DecidedBy, Vec<SeatNo>)> {
    let points = |seat: &SeatNo| books.get(*seat, measures::VP);
    let alive = books.alive(seats);
    if let Some(&first) = alive.iter().find(|seat| points(seat) >= 20) {
        return Some((DecidedBy::Goal, vec![first]));
    }
    let most = books.standing.iter().map(points).max();
    let best: Vec<SeatNo> =
        books.standing.iter().copied().filter(|seat| Some(points(seat)) == most).collect();
    match alive.len() {
        0 if best.len() == 1 => Some((DecidedBy::Score, best)),
        0 => Some((DecidedBy::Draw, Vec::new())),
        1 => Some((DecidedBy::LastAlive, alive)),
        _ => None,
    }
}

#[test]
fn random_games_match_their_events() {
    let (mut turns, mut ends) = (0, Vec::new());
    for number in 0..240u64 {
        let mut numbers = Numbers((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let seats = 2 + u8::try_from(number % 3).unwrap();
        let mut characters = CHARACTERS;
        characters.rotate_left(usize::try_from(number * 3 % 8).unwrap());
        let hp = [10, 4, 2][usize::try_from(number / 3 % 3).unwrap()];
        let combat = COMBATS[usize::try_from(number / 9 % 3).unwrap()];
        let rules = json!({ "energy": 20, "hp": hp });
        let mut table = seated(combat, rules, &characters[..seats.into()]);
        let mut books = Books { combat, hp, ..Books::default() };
        table.execute_fairly(&Command::Start).unwrap();
        table.log.iter().for_each(|event| books.enter(event, table.game()));
        while let Some(seat) = table.game().to_move() {
            let mut moves = legal_commands(table.game.as_ref());
            moves.retain(|legal| matches!(legal, Legal::Play(..)));
            let Legal::Play(_, wanted) = moves.swap_remove(numbers.index(moves.len())) else {
                panic!("only moves are left")
            };
            books.expect(&wanted, seats);
            for event in table.execute_fairly(&play(seat, wanted.clone())).unwrap() {
                books.enter(&event, table.game());
            }
            assert_eq!(std::mem::take(&mut books.exchanged), 0, "what one loses the other gets");
            for (name, what) in FACTS {
                let mine: Vec<i64> = (0..seats).map(|seat| books.get(seat, what)).collect();
                assert_eq!(of_all(table.game(), name), mine, "{name} after {wanted:?}");
            }
            let ended = if let Stage::Ended(end) = &table.game().table.stage {
                Some((end.by, end.winners.clone()))
            } else {
                None
            };
            assert_eq!(ended, winners(&books, seats), "after {wanted:?}");
            assert!(ended.is_some() || books.due.is_empty(), "{:?} after {wanted:?}", books.due);
            ends.extend(ended.map(|ended| ended.0));
            assert!(books.turns < 1_000, "game {number} does not end");
        }
        turns += books.turns;
    }
    assert_eq!(ends.len(), 240);
    assert!(turns > 3_000, "{turns}");
    let times = |by| ends.iter().filter(|end| **end == by).count();
    let all = [DecidedBy::Goal, DecidedBy::LastAlive, DecidedBy::Score, DecidedBy::Draw].map(times);
    assert!(all.iter().all(|&times| times > 0), "{all:?}");
}

/// What affects a hit on a player.
#[derive(Clone, Copy, Default)]
struct Fighter {
    hp: i64,
    vp: i64,
    damage: i64,
    armour: i64,
    breach: i64,
    marked: i64,
    shielded: bool,
    plated: bool,
    precise: bool,
    /// The reduction of the next damage by the plate.
    plate: i64,
}

impl Fighter {
    /// Immunities, bonuses, reductions, Stoneplate, in this order, and never below 0.
    fn hit(&mut self, much: i64) -> i64 {
        if self.shielded {
            return 0;
        }
        let much = much + std::mem::take(&mut self.marked);
        let much = (much - self.armour).max(0);
        let taken = if much > 0 { much - std::mem::take(&mut self.plate) } else { 0 };
        self.hp -= taken;
        taken
    }
}

/// A fight with scripted dice: compares the engine to the values computed here.
struct Arena {
    game: Game,
    combat: Combat,
    fighters: Vec<Fighter>,
    inside: Option<usize>,
    cards: Vec<(String, i64)>,
}

impl Arena {
    fn execute(&mut self, seat: usize, wanted: Play, faces: &[u32]) {
        let seat = u8::try_from(seat).unwrap();
        self.game = execute(&self.game, &play(seat, wanted), faces).0;
    }

    /// Everybody else takes this damage.
    fn hit_others(&mut self, seat: usize, much: i64) {
        for other in (0..self.fighters.len()).filter(|&other| other != seat) {
            self.fighters[other].hit(much);
        }
    }

    fn enter(&mut self, seat: usize) {
        self.inside = Some(seat);
        self.fighters[seat].vp += 1;
        if self.fighters[seat].breach > 0 {
            self.hit_others(seat, self.fighters[seat].breach);
        }
    }

    fn attack(&mut self, seat: usize, faces: &[u32], numbers: &mut Numbers) {
        let me = &mut self.fighters[seat];
        let hearts = if self.inside == Some(seat) { 0 } else { count(faces, HEART) };
        (me.vp, me.hp) = (me.vp + sets(faces), (me.hp + hearts).min(1_000));
        let precise = i64::from(me.precise && count(faces, HEART) > 0);
        let (swords, more) = (count(faces, SWORD), me.damage + precise);
        let inside = self.inside == Some(seat);
        let others: Vec<usize> = (0..self.fighters.len()).filter(|&other| other != seat).collect();
        let named = (self.combat == Combat::One && inside).then(|| numbers.one_of(&others));
        if self.combat != Combat::AtOnce && swords > 0 {
            let target = named.map(|other| u8::try_from(other).unwrap());
            self.execute(seat, Play::Attack { target }, &[]);
        }
        match self.inside.filter(|_| swords > 0) {
            Some(inside) if inside == seat => match named {
                Some(other) => {
                    self.fighters[other].hit(swords + more);
                }
                None => self.hit_others(seat, swords + more),
            },
            Some(inside) => {
                let asked = self.fighters[inside].hit(swords + more) > 0;
                assert_eq!(self.game.table.turn.asked.is_some(), asked);
                if asked {
                    let stay = numbers.below(2) == 0;
                    self.execute(inside, Play::Answer { stay }, &[]);
                    if !stay {
                        self.enter(seat);
                    }
                }
            }
            None if swords > 0 => self.enter(seat),
            None => {}
        }
    }

    fn buy(&mut self, seat: usize, numbers: &mut Numbers) {
        let offers: Vec<_> = self.game.offers().into_iter().filter(|offer| offer.buyable).collect();
        let Some(offer) = offers.get(numbers.index(offers.len() + 1)) else { return };
        let code = offer.code.to_string();
        let other = (seat + 1 + numbers.index(self.fighters.len() - 1)) % self.fighters.len();
        let target = (code == "mark").then(|| u8::try_from(other).unwrap());
        let much = self.cards.iter().find(|card| card.0 == code).unwrap().1;
        self.execute(seat, Play::Buy { code: code.clone(), target }, &[]);
        let me = &mut self.fighters[seat];
        match code.as_str() {
            "edge_a" | "edge_b" => me.damage += much,
            "hull_a" | "hull_b" => me.armour += much,
            "breach" => me.breach += much,
            "shield" => me.shielded = true,
            "mark" => self.fighters[other].marked += much,
            "force_out" => self.inside = None,
            _ => self.hit_others(seat, much),
        }
    }
}

/// Free cards, all of them open, with any numbers: every combination of effects must give the
/// expected damage.
#[test]
fn order_of_damage_effects() {
    let mut numbers = Numbers(0x5DEE_CE66_D123_4567);
    for number in 0..120 {
        let last = if number % 2 == 0 { "blast" } else { "force_out" };
        let codes = ["edge_a", "edge_b", "hull_a", "hull_b", "breach", "mark", "shield", last];
        let kinds =
            ["damage", "damage", "armour", "armour", "enter_damage", "mark", "shield", last];
        let much: Vec<i64> = codes.iter().map(|_| i64::from(1 + numbers.below(3))).collect();
        let card = |n: usize| {
            let (kind, much) = (kinds[n], much[n]);
            let plain = ["shield", "force_out"].contains(&kind);
            let effect = if plain { json!(kind) } else { json!({ kind: much }) };
            let kept = if n < 5 { "kept" } else { "once" };
            json!({ "code": codes[n], "name": codes[n], "price": 0, "kind": { kept: effect } })
        };
        let cards: Vec<Value> = (0..8).map(card).collect();
        let rules = json!({
            "cards": cards, "evolutions": [], "open_cards": 8, "hp": 1_000, "goal": 1_000
        });
        let (seats, turned) = (2 + number % 3, numbers.index(4));
        let characters: Vec<&str> = (0..seats).map(|n| CHARACTERS[(n + turned) % 4]).collect();
        let combat = COMBATS[number / 6 % 3];
        let game = seated(combat, rules, &characters).game.unwrap();
        let fighter = |character: &&str| Fighter {
            hp: 1_000,
            plated: *character == "basalt_colossus",
            plate: i64::from(*character == "basalt_colossus"),
            precise: *character == "starblade_mantis",
            ..Fighter::default()
        };
        let mut arena = Arena {
            game: execute(&game, &Command::Start, &[]).0,
            combat,
            fighters: characters.iter().map(fighter).collect(),
            inside: Some(0),
            cards: codes.map(ToOwned::to_owned).into_iter().zip(much.clone()).collect(),
        };
        arena.fighters[0].vp = 1;
        for turn in 0..40 {
            let seat = turn % seats;
            let held = if arena.inside == Some(seat) && turn > 0 { 2 } else { 0 };
            let me = &mut arena.fighters[seat];
            (me.shielded, me.plate, me.vp) = (false, me.plated.into(), me.vp + held);
            let faces: Vec<u32> = (0..6).map(|_| numbers.one_of(&[1, 2, 3, 4, 4, 5, 6])).collect();
            arena.execute(seat, Play::Roll, &faces);
            arena.execute(seat, Play::Resolve, &[]);
            arena.attack(seat, &faces, &mut numbers);
            for _ in 0..numbers.below(3) {
                arena.buy(seat, &mut numbers);
            }
            let mine =
                |pick: fn(&Fighter) -> i64| arena.fighters.iter().map(pick).collect::<Vec<_>>();
            assert_eq!(
                of_all(&arena.game, "hp"),
                mine(|fighter| fighter.hp),
                "{characters:?} {much:?} {faces:?}"
            );
            assert_eq!(of_all(&arena.game, "vp"), mine(|fighter| fighter.vp));
            assert_eq!(of_all(&arena.game, "marked"), mine(|fighter| fighter.marked));
            let inside = of_all(&arena.game, "inside").into_iter().position(|inside| inside > 0);
            assert_eq!(inside, arena.inside);
            arena.execute(seat, Play::End, &[]);
        }
    }
}

/// Dice beyond the standard number are marked as extra, the others are not.
#[test]
fn extra_dice_are_marked() {
    let characters = ["nimbus_gibbon", "quantum_terrapin"];
    let cards =
        json!([{ "code": "more", "name": "More", "price": 1, "kind": { "kept": { "dice": 2 } } }]);
    let rules = json!({ "cards": cards, "open_cards": 1, "energy": 3 });
    let mut table = seated(Combat::One, rules, &characters);
    table.execute_fairly(&Command::Start).unwrap();
    let (game, _) = execute(table.game(), &roll(0), &[1, 1, 2, 2, 3, 3]);
    assert!(game.dice().iter().all(|die| !die.extra));
    let (game, _) = execute(&game, &play(0, Play::Resolve), &[]);
    let buy = Play::Buy { code: "more".to_owned(), target: None };
    let (game, _) = execute(&game, &play(0, buy), &[]);
    let (game, _) = execute(&game, &play(0, Play::End), &[]);
    let (game, _) = execute(&game, &roll(1), &[1, 1, 2, 2, 3, 3]);
    let (game, _) = execute(&game, &play(1, Play::Resolve), &[]);
    let (game, _) = execute(&game, &play(1, Play::End), &[]);
    let marked: Vec<bool> = game.dice().iter().map(|die| die.extra).collect();
    assert_eq!(marked, [false, false, false, false, false, false, true, true]);
}
