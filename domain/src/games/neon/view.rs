//! NeonPolis as a kind of game: moves, phases, facts and offers.

use super::{
    CardKind, InsideHits, Neon, NeonDecision,
    ability::use_ability,
    combat::attack,
    market::{buy, evolve, refill, renew},
    names,
    plays::{answer, end, next_turn, resolve_dice, roll, time_out},
    resolve::{sets, worth},
    verbs,
};
use crate::{
    Change, Counts, DieOnTable, DiePlace, EffectSource, Event, Fact, Offer, Play, Points,
    Rejection, SeatNo, Selection, Slots, Slug, Table, TurnEnd,
    counts::{count_spent, lost},
    effect::{BOUGHT, ITEM},
    game_rules::GameRules,
    special_dice::Code,
    verbs::Verb,
};

const MOVES: &str =
    "roll, ability, resolve, attack, buy, renew, evolve, end; when hit: stay or yield";

impl GameRules for Neon {
    const TITLE: &'static str = "NeonPolis";
    const FEWEST_SEATS: u8 = 2;
    const MOST_SEATS: u8 = 4;
    const VERBS: &'static [Verb] = verbs::VERBS;

    fn phase(&self, table: &Table) -> &'static str {
        match (table.turn.asked, self.turn.rolls, self.turn.resolved) {
            (Some(_), ..) => "answer",
            (None, 0, _) => "roll",
            (None, _, false) => "roll_or_resolve",
            (None, _, true) if self.turn.combat => "combat",
            (None, _, true) => "shop",
        }
    }

    /// Counts energy spent, and damage dealt in one's turn.
    fn count(event: &Event, turn: Option<SeatNo>, counts: &mut Counts) {
        count_spent(event, names::ENERGY, counts);
        let (Event::EffectApplied(effect), Some(by)) = (event, turn) else { return };
        if effect.source == names::RENEWED {
            counts.add(effect.seat, "spent", lost(effect, names::ENERGY));
        }
        if effect.seat != by {
            let dead = effect.changes.iter().any(|c| c.what == names::ALIVE && c.after == 0);
            counts.add(by, "damage", lost(effect, names::HP));
            counts.add(by, "eliminations", dead.into());
        }
    }

    fn apply(&mut self, event: &Event) {
        self.fold(event);
    }

    /// Seats without a character get the first free one, the market is filled, and the first seat
    /// starts inside.
    fn begin(decision: &mut NeonDecision<'_>, first: SeatNo) -> Result<(), Rejection> {
        for seat in decision.board.alive() {
            let chosen = decision.board.player(seat).and_then(|player| player.character);
            if let (None, Some(&character)) = (chosen, decision.board.characters_free(seat).first())
            {
                decision.record(Event::CharacterChosen { seat, character });
            }
        }
        refill(decision)?;
        let vp = decision.board.rules.enter_vp;
        let changes = [Change::of(names::INSIDE, 0, 1), Change::of(names::VP, 0, vp)];
        decision.apply_effect(first, names::ENTERED, changes);
        decision.start_turn(first, 1);
        Ok(())
    }

    fn choose_character(
        decision: &mut NeonDecision<'_>,
        seat: SeatNo,
        named: &str,
    ) -> Result<(), Rejection> {
        let board = &decision.board;
        let free: Vec<String> =
            board.characters_free(seat).iter().map(ToString::to_string).collect();
        let free = free.join(", ");
        let known = named.parse::<Slug>().ok().and_then(|code| board.rules.character(code));
        let Some(code) = known.map(|character| character.code) else {
            let character = named.chars().take(40).collect();
            return Err(Rejection::UnknownCharacter { character, free });
        };
        let taken = (0..).zip(&board.players).find(|(_, p)| p.character == Some(code));
        if let Some((other, _)) = taken.filter(|(other, _)| *other != seat) {
            return Err(Rejection::CharacterTaken { character: code, seat: other, free });
        }
        decision.record(Event::CharacterChosen { seat, character: code });
        Ok(())
    }

    fn characters_free(&self, seat: SeatNo) -> Vec<Slug> {
        let taken = |code: Slug| {
            (0..).zip(&self.players).any(|(other, p)| other != seat && p.character == Some(code))
        };
        let codes = self.rules.characters.iter().map(|character| character.code);
        codes.filter(|&code| !taken(code)).collect()
    }

    fn play(decision: &mut NeonDecision<'_>, play: &Play) -> Result<(), Rejection> {
        if let Some(asked) = decision.table.turn.asked {
            return match play {
                Play::Answer { stay } => answer(decision, asked, *stay),
                _ => Err(Rejection::AnswerFirst),
            };
        }
        match play {
            Play::Roll => roll(decision, None),
            Play::Reroll { keep } => roll(decision, Some(keep)),
            Play::Resolve => resolve_dice(decision),
            Play::Attack { target } => attack(decision, *target),
            Play::Ability(ability) => use_ability(decision, *ability),
            Play::Buy { code, target } => {
                buy(decision, code, *target)?;
                // The turn of a player who is eliminated by their own card is over.
                let (seat, over) = (decision.table.turn.seat, super::combat::is_over(decision));
                if over || decision.board.is_alive(seat) {
                    return Ok(());
                }
                end(decision, TurnEnd::Finished)
            }
            Play::Renew => renew(decision),
            Play::Evolve { code } => evolve(decision, code),
            Play::End if !decision.board.turn.resolved => {
                Err(Rejection::NotNow { why: "resolve the dice first" })
            }
            Play::End => {
                decision.board.is_peaceful()?;
                end(decision, TurnEnd::Finished)
            }
            Play::Answer { .. } => Err(Rejection::NothingAsked),
            _ => Err(Rejection::NoSuchMove { moves: MOVES }),
        }
    }

    fn plays(&self, table: &Table) -> Vec<Play> {
        if table.turn.asked.is_some() {
            return [true, false].map(|stay| Play::Answer { stay }).to_vec();
        }
        let seat = table.turn.seat;
        let mut plays: Vec<Play> = self.abilities(seat).into_iter().map(Play::Ability).collect();
        if !self.turn.resolved {
            plays.extend(self.rolls(seat));
            plays.extend((self.turn.rolls > 0).then_some(Play::Resolve));
            return plays;
        }
        let attacks = self.attacks(seat).into_iter();
        plays.extend(attacks.map(|target| Play::Attack { target }));
        for code in self.market.iter().flatten().map(Slug::to_string) {
            let targets = self.targets(seat).into_iter();
            let lawful = targets.filter(|&target| self.purchase(seat, &code, target).is_ok());
            plays.extend(lawful.map(|target| Play::Buy { code: code.clone(), target }));
        }
        plays.extend(self.may_renew(seat).is_ok().then_some(Play::Renew));
        let evolutions = self.rules.evolutions.iter().map(|evolution| evolution.code.to_string());
        let lawful = evolutions.filter(|code| self.may_evolve(seat, code).is_ok());
        plays.extend(lawful.map(|code| Play::Evolve { code }));
        plays.extend(self.is_peaceful().is_ok().then_some(Play::End));
        plays
    }

    fn cut_short(decision: &mut NeonDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        decision.end_turn(how, decision.board.turn.vp, 0);
        Ok(())
    }

    fn time_out(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
        time_out(decision)
    }

    /// If the seat that was asked leaves, it yields the centre.
    fn left(decision: &mut NeonDecision<'_>, seat: SeatNo) -> Result<(), Rejection> {
        if super::combat::settle(decision, &[])? {
            return Ok(());
        }
        if decision.table.turn.asked == Some(seat) { answer(decision, seat, false) } else { Ok(()) }
    }

    fn next_turn(decision: &mut NeonDecision<'_>) -> Result<(), Rejection> {
        next_turn(decision)
    }

    fn infer_play(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
        let event = log.first()?;
        if let Event::Rolled(rolled) = event {
            let kept = Slots::first(self.dice_of(rolled.seat)).without(rolled.slots);
            let again = Play::Reroll { keep: kept.to_vec() };
            Some((rolled.seat, if kept.is_empty() { Play::Roll } else { again }))
        } else if let Event::Saved(saved) = event {
            Some((saved.seat, Play::Resolve))
        } else if let Event::EffectApplied(effect) = event {
            let play = match effect.source {
                names::ATTACK => Play::Attack { target: self.attacked(effect.seat, log) },
                EffectSource::Item(names::ABILITY, _) => {
                    Play::Ability(self.ability_behind(&effect.changes)?)
                }
                names::RENEWED => Play::Renew,
                EffectSource::Item(names::EVOLVED, code) => Play::Evolve { code: code.to_string() },
                EffectSource::Item(BOUGHT, code) => {
                    let target = self.infer_target(code, log);
                    Play::Buy { code: code.to_string(), target }
                }
                _ => return None,
            };
            Some((effect.seat, play))
        } else if let Event::Answered { seat, stays, .. } = event {
            Some((*seat, Play::Answer { stay: *stays }))
        } else if let Event::TurnEnded(ended) = event
            && ended.how == TurnEnd::Finished
        {
            Some((ended.seat, Play::End))
        } else {
            None
        }
    }

    fn offers(&self, table: &Table) -> Vec<Offer> {
        self.open_offers(table)
    }

    fn scores(&self) -> Vec<Points> {
        self.players.iter().map(|player| player.vp).collect()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let player = self.player(seat).cloned().unwrap_or_default();
        let mine = table.turn.seat == seat;
        let rolls = self.rolls_of(seat).saturating_sub(if mine { self.turn.rolls } else { 0 });
        let spare = if mine { self.turn.spare_hearts } else { 0 };
        let (cards, evolutions): (Vec<Slug>, Vec<Slug>) =
            player.things.iter().partition(|code| self.rules.card(**code).is_some());
        let plated = matches!(self.gift(seat), Some(super::Gift::Plate(_)));
        let words = |words: Vec<Slug>| Fact::List(words.into_iter().map(Fact::Slug).collect());
        vec![
            ("vp", Fact::Number(player.vp)),
            ("game_score", Fact::Number(player.vp)),
            ("hp", Fact::Number(player.hp)),
            ("max_hp", Fact::Number(player.max_hp)),
            ("energy", Fact::Number(player.energy)),
            ("inside", Fact::Flag(self.inside == Some(seat))),
            ("alive", Fact::Flag(player.alive)),
            ("character", player.character.map_or(Fact::Text("none"), Fact::Slug)),
            ("cards", words(cards)),
            ("evolutions", words(evolutions)),
            ("evolution_unlocked", Fact::Flag(mine && self.turn.evolution)),
            ("dice", Fact::Number(self.dice_of(seat).into())),
            ("rolls_left", Fact::Number(rolls.into())),
            ("resolved", Fact::Flag(mine && self.turn.resolved)),
            ("spare_hearts", Fact::Number(spare.into())),
            ("stored", Fact::Number(player.stored.into())),
            ("armed", Fact::Flag(player.armed && plated)),
            ("shielded", Fact::Flag(player.shielded)),
            ("marked", Fact::Number(player.marked)),
        ]
    }

    fn dice_on_table(&self, table: &Table) -> Vec<DieOnTable> {
        let die = |slot: u8| {
            let face = self.turn.dice.get(usize::from(slot)).copied();
            let place = if face.is_some() { DiePlace::Table } else { DiePlace::Hand };
            let extra = slot >= self.rules.dice;
            DieOnTable { slot, code: Code::STANDARD, face, place, extra }
        };
        let rolled = u8::try_from(self.turn.dice.len()).unwrap_or(u8::MAX);
        let count = if rolled == 0 { self.dice_of(table.turn.seat) } else { rolled };
        (0..count).map(die).collect()
    }

    /// The result of resolving the dice.
    fn selections_on_table(&self, _: &Table) -> Vec<Selection> {
        let dice = &self.turn.dice;
        if dice.is_empty() || self.turn.resolved {
            return Vec::new();
        }
        vec![Selection {
            slots: Slots::first(u8::try_from(dice.len()).unwrap_or(u8::MAX)),
            points: worth(dice),
            combinations: sets(dice),
            bonuses: Vec::new(),
            dollars: 0,
            bank: 0,
            can_bank: false,
            extra: 0,
            gifts: 0,
        }]
    }
}

