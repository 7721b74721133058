//! DiceRogue compared to an independent implementation of its rules: every plain roll, many
//! coloured ones, whole rounds, and the odds.

use crate::measures;
use domain::{
    Change, CombinationName as Name, Command, DecidedBy, Dice, Draw, EffectSource, Event, Game,
    Play, Points, Purpose, Ruleset, Selection, Slots, Slug, Stage, decide, evolve,
    fair::{FairDice, Secret},
    rogue::Colour,
    special_dice::Code,
};
use serde_json::{Value, json};
use test_games::{Match, NOW, Numbers, SECRET, join, play, roll};

/// The thirteen categories, in the order of the card.
#[rustfmt::skip]
const CATEGORIES: [Name; 13] = [
    Name::Ones, Name::Twos, Name::Threes, Name::Fours, Name::Fives, Name::Sixes, Name::ThreeOfAKind, Name::FourOfAKind,
    Name::FullHouse, Name::SmallStraight, Name::LargeStraight, Name::Yahtzee, Name::Chance,
];
const YAHTZEE: usize = 11;

/// Scripted dice and colours; colours that are drawn are scripted by their number of sides.
struct Scripted<'a> {
    raw: &'a [u32],
    codes: Option<Vec<Code>>,
    /// By the number of sides of a colour's draw: the value of each die. Records the draws made.
    colours: &'a [(u32, Vec<u32>)],
    drawn: Vec<u32>,
}

impl<'a> Scripted<'a> {
    fn new(raw: &'a [u32], codes: Option<Vec<Code>>) -> Self {
        Self { raw, codes, colours: &[], drawn: Vec::new() }
    }
}

impl Dice for Scripted<'_> {
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

    fn one_of(&mut self, draw: Draw, things: &[Slug]) -> Option<u32> {
        Some(u32::try_from(draw.number % things.len() as u64).unwrap() + 1)
    }

    fn secret(&self) -> Option<Secret> {
        Some(SECRET)
    }
}

/// A die on the table: its face and its colour.
type ColouredFace = (u8, Option<Colour>);

fn execute(game: &Game, command: &Command, dice: &mut impl Dice) -> (Game, Vec<Event>) {
    let events = decide(Some(game), command, NOW, dice).unwrap();
    let after = events.iter().fold(Some(game.clone()), evolve).unwrap();
    (after, events)
}

fn rolled(game: &Game, hand: &[ColouredFace]) -> Game {
    let raw: Vec<u32> = hand.iter().map(|die| die.0.into()).collect();
    let code = |die: &ColouredFace| die.1.map_or(Code::STANDARD, Colour::code);
    let codes = hand.iter().map(code).collect();
    execute(game, &roll(0), &mut Scripted::new(&raw, Some(codes))).0
}

fn score(game: &Game, category: usize) -> (Game, Vec<Event>) {
    score_with(game, CATEGORIES[category], &mut Scripted::new(&[], None))
}

fn score_with(game: &Game, name: Name, dice: &mut impl Dice) -> (Game, Vec<Event>) {
    execute(game, &play(0, Play::Score { category: name.words().replace(' ', "_") }), dice)
}

fn started(changes: Value) -> Game {
    let preset = Ruleset::preset("dice_rogue", None).unwrap();
    let mut table = Match::under(&preset.with(changes.as_object().unwrap()).unwrap());
    table.execute(&join(0), &[]).unwrap();
    table.execute(&Command::Start, &[]).unwrap();
    table.game().clone()
}

fn bought(shop: &Game, things: &[&str]) -> Game {
    things.iter().fold(shop.clone(), |game, code| {
        let buy = Play::Buy { code: (*code).to_owned(), target: None };
        execute(&game, &play(0, buy), &mut Scripted::new(&[], None)).0
    })
}

/// In the first round, after a visit to the shop.
fn after_shopping(shop: &Game, things: &[&str]) -> Game {
    execute(&bought(shop, things), &play(0, Play::End), &mut Scripted::new(&[], None)).0
}

/// Whether five of the sorted dice are three of a face and two of another.
fn has_full_house(sorted: &[u8]) -> bool {
    (0..1u32 << sorted.len()).filter(|chosen| chosen.count_ones() == 5).any(|chosen| {
        let five = sorted.iter().enumerate().filter(|(n, _)| chosen >> n & 1 == 1);
        let five: Vec<u8> = five.map(|(_, face)| *face).collect();
        let [low, second, middle, fourth, high] = five[..] else { return false };
        low == second && fourth == high && low != high && (middle == low || middle == high)
    })
}

