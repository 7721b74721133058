//! The state of a game of Farkle, folded from events.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::{FarkleRules, names};
use crate::{
    Banked, Boost, Combination, EffectApplied, Event, Faces, Fact, Measure, Points, Rolled, Saved,
    SeatNo, Slots, Table, TurnEnd, TurnEnded, special_dice,
    special_dice::{
        Die, Loadout,
        effects::{Save, in_order},
    },
};

/// The state of a game of Farkle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farkle {
    /// Its rules.
    pub rules: Arc<FarkleRules>,
    /// The players, in seat order.
    pub players: Vec<FarklePlayer>,
    /// The round of the seat to move.
    pub round: FarkleRound,
}

/// The state of a player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarklePlayer {
    /// The dice, one per slot.
    pub dice: Loadout,
    /// Banked points, less penalties.
    pub game_score: Points,
    /// The bonus of the next bank, earned by farkles.
    pub dare: Points,
    /// Farkles since the last bank or penalty.
    pub farkles_in_a_row: u32,
    /// The total of points lost unbanked.
    pub forfeited: Points,
    /// How often all dice were scored (hot dice).
    pub hot_dice: u32,
    /// The most points of a single round.
    pub best_round: Points,
    /// The round of the table in which the player first reached the target.
    pub reached_target_in: Option<u32>,
    /// Every round played. Copies of the state share it until it grows.
    pub rounds: Arc<Vec<RoundRecord>>,
}

/// A completed round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// The round of the table, starting at 1.
    pub round: u32,
    /// How it ended.
    pub how: TurnEnd,
    /// The points it added to the score.
    pub points: Points,
    /// The points lost.
    pub forfeited: Points,
    /// The number of hot dice.
    pub hot_dice: u32,
}

/// The current round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarkleRound {
    /// Determines which moves are possible.
    pub phase: Phase,
    /// The dice just rolled, or those left in hand after a save.
    pub hand: Slots,
    /// Points of the saves of this hand.
    pub turn_score: Points,
    /// Points of completed hands, multiplied.
    pub round_score: Points,
    /// The number of saves that include a hot die.
    pub hot: u32,
    /// The number of hot dice.
    pub hot_dice: u32,
    /// All rolls of the round.
    pub rolls: Vec<RollRecord>,
}

/// The phase of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing rolled yet.
    #[default]
    Opening,
    /// Dice are on the table, none of them saved.
    Rolled,
    /// Some dice of the last roll are saved.
    Saved,
}

/// A roll of the round and what was saved of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollRecord {
    /// The slots rolled.
    pub slots: Slots,
    /// Their faces, in slot order.
    pub faces: Faces,
    /// The best score of any selection.
    pub max_points: Points,
    /// The slots saved.
    pub saved: Slots,
    /// The points of the save.
    pub points: Points,
    /// The combinations of the save.
    pub combinations: Vec<Combination>,
    /// The bonuses of special dice.
    pub bonuses: Vec<Boost>,
}

impl RollRecord {
    /// The slot and face of every die rolled.
    pub fn dice(&self) -> impl Iterator<Item = (u8, u8)> {
        self.slots.iter().zip(self.faces.iter())
    }
}

impl FarkleRound {
    /// The latest roll.
    pub fn last_roll(&self) -> Option<&RollRecord> {
        self.rolls.last()
    }

    /// Points of the round, before the multiplier of its current hand.
    pub fn unbanked(&self) -> Points {
        self.round_score.saturating_add(self.turn_score)
    }

    /// The number of dice saved, in all hands.
    pub fn dice_saved(&self) -> u32 {
        self.rolls.iter().map(|roll| u32::from(roll.saved.len())).sum()
    }
}

impl Farkle {
    pub(crate) fn new(rules: &Arc<FarkleRules>) -> Self {
        Self { rules: Arc::clone(rules), players: Vec::new(), round: FarkleRound::default() }
    }

    /// Every selection of the current roll that scores for the seat to move, and its points.
    pub fn selections(&self, seat: SeatNo) -> impl Iterator<Item = (Slots, Points)> {
        let on_the_table = (self.round.phase == Phase::Rolled).then(|| self.round.last_roll());
        let dice = in_order(self.special_dice(seat));
        on_the_table.flatten().into_iter().flat_map(move |roll| {
            let scores = self.scores_of(seat, roll);
            let dice = dice.clone();
            roll.slots.subsets().filter_map(move |slots| {
                let points = scores.score(slots)?;
                Some((slots, self.saving(&dice, slots, points).points))
            })
        })
    }