impl Neon {
    /// The rolls a seat can make.
    fn rolls(&self, seat: SeatNo) -> Vec<Play> {
        let final_roll = self.gift(seat) == Some(super::Gift::Copy) && self.turn.ability_used;
        if self.turn.rolls >= self.rolls_of(seat) || final_roll {
            return Vec::new();
        }
        let all = Slots::first(self.dice_of(seat));
        let kept = all.subsets().filter(|&kept| self.turn.rolls > 0 && kept != all);
        let again = kept.map(|kept| Play::Reroll { keep: kept.to_vec() });
        std::iter::once(Play::Roll).chain(again).collect()
    }

    /// The target of an attack, if the attacker had to choose it.
    fn attacked(&self, seat: SeatNo, log: &[Event]) -> Option<SeatNo> {
        let all = self.rules.inside_hits == Some(InsideHits::All);
        let named = self.inside == Some(seat) && !all;
        let hit = log.iter().skip(1).find_map(|event| match event {
            Event::EffectApplied(effect) => Some(effect.seat),
            _ => None,
        });
        hit.filter(|_| named)
    }

    /// The target of a card: the seat of its first effect.
    fn infer_target(&self, code: Slug, log: &[Event]) -> Option<SeatNo> {
        let CardKind::Once(once) = self.rules.card(code)?.kind else { return None };
        let done = |event: &Event| match event {
            Event::EffectApplied(effect) if effect.source == EffectSource::Item(ITEM, code) => {
                Some(effect.seat)
            }
            _ => None,
        };
        if once.is_aimed() { log.iter().find_map(done) } else { None }
    }
}