/// The points of each category without colours. Extra dice do not matter if five fit.
fn plain(hand: &[ColouredFace]) -> [Points; 13] {
    let mut sorted: Vec<u8> = hand.iter().map(|die| die.0).collect();
    sorted.sort_unstable();
    let mut row = sorted.clone();
    row.dedup();
    let alike = |n: usize| sorted.windows(n).any(|some| some[0] == some[n - 1]);
    let in_a_row =
        |n: usize| row.windows(n).any(|some| usize::from(some[n - 1] - some[0]) == n - 1);
    let sum: Points = sorted.iter().map(|&face| Points::from(face)).sum();
    let worth = |fits: bool, points: Points| if fits { points } else { 0 };
    let mut all = [0; 13];
    for &face in &sorted {
        all[usize::from(face) - 1] += Points::from(face);
    }
    (all[6], all[7], all[8]) =
        (worth(alike(3), sum), worth(alike(4), sum), worth(has_full_house(&sorted), 25));
    (all[9], all[10], all[11]) =
        (worth(in_a_row(4), 30), worth(in_a_row(5), 40), worth(alike(5), 50));
    all[12] = sum;
    all
}

/// The upper categories use the dice of their face, the others use all dice, whether they fit or
/// not.
fn is_used(category: usize, face: u8) -> bool {
    category >= 6 || usize::from(face) == category + 1
}

fn used(category: usize, hand: &[ColouredFace]) -> Slots {
    (0..).zip(hand).filter(|(_, die)| is_used(category, die.0)).map(|(slot, _)| slot).collect()
}

/// The effects of colours: points, money, and items granted if there is room for all of them.
fn coloured(
    hand: &[ColouredFace],
    category: usize,
    base: Points,
    same: usize,
) -> (i128, i128, usize) {
    let of = |colour: Colour| hand.iter().filter(move |die| die.1 == Some(colour));
    let sum = |colour| of(colour).map(|die| i128::from(die.0)).sum::<i128>();
    let rainbow = Colour::ALL.into_iter().all(|colour| of(colour).count() > 0);
    // Twice as strong with enough of the colour, and one and a half times in a rainbow.
    let doubled = |colour| if of(colour).count() >= same { 2 } else { 1 };
    let (three, two) = if rainbow { (3, 2) } else { (1, 1) };
    let stronger = |colour, much: i128| much * doubled(colour) * three / two;
    let product = |colour, wanted: fn(bool) -> bool| {
        let faces = of(colour).filter(|die| wanted(is_used(category, die.0)));
        faces.map(|die| i128::from(die.0)).reduce(|product, face| product * face)
    };
    let money = stronger(Colour::Green, sum(Colour::Green));
    let mut points = i128::from(base) + stronger(Colour::Red, sum(Colour::Red));
    if let Some(purple) = product(Colour::Purple, |_| true) {
        points = stronger(Colour::Purple, points * purple);
    }
    // All effects of blue dice are one fraction, rounded down once.
    let (mut above, mut below) = (points, 1);
    if let Some(factor) = product(Colour::Blue, |used| used) {
        (above, below) = (above * factor * doubled(Colour::Blue) * three, two);
    }
    if let Some(divisor) = product(Colour::Blue, |used| !used) {
        below *= divisor * doubled(Colour::Blue);
    }
    let yellow = of(Colour::Yellow).any(|die| is_used(category, die.0));
    let two_or_one = if of(Colour::Yellow).count() >= same { 2 } else { 1 };
    let grants = if yellow { two_or_one + usize::from(rainbow) } else { 0 };
    (above / below, money, grants)
}

fn preview(selections: &[Selection], category: usize) -> &Selection {
    let mut found = selections.iter().filter(|s| s.combinations[0].name == CATEGORIES[category]);
    let selection = found.next().unwrap();
    assert!(found.next().is_none() && selection.combinations.len() == 1);
    selection
}

#[test]
fn every_plain_roll_in_every_category() {
    let game = started(json!({}));
    let mut counts = [0; 13];
    for number in 0..7_776u32 {
        let hand: Vec<ColouredFace> =
            (0..5).map(|n| ((number / 6u32.pow(n) % 6 + 1).try_into().unwrap(), None)).collect();
        let (selections, expected) = (rolled(&game, &hand).selections(), plain(&hand));
        assert_eq!(selections.len(), 13);
        for (category, points) in expected.into_iter().enumerate() {
            let found = preview(&selections, category);
            let shown = (found.points, found.combinations[0].points, found.slots, found.dollars);
            assert_eq!(shown, (points, points, used(category, &hand), 0), "{hand:?} {category}");
            counts[category] += u32::from(points > 0);
        }
    }
    // Out of 7,776: upper categories miss 5⁵ times; the other counts are well known.
    assert_eq!(counts[..6], [7_776 - 3_125; 6]);
    assert_eq!(counts[6..], [1_656, 156, 300, 1_200, 240, 6, 7_776]);
}

