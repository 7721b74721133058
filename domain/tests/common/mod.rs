//! A table to play at in tests.

use std::sync::Arc;

use domain::{
    Command, Dice, Draw, Event, GAMES, Game, GameId, Legal, Moment, Play, PlayerId, Rejection,
    Rules, Ruleset, SeatNo, VoidedFor, decide, evolve,
    fair::{Commitment, FairDice, Secret, commitment, ruleset_hash},
    legal_commands,
};
use serde_json::Value;
use uuid::Uuid;

/// Dice that fall as written.
#[derive(Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [u32]);

impl Dice for Script<'_> {
    fn draw(&mut self, _: Draw, _: u8) -> Vec<u32> {
        self.0.to_vec()
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

pub(crate) const SECRET: Secret = Secret([42; 32]);
pub(crate) const NOW: Moment = Moment(1_800_000_000_000);

/// A game, its log and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) log: Vec<Event>,
    pub(crate) game: Option<Game>,
    pub(crate) now: Moment,
}

impl Match {
    pub(crate) fn empty() -> Self {
        Self { log: Vec::new(), game: None, now: NOW }
    }

    /// A table under a preset with changed rules, nobody seated yet.
    pub(crate) fn open(preset: &str, changes: Value) -> Self {
        let mut table = Self::empty();
        table.tell(&create(ruleset(preset, changes)), &[]).unwrap();
        table
    }

    /// A table under these rules, nobody seated yet.
    pub(crate) fn under(ruleset: &Ruleset) -> Self {
        let mut table = Self::empty();
        table.tell(&create(ruleset.clone()), &[]).unwrap();
        table
    }

    /// A running game of so many seats.
    pub(crate) fn running(preset: &str, changes: Value, seats: u8) -> Self {
        let mut table = Self::open(preset, changes);
        for seat in 0..seats {
            table.tell(&join(seat), &[]).unwrap();
        }
        table.tell(&Command::Start, &[]).unwrap();
        table
    }

    pub(crate) fn game(&self) -> &Game {
        self.game.as_ref().unwrap()
    }

    pub(crate) fn decide(&self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        decide(self.game.as_ref(), command, self.now, &mut Script(raw))
    }

    /// Decides with scripted dice and records what happened.
    pub(crate) fn tell(&mut self, command: &Command, raw: &[u32]) -> Result<Vec<Event>, Rejection> {
        let events = self.decide(command, raw)?;
        self.record(&events);
        Ok(events)
    }

    /// Decides with the fair dice of the game and records what happened.
    pub(crate) fn tell_fairly(&mut self, command: &Command) -> Result<Vec<Event>, Rejection> {
        let mut dice = FairDice::new(SECRET, self.game());
        let events = decide(self.game.as_ref(), command, self.now, &mut dice)?;
        self.record(&events);
        Ok(events)
    }

    fn record(&mut self, events: &[Event]) {
        for event in events {
            self.game = evolve(self.game.take(), event);
        }
        self.log.extend_from_slice(events);
    }
}

pub(crate) fn ruleset(preset: &str, changes: Value) -> Ruleset {
    let preset = Ruleset::preset("farkle", Some(preset)).unwrap();
    let none = serde_json::Map::new();
    preset.with(changes.as_object().unwrap_or(&none)).unwrap()
}

pub(crate) fn create(ruleset: Ruleset) -> Command {
    let game = GameId(Uuid::from_u128(0x0193_0000_0000_7000_8000_0000_0000_0001));
    let commitment: Commitment = commitment(&SECRET, game, ruleset_hash(&ruleset));
    Command::Create { game, ruleset: Arc::new(ruleset), commitment }
}

pub(crate) fn join(number: u8) -> Command {
    Command::Join {
        player: player(number),
        name: format!("player {number}"),
        seed: number.is_multiple_of(2).then(|| format!("seed of {number}")),
    }
}

pub(crate) fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(0xA000 + u128::from(number)))
}

pub(crate) fn play(seat: SeatNo, play: Play) -> Command {
    Command::Play { seat, play }
}

pub(crate) fn roll(seat: SeatNo) -> Command {
    play(seat, Play::Roll)
}

pub(crate) fn save(seat: SeatNo, slots: &[u8]) -> Command {
    play(seat, Play::Save { slots: slots.to_vec() })
}

pub(crate) fn bank(seat: SeatNo, slots: Option<&[u8]>) -> Command {
    play(seat, Play::Bank { slots: slots.map(<[u8]>::to_vec) })
}

/// Numbers that look random and are the same every time.
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number from 0 on, below the limit.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 32) % u64::from(limit)).unwrap()
    }

    /// A place in a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap()) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

/// A running game of some seats.
pub(crate) fn begun(ruleset: &Ruleset, numbers: &mut Numbers) -> Match {
    let mut table = Match::under(ruleset);
    let rules = &table.game().table.ruleset.table;
    let (least, most) = (usize::from(rules.min_seats), usize::from(rules.max_seats));
    let seats = least + numbers.index(most - least + 1);
    for seat in 0..u8::try_from(seats).unwrap() {
        table.tell(&join(seat), &[]).unwrap();
    }
    table.tell_fairly(&Command::Start).unwrap();
    table
}

