//! Pig: one die; a turn adds up what it shows until it is banked, and a 1 loses it. The first with the target at a bank wins.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    Banked, CombinationName, DecidedBy, DieOnTable, Event, Fact, Play, Points, Rejection, Rules,
    Ruleset, SeatNo, Table, TurnEnd,
    desk::Desk,
    rulebook::{Parameters, Rulebook},
    ruleset::within,
    verbs::{BANK, ROLL, Verb},
};

/// What a game of Pig is played by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PigRules {
    /// Who has so many points at a bank wins.
    pub target: Points,
}

/// The state of a game of Pig.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pig {
    /// What it is played by.
    pub rules: Arc<PigRules>,
    /// The banked points, in seat order.
    pub scores: Vec<Points>,
    /// The farkles in a row of those who have any.
    pub farkles: BTreeMap<SeatNo, u32>,
    /// The points of the turn under way.
    pub turn_score: Points,
    /// What the die shows, once it was rolled in this turn.
    pub face: Option<u8>,
}

impl PigRules {
    pub(crate) fn presets() -> Vec<Ruleset> {
        vec![Ruleset::standard(1, Rules::Pig(Arc::new(Self { target: 100 })))]
    }
}

impl Parameters for PigRules {
    fn check(&self) -> Result<(), Rejection> {
        within("target", self.target, 1..=1_000_000)
    }
}

impl Pig {
    pub(crate) fn new(rules: &Arc<PigRules>) -> Self {
        Self { rules: Arc::clone(rules), ..Self::default() }
    }
}

impl Rulebook for Pig {
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

    #[expect(clippy::wildcard_enum_match_arm, reason = "the moves of other games are refused")]
    fn play(desk: &mut Desk<'_, Self>, play: &Play) -> Result<(), Rejection> {
        match play {
            Play::Roll => roll(desk),
            Play::Bank { slots: None } if desk.board.face.is_none() => {
                Err(Rejection::NothingToBank)
            }
            Play::Bank { slots: None } => bank(desk),
            _ => Err(Rejection::NoSuchMove { moves: "roll, bank" }),
        }
    }

    fn plays(&self, _: &Table) -> Vec<Play> {
        [Play::Roll].into_iter().chain(self.face.map(|_| Play::Bank { slots: None })).collect()
    }

    fn phase(&self, _: &Table) -> &'static str {
        if self.face.is_none() { "roll" } else { "roll_or_bank" }
    }

    /// What is not banked is lost; it is no farkle.
    fn cut_short(desk: &mut Desk<'_, Self>, how: TurnEnd) -> Result<(), Rejection> {
        desk.end_turn(how, 0, desk.board.turn_score);
        Ok(())
    }

    fn next_turn(desk: &mut Desk<'_, Self>) -> Result<(), Rejection> {
        desk.pass_turn()
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

fn roll(desk: &mut Desk<'_, Pig>) -> Result<(), Rejection> {
    let (seat, forfeited) = (desk.table.turn.seat, desk.board.turn_score);
    let worth = |faces: &[u8]| match *faces {
        [face] if face > 1 => face.into(),
        _ => 0,
    };
    let faces = desk.roll_ordinary(1, worth)?;
    if worth(&faces) > 0 {
        desk.score_all(CombinationName::Single, &faces, (worth(&faces), 1), forfeited);
        return Ok(());
    }
    let in_a_row = desk.board.farkles.get(&seat).map_or(1, |farkles| farkles.saturating_add(1));
    desk.farkle(forfeited, in_a_row);
    desk.pass_turn()
}

fn bank(desk: &mut Desk<'_, Pig>) -> Result<(), Rejection> {
    let (turn, points) = (desk.table.turn, desk.board.turn_score);
    let before = desk.board.scores.get(usize::from(turn.seat)).copied().unwrap_or(0);
    let game_score = before.saturating_add(points);
    let reaches_target = game_score >= desk.board.rules.target;
    desk.record(Event::Banked(Banked::plain(turn, points, game_score, reaches_target)));
    desk.end_turn(TurnEnd::Banked, points, 0);
    if reaches_target { desk.end(DecidedBy::Goal, vec![turn.seat]) } else { desk.pass_turn() }
}
