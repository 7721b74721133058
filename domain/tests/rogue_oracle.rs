//! DiceRogue against a second reading of its rules: every plain roll, many coloured ones, whole rounds, and the odds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Match, NOW, Numbers, SECRET, join, play, roll};
use domain::{
    Change, CombinationName as Name, Command, DecidedBy, Dice, Draw, EffectSource, Event, Game,
    Measure, Play, Points, Purpose, Ruleset, Selection, Slots, Stage, Word, decide, evolve,
    fair::{FairDice, Secret},
    farkle::dice::Code,
    rogue::Colour,
};
use serde_json::{Value, json};

/// The thirteen categories, as they are recorded and as a player names them.
const CATEGORIES: [(Name, &str); 13] = [
    (Name::Ones, "ones"),
    (Name::Twos, "twos"),
    (Name::Threes, "threes"),
    (Name::Fours, "fours"),
    (Name::Fives, "fives"),
    (Name::Sixes, "sixes"),
    (Name::ThreeOfAKind, "three_of_a_kind"),
    (Name::FourOfAKind, "four_of_a_kind"),
    (Name::FullHouse, "full_house"),
    (Name::SmallStraight, "small_straight"),
    (Name::LargeStraight, "large_straight"),
    (Name::Yahtzee, "yahtzee"),
    (Name::Chance, "chance"),
];
const YAHTZEE: usize = 11;

/// Dice that fall, and are painted, as written; colours that are drawn come up by their sides.
struct Written<'a> {
    raw: &'a [u32],
    codes: Option<Vec<Code>>,
    /// By the number of sides of a colour's draw: what each die gets. The draws that were made are kept.
    colours: &'a [(u32, Vec<u32>)],
    drawn: Vec<u32>,
}

impl<'a> Written<'a> {
    fn new(raw: &'a [u32], codes: Option<Vec<Code>>) -> Self {
        Self { raw, codes, colours: &[], drawn: Vec::new() }
    }
}

