//! Legal moves of the seat to act, and the table actions of the viewer.

mod simple;
mod with_dice;

use std::sync::Arc;

use async_graphql::{Enum, Interface};
use domain::{Ability, Game, Legal, Play, SeatNo, Stage, write_play};
use store::Loaded;

use super::{
    games::{neon::ExchangeDirection, rogue::Category},
    on_table::Offer,
    rules::CatalogItem,
    seat::Seat,
};
use simple::{
    LegalAttack, LegalBuyItem, LegalConvertHearts, LegalCopyDie, LegalDecideStay, LegalEndTurn,
    LegalExchange, LegalPlaceStored, LegalRenewMarket, LegalResolveDice, LegalStoreDie,
    LegalTakeEvolution, LegalUseItem, LegalWritten,
};
use with_dice::{LegalBank, LegalForfeit, LegalRoll, LegalSave, LegalScoreCategory};

/// A move that would be accepted now. Send it as the field of `MoveInput` with the same name.
#[derive(Clone, Debug, Interface)]
#[graphql(field(name = "label", ty = "String", desc = "Label for a button."))]
pub(super) enum LegalMove {
    Roll(LegalRoll),
    Save(LegalSave),
    Bank(LegalBank),
    Forfeit(LegalForfeit),
    ScoreCategory(LegalScoreCategory),
    ResolveDice(LegalResolveDice),
    Attack(LegalAttack),
    DecideStay(LegalDecideStay),
    ConvertHearts(LegalConvertHearts),
    CopyDie(LegalCopyDie),
    Exchange(LegalExchange),
    StoreDie(LegalStoreDie),
    PlaceStored(LegalPlaceStored),
    BuyItem(LegalBuyItem),
    RenewMarket(LegalRenewMarket),
    UseItem(LegalUseItem),
    TakeEvolution(LegalTakeEvolution),
    EndTurn(LegalEndTurn),
    Written(LegalWritten),
}

/// What the viewer can do at the table, apart from moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub(super) enum TableAction {
    /// `joinGame`.
    Join,
    /// `leaveGame`.
    Leave,
    /// `startGame`.
    Start,
    /// `chooseSeed`.
    ChooseSeed,
    /// `chooseLoadout`.
    ChooseLoadout,
    /// `chooseCharacter`.
    ChooseCharacter,
}

/// What a viewer with this seat, or without one, can do at the table.
pub(super) fn table_actions(game: &Game, seat: Option<SeatNo>) -> Vec<TableAction> {
    let mut actions: Vec<TableAction> = Vec::new();
    for legal in game.legal_commands() {
        let own = legal.seat().is_none_or(|of| Some(of) == seat);
        let action = match legal {
            Legal::Join if seat.is_none() || game.table.stage == Stage::Gathering => {
                TableAction::Join
            }
            Legal::Start if seat.is_some() => TableAction::Start,
            Legal::ChooseSeed(_) => TableAction::ChooseSeed,
            Legal::ChooseLoadout(_) => TableAction::ChooseLoadout,
            Legal::ChooseCharacter(..) => TableAction::ChooseCharacter,
            Legal::Leave(_) => TableAction::Leave,
            Legal::Create
            | Legal::Join
            | Legal::Start
            | Legal::Play(..)
            | Legal::TimeOut(..)
            | Legal::Abandon(_)
            | Legal::Void
            | Legal::Rule => continue,
        };
        if own && !actions.contains(&action) {
            actions.push(action);
        }
    }
    actions
}

/// The legal moves of the seat to act, grouped by kind.
pub(super) fn legal_moves(state: &Arc<Loaded>) -> Vec<LegalMove> {
    let Some(game) = &state.aggregate else { return Vec::new() };
    let Some(seat) = game.to_move() else { return Vec::new() };
    let mut moves = Moves { state, game, seat, found: Vec::new() };
    for legal in game.legal_commands() {
        if let Legal::Play(_, play) = legal {
            moves.add(play);
        }
    }
    moves.found
}

struct Moves<'a> {
    state: &'a Arc<Loaded>,
    game: &'a Game,
    seat: SeatNo,
    found: Vec<LegalMove>,
}

