//! DiceRogue as a kind of game: moves, phases, facts and offers.

use std::collections::BTreeMap;

use super::{
    BlueRecord, Category, Colour, ColouredDie, Rogue, RogueDecision, names,
    plays::{next_turn, roll, score_best, score_named},
    shop::{buy, use_item},
    statistics::figures,
    verbs,
};
use crate::{
    Counts, DieOnTable, DiePlace, EffectSource, Event, Fact, Figure, Offer, Play, Points,
    Rejection, SeatNo, Selection, Slots, Slug, Table, TurnEnd,
    counts::count_spent,
    effect::{BOUGHT, USED},
    game_rules::GameRules,
    special_dice::Code,
    verbs::Verb,
};

impl GameRules for Rogue {
    const TITLE: &'static str = "DiceRogue";
    const MOST_SEATS: u8 = 1;
    const VERBS: &'static [Verb] = verbs::VERBS;
    const KEEPS_COUNT: bool = true;

    fn phase(&self, _: &Table) -> &'static str {
        match (self.shopping, self.turn.dice.is_empty(), self.turn.rolls_left) {
            (true, ..) => "shop",
            (false, true, _) => "roll",
            (false, false, 0) => "score",
            (false, false, _) => "roll_or_score",
        }
    }

    fn count(event: &Event, _: Option<SeatNo>, counts: &mut Counts) {
        count_spent(event, names::MONEY, counts);
    }

    fn counted(&self, _: SeatNo) -> Vec<(String, i64)> {
        self.statistics.counts()
    }

    fn figures(counts: &BTreeMap<String, i64>) -> Vec<Figure> {
        figures(counts)
    }

    fn kind_by_letter(letter: &str) -> Option<Code> {
        let colours = Colour::ALL.into_iter();
        colours.map(Colour::code).find(|code| code.as_str()[..1].eq_ignore_ascii_case(letter))
    }

    fn apply(&mut self, event: &Event) {
        self.fold(event);
    }

    /// A run can begin with a visit to the shop, in round 0.
    fn begin(decision: &mut RogueDecision<'_>, first: SeatNo) -> Result<(), Rejection> {
        decision.start_turn(first, u32::from(!decision.board.rules.opening_shop));
        Ok(())
    }

    fn play(decision: &mut RogueDecision<'_>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => roll(decision, None),
            Play::Reroll { keep } => roll(decision, Some(keep)),
            Play::Score { category } => {
                score_named(decision, category)?;
                next_turn(decision)
            }
            Play::Buy { code, target: None } => buy(decision, code),
            Play::Use { code } => use_item(decision, code),
            Play::End if decision.board.shopping => {
                decision.end_turn(TurnEnd::Finished, 0, 0);
                next_turn(decision)
            }
            Play::End => Err(Rejection::NotNow { why: "score a category to end your turn" }),
            _ => Err(Rejection::NoSuchMove { moves: "roll, score, use; in the shop buy, end" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        let usable = self.held.keys().filter(|&&code| {
            self.rules.consumable(code).is_some_and(|item| self.may_use(item).is_ok())
        });
        let mut plays: Vec<Play> =
            usable.map(|code| Play::Use { code: code.to_string() }).collect();
        if self.shopping {
            let bought = self.all_offers().into_iter().filter(|offer| offer.buyable);
            plays.extend(bought.map(|o| Play::Buy { code: o.code.to_string(), target: None }));
            plays.push(Play::End);
            return plays;
        }
        let rolled = !self.turn.dice.is_empty();
        if self.turn.rolls_left > 0 {
            plays.push(Play::Roll);
            let all = Slots::first(self.turn.size);
            let kept = all.subsets().filter(|&kept| rolled && kept != all);
            plays.extend(kept.map(|kept| Play::Reroll { keep: kept.to_vec() }));
        }
        let open = self.card.open().filter(|_| rolled);
        plays.extend(open.map(|category| Play::Score { category: category.slug().to_string() }));
        plays
    }

    /// Time is up: the best category is scored, the shop is left.
    fn time_out(decision: &mut RogueDecision<'_>) -> Result<(), Rejection> {
        if decision.board.shopping {
            decision.end_turn(TurnEnd::TimedOut, 0, 0);
        } else {
            score_best(decision)?;
        }
        next_turn(decision)
    }

    fn cut_short(decision: &mut RogueDecision<'_>, how: TurnEnd) -> Result<(), Rejection> {
        decision.end_turn(how, 0, 0);
        Ok(())
    }

    fn next_turn(decision: &mut RogueDecision<'_>) -> Result<(), Rejection> {
        next_turn(decision)
    }

    fn infer_play(&self, log: &[Event]) -> Option<(SeatNo, Play)> {
        let event = log.first()?;
        if let Event::Rolled(rolled) = event {
            let kept = Slots::first(self.turn.size).without(rolled.slots);
            let again = Play::Reroll { keep: kept.to_vec() };
            Some((rolled.seat, if kept.is_empty() { Play::Roll } else { again }))
        } else if let Event::Saved(saved) = event {
            let category = Category::of(saved.combinations.first()?.name)?;
            Some((saved.seat, Play::Score { category: category.slug().to_string() }))
        } else if let Event::EffectApplied(effect) = event {
            let play = match effect.source {
                EffectSource::Item(BOUGHT, code) => {
                    Play::Buy { code: code.to_string(), target: None }
                }
                EffectSource::Item(USED, code) => Play::Use { code: code.to_string() },
                _ => return None,
            };
            Some((effect.seat, play))
        } else if let Event::TurnEnded(ended) = event
            && ended.how == TurnEnd::Finished
        {
            Some((ended.seat, Play::End))
        } else {
            None
        }
    }

    fn offers(&self, _: &Table) -> Vec<Offer> {
        self.all_offers()
    }

    fn scores(&self) -> Vec<Points> {
        vec![self.score()]
    }

    fn facts(&self, table: &Table, _: SeatNo) -> Vec<(&'static str, Fact)> {
        let number = |number: u32| Fact::Number(number.into());
        // In the shop the goal is that of the next round.
        let goal = self.goal(table.turn.round.saturating_add(u32::from(self.shopping)));
        let counts = |counts: &std::collections::BTreeMap<Slug, u32>| {
            Fact::Map(counts.iter().map(|(&code, &count)| (code, number(count))).collect())
        };
        let scores = Category::ALL
            .into_iter()
            .filter_map(|category| Some((category.slug(), Fact::Number(self.card.get(category)?))));
        let odds = Colour::ALL.into_iter().filter_map(|colour| {
            let odds = self.rules.odds(colour, self.purchases[colour.index()])?;
            Some((colour.slug(), number(odds)))
        });
        vec![
            ("money", Fact::Money(self.money)),
            ("game_score", Fact::Number(self.score())),
            ("total", Fact::Number(self.score())),
            ("round_score", Fact::Number(self.round_score)),
            ("upper_bonus", Fact::Number(self.upper_bonus)),
            ("target", Fact::Number(goal.map_or(0, |goal| goal.target))),
            ("scores", Fact::Map(scores.collect())),
            ("rolls_left", Fact::Number(self.turn.rolls_left.into())),
            ("dice", Fact::Number(self.turn.size.into())),
            ("shopping", Fact::Flag(self.shopping)),
            ("consumables", number(self.held_in_all())),
            ("held", counts(&self.held)),
            ("at_work", counts(&self.active)),
            ("odds", Fact::Map(odds.collect())),
            ("dice_rolled", by_colour(&self.statistics.rolled)),
            ("dice_scored", by_colour(&self.statistics.scored)),
            ("blue", blue(&self.statistics.blue())),
            ("categories", self.category_facts()),
        ]
    }

    fn dice_on_table(&self, _: &Table) -> Vec<DieOnTable> {
        let die = |slot: u8| {
            let shown = self.turn.dice.get(usize::from(slot)).copied();
            let code = |die: ColouredDie| die.colour.map_or(Code::STANDARD, Colour::code);
            DieOnTable {
                slot,
                code: shown.map_or(Code::STANDARD, code),
                face: shown.map(|die| die.face),
                place: if shown.is_some() { DiePlace::Table } else { DiePlace::Hand },
                extra: slot >= self.rules.dice,
            }
        };
        (0..self.turn.size).map(die).collect()
    }

    /// The score of each open category.
    fn selections_on_table(&self, _: &Table) -> Vec<Selection> {
        self.previews().iter().map(|scored| scored.selection(&self.turn.dice)).collect()
    }
}

impl Rogue {
    fn category_facts(&self) -> Fact {
        let records = Category::ALL.into_iter().zip(&self.statistics.categories);
        let records = records.filter(|(_, record)| record.scored > 0).map(|(category, record)| {
            let facts = vec![
                (Slug::of("scored"), Fact::Number(record.scored.into())),
                (Slug::of("points"), Fact::Number(record.points)),
                (Slug::of("blue"), blue(&record.blue)),
            ];
            (category.slug(), Fact::Map(facts))
        });
        Fact::Map(records.collect())
    }
}

fn by_colour(counts: &[u32; 6]) -> Fact {
    let names = Colour::ALL.into_iter().map(Colour::slug).chain([Slug::of("none")]);
    Fact::Map(names.zip(counts).map(|(name, &count)| (name, Fact::Number(count.into()))).collect())
}

fn blue(record: &BlueRecord) -> Fact {
    Fact::Map(vec![
        (Slug::of("bonuses"), Fact::Number(record.bonuses.into())),
        (Slug::of("gained"), Fact::Number(record.gained)),
        (Slug::of("average_gain"), Fact::Number(record.average_gain())),
        (Slug::of("penalties"), Fact::Number(record.penalties.into())),
        (Slug::of("lost"), Fact::Number(record.lost)),
        (Slug::of("average_loss"), Fact::Number(record.average_loss())),
    ])
}