    /// The special dice of a seat, by slot.
    pub fn special_dice(&self, seat: SeatNo) -> impl Iterator<Item = Die<'_>> {
        self.player(seat).dice.special(self.rules.catalogue.as_deref())
    }

    /// A save of these dice with the effects of the player's dice, applied in order.
    pub(super) fn saving(&self, dice: &[Die<'_>], slots: Slots, points: Points) -> Save {
        let mut save = Save::new(slots, points, self.round.hot);
        for die in dice {
            die.effect().kind().on_save(die.at(), &mut save);
        }
        save
    }

    /// The points of a hand after the effects of dice, and the effect of each die.
    pub(super) fn counted(&self, seat: SeatNo, hand: Points) -> (Points, Vec<Boost>) {
        let mut boosts = Vec::new();
        let mut points = hand;
        for die in in_order(self.special_dice(seat)) {
            let after = die.effect().kind().on_hand(points);
            if after != points {
                boosts.push(Boost { die: die.at(), before: points, after });
                points = after;
            }
        }
        (points, boosts)
    }

    /// The multiplier of the hands of a seat.
    pub fn multiplier(&self, seat: SeatNo) -> Points {
        self.counted(seat, 1).0
    }

    /// What the seat to move loses if its round ends without a bank.
    pub(super) fn at_stake(&self, seat: SeatNo) -> Points {
        if self.rules.forfeits_multiplied.unwrap_or(false) {
            self.shown(seat, &self.round)
        } else {
            self.round.unbanked()
        }
    }

    /// The points of a round as shown to its player: with the multiplier of the current hand.
    fn shown(&self, seat: SeatNo, round: &FarkleRound) -> Points {
        round.round_score.saturating_add(self.counted(seat, round.turn_score).0)
    }

    /// What a bank would score now, after saving the given points.
    pub fn worth(&self, seat: SeatNo, saved: Points) -> Points {
        let (hand, _) = self.counted(seat, self.round.turn_score.saturating_add(saved));
        self.round.round_score.saturating_add(hand).saturating_add(self.player(seat).dare)
    }

    pub(super) fn fold(&mut self, event: &Event) {
        match event {
            Event::SeatTaken { seat, .. } => {
                if usize::from(*seat) == self.players.len() {
                    self.players.push(FarklePlayer::default());
                }
                self.change(*seat, |player| player.dice = Loadout::ORDINARY);
            }
            Event::LoadoutChosen { seat, dice } => {
                let rules = Arc::clone(&self.rules);
                if let Some(catalogue) = &rules.catalogue {
                    self.change(*seat, |player| player.dice = Loadout::of(dice, catalogue));
                }
            }
            Event::TurnStarted { .. } => self.round.begin(),
            Event::Rolled(rolled) => self.round.rolled(rolled),
            Event::Saved(saved) => self.saved(saved),
            Event::Banked(banked) => self.banked(banked),
            Event::Farkled(farkled) => {
                self.change(farkled.seat, |player| player.farkles_in_a_row = farkled.in_a_row);
            }
            Event::EffectApplied(effect) => self.changed(effect),
            Event::TurnEnded(ended) => self.turn_ended(ended),
            Event::Created { .. }
            | Event::CharacterChosen { .. }
            | Event::Drawn(_)
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::SeedChosen { .. }
            | Event::SeatLeft { .. }
            | Event::Started { .. }
            | Event::MoneyAwarded { .. }
            | Event::TimedOut { .. }
            | Event::SeedRevealed { .. }
            | Event::Voided { .. }
            | Event::Ruled { .. }
            | Event::Account(_)
            | Event::Catalogue(_)
            | Event::Dispute(_)
            | Event::Staff(_) => {}
            Event::Ended(_) => {
                self.round.begin();
                self.players.iter_mut().for_each(|player| player.dare = 0);
            }
        }
    }

    fn banked(&mut self, banked: &Banked) {
        self.change(banked.seat, |player| {
            player.game_score = banked.game_score;
            player.farkles_in_a_row = 0;
            player.dare = 0;
            if banked.reaches_target {
                player.reached_target_in.get_or_insert(banked.round);
            }
        });
    }

    fn saved(&mut self, saved: &Saved) {
        let hot = u32::from(saved.left.is_empty());
        self.round.saved(saved);
        self.round.hot_dice = self.round.hot_dice.saturating_add(hot);
        self.change(saved.seat, |player| player.hot_dice = player.hot_dice.saturating_add(hot));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other values are not part of the state")]
    fn changed(&mut self, effect: &EffectApplied) {
        for change in &effect.changes {
            let (after, count) = (change.after, u32::try_from(change.after).unwrap_or(0));
            match change.what {
                Measure::GAME_SCORE => self.change(effect.seat, |player| player.game_score = after),
                names::FARKLES_IN_A_ROW => {
                    self.change(effect.seat, |player| player.farkles_in_a_row = count);
                }
                special_dice::DARE_BONUS => self.change(effect.seat, |player| player.dare = after),
                Measure::ROUND_SCORE => self.round.round_score = after,
                special_dice::HOT_STREAK => self.round.hot = count,
                // Intermediate steps: the preceding event has the total.
                _ => {}
            }
        }
    }

    fn turn_ended(&mut self, ended: &TurnEnded) {
        let record = RoundRecord {
            round: ended.round,
            how: ended.how,
            points: ended.points,
            forfeited: ended.forfeited,
            hot_dice: self.round.hot_dice,
        };
        self.change(ended.seat, |player| {
            player.forfeited = player.forfeited.saturating_add(ended.forfeited);
            player.best_round = player.best_round.max(ended.points);
            player.dare = player.dare.saturating_sub(ended.bonus_lost);
            if ended.reaches_target {
                player.reached_target_in.get_or_insert(ended.round);
            }
            Arc::make_mut(&mut player.rounds).push(record);
        });
        self.round.begin();
    }

    /// A player; an empty default if there is none at the seat.
    pub(super) fn player(&self, seat: SeatNo) -> &FarklePlayer {
        static NOBODY: LazyLock<FarklePlayer> = LazyLock::new(FarklePlayer::default);
        self.players.get(usize::from(seat)).unwrap_or(&NOBODY)
    }

    fn change(&mut self, seat: SeatNo, change: impl FnOnce(&mut FarklePlayer)) {
        if let Some(player) = self.players.get_mut(usize::from(seat)) {
            change(player);
        }
    }

    pub(super) fn seat_facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let Some(player) = self.players.get(usize::from(seat)) else {
            return Vec::new();
        };
        let last = player.rounds.last();
        let idle = FarkleRound::default();
        let round = if table.turn.seat == seat { &self.round } else { &idle };
        vec![
            ("game_score", Fact::Number(player.game_score)),
            ("turn_score", Fact::Number(round.turn_score)),
            ("round_score", Fact::Number(round.round_score)),
            ("double", Fact::Number(self.multiplier(seat))),
            ("unbanked", Fact::Number(self.shown(seat, round))),
            ("hot", Fact::Number(round.hot.into())),
            ("dare", Fact::Number(player.dare)),
            ("dice_saved", Fact::Number(round.dice_saved().into())),
            ("farkles_in_a_row", Fact::Number(player.farkles_in_a_row.into())),
            ("forfeited", Fact::Number(player.forfeited)),
            ("hot_dice", Fact::Number(player.hot_dice.into())),
            ("hot_dice_this_round", Fact::Number(round.hot_dice.into())),
            ("rolls_this_round", Fact::Number(count(round.rolls.len()))),
            ("max_roll_points", Fact::Number(round.last_roll().map_or(0, |roll| roll.max_points))),
            ("best_round", Fact::Number(player.best_round)),
            ("rounds_played", Fact::Number(count(player.rounds.len()))),
            ("last_round_end", Fact::Text(last.map_or("", |round| round.how.name()))),
            ("last_round_points", Fact::Number(last.map_or(0, |round| round.points))),
            ("last_round_hot_dice", Fact::Number(last.map_or(0, |round| round.hot_dice.into()))),
        ]
    }
}

fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

impl FarkleRound {
    /// Starts a new round; the list of rolls keeps its capacity.
    fn begin(&mut self) {
        let mut rolls = std::mem::take(&mut self.rolls);
        rolls.clear();
        *self = Self { rolls, ..Self::default() };
    }

    fn rolled(&mut self, rolled: &Rolled) {
        if let Some(folded) = rolled.folded {
            self.round_score = self.round_score.saturating_add(folded);
            self.turn_score = 0;
        }
        self.phase = Phase::Rolled;
        self.hand = rolled.slots;
        self.rolls.push(RollRecord {
            slots: rolled.slots,
            faces: rolled.faces,
            max_points: rolled.max_points,
            saved: Slots::EMPTY,
            points: 0,
            combinations: Vec::new(),
            bonuses: Vec::new(),
        });
    }

    fn saved(&mut self, saved: &Saved) {
        self.phase = Phase::Saved;
        self.hand = saved.left;
        self.turn_score = saved.turn_score;
        if let Some(roll) = self.rolls.last_mut() {
            roll.saved = saved.slots;
            roll.points = saved.points;
            roll.combinations.clone_from(&saved.combinations);
            roll.bonuses.clone_from(&saved.bonuses);
        }
    }
}
