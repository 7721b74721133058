//! Pig: one die; a turn adds up its rolls until it is banked, and a 1 loses them. The first player
//! to reach the target at a bank wins.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    Banked, CombinationName, DecidedBy, DieOnTable, Event, Fact, Number, Play, Points, Rejection,
    Rules, Ruleset, SeatNo, Table, TurnEnd,
    decision::Decision,
    game_rules::{GameRules, Parameters},
    verbs::{BANK, ROLL, Verb},
};

/// The parameters of Pig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PigRules {
    /// The score that wins at a bank.
    pub target: Points,
}

/// The state of a game of Pig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pig {
    /// Its rules.
    pub rules: Arc<PigRules>,
    /// The banked points, in seat order.
    pub scores: Vec<Points>,
    /// Consecutive farkles of the seats that have any.
    pub farkles: BTreeMap<SeatNo, u32>,
    /// The points of the current turn.
    pub turn_score: Points,
    /// The face of the die, if it was rolled in this turn.
    pub face: Option<u8>,
}

impl PigRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        vec![Ruleset::standard(1, Rules::Pig(Arc::new(Self { target: 100 })))]
    }
}

impl Parameters for PigRules {
    fn numbers(&self) -> Vec<Number> {
        vec![Number::new("target", self.target, 1..=1_000_000, "The points that win.")]
    }
}

impl Pig {
    pub(crate) fn new(rules: &Arc<PigRules>) -> Self {
        Self { rules: Arc::clone(rules), ..Self::default() }
    }
}

impl GameRules for Pig {
    const TITLE: &'static str = "Pig";
    const FEWEST_SEATS: u8 = 2;
    const MOST_SEATS: u8 = 10;
    const VERBS: &'static [Verb] = &[ROLL, BANK];

    fn apply(&mut self, event: &Event) {
        if let Event::SeatTaken { seat, .. } = event {
            self.scores.resize(self.scores.len().max(usize::from(*seat) + 1), 0);
        } else if let Event::TurnStarted { .. } | Event::TurnEnded(_) = event {
            (self.turn_score, self.face) = (0, None);
        } else if let Event::Rolled(rolled) = event {
            self.face = rolled.faces.iter().next();
        } else if let Event::Saved(saved) = event {
            self.turn_score = saved.turn_score;
        } else if let Event::Farkled(farkled) = event {
            self.farkles.insert(farkled.seat, farkled.in_a_row);
        } else if let Event::Banked(banked) = event
            && let Some(score) = self.scores.get_mut(usize::from(banked.seat))
        {
            *score = banked.game_score;
            self.farkles.remove(&banked.seat);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "moves of other games are rejected")]
    fn play(decision: &mut Decision<'_, Self>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => roll(decision),
            Play::Bank { slots: None } => bank(decision),
            _ => Err(Rejection::NoSuchMove { moves: "roll, bank" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        [Play::Roll].into_iter().chain(self.face.map(|_| Play::Bank { slots: None })).collect()
    }

    fn phase(&self, _: &Table) -> &'static str {
        if self.face.is_none() { "roll" } else { "roll_or_bank" }
    }

    /// Unbanked points are lost; this is not a farkle.
    fn cut_short(decision: &mut Decision<'_, Self>, how: TurnEnd) -> Result<(), Rejection> {
        decision.end_turn(how, 0, decision.board.turn_score);
        Ok(())
    }

    fn next_turn(decision: &mut Decision<'_, Self>) -> Result<(), Rejection> {
        decision.pass_turn()
    }

    fn scores(&self) -> Vec<Points> {
        self.scores.clone()
    }

    fn facts(&self, table: &Table, seat: SeatNo) -> Vec<(&'static str, Fact)> {
        let score = self.scores.get(usize::from(seat)).copied().unwrap_or(0);
        let turn_score = if table.turn.seat == seat { self.turn_score } else { 0 };
        vec![("game_score", Fact::Number(score)), ("turn_score", Fact::Number(turn_score))]
    }

    fn dice_on_table(&self, _: &Table) -> Vec<DieOnTable> {
        vec![DieOnTable::ordinary(0, self.face)]
    }
}

fn roll(decision: &mut Decision<'_, Pig>) -> Result<(), Rejection> {
    let (seat, forfeited) = (decision.table.turn.seat, decision.board.turn_score);
    let worth = |faces: &[u8]| if let [face @ 2..=6] = *faces { face.into() } else { 0 };
    let faces = decision.roll_ordinary(1, worth)?;
    if worth(&faces) > 0 {
        decision.score_all(CombinationName::Single, &faces, (worth(&faces), 1), forfeited);
        return Ok(());
    }
    let in_a_row = decision.board.farkles.get(&seat).map_or(1, |farkles| farkles.saturating_add(1));
    decision.farkle(forfeited, in_a_row);
    decision.pass_turn()
}

fn bank(decision: &mut Decision<'_, Pig>) -> Result<(), Rejection> {
    decision.board.face.ok_or(Rejection::NothingToBank)?;
    let (turn, points) = (decision.table.turn, decision.board.turn_score);
    let before = decision.board.scores.get(usize::from(turn.seat)).copied().unwrap_or(0);
    let game_score = before.saturating_add(points);
    let reaches_target = game_score >= decision.board.rules.target;
    decision.record(Event::Banked(Banked::plain(turn, points, game_score, reaches_target)));
    decision.end_turn(TurnEnd::Banked, points, 0);
    if reaches_target {
        decision.end(DecidedBy::Goal, vec![turn.seat])
    } else {
        decision.pass_turn()
    }
}
