//! Cheating by the house is detected: each method is actually played, and verification reports it.

use domain::{
    ClientSeed, Command, Dice, Draw, Event, Faces, Game, Moment, Proven, Rejection, Ruleset,
    VerificationError, VoidedFor, decide, evolve,
    fair::{FairDice, Secret, commitment, ruleset_hash, seeds_hash},
    verify,
};
use test_games::{NOW, SECRET, bank, create, join, roll, save};

/// A house that decides by the rules and can then deviate.
struct House {
    log: Vec<Event>,
    game: Option<Game>,
}

impl House {
    /// An honest house opens a table for two, committed to this secret.
    fn opens(secret: Secret) -> Self {
        let mut house = Self { log: Vec::new(), game: None };
        let mut command = create(Ruleset::preset("farkle", Some("classic")).unwrap());
        if let Command::Create { game, ruleset, commitment: promise } = &mut command {
            *promise = commitment(&secret, *game, ruleset_hash(ruleset));
        }
        house.tells(&command, &mut domain::NoDice);
        for seat in [0, 1] {
            house.tells(&join(seat), &mut domain::NoDice);
            let seed = format!("luck {seat}");
            house.tells(&Command::ChooseSeed { seat, seed }, &mut domain::NoDice);
        }
        house
    }

    fn game(&self) -> &Game {
        self.game.as_ref().unwrap()
    }

    fn dice(&self, secret: Secret) -> FairDice {
        FairDice::new(secret, self.game())
    }

    fn tells(&mut self, command: &Command, dice: &mut impl Dice) {
        let events = decide(self.game.as_ref(), command, NOW, dice).unwrap();
        self.records(events);
    }

    /// Records any events.
    fn records(&mut self, events: Vec<Event>) {
        for event in &events {
            self.game = evolve(self.game.take(), event);
        }
        self.log.extend(events);
    }

    /// The first seat rolls once, then the game ends.
    fn plays_out(&mut self, dice: &mut impl Dice) {
        self.tells(&Command::Start, dice);
        self.tells(&roll(0), dice);
        self.tells(&Command::Leave { seat: 1 }, dice);
    }

    fn index_of(&self, name: &str) -> usize {
        self.log.iter().position(|event| event.name() == name).unwrap()
    }

    /// Asserts that verification fails at this event and expects another one.
    #[track_caller]
    fn is_caught_at(&self, index: usize, expected: &Event) {
        let json = |event: &Event| serde_json::to_string(event).unwrap();
        let found = self.log.get(index).map_or("missing".to_owned(), json);
        let (number, expected) = (index + 1, json(expected));
        assert_eq!(verify(&self.log), Err(VerificationError::Differs { number, expected, found }));
    }
}

/// A game of an honest house, to be modified.
fn honest() -> House {
    let mut house = House::opens(SECRET);
    let mut dice = house.dice(SECRET);
    house.plays_out(&mut dice);
    let proven = Proven { rolls: 1, events: house.log.len() };
    assert_eq!(verify(&house.log), Ok(proven));
    house
}

#[test]
fn an_honest_house_is_verified() {
    assert!(verify(&honest().log).is_ok());
}

/// Draws again, with the next number, until the house likes the dice.
struct Rerolling {
    fair: FairDice,
    likes: fn(&[u32]) -> bool,
}

impl Dice for Rerolling {
    fn draw(&mut self, draw: Draw, count: u8) -> Vec<u32> {
        let again = |skipped| Draw { number: draw.number + skipped, ..draw };
        let mut draws = (0..1_000).map(|skipped| self.fair.draw(again(skipped), count));
        draws.find(|raw| (self.likes)(raw)).unwrap()
    }

    fn secret(&self) -> Option<Secret> {
        self.fair.secret()
    }
}

#[test]
fn a_house_that_rerolls() {
    let mut house = House::opens(SECRET);
    let fair = house.dice(SECRET);
    let mut dice = Rerolling { fair: fair.clone(), likes: |raw| raw.iter().all(|&face| face != 1) };
    house.plays_out(&mut dice);
    let index = house.index_of("Rolled");
    let before = domain::replay(&house.log[..index]).unwrap();
    let honest = decide(Some(&before), &roll(0), NOW, &mut fair.clone()).unwrap();
    house.is_caught_at(index, &honest[0]);
}