/// Random dice with many equal faces, and colours that are often the same, all five, or blue.
fn random_dice(numbers: &mut Numbers, size: usize) -> Vec<ColouredFace> {
    let (few, way) = (numbers.one_of(&[2, 3, 6, 6]), numbers.below(5));
    let (lowest, favourite) = (numbers.below(7 - few), numbers.one_of(&Colour::ALL));
    let turned = numbers.index(size);
    let mut die = |n: usize| {
        let any = [None].into_iter().chain(Colour::ALL.map(Some)).nth(numbers.index(6)).unwrap();
        let colour = match way {
            0 => any,
            1 if numbers.below(6) > 0 => Some(favourite),
            2 => Colour::ALL.get((n + turned) % size).copied().or(any),
            3 if numbers.below(3) > 0 => Some(Colour::Blue),
            4 => any.filter(|&any| any <= favourite),
            _ => any,
        };
        ((lowest + numbers.below(few) + 1).try_into().unwrap(), colour)
    };
    (0..size).map(&mut die).collect()
}

/// The actual result of scoring: points, money of dice, items granted.
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
                money += if what == measures::MONEY && by_dice { after - before } else { 0 };
                let held = measures::is_held(what);
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
    let (things, mut rare) = (["any_score", "any_score", "green_envy"], [0; 5]);
    // With a lower number for the same colour, it occurs together with the rainbow.
    for (size, same, rolls) in [(5, 5, 20_000), (6, 5, 20_000), (7, 5, 15_000), (8, 3, 5_000)] {
        let rules = json!({
            "dice": size, "same_colour": same, "opening_shop": true, "start_money": 1_000
        });
        let shop = started(rules);
        let games = [0, 1, 2, 3].map(|held| after_shopping(&shop, &things[..held]));
        for _ in 0..rolls {
            let hand = random_dice(&mut numbers, size);
            let (bases, held) = (plain(&hand), numbers.index(4));
            let game = rolled(&games[held], &hand);
            let selections = game.selections();
            for (category, base) in bases.into_iter().enumerate() {
                let (points, money, _) = coloured(&hand, category, base, same);
                let found = preview(&selections, category);
                let shown = (found.points.into(), i128::from(found.dollars), found.slots);
                let expected = (points, money, used(category, &hand));
                assert_eq!(shown, expected, "{hand:?} {:?}", CATEGORIES[category]);
                assert_eq!(found.combinations[0].points, base);
            }
            let category = numbers.index(13);
            count_rare(&hand, category, same, &mut rare);
            let (points, money, grants) = coloured(&hand, category, bases[category], same);
            let (scored, earned, granted) = given(&score(&game, category).1);
            let expected = (points, money, grants.min(3 - held));
            assert_eq!((scored.into(), earned.into(), granted), expected, "{hand:?} {category}");
        }
    }
    assert!(rare.iter().all(|&times| times > 100), "{rare:?}");
}

/// Counts rare cases: many blues, some used and some not; a rainbow with unused blues, with unused
/// yellows, and with many of a colour; two or more used yellows.
fn count_rare(hand: &[ColouredFace], category: usize, same: usize, rare: &mut [u32; 5]) {
    let of = |colour, used: bool| {
        hand.iter().filter(|die| die.1 == Some(colour) && is_used(category, die.0) == used).count()
    };
    let all = |colour| of(colour, true) + of(colour, false);
    let rainbow = Colour::ALL.into_iter().all(|colour| all(colour) > 0);
    let both = of(Colour::Blue, true) > 0 && of(Colour::Blue, false) > 0;
    let corners = [
        both && all(Colour::Blue) >= same,
        rainbow && of(Colour::Blue, true) == 0,
        rainbow && of(Colour::Yellow, true) == 0,
        rainbow && Colour::ALL.into_iter().any(|colour| all(colour) >= same),
        of(Colour::Yellow, true) > 1,
    ];
    for (times, seen) in rare.iter_mut().zip(corners) {
        *times += u32::from(seen);
    }
}