/// One of the moves there are; now and then the clock runs out.
pub(crate) fn choose(table: &Match, numbers: &mut Numbers, disturbed: bool) -> Command {
    let legal = legal_commands(table.game.as_ref());
    let seat = table.game().to_move().unwrap();
    if disturbed && numbers.index(30) == 0 && table.game().table.turn.deadline.is_some() {
        return Command::TimeOut { seat };
    }
    if disturbed && numbers.index(150) == 0 {
        let seated: Vec<u8> = table.game().table.seated().collect();
        return Command::Leave { seat: numbers.one_of(&seated) };
    }
    let moves: Vec<&Play> = legal
        .iter()
        .filter_map(|legal| if let Legal::Play(_, play) = legal { Some(play) } else { None })
        .collect();
    play(seat, moves[numbers.index(moves.len())].clone())
}

/// Every preset of every game.
pub(crate) fn presets() -> impl Iterator<Item = (&'static str, Ruleset)> {
    GAMES.iter().flat_map(|game| {
        Rules::versions(game).unwrap().into_iter().map(move |preset| (*game, preset))
    })
}

/// Rules under which random play comes to see what the presets show only to who plays well: shops, cards, evolutions.
pub(crate) fn generous() -> [(&'static str, Ruleset); 4] {
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

/// As many things that work at the same moments as the rules allow, and all of them cheap.
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

/// A game in which anything may happen, as far as so many commands bring it: seats come and go and
/// choose, clocks run out, players leave, the house closes it or makes it void; it may still run.
pub(crate) fn eventful(ruleset: &Ruleset, numbers: &mut Numbers, most_commands: usize) -> Match {
    let mut table = gathered(ruleset, numbers);
    if table.tell_fairly(&Command::Start).is_err() {
        return table;
    }
    let commands = 1 + numbers.index(most_commands);
    let disturbed = numbers.index(2) == 0;
    for _ in 0..commands {
        if table.game().to_move().is_none() {
            break;
        }
        let command = choose(&table, numbers, disturbed);
        if let Command::TimeOut { .. } = command {
            table.now = table.game().table.turn.deadline.unwrap();
        }
        table.now = Moment(table.now.0 + u64::from(numbers.below(5_000)));
        table.tell_fairly(&command).unwrap();
    }
    if numbers.index(3) == 0 && table.game().to_move().is_some() {
        table.tell_fairly(&Command::Abandon { touched: Moment(0) }).unwrap();
    }
    if numbers.index(5) == 0 {
        let why = numbers.one_of(&VoidedFor::ALL);
        table.tell_fairly(&Command::Void { why, dispute: None }).unwrap();
    }
    table
}

/// A table at which seats were taken, left, and taken again, and chose what there is to choose.
pub(crate) fn gathered(ruleset: &Ruleset, numbers: &mut Numbers) -> Match {
    let mut table = Match::under(ruleset);
    let seats = ruleset.table.max_seats;
    for newcomer in 0..seats {
        table.tell(&join(newcomer), &[]).unwrap();
        if newcomer + 1 >= ruleset.table.min_seats && numbers.index(3) == 0 {
            break;
        }
    }
    for newcomer in 20..20 + u8::try_from(numbers.index(8)).unwrap() {
        let seat = u8::try_from(numbers.index(usize::from(seats))).unwrap();
        let free = legal_commands(table.game.as_ref()).into_iter().filter_map(|legal| {
            let Legal::ChooseCharacter(seat, character) = legal else { return None };
            Some((seat, character))
        });
        let free: Vec<_> = free.collect();
        let command = match numbers.index(6) {
            0 => Command::Leave { seat },
            1 => join(newcomer),
            2 => Command::ChooseSeed { seat, seed: format!("{{{newcomer}}} \"; | ü") },
            3 | 4 => Command::ChooseLoadout { seat, dice: some_dice(ruleset, numbers) },
            _ if free.is_empty() => continue,
            _ => {
                let (seat, character) = numbers.one_of(&free);
                Command::ChooseCharacter { seat, character: character.to_string() }
            }
        };
        // Refused where the seat is gone, the table is full, or there is nothing to choose.
        table.tell(&command, &[]).ok();
    }
    for newcomer in 40.. {
        if table.game().table.seated().count() >= usize::from(ruleset.table.min_seats) {
            break;
        }
        table.tell(&join(newcomer), &[]).unwrap();
    }
    table
}

/// A few special dice, if the game knows any.
pub(crate) fn some_dice(ruleset: &Ruleset, numbers: &mut Numbers) -> Vec<String> {
    let kinds = ruleset.rules.catalogue().map_or(&[][..], |catalogue| &catalogue.dice);
    let count = if kinds.is_empty() { 0 } else { 1 + numbers.index(4) };
    (0..count).map(|_| kinds[numbers.index(kinds.len())].code.to_string()).collect()
}