/// Knowing the seeds, it tries secrets until the first roll is a farkle; but it committed to its
/// secret before.
#[test]
fn a_house_that_chooses_its_secret_after_the_seeds() {
    let mut house = House::opens(SECRET);
    let draw = Draw { purpose: domain::Purpose::Dice, number: 1, sides: 6 };
    let bad_luck = |secret: &Secret| {
        house.dice(*secret).draw(draw, 6).iter().all(|&face| face != 1 && face != 5)
    };
    let chosen = (0..=255).map(|n| Secret([n; 32])).find(bad_luck).unwrap();
    let mut dice = house.dice(chosen);
    house.tells(&Command::Start, &mut dice);
    house.tells(&roll(0), &mut dice);
    // Its own rules do not let it end the game with that secret.
    let leave = Command::Leave { seat: 1 };
    let refused = decide(house.game.as_ref(), &leave, NOW, &mut dice);
    assert_eq!(refused, Err(Rejection::WrongSecret));
    // If it does anyway, the revealed secret does not match the commitment.
    let mut right = house.dice(SECRET);
    house.tells(&leave, &mut right);
    *house.log.last_mut().unwrap() = Event::SeedRevealed { secret: chosen };
    assert_eq!(verify(&house.log), Err(VerificationError::Commitment));
    // With the committed secret, the dice do not match.
    *house.log.last_mut().unwrap() = Event::SeedRevealed { secret: SECRET };
    let index = house.index_of("Rolled");
    let before = domain::replay(&house.log[..index]).unwrap();
    let honest = decide(Some(&before), &roll(0), NOW, &mut FairDice::new(SECRET, &before)).unwrap();
    house.is_caught_at(index, &honest[0]);
}

/// The commitment in the first event is replaced. The result is a valid game, but not with the
/// commitment that players saw: clients must store it, and this is why the log is sealed.
#[test]
fn a_house_that_replaces_its_commitment() {
    let promised = House::opens(SECRET);
    let mut other = House::opens(Secret([7; 32]));
    let mut dice = other.dice(Secret([7; 32]));
    other.plays_out(&mut dice);
    assert!(verify(&other.log).is_ok());
    assert_ne!(promised.game().table.commitment, other.game().table.commitment);
}

#[test]
fn a_house_that_replaces_a_seed_after_the_start() {
    let mut house = House::opens(SECRET);
    let sealed = house.game().clone();
    house.tells(&Command::Start, &mut FairDice::new(SECRET, &sealed));
    let seed = Event::SeedChosen { seat: 1, seed: ClientSeed::parse("our seed").unwrap() };
    house.records(vec![seed]);
    let mut dice = house.dice(SECRET);
    house.tells(&roll(0), &mut dice);
    house.tells(&Command::Leave { seat: 1 }, &mut dice);
    let number = house.index_of("TurnStarted") + 2;
    let why = Some(Rejection::AlreadyStarted);
    assert_eq!(
        verify(&house.log),
        Err(VerificationError::Impossible { number, event: "SeedChosen", why })
    );
    // Recorded as if the player had chosen it in time: the hash of the sealed list differs.
    let late = house.log.remove(number - 1);
    let index = house.index_of("Started");
    house.log.insert(index, late);
    let before = domain::replay(&house.log[..=index]).unwrap();
    let seeds = seeds_hash(before.table.seats.iter().map(|seat| seat.seed.as_ref()));
    house.is_caught_at(index + 1, &Event::Started { seeds });
}

#[test]
fn a_house_that_reorders_the_sealed_seeds() {
    let mut house = House::opens(SECRET);
    let honest = house.game().clone();
    let mut swapped = honest.clone();
    let (first, rest) = swapped.table.seats.split_first_mut().unwrap();
    std::mem::swap(&mut first.seed, &mut rest[0].seed);
    let seeds = |game: &Game| seeds_hash(game.table.seats.iter().map(|seat| seat.seed.as_ref()));
    // It rolls with another order of the list, and seals that one.
    let mut dice = FairDice::new(SECRET, &swapped);
    house.plays_out(&mut dice);
    let index = house.index_of("Started");
    house.log[index] = Event::Started { seeds: seeds(&swapped) };
    house.is_caught_at(index, &Event::Started { seeds: seeds(&honest) });
    // Sealing the right list does not help: the dice are derived from the other one.
    house.log[index] = Event::Started { seeds: seeds(&honest) };
    let rolled = house.index_of("Rolled");
    let before = domain::replay(&house.log[..rolled]).unwrap();
    let fair = decide(Some(&before), &roll(0), NOW, &mut FairDice::new(SECRET, &before)).unwrap();
    house.is_caught_at(rolled, &fair[0]);
}

