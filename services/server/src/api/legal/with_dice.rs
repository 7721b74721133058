//! Legal moves with dice, and previews of their points.

use std::sync::Arc;

use async_graphql::{Object, SimpleObject};
use domain::{Command, Event, Game, Play, SeatNo};
use store::Loaded;

use crate::api::{games::rogue::Category, on_table::Selection, scalars::Long};

/// `roll`: rolls dice.
#[derive(Clone, Debug, Default)]
pub(in crate::api) struct LegalRoll(Vec<i32>);

impl LegalRoll {
    pub(super) fn keep(&mut self, slots: &[u8]) {
        for slot in slots.iter().map(|&slot| i32::from(slot)) {
            if !self.0.contains(&slot) {
                self.0.push(slot);
            }
        }
        self.0.sort_unstable();
    }
}

/// `roll`: rolls dice.
#[Object]
impl LegalRoll {
    /// Label for a button.
    pub(in crate::api) async fn label(&self) -> String {
        "Roll".to_owned()
    }

    /// The slots that can be kept: any subset except all dice.
    async fn keepable_slots(&self) -> &[i32] {
        &self.0
    }
}

fn selections(state: &Loaded, of: impl Fn(&domain::Selection) -> bool) -> Vec<Selection> {
    let Some(game) = &state.aggregate else { return Vec::new() };
    let rules = &game.table.ruleset.rules;
    let found = game.selections();
    found.iter().filter(|found| of(found)).map(|found| Selection::new(found, rules)).collect()
}

/// `save`: scores dice of the last roll.
#[derive(Clone, Debug)]
pub(in crate::api) struct LegalSave(pub(super) Arc<Loaded>);

/// `save`: scores dice of the last roll.
#[Object]
impl LegalSave {
    /// Label for a button.
    pub(in crate::api) async fn label(&self) -> String {
        "Save".to_owned()
    }

    /// The scoring selections, best first.
    async fn selections(&self) -> Vec<Selection> {
        selections(&self.0, |_| true)
    }
}

/// The result of a bank.
#[derive(Clone, Debug, SimpleObject)]
pub(in crate::api) struct BankPreview {
    /// The points banked.
    points: Long,
    /// The score of the seat after the bank.
    score_after: Long,
    /// Whether the bank wins the game immediately.
    wins: bool,
}

/// `bank`: adds the points of the turn to the score.
#[derive(Clone, Debug)]
pub(in crate::api) struct LegalBank {
    pub(super) state: Arc<Loaded>,
    pub(super) seat: SeatNo,
}

/// `bank`: adds the points of the turn to the score.
#[Object]
impl LegalBank {
    /// Label for a button.
    pub(in crate::api) async fn label(&self) -> String {
        "Bank".to_owned()
    }

    /// The result of a bank without saving more dice. Null if dice must be saved first.
    async fn preview(&self) -> Option<BankPreview> {
        preview(self.state.aggregate.as_ref()?, self.seat)
    }

    /// The selections that can be saved and banked in one move, best first.
    async fn selections(&self) -> Vec<Selection> {
        selections(&self.state, |selection| selection.can_bank)
    }
}

/// Decides the bank without recording its events.
fn preview(game: &Game, seat: SeatNo) -> Option<BankPreview> {
    let command = Command::Play { seat, play: Play::Bank { slots: None } };
    let events = domain::preview(game, &command).ok()?;
    let points = events.iter().find_map(|event| {
        if let Event::Banked(banked) = event { Some(banked.points) } else { None }
    })?;
    let wins = events
        .iter()
        .any(|event| matches!(event, Event::Ended(outcome) if outcome.winners.contains(&seat)));
    let after = events.iter().fold(Some(game.clone()), domain::evolve)?;
    let score = after.board.scores().get(usize::from(seat)).copied()?;
    Some(BankPreview { points: Long(points), score_after: Long(score), wins })
}

/// `forfeit`: gives up the roll.
#[derive(Clone, Debug)]
pub(in crate::api) struct LegalForfeit {
    pub(super) state: Arc<Loaded>,
    pub(super) seat: SeatNo,
}

/// `forfeit`: gives up the roll.
#[Object]
impl LegalForfeit {
    /// Label for a button.
    pub(in crate::api) async fn label(&self) -> String {
        "Give up".to_owned()
    }

    /// The points that would be lost.
    async fn points_lost(&self) -> Long {
        let lost = self.state.aggregate.as_ref().and_then(|game| {
            let command = Command::Play { seat: self.seat, play: Play::Forfeit };
            let events = domain::preview(game, &command).ok()?;
            events.iter().find_map(|event| {
                if let Event::Farkled(farkled) = event { Some(farkled.forfeited) } else { None }
            })
        });
        Long(lost.unwrap_or(0))
    }
}

/// `scoreCategory`: scores the dice in a category.
#[derive(Clone, Debug)]
pub(in crate::api) struct LegalScoreCategory {
    pub(super) state: Arc<Loaded>,
    pub(super) found: domain::rogue::Category,
    pub(super) category: Category,
}

/// `scoreCategory`: scores the dice in a category.
#[Object]
impl LegalScoreCategory {
    /// Label for a button.
    pub(in crate::api) async fn label(&self) -> String {
        format!("Score {}", self.found.slug().spoken())
    }

    /// The category.
    async fn category(&self) -> Category {
        self.category
    }

    /// The points of the category.
    async fn selection(&self) -> Option<Selection> {
        let name = self.found.combination();
        let is_category = |selection: &domain::Selection| {
            selection.combinations.first().is_some_and(|combination| combination.name == name)
        };
        selections(&self.state, is_category).into_iter().next()
    }
}
