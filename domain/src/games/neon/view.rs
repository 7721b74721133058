//! How the game is played at a table, and what can be asked about it.

use super::{
    CardKind, InsideHits, Neon, NeonDesk,
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
    Rejection, SeatNo, Selection, Slots, Table, TurnEnd, Word,
    counts::{count_spent, lost},
    effect::{BOUGHT, ITEM},
    rulebook::Rulebook,
    special_dice::Code,
    verbs::Verb,
};

const MOVES: &str =
    "roll, ability, resolve, attack, buy, renew, evolve, end; when hit: stay or yield";

impl Rulebook for Neon {
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

    /// What was spent, and what others lost in one's turn.
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

    /// Whoever has not chosen plays the first character left; cards are laid out; the first seat starts inside.
    fn begin(desk: &mut NeonDesk<'_>, first: SeatNo) -> Result<(), Rejection> {
        for seat in desk.board.alive() {
            let chosen = desk.board.player(seat).and_then(|player| player.character);
            if let (None, Some(&character)) = (chosen, desk.board.characters_free(seat).first()) {
                desk.record(Event::CharacterChosen { seat, character });
            }
        }
        refill(desk)?;
        let vp = desk.board.rules.enter_vp;
        let changes = [Change::of(names::INSIDE, 0, 1), Change::of(names::VP, 0, vp)];
        desk.apply_effect(first, names::ENTERED, changes);
        desk.start_turn(first, 1);
        Ok(())
    }

    fn choose_character(
        desk: &mut NeonDesk<'_>,
        seat: SeatNo,
        named: &str,
    ) -> Result<(), Rejection> {
        let board = &desk.board;
        let free: Vec<String> =
            board.characters_free(seat).iter().map(ToString::to_string).collect();
        let free = free.join(", ");
        let known = named.parse::<Word>().ok().and_then(|code| board.rules.character(code));
        let Some(code) = known.map(|character| character.code) else {
            let character = named.chars().take(40).collect();
            return Err(Rejection::UnknownCharacter { character, free });
        };
        let taken = (0..).zip(&board.players).find(|(_, p)| p.character == Some(code));
        if let Some((other, _)) = taken.filter(|(other, _)| *other != seat) {
            return Err(Rejection::CharacterTaken { character: code, seat: other, free });
        }
        desk.record(Event::CharacterChosen { seat, character: code });
        Ok(())
    }

    fn characters_free(&self, seat: SeatNo) -> Vec<Word> {
        let taken = |code: Word| {
            (0..).zip(&self.players).any(|(other, p)| other != seat && p.character == Some(code))
        };
        let codes = self.rules.characters.iter().map(|character| character.code);
        codes.filter(|&code| !taken(code)).collect()
    }

    fn play(desk: &mut NeonDesk<'_>, play: &Play) -> Result<(), Rejection> {
        if let Some(asked) = desk.table.turn.asked {
            return match play {
                Play::Answer { stay } => answer(desk, asked, *stay),
                _ => Err(Rejection::AnswerFirst),
            };
        }
        match play {
            Play::Roll => roll(desk, None),
            Play::Reroll { keep } => roll(desk, Some(keep)),
            Play::Resolve => resolve_dice(desk),
            Play::Attack { target } => attack(desk, *target),
            Play::Ability(ability) => use_ability(desk, *ability),
            Play::Buy { code, target } => {
                buy(desk, code, *target)?;
                // Whoever dies by a card of their own has had their turn.
                let (seat, over) = (desk.table.turn.seat, super::combat::is_over(desk));
                if over || desk.board.is_alive(seat) {
                    return Ok(());
                }
                end(desk, TurnEnd::Finished)
            }
            Play::Renew => renew(desk),
            Play::Evolve { code } => evolve(desk, code),
            Play::End if !desk.board.turn.resolved => {
                Err(Rejection::NotNow { why: "resolve the dice first" })
            }
            Play::End => {
                desk.board.is_peaceful()?;
                end(desk, TurnEnd::Finished)
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
        for code in self.market.iter().flatten().map(Word::to_string) {
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

    fn cut_short(desk: &mut NeonDesk<'_>, how: TurnEnd) -> Result<(), Rejection> {
        desk.end_turn(how, desk.board.turn.vp, 0);
        Ok(())
    }

    fn time_out(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
        time_out(desk)
    }

    /// Who was asked has given way by leaving.
    fn left(desk: &mut NeonDesk<'_>, seat: SeatNo) -> Result<(), Rejection> {
        if super::combat::settle(desk, &[])? {
            return Ok(());
        }
        if desk.table.turn.asked == Some(seat) { answer(desk, seat, false) } else { Ok(()) }
    }

    fn next_turn(desk: &mut NeonDesk<'_>) -> Result<(), Rejection> {
        next_turn(desk)
    }

    fn play_behind(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
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
                EffectSource::Thing(names::ABILITY, _) => {
                    Play::Ability(self.ability_behind(&effect.changes)?)
                }
                names::RENEWED => Play::Renew,
                EffectSource::Thing(names::EVOLVED, code) => {
                    Play::Evolve { code: code.to_string() }
                }
                EffectSource::Thing(BOUGHT, code) => {
                    let target = self.target_behind(code, log);
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
        let (cards, evolutions): (Vec<Word>, Vec<Word>) =
            player.things.iter().partition(|code| self.rules.card(**code).is_some());
        let plated = matches!(self.gift(seat), Some(super::Gift::Plate(_)));
        let words = |words: Vec<Word>| Fact::List(words.into_iter().map(Fact::Word).collect());
        vec![
            ("vp", Fact::Number(player.vp)),
            ("game_score", Fact::Number(player.vp)),
            ("hp", Fact::Number(player.hp)),
            ("max_hp", Fact::Number(player.max_hp)),
            ("energy", Fact::Number(player.energy)),
            ("inside", Fact::Flag(self.inside == Some(seat))),
            ("alive", Fact::Flag(player.alive)),
            ("character", player.character.map_or(Fact::Text("none"), Fact::Word)),
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

    /// What resolving the dice would score.
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

    /// Whom an attack hit, where the attacker had to say it.
    fn attacked(&self, seat: SeatNo, log: &[Event]) -> Option<SeatNo> {
        let all = self.rules.inside_hits == Some(InsideHits::All);
        let named = self.inside == Some(seat) && !all;
        let hit = log.iter().skip(1).find_map(|event| match event {
            Event::EffectApplied(effect) => Some(effect.seat),
            _ => None,
        });
        hit.filter(|_| named)
    }

    /// At whom a card was aimed: what it does first, it does to its target.
    fn target_behind(&self, code: Word, log: &[Event]) -> Option<SeatNo> {
        let CardKind::Once(once) = self.rules.card(code)?.kind else { return None };
        let done = |event: &Event| match event {
            Event::EffectApplied(effect) if effect.source == EffectSource::Thing(ITEM, code) => {
                Some(effect.seat)
            }
            _ => None,
        };
        if once.is_aimed() { log.iter().find_map(done) } else { None }
    }
}