/// The entry of this kind, added if it is missing.
macro_rules! of_kind {
    ($moves:expr, $kind:ident, $new:expr) => {{
        if !$moves.found.iter().any(|known| matches!(known, LegalMove::$kind(_))) {
            $moves.found.push(LegalMove::$kind($new));
        }
        $moves.found.iter_mut().find_map(|known| match known {
            LegalMove::$kind(known) => Some(known),
            _ => None,
        })
    }};
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each arm looks for its own kind")]
impl Moves<'_> {
    fn add(&mut self, play: Play) {
        let state = || Arc::clone(self.state);
        match play {
            Play::Roll => {
                of_kind!(self, Roll, LegalRoll::default());
            }
            Play::Reroll { keep } => {
                if let Some(roll) = of_kind!(self, Roll, LegalRoll::default()) {
                    roll.keep(&keep);
                }
            }
            Play::Save { .. } | Play::SaveAndRoll { .. } => {
                of_kind!(self, Save, LegalSave(state()));
            }
            Play::Bank { .. } => {
                of_kind!(self, Bank, LegalBank { state: state(), seat: self.seat });
            }
            Play::Forfeit => {
                of_kind!(self, Forfeit, LegalForfeit { state: state(), seat: self.seat });
            }
            Play::Score { category } => {
                let known = domain::rogue::Category::ALL;
                let found = known.into_iter().find(|known| known.slug().as_str() == category);
                self.found.extend(found.map(|found| {
                    let category = Category::from(found);
                    LegalMove::ScoreCategory(LegalScoreCategory { state: state(), found, category })
                }));
            }
            Play::Resolve => self.found.push(LegalMove::ResolveDice(LegalResolveDice)),
            Play::Attack { target } => {
                let target = target.and_then(|target| Seat::of(self.state, target));
                if let Some(attack) = of_kind!(self, Attack, LegalAttack::default()) {
                    attack.targets.extend(target);
                }
            }
            Play::Answer { .. } => {
                of_kind!(self, DecideStay, LegalDecideStay);
            }
            Play::Ability(ability) => self.ability(ability),
            Play::Buy { code, target } => self.buy(&code, target),
            Play::Renew => self.found.push(LegalMove::RenewMarket(LegalRenewMarket)),
            Play::Use { code } => {
                let item = self.item(&code);
                self.found.extend(item.map(|item| LegalMove::UseItem(LegalUseItem { item })));
            }
            Play::Evolve { code } => {
                let item = self.item(&code);
                let evolution = |item| LegalMove::TakeEvolution(LegalTakeEvolution { item });
                self.found.extend(item.map(evolution));
            }
            Play::End => self.found.push(LegalMove::EndTurn(LegalEndTurn)),
            other => {
                let written = write_play(&other).map(|text| LegalWritten { text });
                self.found.extend(written.map(LegalMove::Written));
            }
        }
    }

    fn ability(&mut self, ability: Ability) {
        match ability {
            Ability::Copy { from, onto } => {
                if let Some(copy) = of_kind!(self, CopyDie, LegalCopyDie::default()) {
                    copy.add(from, onto);
                }
            }
            Ability::Store(slot) => {
                if let Some(store) = of_kind!(self, StoreDie, LegalStoreDie::default()) {
                    store.slots.push(slot.into());
                }
            }
            Ability::Place(slot) => {
                if let Some(place) = of_kind!(self, PlaceStored, LegalPlaceStored::default()) {
                    place.slots.push(slot.into());
                }
            }
            Ability::Convert(hearts) => {
                let none = LegalConvertHearts::default();
                if let Some(convert) = of_kind!(self, ConvertHearts, none) {
                    convert.max = convert.max.max(hearts.into());
                }
            }
            Ability::Exchange(direction) => {
                if let Some(exchange) = of_kind!(self, Exchange, LegalExchange::default()) {
                    exchange.directions.push(ExchangeDirection::from(direction));
                }
            }
        }
    }

    fn buy(&mut self, code: &str, target: Option<SeatNo>) {
        let target = target.and_then(|target| Seat::of(self.state, target));
        let known = self.found.iter_mut().find_map(|known| match known {
            LegalMove::BuyItem(known) if known.offer.is(code) => Some(known),
            _ => None,
        });
        if let Some(known) = known {
            known.targets.extend(target);
            return;
        }
        let offer = self.game.offers().into_iter().find(|offer| offer.code.as_str() == code);
        let offer = offer.map(|offer| Offer::new(offer, &self.game.table.ruleset.rules));
        let targets = target.into_iter().collect();
        self.found.extend(offer.map(|offer| LegalMove::BuyItem(LegalBuyItem { offer, targets })));
    }

    fn item(&self, code: &str) -> Option<CatalogItem> {
        CatalogItem::find(&self.game.table.ruleset.rules, code.parse().ok()?)
    }
}