/// The examples of the documentation: points, dollars, items granted.
#[test]
fn examples_of_the_documentation() {
    use Colour::{Blue, Green, Purple, Red, Yellow};
    let one = |faces: [u8; 5], colour: Colour, at: usize| -> Vec<ColouredFace> {
        (0..5).map(|n| (faces[n], (n == at).then_some(colour))).collect()
    };
    let rainbow = [(3, Green), (4, Red), (2, Purple), (5, Blue), (6, Yellow)];
    let examples = [
        (one([4, 4, 4, 4, 5], Blue, 4), 3, (3, 0, 0)),
        (one([1, 2, 3, 4, 5], Blue, 2), 10, (120, 0, 0)),
        (one([3, 3, 3, 2, 5], Yellow, 4), 6, (16, 0, 1)),
        (one([4, 4, 4, 4, 2], Yellow, 4), 3, (16, 0, 0)),
        (vec![(2, Some(Blue)); 5], 12, (640, 0, 0)),
        (vec![(1, Some(Yellow)); 5], 12, (5, 0, 2)),
        // (20 + 6) × 3 × 7½
        (rainbow.map(|(face, colour)| (face, Some(colour))).to_vec(), 12, (585, 4, 2)),
    ];
    for (hand, category, expected) in examples {
        let (_, events) = score(&rolled(&started(json!({})), &hand), category);
        assert_eq!(given(&events), expected, "{hand:?}");
        let mine = coloured(&hand, category, plain(&hand)[category], 5);
        assert_eq!((mine.0, mine.1, mine.2), (expected.0.into(), expected.1.into(), expected.2));
    }
}