impl Dice for Written<'_> {
    fn draw(&mut self, draw: Draw, _: u8) -> Vec<u32> {
        if draw.purpose != Purpose::Colours {
            return self.raw.to_vec();
        }
        self.drawn.push(draw.sides);
        self.colours.iter().find(|(sides, _)| *sides == draw.sides).unwrap().1.clone()
    }

    fn painted(&mut self) -> Option<Vec<Code>> {
        self.codes.take()
    }

    fn one_of(&mut self, draw: Draw, things: &[Word]) -> Option<u32> {
        Some(u32::try_from(draw.number % things.len() as u64).unwrap() + 1)
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// A die as it lies: its face and its colour.
type Lies = (u8, Option<Colour>);

fn tell(game: &Game, command: &Command, dice: &mut impl Dice) -> (Game, Vec<Event>) {
    let events = decide(Some(game), command, NOW, dice).unwrap();
    let after = events.iter().fold(Some(game.clone()), evolve).unwrap();
    (after, events)
}

fn rolled(game: &Game, lies: &[Lies]) -> Game {
    let raw: Vec<u32> = lies.iter().map(|lie| lie.0.into()).collect();
    let code = |lie: &Lies| lie.1.map_or(Code::STANDARD, Colour::code);
    let codes = lies.iter().map(code).collect();
    tell(game, &roll(0), &mut Written::new(&raw, Some(codes))).0
}

fn score(game: &Game, category: usize) -> (Game, Vec<Event>) {
    let category = CATEGORIES[category].1.to_owned();
    tell(game, &play(0, Play::Score { category }), &mut Written::new(&[], None))
}

fn started(changes: Value) -> Game {
    let preset = Ruleset::preset("dice_rogue", None).unwrap();
    let mut table = Match::under(&preset.with(changes.as_object().unwrap()).unwrap());
    table.tell(&join(0), &[]).unwrap();
    table.tell(&Command::Start, &[]).unwrap();
    table.game().clone()
}

/// In the first round, after a visit to the shop.
fn after_shopping(game: &Game, things: &[&str]) -> Game {
    let plays = things.iter().map(|code| Play::Buy { code: (*code).to_owned(), target: None });
    plays.chain([Play::End]).fold(game.clone(), |game, wanted| {
        tell(&game, &play(0, wanted), &mut Written::new(&[], None)).0
    })
}

/// Five of the dice are three of a face and two of another; sorted, they show it.
fn has_full_house(sorted: &[u8]) -> bool {
    (0..1u32 << sorted.len()).filter(|chosen| chosen.count_ones() == 5).any(|chosen| {
        let five = sorted.iter().enumerate().filter(|(n, _)| chosen >> n & 1 == 1);
        let five: Vec<u8> = five.map(|(_, face)| *face).collect();
        matches!(five[..], [a, b, c, d, e] if a == b && d == e && a != e && (c == b || c == d))
    })
}

/// What each category is worth before colours. Further dice may lie beside what fits.
fn plain(faces: &[u8]) -> [Points; 13] {
    let mut sorted = faces.to_vec();
    sorted.sort_unstable();
    let mut row = sorted.clone();
    row.dedup();
    let alike = |n: usize| sorted.windows(n).any(|some| some[0] == some[n - 1]);
    let in_a_row = |n: usize| row.windows(n).any(|some| some[0] + 3 < some[n - 1] + (5 - n as u8));
    let sum: Points = sorted.iter().map(|&face| Points::from(face)).sum();
    let worth = |fits: bool, points: Points| if fits { points } else { 0 };
    let mut all = [0; 13];
    for &face in faces {
        all[usize::from(face) - 1] += Points::from(face);
    }
    all[6..].copy_from_slice(&[
        worth(alike(3), sum),
        worth(alike(4), sum),
        worth(has_full_house(&sorted), 25),
        worth(in_a_row(4), 30),
        worth(in_a_row(5), 40),
        worth(alike(5), 50),
        sum,
    ]);
    all
}

/// The upper categories use the dice of their face, all others all dice, whether they fit or not.
fn is_used(category: usize, face: u8) -> bool {
    category >= 6 || usize::from(face) == category + 1
}

fn used(category: usize, lies: &[Lies]) -> Slots {
    (0..).zip(lies).filter(|(_, lie)| is_used(category, lie.0)).map(|(slot, _)| slot).collect()
}

/// A fraction, never shortened: the numbers stay small enough.
#[derive(Clone, Copy)]
struct Ratio(i128, i128);

impl Ratio {
    fn times(self, above: i128, below: i128) -> Self {
        Self(self.0 * above, self.1 * below)
    }

    fn floor(self) -> i128 {
        self.0.div_euclid(self.1)
    }
}

/// What colours make of a score: points, money, and things granted if there is room for all of them.
fn coloured(lies: &[Lies], category: usize, base: Points, same: usize) -> (i128, i128, usize) {
    let of = |colour: Colour| lies.iter().filter(move |lie| lie.1 == Some(colour));
    let sum = |colour| of(colour).map(|lie| i128::from(lie.0)).sum::<i128>();
    let rainbow = Colour::ALL.into_iter().all(|colour| of(colour).count() > 0);
    // Twice as strong with enough of the colour, and half as strong again in a rainbow.
    let doubled = |colour| if of(colour).count() >= same { 2 } else { 1 };
    let (three, two) = if rainbow { (3, 2) } else { (1, 1) };
    let stronger = |colour, ratio: Ratio| ratio.times(doubled(colour) * three, two);
    let product = |colour, wanted: fn(bool) -> bool| {
        let faces = of(colour).filter(|lie| wanted(is_used(category, lie.0)));
        faces.map(|lie| i128::from(lie.0)).reduce(|a, b| a * b)
    };
    let money = stronger(Colour::Green, Ratio(sum(Colour::Green), 1)).floor();
    let red = stronger(Colour::Red, Ratio(sum(Colour::Red), 1)).floor();
    let mut points = i128::from(base) + red;
    if let Some(purple) = product(Colour::Purple, |_| true) {
        points = stronger(Colour::Purple, Ratio(points * purple, 1)).floor();
    }
    let mut last = Ratio(points, 1);
    if let Some(factor) = product(Colour::Blue, |used| used) {
        last = stronger(Colour::Blue, last.times(factor, 1));
    }
    if let Some(divisor) = product(Colour::Blue, |used| !used) {
        last = last.times(1, divisor * doubled(Colour::Blue));
    }
    let yellow = of(Colour::Yellow).any(|lie| is_used(category, lie.0));
    let two_or_one = if of(Colour::Yellow).count() >= same { 2 } else { 1 };
    let grants = if yellow { two_or_one + usize::from(rainbow) } else { 0 };
    (last.floor(), money, grants)
}

fn preview(selections: &[Selection], category: usize) -> &Selection {
    let name = CATEGORIES[category].0;
    let mut found = selections.iter().filter(|selection| selection.combinations[0].name == name);
    let selection = found.next().unwrap();
    assert!(found.next().is_none() && selection.combinations.len() == 1);
    selection
}

#[test]
fn every_plain_roll_in_every_category() {
    let game = started(json!({}));
    let mut counts = [0; 13];
    for number in 0..7_776u32 {
        let lies: Vec<Lies> =
            (0..5).map(|n| ((number / 6u32.pow(n) % 6 + 1).try_into().unwrap(), None)).collect();
        let faces: Vec<u8> = lies.iter().map(|lie| lie.0).collect();
        let (selections, expected) = (rolled(&game, &lies).selections(), plain(&faces));
        assert_eq!(selections.len(), 13);
        for (category, points) in expected.into_iter().enumerate() {
            let found = preview(&selections, category);
            let shown = (found.points, found.combinations[0].points, found.slots, found.dollars);
            assert_eq!(shown, (points, points, used(category, &lies), 0), "{faces:?} {category}");
            counts[category] += u32::from(points > 0);
        }
    }
    // Out of 7,776: upper categories miss 5⁵ times; the others are known by heart.
    assert_eq!(counts[..6], [7_776 - 3_125; 6]);
    assert_eq!(counts[6..], [1_656, 156, 300, 1_200, 240, 6, 7_776]);
}

/// Dice that often have the same faces, and colours that often are the same, all five, or blue.
fn shake(numbers: &mut Numbers, size: usize) -> Vec<Lies> {
    let (few, way) = (numbers.one_of(&[2, 3, 6, 6]), numbers.below(5));
    let (lowest, favourite) = (numbers.below(7 - few), numbers.one_of(&Colour::ALL));
    let turned = numbers.index(size);
    let mut lie = |n: usize| {
        let any = [None].into_iter().chain(Colour::ALL.map(Some)).nth(numbers.index(6)).unwrap();
        let colour = match way {
            0 => any,
            1 if numbers.below(6) > 0 => Some(favourite),
            2 => Colour::ALL.get((n + turned) % size).copied().or(any),
            3 if numbers.below(3) > 0 => Some(Colour::Blue),
            4 => None.or(any.filter(|&any| any <= favourite)),
            _ => any,
        };
        ((lowest + numbers.below(few) + 1).try_into().unwrap(), colour)
    };
    (0..size).map(&mut lie).collect()
}

/// What scoring really gave: points, money of dice, things granted.
fn given(events: &[Event]) -> (Points, Points, usize) {
    let (mut points, mut money, mut grants) = (None, 0, [0, 0]);
    for event in events {
        if let Event::Saved(saved) = event {
            assert_eq!(points.replace(saved.points), None);
        } else if let Event::Drawn(drawn) = event {
            grants[0] += usize::from(drawn.draw.purpose == Purpose::Grants);
        } else if let Event::EffectApplied(effect) = event {
            for Change { what, before, after } in effect.changes.iter().copied() {
                let by_dice = matches!(effect.source, EffectSource::Die(_));
                money += if what == Measure::Money && by_dice { after - before } else { 0 };
                let held = matches!(what, Measure::Held(_));
                grants[1] += if held { usize::try_from(after - before).unwrap() } else { 0 };
            }
        }
    }
    assert_eq!(grants[0], grants[1]);
    (points.unwrap(), money, grants[0])
}

#[test]
fn coloured_rolls_in_every_category() {
    let mut numbers = Numbers(0x0123_4567_89AB_CDEF);
    let things = ["any_score", "any_score", "green_envy"];
    // With fewer dice needed for the same colour it meets the rainbow, too.
    for (size, same, rolls) in [(5, 5, 20_000), (6, 5, 20_000), (7, 5, 15_000), (8, 3, 5_000)] {
        let rules = json!({
            "dice": size, "same_colour": same, "opening_shop": true, "start_money": 1_000
        });
        let shop = started(rules);
        let games = [0, 1, 2, 3].map(|held| after_shopping(&shop, &things[..held]));
        for _ in 0..rolls {
            let lies = shake(&mut numbers, size);
            let faces: Vec<u8> = lies.iter().map(|lie| lie.0).collect();
            let (bases, held) = (plain(&faces), numbers.index(4));
            let game = rolled(&games[held], &lies);
            let selections = game.selections();
            for (category, base) in bases.into_iter().enumerate() {
                let (points, money, _) = coloured(&lies, category, base, same);
                let found = preview(&selections, category);
                let shown = (found.points.into(), i128::from(found.dollars), found.slots);
                let expected = (points, money, used(category, &lies));
                assert_eq!(shown, expected, "{lies:?} {}", CATEGORIES[category].1);
                assert_eq!(found.combinations[0].points, base);
            }
            let category = numbers.index(13);
            let (points, money, grants) = coloured(&lies, category, bases[category], same);
            let (scored, earned, granted) = given(&score(&game, category).1);
            let expected = (points, money, grants.min(3 - held));
            assert_eq!((scored.into(), earned.into(), granted), expected, "{lies:?} {category}");
        }
    }
}

/// Whole rounds under the standard rules: what was shown is what is scored, and the sums are right.
#[test]
fn previews_keep_their_word_round_after_round() {
    let mut numbers = Numbers(0xFEDC_BA98_7654_3210);
    let (begun, mut seen) = (started(json!({})), [0; 4]);
    for _ in 0..400 {
        let (mut game, mut card, mut sum, mut held) = (begun.clone(), [None; 13], 0, 0);
        let (mut money, mut yahtzee, mut upper_paid) = (100, false, false);
        for turn in 0..13 {
            let lies = shake(&mut numbers, 5);
            game = rolled(&game, &lies);
            let untouched = game.clone();
            let selections = game.selections();
            assert_eq!((&game.selections(), selections.len()), (&selections, 13 - turn));
            assert_eq!(game, untouched);
            let open: Vec<usize> = (0..13).filter(|&category| card[category].is_none()).collect();
            let wanted = preview(&selections, numbers.one_of(&open));
            let best = if numbers.below(3) == 0 { wanted } else { &selections[0] };
            let of = |name| CATEGORIES.iter().position(|category| category.0 == name).unwrap();
            let category = of(best.combinations[0].name);
            let (after, events) = score(&game, category);
            let (points, earned, granted) = given(&events);
            assert_eq!((points, earned), (best.points, best.dollars.into()));
            held += granted;
            assert!(held <= 3);
            // Each further yahtzee brings 100, the upper part 35 once it has 63.
            let five = lies.iter().all(|lie| lie.0 == lies[0].0);
            sum += points + if five && yahtzee { 100 } else { 0 };
            yahtzee |= five && category == YAHTZEE;
            card[category] = Some(points);
            let bonus = !upper_paid && card[..6].iter().flatten().sum::<Points>() >= 63;
            (sum, upper_paid) = (sum + if bonus { 35 } else { 0 }, upper_paid || bonus);
            seen[0] += u32::from(five && yahtzee && category != YAHTZEE);
            seen[1] += u32::from(bonus);
            money += earned;
            let reward = if turn == 12 && sum >= 150 { 100 + (sum - 150).min(100) } else { 0 };
            money += reward;
            let facts: Vec<String> = ["money", "round_score", "consumables"]
                .map(|wanted| after.facts(0).into_iter().find(|fact| fact.0 == wanted).unwrap().1)
                .map(|fact| fact.to_string())
                .into();
            assert_eq!(facts, [format!("${money}"), sum.to_string(), held.to_string()]);
            game = after;
        }
        let missed = matches!(&game.table.stage, Stage::Ended(end) if end.by == DecidedBy::Missed);
        assert_eq!(missed, sum < 150);
        seen[if missed { 2 } else { 3 }] += 1;
    }
    assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
}