#[test]
fn a_house_that_ends_a_game_without_revealing() {
    let mut house = honest();
    let revealed = house.log.pop().unwrap();
    assert_eq!(revealed.name(), "SeedRevealed");
    assert_eq!(verify(&house.log), Err(VerificationError::NotRevealed));
}

#[test]
fn a_house_that_voids_a_game_without_revealing() {
    let mut house = House::opens(SECRET);
    let mut dice = house.dice(SECRET);
    house.tells(&Command::Start, &mut dice);
    house.tells(&roll(0), &mut dice);
    house.tells(&Command::Void { why: VoidedFor::Malfunction, dispute: None }, &mut dice);
    assert!(verify(&house.log).is_ok());
    for left in [house.log.len() - 1, house.log.len() - 2] {
        assert_eq!(
            verify(&house.log[..left]),
            Err(VerificationError::NotRevealed),
            "Voided, with and without Ended"
        );
    }
}

#[test]
fn a_house_that_reveals_another_secret() {
    let mut house = honest();
    *house.log.last_mut().unwrap() = Event::SeedRevealed { secret: Secret([43; 32]) };
    assert_eq!(verify(&house.log), Err(VerificationError::Commitment));
}

#[test]
fn a_house_that_changes_a_face() {
    let mut house = honest();
    let index = house.index_of("Rolled");
    let fair = house.log[index].clone();
    let Event::Rolled(rolled) = &mut house.log[index] else { panic!() };
    let mut faces: Vec<u8> = rolled.faces.iter().collect();
    faces[0] = faces[0] % 6 + 1;
    rolled.faces = Faces::of(&faces).unwrap();
    house.is_caught_at(index, &fair);
    // Even with a matching raw value, it is not the value drawn.
    let Event::Rolled(rolled) = &mut house.log[index] else { panic!() };
    rolled.raw[0] = faces[0].into();
    house.is_caught_at(index, &fair);
}

#[test]
fn a_house_that_changes_points() {
    let mut house = House::opens(SECRET);
    let mut dice = house.dice(SECRET);
    house.tells(&Command::Start, &mut dice);
    for _ in 0..100 {
        let seat = house.game().to_move().unwrap();
        house.tells(&roll(seat), &mut dice);
        let Some(best) = house.game().best_selection() else { continue };
        house.tells(&save(seat, &best.slots.to_vec()), &mut dice);
        house.tells(&bank(seat, None), &mut dice);
        break;
    }
    house.tells(&Command::Leave { seat: 1 }, &mut dice);
    assert!(verify(&house.log).is_ok());
    let index = house.index_of("Banked");
    let fair = house.log[index].clone();
    let Event::Banked(banked) = &mut house.log[index] else { panic!() };
    banked.points += 100;
    banked.game_score += 100;
    house.is_caught_at(index, &fair);
}

/// The rules reject a time-out that is too early.
#[test]
fn a_house_whose_clock_runs_fast() {
    let mut house = House::opens(SECRET);
    let mut dice = house.dice(SECRET);
    house.tells(&Command::Start, &mut dice);
    let early = Moment(NOW.0 + 1);
    let deadline = house.game().table.turn.deadline.unwrap();
    // It decides as if the turn had started long ago, and records the result.
    let late =
        decide(house.game.as_ref(), &Command::TimeOut { seat: 0 }, deadline, &mut dice).unwrap();
    let index = house.log.len();
    house.records(late);
    let next = house.log.iter_mut().rfind(|event| event.name() == "TurnStarted");
    let Some(Event::TurnStarted { deadline: told, .. }) = next else { panic!() };
    *told = Some(Moment(early.0 + 120_000));
    house.game = domain::replay(&house.log);
    house.tells(&Command::Leave { seat: 1 }, &mut dice);
    let why = Some(Rejection::TimeNotUp { deadline, now: early });
    assert_eq!(
        verify(&house.log),
        Err(VerificationError::Impossible { number: index + 1, event: "TimedOut", why })
    );
}