/// Whole rounds under the standard rules: scores match their previews, and the sums are right.
#[test]
fn scores_match_previews_in_whole_rounds() {
    let mut numbers = Numbers(0xFEDC_BA98_7654_3210);
    let (begun, mut seen) = (started(json!({})), [0; 4]);
    for round in 0..400 {
        let (mut game, mut card, mut sum, mut held) = (begun.clone(), [None; 13], 0, 0);
        let (mut money, mut yahtzee, mut upper_paid) = (100, false, false);
        for turn in 0..13 {
            let mut hand = random_dice(&mut numbers, 5);
            for die in hand.iter_mut().filter(|_| round % 4 == 0) {
                die.1 = None;
            }
            game = rolled(&game, &hand);
            let untouched = game.clone();
            let selections = game.selections();
            assert_eq!((&game.selections(), selections.len()), (&selections, 13 - turn));
            assert_eq!(game, untouched);
            let open: Vec<usize> = (0..13).filter(|&category| card[category].is_none()).collect();
            let wanted = preview(&selections, numbers.one_of(&open));
            let best = if numbers.below(3) == 0 { wanted } else { &selections[0] };
            let of = |name| CATEGORIES.iter().position(|category| *category == name).unwrap();
            let category = of(best.combinations[0].name);
            let (after, events) = score(&game, category);
            let (points, earned, granted) = given(&events);
            assert_eq!((points, earned), (best.points, best.dollars.into()));
            held += granted;
            assert!(held <= 3);
            // Each further yahtzee scores 100 more, the upper section 35 more from 63 on.
            let five = hand.iter().all(|die| die.0 == hand[0].0);
            sum += points + if five && yahtzee { 100 } else { 0 };
            yahtzee |= five && category == YAHTZEE;
            card[category] = Some(points);
            let bonus = !upper_paid && card[..6].iter().flatten().sum::<Points>() >= 63;
            (sum, upper_paid) = (sum + if bonus { 35 } else { 0 }, upper_paid || bonus);
            seen[0] += u32::from(five && yahtzee && category != YAHTZEE);
            seen[1] += u32::from(bonus);
            let reward = if turn == 12 && sum >= 150 { 100 + (sum - 150).min(100) } else { 0 };
            money += earned + reward;
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

/// Per colour, in the order in which they are tried: the first price, and the odds after each
/// purchase, up to the best.
const LADDERS: [(&str, i64, &[u32]); 5] = [
    ("blue", 125, &[100, 50, 25, 13, 7, 4, 2]),
    ("green", 50, &[25, 13, 7, 4, 2]),
    ("red", 75, &[50, 25, 13, 7, 4, 2]),
    ("purple", 100, &[88, 44, 22, 11, 6, 3, 2]),
    ("yellow", 85, &[60, 30, 15, 8, 4, 2]),
];

#[test]
fn each_purchase_improves_the_odds() {
    let shop = started(json!({ "opening_shop": true, "start_money": 100_000 }));
    for (colour, first, odds) in LADDERS {
        for bought_before in 0..=odds.len() {
            let things = vec![colour; bought_before];
            let at = bought(&shop, &things);
            let offer = at.offers().into_iter().find(|o| o.code.as_str() == colour).unwrap();
            assert_eq!(offer.price, first << bought_before);
            assert_eq!(offer.odds, odds.get(bought_before).or(odds.last()).copied());
            assert_eq!(offer.buyable, bought_before < odds.len(), "1 : 2 is the best there is");
            let again = play(0, Play::Buy { code: colour.to_owned(), target: None });
            let answer = decide(Some(&at), &again, NOW, &mut Scripted::new(&[], None));
            assert_eq!(answer.is_ok(), offer.buyable);
            let game = after_shopping(&shop, &things);
            let sides = &odds[bought_before.saturating_sub(1)..bought_before];
            let colours: Vec<_> = sides.iter().map(|&sides| (sides, vec![2; 5])).collect();
            let mut dice = Scripted { colours: &colours, ..Scripted::new(&[1; 5], None) };
            execute(&game, &roll(0), &mut dice);
            assert_eq!(dice.drawn, sides, "{colour} bought {bought_before} times");
        }
    }
}

/// Blue, green, red, purple, yellow: the first hit wins. Colours that were not bought are not
/// drawn.
#[test]
fn the_first_colour_hit_wins() {
    let shop = started(json!({ "opening_shop": true, "start_money": 1_000 }));
    for bought in 0..32usize {
        let owned: Vec<usize> = (0..5).filter(|n| bought >> n & 1 == 1).collect();
        let names: Vec<&str> = owned.iter().map(|&n| LADDERS[n].0).collect();
        let game = after_shopping(&shop, &names);
        for pattern in 0..32usize {
            // Die d is hit by colour n if bit n of the pattern, shifted by d, is set; a miss is the
            // highest side.
            let hit = |die: usize, n: usize| (pattern + die * 7) >> n & 1 == 1;
            let values = |n: usize| {
                let sides = LADDERS[n].2[0];
                (sides, (0..5).map(|die| if hit(die, n) { 1 } else { sides }).collect())
            };
            let colours: Vec<(u32, Vec<u32>)> = owned.iter().map(|&n| values(n)).collect();
            let mut dice = Scripted { colours: &colours, ..Scripted::new(&[6; 5], None) };
            let after = execute(&game, &roll(0), &mut dice).0;
            let sides: Vec<u32> = colours.iter().map(|colour| colour.0).collect();
            assert_eq!(dice.drawn, sides);
            for (n, die) in after.dice().into_iter().enumerate() {
                let first = owned.iter().copied().find(|&colour| hit(n, colour));
                let expected = first.map_or("STANDARD".to_owned(), |n| LADDERS[n].0.to_uppercase());
                assert_eq!(die.code.as_str(), expected, "{names:?} {pattern:05b}");
            }
        }
    }
}

/// At 1 : 2 each the shares are 16, 8, 4, 2, 1 and 1 (none) of 32; five standard deviations are
/// tolerated.
#[test]
fn colour_frequencies_match_the_odds() {
    let goals = vec![json!({ "target": 0, "reward": 0 }); 12];
    let shop = started(json!({
        "opening_shop": true, "start_money": 100_000, "rounds": goals, "dice": 8, "rolls": 20
    }));
    let all = LADDERS.iter().flat_map(|(colour, _, odds)| vec![*colour; odds.len()]);
    let mut game = after_shopping(&shop, &all.collect::<Vec<_>>());
    let (mut counts, mut dice) = ([0i64; 6], FairDice::new(SECRET, &game));
    while game.to_move().is_some() {
        for _ in 0..20 {
            game = execute(&game, &roll(0), &mut dice).0;
            for die in game.dice() {
                let name = die.code.as_str().to_lowercase();
                counts[LADDERS.iter().position(|ladder| ladder.0 == name).unwrap_or(5)] += 1;
            }
        }
        let name = game.selections()[0].combinations[0].name;
        game = score_with(&game, name, &mut dice).0;
        if game.facts(0).contains(&("shopping", domain::Fact::Flag(true))) {
            game = execute(&game, &play(0, Play::End), &mut dice).0;
        }
    }
    let rolled: i64 = counts.iter().sum();
    assert_eq!(rolled, 12 * 13 * 20 * 8);
    for (count, share) in counts.into_iter().zip([16, 8, 4, 2, 1, 1]) {
        let off = 32 * count - share * rolled;
        assert!(off * off <= 25 * rolled * share * (32 - share), "{counts:?} of {rolled}");
    }
}
